"""One way to train, to translate with, and to measure any translator over words.

A translator reads sources once and then writes, all words of known targets at once (teacher forcing) or one
after another from its own (greedily). Axes: B pairs, P pairs of a split, T words of a source, N words of a
target, E width of a word, H width of a state, R heads, V known words of the target.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.gallery.bleu import corpus_bleu
from heedful.gallery.entry import Outcome, Size
from heedful.gallery.learning import learn
from heedful.gallery.seeded import seeded
from heedful.gallery.word_pairs import BEGIN, END, PADDING, UNKNOWN, Corpus, Language, Pairs
from heedful.training.devices import one_thread

AT_ONCE = 200  # pairs that are translated together
LONGER = 10  # words that a translation may have more than its source
BANDS = {"1–6": (1, 6), "7–8": (7, 8), "9–10": (9, 10), "11–13": (11, 13), "14+": (14, 10**9)}  # words


@dataclass(frozen=True)
class Budget:
    """What is learnt from, and for how long; the same for a mechanism and its baseline."""

    epochs: int
    words: int  # E
    width: int  # of an encoder, in each direction
    most: int | None = None  # pairs
    longest: int | None = None  # words of a source
    batch: int = 64
    rate: float = 0.004
    drop: float = 0.3


# Of the rates 0.008, 0.004 and 0.002 dev preferred this one in the quick size, for the GRU with the dot
# product and a seed that is not reported; dropout was not searched. The full size has a lower one, untried.
BUDGETS: dict[Size, Budget] = {
    "small": Budget(epochs=6, words=32, width=24, most=400, longest=7, batch=32, rate=0.01, drop=0.1),
    "quick": Budget(epochs=12, words=96, width=64, most=4000, longest=10),
    "full": Budget(epochs=8, words=128, width=128, rate=0.002),
}


class Source(NamedTuple):
    """What was read: states (B,T,H), the last of them (B,H), and the mask (B,T)."""

    states: Tensor
    last: Tensor
    mask: Tensor


class Said(NamedTuple):
    """Logits (B,N,V), and where each word was read: weights (B,N,T), or (B,R,N,T); None without attention."""

    logits: Tensor
    weights: Tensor | None = None


class Translator(nn.Module):
    """What every translator can do."""

    def read(self, sources: Tensor) -> Source:
        """Read sources (B,T)."""
        raise NotImplementedError

    def write(self, before: Tensor, source: Source, state: Any = None) -> tuple[Said, Any]:
        """Say what follows each of the words `before` (B,N), and the state after them; None is the first."""
        raise NotImplementedError


Some = TypeVar("Some", bound=Translator)


class Words(nn.Module):
    """Embedded words (B,T,E), of variance 1."""

    def __init__(self, known: int, width: int, *, drop: float) -> None:
        super().__init__()
        self.table = nn.Embedding(known, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        self.drop = nn.Dropout(drop)

    def forward(self, numbers: Tensor) -> Tensor:
        """Embed words (B,T)."""
        embedded: Tensor = self.drop(self.table(numbers) * self.table.embedding_dim**0.5)
        return embedded


class Decide(nn.Module):
    """From a state to the width of a word, and by the words' own table to logits (B,N,V)."""

    def __init__(self, inputs: int, words: Words, *, drop: float) -> None:
        super().__init__()
        self.words = words
        self.narrow = nn.Linear(inputs, words.table.embedding_dim)
        self.bias = nn.Parameter(torch.zeros(words.table.num_embeddings))
        self.drop = nn.Dropout(drop)

    def forward(self, state: Tensor) -> Tensor:
        """Score all words."""
        return F.linear(self.drop(self.narrow(state).tanh()), self.words.table.weight, self.bias)


def fit(model: Translator, pairs: Pairs, budget: Budget) -> None:
    """Learn the next word of each target after its true words; torch's generator draws the batches."""
    device = next(model.parameters()).device
    batches = [rows for _ in range(budget.epochs) for rows in pairs.of_like_length(budget.batch)]
    waiting = iter(batches)

    def loss() -> Tensor:
        sources, targets = pairs.batch(next(waiting), device)
        logits = known(model, sources, targets).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PADDING)

    learn(model, loss, steps=len(batches), rate=budget.rate)


def known(model: Translator, sources: Tensor, targets: Tensor) -> Said:
    """What the model says of each word of the targets (B,N) after the words before it."""
    before = torch.cat([torch.full_like(targets[:, :1], BEGIN), targets[:, :-1]], 1)
    return model.write(before, model.read(sources))[0]


