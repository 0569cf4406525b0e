"""How fast recurrent models train, beside PyTorch's bare `nn.LSTM` or `nn.GRU` on the same padded shapes.

The bare cells are the limit: forward and backward over blocks of the same B, T and E as the model's encoders
read, each direction a pass of its own (the model walks both in one), and nothing else: no embedding, dropout,
attention, head or optimiser.
They are run on the blocks as they are, texts first, and also with words first, where cells are somewhat
faster.
Axes: B rows of a block (texts or sentences), T words or sentences, E width of what comes in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.preparing import prepared
from heedful.bench.timing import take_turns
from heedful.data.batches import make_batch, plan_batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.models.building import Classifier, build_model
from heedful.models.encoders import RecurrentEncoder
from heedful.records.wording import in_percent
from heedful.training.devices import one_thread
from heedful.training.learners import choose_learner

RECURRENT = ("dp-l", "flan-rnn", "han-rnn")
WORDS = 150_000


@dataclass(frozen=True)
class RecurrentSpeed:
    """Words a second in whole training steps and in bare cells, over the same batches."""

    model: str
    corpus: str
    batches: int
    words: int
    batch_padding: float  # share of a batch's places (texts × longest text) that are padding
    cell_padding: float  # the same in the blocks that cells over words are given: by sentences in a hierarchy
    words_per_second: float
    bare_words_per_second: float
    words_first_per_second: float  # of bare cells that are given (T,B,E) instead of (B,T,E)

    @property
    def share(self) -> float:
        """Ours ÷ bare: 1 would mean that all besides the cells costs nothing."""
        return self.words_per_second / self.bare_words_per_second

    @property
    def share_of_words_first(self) -> float:
        """The same beside cells that are given words first."""
        return self.words_per_second / self.words_first_per_second


def measure_recurrent(
    corpus: Corpus, model: str = "flan-rnn", *, words: int = WORDS, rounds: int = 5, seed: int = 0
) -> RecurrentSpeed:
    """Time training steps of `model` on batches of `words` or a little more, and bare cells on their blocks.

    They take turns. Of short texts that is an epoch, of long ones ten batches.
    """
    # The speed of a step does not depend on where the embeddings start.
    given = prepared(corpus, model, {"embedding_source": "uniform", "seed": seed})
    train, training = given.splits["train"], given.training
    whole = plan_batches(train.lengths, size=training.batch, token_budget=training.token_budget, seed=seed)
    counts = np.cumsum([train.lengths[rows].sum() for rows in whole])
    plan = whole[: int(np.searchsorted(counts, words)) + 1]
    built = build_model(given.model, given.vocabulary, corpus.label_names, seed=seed).train()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        blocks = [_blocks(built, train, rows) for rows in plan]
        learner = choose_learner(built, train, settings=training, device=torch.device("cpu"))
        # Each batch has its own least time, so that a moment's noise costs one batch of a round and not the
        # round; batches of one way follow each other, as they do in training.
        contenders: dict[str, Callable[[], object]] = {}
        for number, rows in enumerate(plan):
            contenders[f"whole {number}"] = partial(learner.step, rows)
        for way, texts_first in (("bare", True), ("words", False)):
            for number, given_to in enumerate(blocks):
                cells = [_fresh(cell, shape, texts_first=texts_first) for cell, shape in given_to]
                contenders[f"{way} {number}"] = partial(_pass_through, cells)
        least = take_turns(contenders, rounds=rounds)
    seconds = {
        way: sum(least[f"{way} {number}"] for number in range(len(plan)))
        for way in ("whole", "bare", "words")
    }
    read, places = int(counts[len(plan) - 1]), _places(list(chain(*blocks)), built.words.modules())
    return RecurrentSpeed(
        model=model,
        corpus=corpus.name,
        batches=len(plan),
        words=read,
        batch_padding=padding(train.lengths, whole),
        cell_padding=1 - read / places,
        words_per_second=read / seconds["whole"],
        bare_words_per_second=read / seconds["bare"],
        words_first_per_second=read / seconds["words"],
    )


def padding(lengths: np.ndarray, plan: Sequence[np.ndarray]) -> float:
    """The share of all places of these batches that no word fills."""
    places = sum(len(rows) * int(lengths[rows].max()) for rows in plan)
    return 1 - float(sum(lengths[rows].sum() for rows in plan)) / places


Cell = nn.LSTM | nn.GRU
Block = tuple[Cell, torch.Size]


def _blocks(model: Classifier, train: EncodedTexts, rows: np.ndarray) -> list[Block]:
    """The model's cells with the shapes (B,T,E) that their encoder is given when it reads this batch."""
    encoders = [module for module in model.modules() if isinstance(module, RecurrentEncoder)]
    if not encoders:
        raise UserError(f"This measurement is of recurrent models: choose one of {', '.join(RECURRENT)}.")
    found: list[Block] = []

    def note(encoder: nn.Module, given: tuple[Tensor, ...]) -> None:
        found.extend((cell, given[0].shape) for cell in encoder.modules() if isinstance(cell, Cell))

    hooks = [encoder.register_forward_pre_hook(note) for encoder in encoders]
    try:
        with torch.no_grad():
            model.logits(make_batch(train, rows))
    finally:
        for hook in hooks:
            hook.remove()
    return found


def _fresh(cell: Cell, shape: torch.Size, *, texts_first: bool) -> tuple[Cell, Tensor]:
    """A cell like this one, and something to read, with a gradient, since vectors of words are trained."""
    order = shape if texts_first else (shape[1], shape[0], shape[2])
    new = type(cell)(cell.input_size, cell.hidden_size, batch_first=texts_first)
    return new, torch.randn(order, requires_grad=True)


def _pass_through(blocks: Sequence[tuple[Cell, Tensor]]) -> None:
    """Forward and backward."""
    for cell, given in blocks:
        given.grad = None
        states, _ = cell(given)
        states.backward(torch.ones_like(states))


def _places(blocks: Sequence[Block], modules: Iterable[nn.Module]) -> float:
    """Places (B × T) that each of the cells among `modules` is given; directions are given the same."""
    cells = {module for module in modules if isinstance(module, Cell)}
    return sum(shape[0] * shape[1] for cell, shape in blocks if cell in cells) / len(cells)


def recurrent(
    short: str, long: str, *, rounds: int, data_dir: str | Path | None = None, say: Callable[[str], None]
) -> Found:
    """Recurrent models beside bare cells."""
    corpora = {source: load_data(source, data_dir=data_dir) for source in dict.fromkeys((short, long))}
    speeds = []
    for model, source in (("dp-l", short), ("dp-l", long), ("flan-rnn", long), ("han-rnn", long)):
        say(f"{model} on {source} …")
        speeds.append(measure_recurrent(corpora[source], model, rounds=rounds))
    columns = ["model", "corpus", "padding", "in cells", "bare", "ours", "share", "of words first"]
    rows = [
        [
            one.model,
            one.corpus,
            in_percent(one.batch_padding, 1),
            in_percent(one.cell_padding, 1),
            f"{one.bare_words_per_second:,.0f}",
            f"{one.words_per_second:,.0f}",
            in_percent(one.share),
            in_percent(one.share_of_words_first),
        ]
        for one in speeds
    ]
    title = "Words a second in training (aim: at least 70 % of bare cells, batches under 3 % padding)"
    numbers = [numbers_of(one, "share", "share_of_words_first") for one in speeds]
    return Found(numbers, (Table(title, columns, rows, left=2),))
