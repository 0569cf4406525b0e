"""How fast `dp` trains: our ways beside the usual one and the best ordinary PyTorch, in one run, as ratios.

Each way has the same start, settings (Sun & Lu's for SST) and mathematics; they differ in what they do with
padding, untouched embedding rows and noise. Axes: B texts, T words, V vocabulary, E width.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.bench.found import Found, Table
from heedful.bench.preparing import prepared
from heedful.bench.timing import take_turns
from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.models.dropout import keep_factors
from heedful.training.closed import ClosedForm
from heedful.training.compiled import CompiledForm, warm_up
from heedful.training.devices import one_thread
from heedful.training.optimisers import rows_adagrad


class Encoded(Protocol):
    """Texts as numbers: text i is ids[offsets[i] : offsets[i + 1]], of class labels[i]."""

    @property
    def ids(self) -> np.ndarray: ...
    @property
    def offsets(self) -> np.ndarray: ...
    @property
    def labels(self) -> np.ndarray | None: ...


@dataclass(frozen=True)
class Recipe:
    """Sun & Lu's settings for SST."""

    width: int = 100
    spread: float = 0.1  # embeddings and head start uniform in ±spread, the context normal
    scale: float = 10.0  # λ
    dropout: float = 0.5  # on the embedded words and on the attended vector
    rate: float = 0.02
    rate_decay: float = 0.001
    batch: int = 100


@dataclass(frozen=True)
class Timing:
    """The least seconds an epoch took, and how many times faster than the usual way that is."""

    way: str
    seconds: float
    ratio: float


class Way:
    """One way of training `dp` with one binary score. A way learns from the texts with some rows."""

    def __init__(self, train: Encoded, *, vocabulary: int, recipe: Recipe, seed: int) -> None:
        self.train, self.labels, self.recipe, self.seed = train, _binary_labels(train), recipe, seed
        draw = torch.Generator().manual_seed(seed)
        self.embedding = (
            torch.rand(vocabulary, recipe.width, generator=draw).mul_(2).sub_(1).mul_(recipe.spread)
        )
        self.context = torch.randn(recipe.width, generator=draw)
        self.head = torch.rand(recipe.width, generator=draw).mul_(2).sub_(1).mul_(recipe.spread)
        self.order = np.random.default_rng(seed)
        self.make()

    def make(self) -> None:
        """Build what the way needs around the starting parameters."""
        raise NotImplementedError

    def learn(self, rows: np.ndarray) -> None:
        """Take one step on the texts with these rows (B,)."""
        raise NotImplementedError

    def plan(self) -> Sequence[np.ndarray]:
        """The batches of an epoch, in the order they are given."""
        rows = self.order.permutation(len(self.labels))
        return [rows[at : at + self.recipe.batch] for at in range(0, len(rows), self.recipe.batch)]

    def epoch(self) -> None:
        """Learn from every text once."""
        for rows in self.plan():
            self.learn(rows)


