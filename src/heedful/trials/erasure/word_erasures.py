"""Words taken out in the order of a ranking, and the text read again: what each instance loses.

At a share s of a text's n words the top is the first ⌈s·n⌉ words of the ranking, so at least one.
`without` is how far the probability of the decided class falls when the top is taken out, `only` when all but
the top is (ERASER's comprehensiveness and sufficiency; DeYoung et al., 2020), `flips` whether another class
decides without the top. A text of one word has nothing to compare and is NaN everywhere, to be left out and
counted. Words that the subject does not read (beyond its length) are removed first: otherwise they would move
into view when others go.

Axes: B instances, T words, C shares, P variants.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.subject import Subject, gives
from heedful.models.trace import decisions
from heedful.models.word_attention import words_read
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.faithfulness import infidelity_of, sensitivity
from heedful.trials.erasure.linear_votes import Bools, Floats, Longs, in_numpy
from heedful.trials.erasure.rereading import PLACES, Reader, rank_of
from heedful.trials.rankings.named import check_own_names
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.regressions import random_subsets
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import (
    random,
    rankings_of_words,
    scores_with,
    word_order,
)

if TYPE_CHECKING:
    import pandas

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)  # ERASER's
SAMPLES = 5  # random orders an instance, averaged
SUBSETS = 32  # random deletions an instance, for infidelity
_PLAIN = ("instance", "words", "decided", "probability")
_TABLES = ("without", "only", "flips")
_COLUMNS = ("infidelity", "sensitivity", "doubt", "until_flip")


@dataclass(frozen=True, eq=False)
class WordErasures:
    """One row for each instance. Tables are (B,C); those of the random ranking are means of its samples."""

    instance: Longs  # (B,) its number in the corpus
    words: Longs  # (B,) how many are read
    decided: Longs  # (B,)
    probability: Floats  # (B,) of the decided class, of the whole text
    shares: tuple[float, ...]
    without: Mapping[str, Floats]  # ranking -> fall of the probability without the top
    only: Mapping[str, Floats]  # ranking -> fall of the probability with the top only
    flips: Mapping[str, Floats]  # ranking -> 1 where another class decides without the top
    infidelity: Mapping[str, Floats] = field(default_factory=dict)
    sensitivity: Mapping[str, Floats] = field(default_factory=dict)
    doubt: Mapping[str, Floats] = field(default_factory=dict)  # how far a method misses its own rule
    until_flip: Mapping[str, Floats] = field(default_factory=dict)  # words gone at the first flip, −1 never

    def __len__(self) -> int:
        return len(self.instance)

    @property
    def alone(self) -> int:
        """How many instances have one word only, and are left out."""
        return int((self.words < 2).sum())

    def at(self, share: float) -> int:
        """The column of a share."""
        for place, known in enumerate(self.shares):
            if math.isclose(known, share):
                return place
        listed = ", ".join(f"{known:g}" for known in self.shares)
        raise UserError(f"These erasures have no share {share:g} of the words: they have {listed}.")

    def to_frame(self) -> "pandas.DataFrame":
        """One row per instance: without_NAME_5 for 5 %, and so on, infidelity_NAME …"""
        import pandas

        columns: dict[str, object] = {name: getattr(self, name) for name in _PLAIN}
        for kind in _TABLES:
            for name, table in getattr(self, kind).items():
                for share, column in zip(self.shares, table.T, strict=True):
                    columns[f"{kind}_{name}_{100 * share:g}"] = column
        for kind in _COLUMNS:
            columns |= {f"{kind}_{name}": column for name, column in getattr(self, kind).items()}
        return pandas.DataFrame(columns)

    @classmethod
    def from_frame(cls, frame: "pandas.DataFrame") -> Self:
        """What `to_frame` gave, perhaps of many batches."""
        tables: dict[str, dict[str, dict[float, Floats]]] = {kind: {} for kind in _TABLES}
        columns: dict[str, dict[str, Floats]] = {kind: {} for kind in _COLUMNS}
        for column in map(str, frame.columns):
            values = frame[column].to_numpy()
            if table := re.fullmatch(rf"({'|'.join(_TABLES)})_(.+)_([\d.]+)", column):
                tables[table[1]].setdefault(table[2], {})[float(table[3]) / 100] = values
            elif one := re.fullmatch(rf"({'|'.join(_COLUMNS)})_(.+)", column):
                columns[one[1]][one[2]] = values
        shares = tuple(sorted({share for by in tables["without"].values() for share in by}))
        known: dict[str, Any] = {name: frame[name].to_numpy() for name in _PLAIN}
        for kind, named in tables.items():
            known[kind] = {name: np.stack([by[share] for share in shares], 1) for name, by in named.items()}
        return cls(shares=shares, **known, **columns)  # type: ignore[arg-type]  # by name, as `to_frame` wrote

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Several batches as one."""
        import pandas

        return cls.from_frame(pandas.concat([part.to_frame() for part in parts], ignore_index=True))