@torch.no_grad()
def surprises(model: Translator, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """For each pair how little its target was expected, −Σ log p, and how many words (and ends) it has."""
    device, found = next(model.parameters()).device, []
    for rows in pairs.in_turn(AT_ONCE):
        sources, targets = pairs.batch(rows, device)
        logits = known(model, sources, targets).logits
        found.append(F.cross_entropy(logits.mT, targets, ignore_index=PADDING, reduction="none").sum(1).cpu())
    return torch.cat(found).double().numpy(), (pairs.targets != PADDING).sum(1).numpy()


@torch.no_grad()
def translate(model: Translator, pairs: Pairs) -> list[list[int]]:
    """What the model writes for each source, at each place the likeliest word; never the unknown one."""
    device, found = next(model.parameters()).device, []
    for rows in pairs.in_turn(AT_ONCE):
        sources, _ = pairs.batch(rows, device)
        source, state = model.read(sources), None
        before, written = torch.full_like(sources[:, :1], BEGIN), []
        for _ in range(sources.shape[1] + LONGER):
            said, state = model.write(before, source, state)
            said.logits[..., [PADDING, BEGIN, UNKNOWN]] = -torch.inf
            before = said.logits.argmax(-1)
            written.append(before)
            if (torch.cat(written, 1) == END).any(1).all():
                break
        found += torch.cat(written, 1).tolist()
    return found


class Score(NamedTuple):
    """How well sentences are translated."""

    bleu: float
    perplexity: float


Groups = Mapping[str, np.ndarray]  # which of the pairs (P), by name
EVERY = "all"


def score(model: Translator, pairs: Pairs, language: Language, groups: Groups) -> dict[str, Score]:
    """BLEU and perplexity per word of all pairs and of groups of them."""
    bleu = bleu_by_group(translate(model, pairs), pairs, language, groups)
    surprise, words = surprises(model, pairs)
    return {
        name: Score(bleu[name], math.exp(surprise[chosen].sum() / words[chosen].sum()))
        for name, chosen in with_all(groups, pairs).items()
    }


def bleu_by_group(
    written: Sequence[Sequence[int]], pairs: Pairs, language: Language, groups: Groups
) -> dict[str, float]:
    """BLEU of translations, of all and of groups of them."""
    spelt = [language.spell(list(numbers)) for numbers in written]
    return {
        name: corpus_bleu(
            [spelt[row] for row in np.flatnonzero(chosen)],
            [pairs.target[row] for row in np.flatnonzero(chosen)],
        )
        for name, chosen in with_all(groups, pairs).items()
    }


def with_all(groups: Groups, pairs: Pairs) -> dict[str, np.ndarray]:
    """All pairs first; groups that nobody belongs to are left out."""
    everything = {EVERY: np.ones(len(pairs), bool), **groups}
    return {name: chosen for name, chosen in everything.items() if chosen.any()}


def by_length(pairs: Pairs) -> dict[str, np.ndarray]:
    """Which sources have how many words."""
    lengths = pairs.lengths
    return {f"{name} words": (lengths >= least) & (lengths <= most) for name, (least, most) in BANDS.items()}


def learnt(
    make: Callable[[], Some], corpus: Corpus, budget: Budget, groups: Groups, *, seed: int, device: str
) -> tuple[Some, dict[str, Score]]:
    """A model that this makes, trained from the seed, and its scores on the test pairs."""
    with one_thread(), seeded(seed):
        model = make().to(device)
        fit(model, corpus.train, budget)
        return model, score(model, corpus.test, corpus.target, groups)


def outcome_of(
    scores: Mapping[str, Mapping[str, Score]],
    parameters: Mapping[str, int],
    lexicon: Mapping[str, float],
    *,
    figure: str,
    baseline: str,
    further: Mapping[str, float],
    alignments: Any,
) -> Outcome:
    """What models come to by their names, the BLEU of the lexicon's translations beside them."""
    return Outcome(
        figure=scores[figure][EVERY].bleu,
        baseline=scores[baseline][EVERY].bleu,
        parameters=parameters[figure],
        baseline_parameters=parameters[baseline],
        table={
            **tabled(scores),
            **{f"lexicon: BLEU, {group}": bleu for group, bleu in lexicon.items()},
            **further,
        },
        picture={
            "scores": {name: {group: list(one) for group, one in by.items()} for name, by in scores.items()},
            "lexicon": lexicon,
            "alignments": alignments,
        },
        yardstick=lexicon[EVERY],
    )


def tabled(scores: Mapping[str, Mapping[str, Score]]) -> dict[str, float]:
    """The scores of models by group as one table, a name a figure."""
    return {
        f"{model}: {measure}, {group}": getattr(found, measure.lower())
        for measure in ("BLEU", "perplexity")
        for model, by in scores.items()
        for group, found in by.items()
    }
