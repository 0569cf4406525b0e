"""What each word does to the probability of the decision, measured on its own text, with its error.

Two ways, both in probability. *deletions*: the mean change that the word makes in random deletions of the
others, φ of `trials.erasure.heat_map`, estimated with a standard error. *leave-one-out*: the fall when
the word alone is taken out of the whole text; a model answers alike each time, so it has no error, but
it is blind to words of which each would suffice.

The estimate of φ needs a first guess g of the effects, be it anything that does not know the deletions:
φ = g + Σ (f − g·z̃) z̃ / Σ p(1 − p) is right whatever the guess, and the better it is the smaller the error.
Here it is leave-one-out in log-odds and, of a linear head, what each word contributes, both stretched to fit.
Deletions come in mirrored pairs, which are not independent of each other, so the error is taken over pairs.

Axes: B texts, M deletions, R pairs of them, G guesses, T words.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from heedful.errors import UserError, choose_from
from heedful.trials.erasure.heat_map import SPREAD, effects_of
from heedful.trials.erasure.random_deletions import (
    CHANCES,
    HALVES,
    LONGEST,
    PARTS,
    TIMES,
    Deletions,
    read_deletions,
)
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.word_rankings import contribution, leave_one_out

Way = Literal["deletions", "leave-one-out"]
WAYS: tuple[Way, ...] = ("deletions", "leave-one-out")
PER_WORD, PER_WORD_AGAIN = 16, 8  # deletions for each word: where they are products, and where each is read
HELD = 2**24  # entries of the deletions' matrices held at once


@dataclass(frozen=True, eq=False)
class Strengths:
    """The change (B,T) that each word makes to the decision's probability, and its error; 0 on padding."""

    effect: Tensor
    error: Tensor


def strengths(reader: Reader, way: str, *, seed: int = 0) -> Strengths:
    """What each word of these texts does, by one of the `WAYS`."""
    if choose_from("way to measure strength", way, WAYS) == "leave-one-out":
        return _falls(reader)
    mask = reader.batch.mask.cpu()
    if (longest := int(mask.sum(1).max())) > LONGEST:
        raise UserError(
            f"A text of {longest:,} words has no random deletions, which go up to {LONGEST:,}: cut it, or "
            "take --strength leave-one-out."
        )
    found = _falls(reader) if (mask.sum(1) == 1).any() else None  # one word: nothing else to delete
    effect = torch.zeros(mask.shape, dtype=torch.float64) if found is None else found.effect.clone()
    error = torch.zeros_like(effect)
    guess = _guesses(reader) if reader.closed else None
    per_word = PER_WORD if reader.closed else PER_WORD_AGAIN
    for deletions in read_deletions(reader, per_word=per_word, seed=seed):
        rows = torch.from_numpy(deletions.rows)
        if deletions.complete or guess is None:
            effects = effects_of(deletions, mask[rows])
            effect[rows], error[rows] = effects.mean, effects.error[:, None] * mask[rows]
        else:
            effect[rows], error[rows] = regressed(deletions, mask[rows], guess[rows])
    return Strengths(effect, error)


def regressed(found: Deletions, mask: Tensor, guess: Tensor) -> tuple[Tensor, Tensor]:
    """φ (B,T) and its standard error (B,T) from drawn deletions and guesses (B,G,T) of what words do."""
    at_once = max(1, HELD // (found.said.shape[1] * mask.shape[1]))
    parts = [
        _regressed(found.kept[rows], found.said[rows], mask[rows], guess[rows])
        for rows in torch.arange(len(mask)).split(at_once)
    ]
    effects, errors = zip(*parts, strict=True)
    return torch.cat(effects), torch.cat(errors)


def _regressed(kept: Tensor, said: Tensor, mask: Tensor, guess: Tensor) -> tuple[Tensor, Tensor]:
    count, many, words = kept.shape
    # As they were dealt out: (B, rounds, times, halves, quarters, p). The second time mirrors the first.
    shape = (count, -1, TIMES, HALVES, PARTS, len(CHANCES))
    chance = torch.tensor(CHANCES)[:, None]
    first = kept.view(*shape, words)[:, :, 0].float() - chance  # the mirror's is −first, p by p from the end
    first = (first * mask[:, None, None, None, None]).flatten(1, 4)  # (B,R,T)
    f = said.view(shape)
    f = f - f.mean((1, 2, 3, 4), keepdim=True)
    # Half the difference of a pair: what both words and mirror say alike cancels.
    odd = ((f[:, :, 0] - f[:, :, 1].flip(-1)) / 2).flatten(1).float()  # (B,R)
    told = torch.einsum("brt,bgt->brg", first, guess.float())
    gram = (told.mT @ told).double()
    # A trifle of ridge: guesses may say the same, or nothing.
    trifle = 1e-6 * gram.diagonal(dim1=1, dim2=2).sum(1) + 1e-12
    gram = gram + trifle[:, None, None] * torch.eye(gram.shape[2], dtype=gram.dtype)
    stretch = torch.linalg.solve(gram, (told.mT @ odd[..., None]).double())  # (B,G,1)
    left = odd - (told @ stretch.float())[..., 0]
    weight = SPREAD * (many // TIMES)
    fitted = (stretch * guess).sum(1)
    effect = fitted + torch.einsum("brt,br->bt", first, left).double() / weight
    square = torch.einsum("brt,br->bt", first.square(), left.square()).double()
    return effect * mask, square.sqrt() / weight * mask


def _guesses(reader: Reader) -> Tensor:
    """What words seem to do (B,G,T), each guess of length 1 in a text."""
    guesses = [leave_one_out(reader)]
    if reader.trace.linear is not None:
        guesses.append(contribution(reader))
    found = torch.stack([guess.double().cpu() for guess in guesses], dim=1)
    length: Tensor = found.norm(dim=2, keepdim=True)
    return found / length.clamp(min=1e-12)


def _falls(reader: Reader) -> Strengths:
    """How far the probability of the decision falls when a word alone is taken out."""
    whole = reader.chance(reader.logits)[:, None]
    without = reader.chance(reader.each_out().transpose(0, 1)).T
    effect = (whole - without).masked_fill(~reader.batch.mask, 0).double().cpu()
    return Strengths(effect, torch.zeros_like(effect))
