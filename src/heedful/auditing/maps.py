"""What each way to paint a text's words predicts of random deletions: one row per text.

All maps of a text are judged by the same deletions (`trials.erasure.heat_map`). Words that the subject does
not read are deleted first, so that every measure sees the same words.

Columns: decided, words, reads (changed texts that were read). Of the deletions: size ‖φ‖, blank ⟨û,φ⟩ with
lent signs, blank_signed without, limit (what a map of the effects themselves reaches), variance, explained
(the part of it that any map of words can show) and lost (the share that lose the decision). Of words read
alone: alone, the share that keep the decision; of no word at all: nothing, the probability of the decision.
Of both: decides, whether some word surely changes the probability, or suffices alone. With `halves`: halves,
the cosine of the effects of two halves of the deletions. Of each map: told_NAME with lent signs, signed_NAME
with its own, paint_NAME, the share of its paint on live words, first_NAME, whether its strongest word is
live, and against_NAME, the share of its paint on words that surely speak against the decision. Live words
are told by the deletions, or where these cannot, by words read alone if one of them suffices; elsewhere paint
and first are unknown. Texts of one word have nothing to compare: none of this is known.

Where maps are kept for browsing, LIME and Shapley values stand beside them (map_NAME and error_NAME), from
the same deletions, where a text has no more words than those: else they have nothing to be told from. What
was fitted to deletions predicts them too well, so some texts are judged by each quarter of the deletions
after a fit to the others: fitted_told_NAME with lent signs, fitted_signed_NAME with its own.

Axes: B texts, T words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.names import shown_names
from heedful.data.batches import Batch
from heedful.models.subject import Subject, traceable
from heedful.models.word_attention import words_read
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.heat_map import (
    SPREAD,
    Effects,
    effects_of,
    first_on,
    halves_agree,
    paint_on,
    surely,
)
from heedful.trials.erasure.random_deletions import MOST, PER_WORD, Dealt, Deletions, deal, read_dealt
from heedful.trials.erasure.rereading import Reader
from heedful.trials.erasure.words_alone import WordsAlone, read_alone
from heedful.trials.rankings.ranking import Ranking
from heedful.trials.rankings.regressions import (
    REGRESSIONS,
    lime_apart,
    lime_of,
    said_at_ends,
    shapley_apart,
    shapley_of,
)
from heedful.trials.rankings.word_gradients import Doubted
from heedful.trials.rankings.word_rankings import scores_with
from heedful.trials.stream import Trial

KINDS = ("told", "signed", "paint", "first", "against")
OF_TEXT = ("size", "blank", "blank_signed", "limit", "variance", "explained", "lost", "decides")


@dataclass(frozen=True)
class Maps:
    """Which maps are judged, and by how many deletions."""

    names: tuple[str, ...]  # of rankings; the one that people are shown is first
    own: Mapping[str, Ranking] = field(default_factory=dict)  # those that are not known by their name
    dear: frozenset[str] = frozenset()  # names that are tried on some of the texts only
    dear_rows: Collection[int] = ()  # the numbers of those texts
    hidden: int = 60  # texts whose words are hidden too
    hidden_beside: int = 60  # the same, where the reading does not rest on it
    per_word: int = PER_WORD
    most: int = MOST
    how: str = "delete"
    sample: int = 0  # another number draws other deletions
    halves: bool = False  # whether the effects of two halves of the deletions are compared
    keep: bool = False  # whether rows hold the maps themselves, map_NAME: a score for each word that is read

    @property
    def cheap(self) -> list[str]:
        """The maps that a person could be shown and that are not dear."""
        return [name for name in shown_names(self.names) if name not in self.dear]


def read_only(subject: Subject, batch: Batch, *, how: str = "delete") -> tuple[Reader, Tensor]:
    """A reader of the batch without the words that the subject does not read; and which it reads (B,T)."""
    read = words_read(subject, batch)
    unread = batch.mask & ~read
    kept = delete_words(batch, unread) if unread.any() else batch
    return Reader(subject, kept, how=how), read


def maps_trial(subject: Subject, maps: Maps, *, seed: int = 0) -> Trial:
    """Random deletions of each text, and what each map predicts of them."""

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        return map_rows(read_only(subject, batch, how=maps.how)[0], maps, seed=seed)

    return trial


def map_rows(reader: Reader, maps: Maps, *, seed: int = 0) -> pd.DataFrame:
    """The rows of the texts that a reader has."""
    mask = reader.batch.mask.cpu()
    count = len(mask)
    columns: dict[str, Any] = {name: np.full(count, np.nan) for name in OF_TEXT}
    reads = np.zeros(count, dtype=np.int64)
    dealt = deal(reader.batch, per_word=maps.per_word, most=maps.most, seed=seed, sample=maps.sample)
    if reader.can_read_ahead:
        dealt = iter(every := list(dealt))
        reader.read_ahead(_asked(reader.batch, maps, every))
    painted = paint(reader, maps, seed=seed)
    alone = read_alone(reader) if maps.how == "delete" else None
    # A text of one word has no deletions, and so no regression.
    unknown = torch.full(mask.shape, torch.nan, dtype=torch.float64)
    regressed = {f"{kind}_{name}": unknown.clone() for name in REGRESSIONS for kind in ("map", "error")}
    for name in painted:
        for kind in KINDS:
            columns[f"{kind}_{name}"] = np.full(count, np.nan)
    for found in (read_dealt(reader, one) for one in dealt):
        rows, here = found.rows, mask[torch.from_numpy(found.rows)]
        effects = effects_of(found, here)
        reads[rows] = found.said.shape[1]
        for name, values in _of_text(effects, here).items():
            columns[name][rows] = values
        columns["lost"][rows] = found.share_lost
        one = alone.take(rows) if alone else None
        columns["decides"][rows] = _decides(effects, here, one)
        if maps.halves:
            columns.setdefault("halves", np.full(count, np.nan))[rows] = halves_agree(found, here)
        live, known = _live(effects, one)
        if maps.keep:
            for name, own in _regressed(reader, found, here).items():
                regressed[name][rows] = own
            tried = np.isin(reader.batch.rows[rows], list(maps.dear_rows))
            for name, told in _fitted(reader, found, here, effects, torch.from_numpy(tried)).items():
                columns.setdefault(name, np.full(count, np.nan))[rows] = told
        for name, scores in painted.items():
            sizes = scores[torch.from_numpy(rows)]
            for kind, values in _of_map(effects, sizes, here, live, known).items():
                columns[f"{kind}_{name}"][rows] = values
    if maps.keep:
        kept = {**{f"map_{name}": scores for name, scores in painted.items()}, **regressed}
        for name, scores in kept.items():
            columns[name] = [scores[row][mask[row]].float().numpy() for row in range(count)]
    return pd.DataFrame(
        {
            "decided": reader.decided.cpu().numpy(),
            "words": mask.sum(1).numpy(),
            "reads": reads + (mask.sum(1).numpy() * alone.kept.isfinite().numpy() if alone else 0),
            "alone": alone.kept if alone else np.nan,
            "nothing": alone.nothing if alone else np.nan,
            **columns,
        }
    )


def _asked(batch: Batch, maps: Maps, dealt: Sequence[Dealt]) -> list[tuple[Tensor, Tensor]]:
    """All variants that are asked about: the whole texts, their deletions, words alone, and each left out."""
    mask = batch.mask.cpu()
    count, width = mask.shape
    every, one = torch.arange(count), torch.eye(width, dtype=torch.bool)
    asked = [(every, torch.zeros_like(mask))]
    for some in dealt:
        rows = torch.from_numpy(some.rows).repeat_interleave(some.kept.shape[1])
        asked.append((rows, ~some.kept.flatten(0, 1)))
    if maps.how == "delete":
        asked.append((every.repeat_interleave(width), (~one).repeat(count, 1)))
    if "leave-one-out" in maps.names:
        tried = "leave-one-out" not in maps.dear or _dear(batch, maps)
        text, word = (mask & torch.as_tensor(tried).view(-1, 1)).nonzero(as_tuple=True)
        asked.append((text, one[word]))
    return asked


def _dear(batch: Batch, maps: Maps) -> NDArray[np.bool_]:
    """Which texts (B,) dear maps are tried on."""
    return np.isin(batch.rows, list(maps.dear_rows))


def _regressed(reader: Reader, found: Deletions, mask: Tensor) -> dict[str, Tensor]:
    """LIME and Shapley values (B,T) of these texts, with their errors, from deletions that were read.

    Of texts with more words than deletions they are unknown: many values say the same of those.
    """
    names = [f"{kind}_{name}" for name in REGRESSIONS for kind in ("map", "error")]
    values = {name: torch.full(mask.shape, torch.nan, dtype=torch.float64) for name in names}
    few = mask.sum(1) <= found.said.shape[1]
    if few.any():
        some = found if few.all() else found.take(few)
        here = mask[few, : some.kept.shape[2]]
        ends = {name: value[torch.from_numpy(some.rows)] for name, value in said_at_ends(reader).items()}
        for name, own in (("lime", lime_of(some, here)), ("shapley", shapley_of(some, here, **ends))):
            values[f"map_{name}"][few, : here.shape[1]] = own.scores
            values[f"error_{name}"][few, : here.shape[1]] = own.errors
    return values


def _fitted(
    reader: Reader, found: Deletions, mask: Tensor, effects: Effects, tried: Tensor
) -> dict[str, Tensor]:
    """What LIME and Shapley values by three quarters of the deletions predict of the fourth, in turn.

    Of the texts (B,) that are tried and have more such deletions than words.
    """
    names = [f"fitted_{kind}_{name}" for name in REGRESSIONS for kind in ("told", "signed")]
    values = {name: torch.full((len(mask),), torch.nan, dtype=torch.float64) for name in names}
    few = tried & (4 * mask.sum(1) <= 3 * found.said.shape[1])
    if few.any():
        some = found.take(few)
        here = mask[few, : some.kept.shape[2]]
        own = effects.take(few, here.shape[1])
        ends = {name: value[torch.from_numpy(some.rows)] for name, value in said_at_ends(reader).items()}
        for name, scores in (
            ("lime", lime_apart(some, here)),
            ("shapley", shapley_apart(some, here, **ends)),
        ):
            values[f"fitted_told_{name}"][few] = own.told_fitted(scores, here, signed=False)
            values[f"fitted_signed_{name}"][few] = own.told_fitted(scores, here, signed=True)
    return values


def paint(reader: Reader, maps: Maps, *, seed: int = 0) -> dict[str, Tensor]:
    """The scores (B,T) of each map, on padding 0; dear ones are not a number where they are not tried."""
    mask = reader.batch.mask
    tried = _dear(reader.batch, maps)
    found: dict[str, Tensor] = {}
    for name in maps.names:
        if name not in maps.dear:
            found[name] = _scores(reader, maps.own.get(name, name), seed)
            continue
        scores = torch.full(mask.shape, torch.nan, dtype=torch.float64)
        if tried.any():
            places = torch.from_numpy(np.flatnonzero(tried)).to(mask.device)
            some = delete_words(reader.batch, torch.zeros_like(mask[places]), of=places)
            few = Reader(reader.subject, some, how=reader.how)
            few.known = reader.known
            part = _scores(few, maps.own.get(name, name), seed)
            scores[places.cpu()] = torch.nn.functional.pad(part, (0, mask.shape[1] - part.shape[1]))
        found[name] = scores
    return found


def _scores(reader: Reader, ranking: "str | Ranking", seed: int) -> Tensor:
    # Of texts too long for their attention to be looked at a ranking may say nothing.
    known = traceable(reader.subject, reader.batch, every=True)
    scores = scores_with(reader, ranking, seed=seed, known=known)
    plain = scores.scores if isinstance(scores, Doubted) else scores
    return plain.double().cpu() * reader.batch.mask.cpu()


def _of_text(effects: Effects, mask: Tensor) -> dict[str, Tensor]:
    blank = mask.double()
    return {
        "size": effects.size,
        "blank": effects.told(blank, mask),
        "blank_signed": effects.told_signed(blank, mask),
        "limit": effects.limit(),
        "variance": effects.variance,
        "explained": SPREAD * effects.square,
    }


def _decides(effects: Effects, mask: Tensor, alone: WordsAlone | None) -> Tensor:
    """Whether (B,) a single word surely does something, or one alone would suffice."""
    found = surely(effects.mean, effects.error[:, None], mask).any(1)
    return found if alone is None else found | alone.suffice


def _live(effects: Effects, alone: WordsAlone | None) -> tuple[Tensor, Tensor]:
    """Words (B,T) that matter, by deletions or read alone; and the texts (B,) in which they can be told."""
    told = effects.told_apart
    if alone is None:
        return effects.live, told
    return torch.where(told[:, None], effects.live, alone.live), told | alone.suffice


def _of_map(effects: Effects, sizes: Tensor, mask: Tensor, live: Tensor, known: Tensor) -> dict[str, Tensor]:
    told = effects.told(sizes, mask)
    tried = ~told.isnan()
    return {
        "told": told,
        "signed": effects.told_signed(sizes, mask),
        "paint": paint_on(live, sizes).where(known & tried, torch.nan),
        "first": first_on(live, sizes, mask).where(known & tried, torch.nan),
        "against": effects.against(sizes).where(tried, torch.nan),
    }