class Usual(Way):
    """Padding and masks by Python loops, dense gradients for every word there is, Adagrad over them all."""

    sparse = False

    def make(self) -> None:
        self.words = nn.Embedding.from_pretrained(self.embedding, freeze=False, sparse=self.sparse)
        self.v, self.w = nn.Parameter(self.context), nn.Parameter(self.head)
        parts = [self.words.weight, self.v, self.w]
        self.optimiser = torch.optim.Adagrad(parts, lr=self.recipe.rate, lr_decay=self.recipe.rate_decay)
        bounds = zip(self.train.offsets[:-1], self.train.offsets[1:], strict=True)
        self.texts = [self.train.ids[start:end].tolist() for start, end in bounds]

    def padded(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        texts = [self.texts[row] for row in rows]
        longest = max(len(text) for text in texts)
        mask = torch.zeros(len(texts), longest, dtype=torch.bool)
        for number, text in enumerate(texts):
            mask[number, : len(text)] = True
        return torch.tensor([text + [0] * (longest - len(text)) for text in texts]), mask

    def learn(self, rows: np.ndarray) -> None:
        ids, mask = self.padded(rows)
        words = F.dropout(self.words(ids), self.recipe.dropout)  # (B, T, E)
        attended = _attend(words, self.v, mask, self.recipe.scale)
        loss = _loss(F.dropout(attended, self.recipe.dropout) @ self.w, self.labels[rows])
        self.optimiser.zero_grad()
        loss.backward()
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            self.optimiser.step()


class Ordinary(Usual):
    """The best ordinary PyTorch: vectorised masks, batches of like lengths, sparse gradients."""

    sparse = True

    def plan(self) -> Sequence[np.ndarray]:
        return _like_lengths(self)

    def padded(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        return _padded(self.train, rows)


class DistinctRows(Way):
    """Autograd on the batch's distinct rows, their own Adagrad, and noise from random bits."""

    def make(self) -> None:
        self.parts = {"embedding": self.embedding, "context": self.context, "head": self.head}
        self.sums = {name: torch.zeros_like(part) for name, part in self.parts.items()}
        self.steps = 0

    def plan(self) -> Sequence[np.ndarray]:
        return _like_lengths(self)

    def learn(self, rows: np.ndarray) -> None:
        ids, mask = _padded(self.train, rows)
        tokens, inverse = torch.unique(ids, return_inverse=True)
        vectors = self.embedding.index_select(0, tokens).requires_grad_()
        v, w = self.context.detach().requires_grad_(), self.head.detach().requires_grad_()
        words = F.embedding(inverse, vectors)
        attended = _attend(self.dropped(words, 0), v, mask, self.recipe.scale)
        gradients = torch.autograd.grad(
            _loss(self.dropped(attended, 1) @ w, self.labels[rows]), [vectors, v, w]
        )
        self.steps += 1
        for (name, part), gradient in zip(self.parts.items(), gradients, strict=True):
            touched = tokens if name == "embedding" else None
            rows_adagrad(
                part,
                gradient,
                sums=self.sums[name],
                step=self.steps,
                rate=self.recipe.rate,
                rate_decay=self.recipe.rate_decay,
                tokens=touched,
            )

    def dropped(self, values: Tensor, place: int) -> Tensor:
        keep = keep_factors(
            values.shape, self.recipe.dropout, key=[self.seed, self.steps, place], like=values
        )
        return values if keep is None else values * keep


class ClosedFormWay(Way):
    """The closed-form gradients in torch."""

    def make(self) -> None:
        parts = {"embedding": self.embedding, "context": self.context, "head": self.head}
        self.learner: Any = ClosedForm("dp", parts, **_learning(self))

    def learn(self, rows: np.ndarray) -> None:
        self.learner.step(self.train.ids, self.train.offsets, self.labels, rows)


class CompiledWay(ClosedFormWay):
    """The closed-form gradients in the compiled kernel."""

    def make(self) -> None:
        parts = {"embedding": self.embedding, "context": self.context, "head": self.head}
        arrays = {name: part.numpy() for name, part in parts.items()}
        self.learner = CompiledForm("dp", arrays, **_learning(self))


WAYS: dict[str, type[Way]] = {
    "usual": Usual,
    "ordinary": Ordinary,
    "distinct rows": DistinctRows,
    "closed form": ClosedFormWay,
    "compiled": CompiledWay,
}


def measure(
    train: Encoded, *, vocabulary: int, rounds: int = 5, recipe: Recipe | None = None, seed: int = 0
) -> list[Timing]:
    """Train an epoch with each way in turn, round after round, on one thread; the least of each counts."""
    warm_up()
    with one_thread():
        made = {
            name: way(train, vocabulary=vocabulary, recipe=recipe or Recipe(), seed=seed)
            for name, way in WAYS.items()
        }
        seconds = take_turns({name: way.epoch for name, way in made.items()}, rounds=rounds)
    return [Timing(name, least, seconds["usual"] / least) for name, least in seconds.items()]


def _binary_labels(texts: Encoded) -> np.ndarray:
    if texts.labels is None or not np.isin(texts.labels, (0, 1)).all():
        raise UserError("This measurement is of a binary classifier: choose a corpus with two classes.")
    return np.array(texts.labels, np.int64)


def _learning(way: Way) -> dict[str, Any]:
    recipe = way.recipe
    return {
        "scale": recipe.scale,
        "rate": recipe.rate,
        "rate_decay": recipe.rate_decay,
        "dropout_words": recipe.dropout,
        "dropout_head": recipe.dropout,
        "seed": way.seed,
    }


def _attend(words: Tensor, context: Tensor, mask: Tensor, scale: float) -> Tensor:
    scores = (words @ context / scale).masked_fill(~mask, -torch.inf)  # (B, T)
    return (scores.softmax(1)[:, None] @ words).squeeze(1)  # (B, E)


def _loss(scores: Tensor, labels: np.ndarray) -> Tensor:
    return F.binary_cross_entropy_with_logits(scores, torch.from_numpy(labels).to(scores.dtype))


def _padded(train: Encoded, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    starts, lengths = train.offsets[rows], train.offsets[rows + 1] - train.offsets[rows]
    steps = np.arange(lengths.max())
    mask = steps < lengths[:, None]  # (B, T)
    ids = np.zeros(mask.shape, np.int64)
    ids[mask] = train.ids[(starts[:, None] + steps)[mask]]
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _like_lengths(way: Way, pool: int = 50) -> Sequence[np.ndarray]:
    """Batches of texts of like lengths: sorted within pools of batches, and the batches shuffled."""
    size, lengths = way.recipe.batch, np.diff(way.train.offsets)
    rows = way.order.permutation(len(lengths))
    pools = [rows[at : at + pool * size] for at in range(0, len(rows), pool * size)]
    rows = np.concatenate([some[np.argsort(lengths[some], kind="stable")] for some in pools])
    batches = [rows[at : at + size] for at in range(0, len(rows), size)]
    return [batches[number] for number in way.order.permutation(len(batches))]


def dp(sources: Sequence[str], *, rounds: int, data_dir: str | Path | None = None) -> Found:
    """An epoch of dp on each corpus, every way beside the usual one."""
    numbers: dict[str, Any] = {}
    shown = []
    for source in sources:
        given = prepared(load_data(source, data_dir=data_dir), "dp")
        timings = measure(given.splits["train"], vocabulary=len(given.vocabulary), rounds=rounds)
        numbers[source] = [asdict(timing) for timing in timings]
        rows = [[one.way, f"{1000 * one.seconds:.0f}", f"{one.ratio:.1f}"] for one in timings]
        title = f"An epoch of dp on {source} (aim: compiled at least 12 × on sst, 10 × on imdb)"
        shown.append(Table(title, ["way", "ms", "× the usual way"], rows))
    return Found(numbers, tuple(shown))