def word_erasures(
    subject: Subject,
    batch: Batch,
    rankings: Sequence[str] | None = None,
    *,
    own: "Mapping[str, Ranking | ArrayLike | Tensor] | None" = None,
    shares: Sequence[float] = SHARES,
    how: str = "delete",
    samples: int = SAMPLES,
    subsets: int = SUBSETS,
    draws: int = 0,
    until_flip: bool = False,
    seed: int = 0,
    places: int = PLACES,
    reader: Reader | None = None,
) -> WordErasures:
    """Take out the top words of each ranking at each share, by "delete" or "unknown", and read again.

    `rankings` are names, by default all that the subject can have but LIME; `own` are a user's by name.
    `subsets` random deletions measure infidelity (0: do not), `draws` noisy texts sensitivity. `until_flip`
    also takes out words one by one until the decision flips. All chance belongs to the seed and to
    `batch.rows`. A `reader` of the batch, where there is one, saves reading it anew.

    Example: `heedful.word_erasures(run.model, run.model.encode(texts), ["attention", "random"])`
    """
    shares = _checked(shares)
    reader = Reader(subject, batch, how=how, places=places) if reader is None else reader
    names = rankings_of_words(reader, rankings)
    own = dict(own or {})
    check_own_names(own, names)
    reader, own = _of_read_words(reader, own)
    batch = reader.batch
    ranked = {
        name: _ranked(reader, own.get(name, name), samples=samples, seed=seed) for name in [*names, *own]
    }

    # All variants are read in one go, so that equal ones are read once and like lengths together.
    counts = batch.mask.sum(1)
    tops = torch.stack([_top(counts, share) for share in shares])  # (C,B)
    ranks = torch.stack([rank_of(order) for found in ranked.values() for order in found.orders])
    top = (ranks[:, None] < tops[..., None]).flatten(0, 1)  # (O·C,B,T), O orders
    removed = random_subsets(batch, samples=subsets, seed=seed)
    logits = reader.without(torch.cat([top, ~top, removed]))
    whole = reader.chance(reader.logits)
    without, only, moved = (whole - reader.chance(logits)).split([len(top), len(top), subsets])
    flips = (decisions(logits[: len(top)]) != reader.decided).double()

    several = in_numpy(counts > 1)
    sizes = [len(found.orders) for found in ranked.values()]

    def table(values: Tensor) -> dict[str, Floats]:
        by_ranking = values.unflatten(0, (-1, len(shares))).split(sizes)  # (O,C,B) each
        return {name: _where(several, own_.mean(0).T) for name, own_ in zip(ranked, by_ranking, strict=True)}

    measured: dict[str, dict[str, Floats]] = {kind: {} for kind in _COLUMNS}
    for name, found in ranked.items():
        if found.doubt is not None:
            measured["doubt"][name] = in_numpy(found.doubt.double())
        if subsets:
            told = infidelity_of(found.scores, removed, moved)
            measured["infidelity"][name] = _where(several, told)
        given = own.get(name, name)
        if draws and name not in ("random", "shuffled") and (isinstance(given, str) or callable(given)):
            shaken = sensitivity(subject, batch, given, draws=draws, how=how, seed=seed)
            measured["sensitivity"][name] = _where(several, shaken)
        if until_flip and name != "random":
            measured["until_flip"][name] = _where(several, reader.first_flips(found.orders[0]).double())
    return WordErasures(
        instance=np.asarray(batch.rows),
        words=in_numpy(counts),
        decided=in_numpy(reader.decided),
        probability=in_numpy(whole),
        shares=shares,
        without=table(without),
        only=table(only),
        flips=table(flips),
        **measured,
    )


@dataclass(frozen=True, eq=False)
class _Ranked:
    scores: Tensor  # (B,T)
    orders: list[Tensor]  # (B,T); several of the random ranking
    doubt: Tensor | None = None  # (B,)


def _ranked(
    reader: Reader, ranking: "str | Ranking | ArrayLike | Tensor", *, samples: int, seed: int
) -> _Ranked:
    batch = reader.batch
    if isinstance(ranking, str) and ranking == "random":
        drawn = [random(reader, seed=seed, sample=sample) for sample in range(samples)]
        return _Ranked(drawn[0], [word_order(draw, batch, seed=seed) for draw in drawn])
    found = scores_with(reader, ranking, seed=seed)
    scores, doubt = (found.scores, found.doubt) if isinstance(found, Doubted) else (found, None)
    return _Ranked(scores, [word_order(scores, batch, seed=seed)], doubt)


def _checked(shares: Sequence[float]) -> tuple[float, ...]:
    if not shares or any(not 0 < share <= 1 for share in shares):
        raise UserError(f"Shares of the words lie above 0 and up to 1, such as 0.05, and these are {shares}.")
    return tuple(sorted(shares))


def _top(counts: Tensor, share: float) -> Tensor:
    """⌈share · n⌉ for each n (B,); what is a whole number but for rounding stays it."""
    return (share * counts.double() - 1e-9).ceil().long().clamp(min=1)


def _where(several: Bools, values: Tensor) -> Floats:
    """The values (B,) or (B,C) of instances with two words or more, NaN for the others."""
    return np.where(several if values.dim() == 1 else several[:, None], in_numpy(values), np.nan)


def _of_read_words(
    reader: Reader, own: "dict[str, Ranking | ArrayLike | Tensor]"
) -> "tuple[Reader, dict[str, Ranking | ArrayLike | Tensor]]":
    """A reader of the texts without the words that are not read; arrays of scores lose them too."""
    batch = reader.batch
    # The reader may know its attention already, or need it soon.
    seen = gives(reader.subject, "attention")
    read = reader.attention[1] if seen else words_read(reader.subject, batch)
    unread = batch.mask & ~read
    if not unread.any():
        return reader, own
    order = torch.where(read, 0, 1).argsort(dim=1, stable=True)
    length = int(read.sum(1).max())

    def moved(scores: "Ranking | ArrayLike | Tensor") -> "Ranking | Tensor":
        if callable(scores):
            return scores
        given = torch.as_tensor(scores)
        if given.shape != batch.mask.shape:
            raise UserError(
                f"A ranking of these words needs one score for each, {tuple(batch.mask.shape)}, "
                f"but has {tuple(given.shape)}."
            )
        return given.gather(1, order)[:, :length]

    rest = Reader(reader.subject, delete_words(batch, unread), how=reader.how, places=reader.places)
    return rest, {name: moved(scores) for name, scores in own.items()}
