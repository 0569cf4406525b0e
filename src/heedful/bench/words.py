"""How fast words are left out, beside the loops that it replaces: ratios of one run, on one thread.

The plain loop reads each variant by itself; the loop by texts reads all variants of one text as one batch.
Ours puts those of many texts together in batches of like length. For a model without an encoder the closed
form is timed too. Models have random weights, and texts are random words: speed does not depend on either.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.timing import take_turns
from heedful.data.batches import Batch
from heedful.data.vocabulary import Vocabulary
from heedful.models.building import build_model
from heedful.models.named import MODELS
from heedful.models.subject import Subject
from heedful.training.devices import one_thread
from heedful.trials.erasure.deletion import delete_words, take_rows
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import PLACES, Reader

WORDS = 1000


@dataclass(frozen=True)
class LeaveOneOutTimes:
    """The least seconds to leave out every word of all texts, and how far the ways differ."""

    model: str
    texts: int
    words: int
    plain: float  # one variant at a time, timed on some texts and scaled to all words
    by_text: float  # the variants of one text at a time
    ours: float  # those of many texts together
    closed: float | None  # the closed form, where there is one
    largest_difference: float  # of the log-odds of the decided class

    @property
    def times_plain(self) -> float:
        """How many times as fast as the plain loop."""
        return self.plain / self.ours

    @property
    def times_by_text(self) -> float:
        """How many times as fast as the loop by texts."""
        return self.by_text / self.ours


def random_texts(*, texts: int = 200, shortest: int = 5, longest: int = 50, seed: int = 0) -> Batch:
    """Texts of random words, in sentences of ten."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(shortest, longest + 1, (texts, 1), generator=generator)
    places = torch.arange(longest)
    mask = places < lengths
    ids = torch.randint(2, WORDS + 2, mask.shape, generator=generator) * mask
    sentences = torch.where(mask, places // 10, -1)
    return Batch(ids, mask, None, np.arange(texts), sentences)


def random_model(name: str) -> Subject:
    """One of the papers' models with random weights, for the words of `random_texts`."""
    vocabulary = Vocabulary.build([f"w{number}" for number in range(WORDS)])
    return build_model(MODELS[name], vocabulary, ("no", "yes"), seed=0)


def measure_leave_one_out(
    name: str = "flan-rnn",
    batch: Batch | None = None,
    *,
    rounds: int = 3,
    places: int = PLACES,
    plain: int = 5,
) -> LeaveOneOutTimes:
    """Time leaving out every word; the plain loop is run on `plain` texts only, because it takes so long."""
    subject = random_model(name)
    batch = random_texts() if batch is None else batch
    few = _spread(len(batch), plain)
    share = float(batch.mask.sum() / batch.mask[few].sum())
    found: dict[str, Tensor] = {}

    def keep(way: str, run: Callable[[], Tensor]) -> Callable[[], None]:
        def timed() -> None:
            found[way] = run()

        return timed

    reader = Reader(subject, batch, closed=False, places=places)
    ways: dict[str, Callable[[], object]] = {
        "plain": lambda: _one_by_one(subject, take_rows(batch, few)),
        "by_text": keep("by_text", lambda: _text_by_text(subject, batch)),
        "ours": keep("ours", reader.each_out),
    }
    exact = Reader(subject, batch).closed
    if exact:
        ways["closed"] = keep("closed", lambda: Reader(subject, batch).each_out())
    with one_thread(), torch.no_grad():
        least = take_turns(ways, rounds=rounds)
    known = [reader.lead(logits.transpose(0, 1)) for logits in found.values()]
    apart = max(float((lead - known[0]).abs().max()) for lead in known)
    return LeaveOneOutTimes(
        model=name,
        texts=len(batch),
        words=int(batch.mask.sum()),
        plain=least["plain"] * share,
        by_text=least["by_text"],
        ours=least["ours"],
        closed=least.get("closed"),
        largest_difference=apart,
    )


def _text_by_text(subject: Subject, batch: Batch) -> Tensor:
    """The logits (B,T,K) without each word, all variants of a text in one batch."""
    whole = two_sided(subject.logits(batch)).double()
    found = whole[:, None].repeat(1, batch.mask.shape[1], 1)
    for row in range(len(batch)):
        count = int(batch.mask[row].sum())
        gone = torch.eye(batch.mask.shape[1], dtype=torch.bool)[:count]
        variants = delete_words(batch, gone, of=torch.full((count,), row))
        found[row, :count] = two_sided(subject.logits(variants)).double()
    return found


def _one_by_one(subject: Subject, batch: Batch) -> None:
    for row, word in batch.mask.nonzero().tolist():
        gone = torch.zeros(1, batch.mask.shape[1], dtype=torch.bool)
        gone[0, word] = True
        subject.logits(delete_words(batch, gone, of=torch.tensor([row])))


def _spread(count: int, some: int) -> Tensor:
    """The numbers of some rows, spread evenly over all."""
    places: Sequence[int] = np.linspace(0, count - 1, min(some, count)).round().astype(int).tolist()
    return torch.tensor(places)


def words(
    models: Sequence[str],
    *,
    texts: int,
    longest: int,
    plain: int,
    rounds: int,
    seed: int,
    say: Callable[[str], None],
) -> Found:
    """Leaving out every word, model by model."""
    batch = random_texts(texts=texts, longest=longest, seed=seed)
    found = []
    for name in models:
        say(f"Measuring {name} …")
        found.append(measure_leave_one_out(name, batch, rounds=rounds, plain=plain))
    table = Table(
        f"Leaving out each of {found[0].words:,} words in {texts} texts, × as fast as each loop",
        ["model", "loop over variants", "loop over texts", "closed form, × ours", "apart, at most"],
        [
            [
                one.model,
                f"{one.times_plain:.1f}",
                f"{one.times_by_text:.1f}",
                "–" if one.closed is None else f"{one.ours / one.closed:.1f}",
                f"{one.largest_difference:.1g}",
            ]
            for one in found
        ],
    )
    numbers = {"models": [numbers_of(one, "times_plain", "times_by_text") for one in found]}
    return Found(numbers, (table,))
