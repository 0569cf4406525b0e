"""Every layer and head of a transformer: what its attention predicts, and what its top word does there.

Two questions to each head, and to each layer as a whole (the mean of its heads):

- Skill: how well its attention to the words, from the deciding position, predicts what deleting words does
  (`heat_map`): 0 is a blank map, 1 the best that any map can do.
- Erased: how far the log-odds of the decided class fall when the word it attends to most is erased from this
  head alone, its weight shared out among the rest; beside it the same with another word, drawn by chance.

Many heads are looked at, so the least p-values mean little: they are adjusted for all cells of the grid
(Benjamini & Hochberg, 1995).

Axes: B texts, T words, N layers, C columns (R heads and the whole layer), G texts of equal length, L pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.transformers.pieces import Group
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.models.word_attention import words_read
from heedful.records.interval import Estimate, benjamini_hochberg
from heedful.records.ratios import Ratios, ratios
from heedful.trials.erasure.deletion import delete_words
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.heat_map import effects_of
from heedful.trials.erasure.random_deletions import MOST, PER_WORD, read_deletions
from heedful.trials.erasure.rereading import Reader, log_odds
from heedful.trials.rankings.chance import chance_of

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]
_SAMPLE = -(2**25)  # of the seeded chance that draws the other word


@dataclass(frozen=True, eq=False)
class HeadRows:
    """What was measured on each text; the last column is the whole layer."""

    gain: Floats  # (B,N,C) what the map tells more than a blank one
    room: Floats  # (B,) what the best map would
    fall: Floats  # (B,N,C) of the log-odds without the head's first word there
    beside: Floats  # (B,N,C) and without another word

    @staticmethod
    def joined(parts: "Sequence[HeadRows]") -> "HeadRows":
        """Several batches as one."""
        fields = ("gain", "room", "fall", "beside")
        return HeadRows(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


@dataclass(frozen=True, eq=False)
class HeadGrid:
    """Skill and erasure of each layer (N) and column (C), with intervals and adjusted p-values."""

    texts: int
    skill: list[list[Estimate]]
    skill_adjusted: Floats  # (N,C)
    erased: list[list[Estimate]]  # fall minus beside
    erased_adjusted: Floats  # (N,C)

    def to_frame(self) -> "pandas.DataFrame":
        """One row per head, counted from 1; head 0 is the whole layer."""
        import pandas

        rows = []
        for layer, (skills, falls) in enumerate(zip(self.skill, self.erased, strict=True)):
            for column, (skill, fall) in enumerate(zip(skills, falls, strict=True)):
                rows.append(
                    {
                        "layer": layer + 1,
                        "head": (column + 1) % len(skills),
                        **_cells("skill", skill, self.skill_adjusted[layer, column]),
                        **_cells("erased", fall, self.erased_adjusted[layer, column]),
                    }
                )
        return pandas.DataFrame(rows)


def _cells(name: str, found: Estimate, adjusted: float) -> dict[str, float]:
    assert found.interval is not None
    low, high = found.interval.low, found.interval.high
    return {name: found.value, f"{name}_low": low, f"{name}_high": high, f"{name}_adjusted": float(adjusted)}


def check_heads(subject: object) -> TransformerSubject:
    """Refuse a subject whose layers and heads cannot be asked one by one."""
    if not isinstance(subject, TransformerSubject) or subject.entry is None:
        raise UserError("Layers and heads are those of a transformer whose attention can be changed.")
    config = subject.network.config
    if getattr(config, "is_encoder_decoder", False) or not getattr(subject.network, "single", True):
        raise UserError("Layers and heads are asked where one pass goes from a text to itself, and not here.")
    return subject


@torch.no_grad()
def head_rows(
    subject: TransformerSubject,
    batch: Batch,
    *,
    per_word: int = PER_WORD,
    most: int = MOST,
    seed: int = 0,
) -> HeadRows:
    """Ask every head about each text; texts of one word have nothing to compare, and are left out."""
    unread = batch.mask & ~words_read(subject, batch)
    reader = Reader(subject, delete_words(batch, unread) if unread.any() else batch)
    batch = reader.batch
    subject.refuse_too_long(batch)
    maps = head_maps(subject, batch)  # (B,N,C,T)
    texts = np.flatnonzero(batch.mask.sum(1).cpu().numpy() > 1)
    gain, room = np.zeros(maps.shape[:3]), np.zeros(len(batch))
    for found in read_deletions(reader, per_word=per_word, most=most, seed=seed):
        rows = torch.from_numpy(found.rows)
        mask = batch.mask.cpu()[rows]
        effects = effects_of(found, mask)
        blank = effects.told(mask.double(), mask)
        room[found.rows] = effects.size - blank
        for layer in range(maps.shape[1]):
            for column in range(maps.shape[2]):
                told = effects.told(maps[rows, layer, column].cpu(), mask)
                gain[found.rows, layer, column] = told - blank
    lots = torch.from_numpy(chance_of(batch, seed, sample=_SAMPLE)).to(maps)
    first = maps.masked_fill(~batch.mask[:, None, None], -1).argmax(-1)  # (B,N,C)
    other = _another(first, lots, batch.mask)
    fall = _falls(subject, batch, first)
    beside = _falls(subject, batch, other)
    return HeadRows(gain[texts], room[texts], fall[texts], beside[texts])


@torch.no_grad()
def head_maps(subject: TransformerSubject, batch: Batch) -> Tensor:
    """The attention (B,N,C,T) to each word from the deciding position, by layer and head, and their mean."""
    found: Tensor | None = None
    assert subject.entry is not None
    for group in subject.groups(batch):
        layers: list[Tensor] = []

        def keep(call: Call, layers: list[Tensor] = layers) -> None:
            rows = subject.deciding(call.weights)  # (G,R,L)
            layers.append(torch.cat([rows, rows.mean(1, keepdim=True)], dim=1))

        with subject.entry.way.tapped(subject.network, keep):
            subject.runner(group.inputs)
        belongs = group.belongs(batch.mask.shape[1])
        own = torch.einsum("gncl,gtl->gnct", torch.stack(layers, dim=1), belongs)
        found = own.new_zeros(len(batch), *own.shape[1:]) if found is None else found
        found[group.rows] = own
    assert found is not None
    return found.double()


def _another(first: Tensor, lots: Tensor, mask: Tensor) -> Tensor:
    """A word (B,N,C) other than the first, by these lots (B,T): the same for all heads, if it can be."""
    order = lots.masked_fill(~mask, 2).argsort(1)  # (B,T) words first, by their lots
    one, two = (order[:, place, None, None].expand_as(first) for place in (0, min(1, order.shape[1] - 1)))
    return torch.where(one == first, two, one)


def _falls(subject: TransformerSubject, batch: Batch, words: Tensor) -> Floats:
    """How far the log-odds fall (B,N,C) when each head loses its word `words` (B,N,C), one head at a time."""
    found = np.zeros(tuple(words.shape))
    heads = words.shape[2] - 1
    for group in subject.groups(batch):
        whole = two_sided(subject.runner.logits(group.inputs)).double()
        decided = whole.argmax(-1)
        lead = log_odds(whole, decided)
        belongs = group.belongs(batch.mask.shape[1])
        texts = torch.arange(len(belongs), device=belongs.device)
        for layer in range(words.shape[1]):
            for column in range(words.shape[2]):
                left = 1 - belongs[texts, words[group.rows, layer, column]]  # (G,L)
                chosen = slice(None) if column == heads else slice(column, column + 1)
                logits = two_sided(_without(subject, group, layer, chosen, left)).double()
                fall = lead - log_odds(logits, decided)
                found[group.rows.cpu().numpy(), layer, column] = fall.cpu().numpy()
    return found


def _without(subject: TransformerSubject, group: Group, layer: int, heads: slice, left: Tensor) -> Tensor:
    """The logits when these heads of a layer give what is not `left` (G,L) no weight, and share it out."""
    assert subject.entry is not None

    def erase(call: Call) -> Tensor | None:
        if call.number != layer:
            return None
        weights = call.weights.clone()
        kept = weights[:, heads] * left[:, None, None].to(weights.dtype)
        total = kept.sum(-1, keepdim=True)
        weights[:, heads] = torch.where(total > 0, kept / total.where(total > 0, 1), 0)
        return weights

    with subject.entry.way.tapped(subject.network, erase):
        found: Tensor = subject.runner(group.inputs).logits
    return found


def head_grid(rows: HeadRows, *, seed: int = 0) -> HeadGrid:
    """The grid of what was measured, over texts."""
    count, layers, columns = rows.gain.shape
    if count < 2:
        raise UserError(f"A grid of heads needs texts of two words or more, and there are {count}.")
    skill = ratios(rows.gain.reshape(count, -1), rows.room, seed=seed)
    erased = ratios((rows.fall - rows.beside).reshape(count, -1), np.ones(count), seed=seed)

    def table(found: Ratios) -> list[list[Estimate]]:
        cells = [found.estimate(cell) for cell in range(layers * columns)]
        return [cells[layer * columns : (layer + 1) * columns] for layer in range(layers)]

    shape = (layers, columns)
    return HeadGrid(
        texts=count,
        skill=table(skill),
        skill_adjusted=_adjusted(skill).reshape(shape),
        erased=table(erased),
        erased_adjusted=_adjusted(erased).reshape(shape),
    )


def _adjusted(found: Ratios) -> Floats:
    """Two-sided bootstrap p-values of each ratio against 0, adjusted for all of them."""
    draws = found.draws
    tails = np.minimum((draws <= 0).sum(0), (draws >= 0).sum(0))
    return benjamini_hochberg(np.minimum(1.0, 2 * (tails + 1) / (len(draws) + 1)))
