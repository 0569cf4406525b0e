"""LIME and Shapley values by regression on random deletions that were read already; and LIME with its own.

Both are a linear model of what the subject says, told from which words stay; they differ in how much a
deletion counts by the number s of the n words that stay. LIME (Ribeiro et al., 2016) draws s evenly and
counts what is near the whole text, with a ridge. The Shapley values are the regression whose kernel is
1 / (s (n − s)) for each s together, and whose scores add up to f(all) − f(none) (Lundberg & Lee, 2017).
Random deletions come with other chances: each counts by the chance that is wanted over the one it had.

Standard errors are those of weighted regression with the deletion and its mirror as one draw (a sandwich).
A text that was read in all its parts has its exact Shapley values, and errors of 0.

`lime` draws and reads its own deletions. Texts count by how near they are: √exp(−d²/25²), with d the cosine
distance to the whole text in hundredths. Unlike the published program, each place of a word is taken out by
itself, and a text always keeps one word.

Axes: B texts, M deletions, T words.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.trials.erasure.random_deletions import (
    CHANCES,
    HALVES,
    PARTS,
    TIMES,
    UNIT,
    Deletions,
    read_deletions,
)
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.chance import chance_of
from heedful.trials.rankings.word_gradients import Doubted

REGRESSIONS = ("lime", "shapley")
OTHER = 2**20  # deletions that no judge draws: what is judged must not have seen them
LONGEST = 2**12  # words of a text whose values are wanted: the products of all pairs are held
TINY = 1e-9  # of the mean weight of a word: keeps texts with fewer deletions than words solvable


@dataclass(frozen=True, eq=False)
class Regressed:
    """Scores (B,T) of words with their standard errors (B,T); 0 on padding."""

    scores: Tensor
    errors: Tensor


def shapley(reader: Reader, *, samples: int = 3 * UNIT, seed: int = 0) -> Doubted:
    """The Shapley values (B,T) of the probability of the decided class, from about so many deletions a text.

    The doubt is the mean standard error of a word's value.
    """
    if samples < UNIT:
        raise UserError(f"Shapley values need at least {UNIT} random deletions of a text, and got {samples}.")
    mask = reader.batch.mask.cpu()
    if (longest := int(mask.sum(1).max())) > LONGEST:
        raise UserError(
            f"Shapley values are told from products of words, for at most {LONGEST:,} in a text, and one has "
            f"{longest:,}: cut it, or take another ranking."
        )
    ends = said_at_ends(reader)
    scores, errors = (torch.zeros(mask.shape, dtype=torch.float64) for _ in range(2))
    scores[:, 0] = ends["whole"] - ends["nothing"]  # of texts of one word, which have no deletions
    for found in read_deletions(reader, per_word=samples, most=samples, seed=seed, sample=OTHER):
        rows = torch.from_numpy(found.rows)
        own = shapley_of(found, mask[rows], **{name: value[rows] for name, value in ends.items()})
        scores[rows], errors[rows] = own.scores, own.errors
    device = reader.batch.mask.device
    doubt = errors.sum(1) / mask.sum(1)
    return Doubted(scores.to(device), doubt.to(device), "the mean standard error of a word's value")


def said_at_ends(reader: Reader) -> dict[str, Tensor]:
    """The probability (B,) of the decided class: of the whole texts, and of nothing left."""
    whole = reader.chance(reader.logits).double().cpu()
    nothing = reader.chance(reader.nothing.expand_as(reader.logits)).double().cpu()
    return {"whole": whole, "nothing": nothing}


def lime_of(found: Deletions, mask: Tensor) -> Regressed:
    """LIME's weights of the words of these texts, `mask` (B,T) as `found.rows` has them."""
    there = found.kept.double()
    stay, words = there.sum(2), mask.sum(1, keepdim=True)
    drawn = ((stay > 0) & (stay < words)).double() / (words - 1)  # evenly over sizes
    weights = _mean_one(_by_chance(found, words, drawn) * kernel(stay / words))
    total = weights.sum(1, keepdim=True)
    counted = weights[..., None] * there
    centre = counted.sum(1) / total
    said = found.said - (weights * found.said).sum(1, keepdim=True) / total
    gram = counted.mT @ there - total[..., None] * centre[..., None] * centre[:, None]
    inverse = _inverse(gram + RIDGE * _eye(mask))
    scores = _times(inverse, _times(counted.mT, said))
    left = said - _times(there, scores) + (centre * scores).sum(1, keepdim=True)
    return _with_errors(found, scores, inverse, (weights * left)[..., None] * (there - centre[:, None]), mask)


def shapley_of(found: Deletions, mask: Tensor, *, whole: Tensor, nothing: Tensor) -> Regressed:
    """The Shapley values of the words; what is said of the `whole` texts (B,) and of `nothing` left (B,)."""
    there = found.kept.double()
    stay, words = there.sum(2), mask.sum(1, keepdim=True)
    inner = (stay > 0) & (stay < words)
    wanted = torch.where(inner, 1 / (stay * (words - stay)).where(inner, 1), 0.0)
    weights = _mean_one(_by_chance(found, words, wanted))
    counted = weights[..., None] * there
    gram = counted.mT @ there
    slack = TINY * gram.diagonal(dim1=1, dim2=2).sum(1)[:, None, None] + torch.finfo(gram.dtype).tiny
    # Padding has no deletions: a 1 in its place leaves it out.
    inverse = _inverse(gram + slack * _eye(mask) + torch.diag_embed((~mask).double()))
    inverse = inverse * mask[:, None] * mask[..., None]
    free = _times(inverse, _times(counted.mT, found.said - nothing[:, None]))
    ones = inverse.sum(2)
    share = ones / ones.sum(1, keepdim=True)
    scores = free + share * (whole - nothing - free.sum(1))[:, None]  # they add up
    left = found.said - nothing[:, None] - _times(there, scores)
    inverse = inverse - share[..., None] * ones[:, None]  # moves that keep the sum
    return _with_errors(found, scores, inverse, left[..., None] * counted, mask)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Of weights w, kept words z and what is said f, over all quarters but one: (B,S,...)."""

    weight: Tensor  # Σ w (B,S)
    there: Tensor  # Σ w z (B,S,T)
    said: Tensor  # Σ w f (B,S)
    both: Tensor  # Σ w z f (B,S,T)
    gram: Tensor  # Σ w z z (B,S,T,T)
    count: int  # deletions


def lime_apart(found: Deletions, mask: Tensor) -> Tensor:
    """LIME's weights (S,B,T), as `lime_of` has them, by the deletions outside each quarter."""
    stay, words = found.kept.double().sum(2), mask.sum(1, keepdim=True)
    drawn = ((stay > 0) & (stay < words)).double() / (words - 1)
    sums = _outside_quarters(found, _by_chance(found, words, drawn) * kernel(stay / words))
    total = sums.weight[..., None]
    centred = sums.gram - sums.there[..., None] * sums.there[..., None, :] / total[..., None]
    products = sums.both - sums.there * sums.said[..., None] / total
    each = sums.count / total  # a deletion has the weight 1 on average
    factor = torch.linalg.cholesky(each[..., None] * centred + RIDGE * _eye(mask))
    scores = torch.cholesky_solve((each * products)[..., None], factor)[..., 0]
    return (scores * mask[:, None]).transpose(0, 1)


def shapley_apart(found: Deletions, mask: Tensor, *, whole: Tensor, nothing: Tensor) -> Tensor:
    """The Shapley values (S,B,T), as `shapley_of` has them, by the deletions outside each quarter."""
    stay, words = found.kept.double().sum(2), mask.sum(1, keepdim=True)
    inner = (stay > 0) & (stay < words)
    wanted = torch.where(inner, 1 / (stay * (words - stay)).where(inner, 1), 0.0)
    sums = _outside_quarters(found, _mean_one(_by_chance(found, words, wanted)))
    slack = TINY * sums.gram.diagonal(dim1=2, dim2=3).sum(2)[..., None, None]
    slack = slack + torch.finfo(slack.dtype).tiny
    factor = torch.linalg.cholesky(
        sums.gram + slack * _eye(mask) + torch.diag_embed((~mask).double())[:, None]
    )
    there = mask[:, None].expand_as(sums.both).double()
    sides = torch.stack([sums.both - nothing[:, None, None] * sums.there, there], dim=-1)
    free, ones = torch.cholesky_solve(sides, factor).unbind(-1)
    free, ones = free * there, ones * there
    share = ones / ones.sum(-1, keepdim=True)
    scores = free + share * ((whole - nothing)[:, None] - free.sum(-1))[..., None]
    return scores.transpose(0, 1)


def _outside_quarters(found: Deletions, weights: Tensor) -> _Sums:
    """The sums over all deletions but those of each quarter; over all, where all parts were read."""
    parts = 1 if found.complete else PARTS
    shape = (len(weights), -1, parts, 1 if found.complete else len(CHANCES))

    def dealt(values: Tensor) -> Tensor:
        return values.reshape(*shape, *values.shape[2:]).transpose(1, 2).flatten(2, 3)  # (B,S,·,...)

    w, f, z = dealt(weights), dealt(found.said), dealt(found.kept.double())
    counted = w[..., None] * z
    sums = (w.sum(2), counted.sum(2), (w * f).sum(2), (counted.mT @ f[..., None])[..., 0], counted.mT @ z)
    left = weights.shape[1] - (0 if found.complete else weights.shape[1] // parts)
    if not found.complete:
        sums = tuple(each.sum(1, keepdim=True) - each for each in sums)  # type: ignore[assignment]
    return _Sums(*sums, count=left)


def _by_chance(found: Deletions, words: Tensor, wanted: Tensor) -> Tensor:
    """How much each deletion (B,M) counts where sizes are `wanted` (B,M) this often, sets of one alike."""
    stay = found.kept.sum(2).double()
    ways = torch.lgamma(words + 1.0) - torch.lgamma(stay + 1) - torch.lgamma(words - stay + 1)
    if found.complete:
        return wanted * (-ways).exp()
    logs = [stay * torch.tensor(p).log() + (words - stay) * torch.tensor(1 - p).log() for p in CHANCES]
    had = torch.logsumexp(torch.stack(logs).double(), 0) + ways
    return wanted * (-had).exp()


def _with_errors(found: Deletions, scores: Tensor, inverse: Tensor, pulls: Tensor, mask: Tensor) -> Regressed:
    """The scores with errors from how far each deletion (B,M,T) pulls at them."""
    scores = scores * mask
    if found.complete:
        return Regressed(scores, torch.zeros_like(scores))
    dealt = pulls.unflatten(1, (-1, TIMES, HALVES, PARTS, len(CHANCES)))
    pairs = (dealt[:, :, 0] + dealt[:, :, 1].flip(4)).flatten(1, 4)  # with its mirror
    moved = pairs @ inverse.mT
    spare = pairs.shape[1] - mask.sum(1, keepdim=True)
    errors = (moved.square().sum(1) * pairs.shape[1] / spare.clamp(min=1)).sqrt()
    return Regressed(scores, errors * mask)


def _mean_one(weights: Tensor) -> Tensor:
    return weights / weights.mean(1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)


def _times(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[..., None])[..., 0]


def _inverse(gram: Tensor) -> Tensor:
    """Of symmetric positive matrices: a third of the work that any matrix takes."""
    return torch.cholesky_inverse(torch.linalg.cholesky(gram))


def _eye(mask: Tensor) -> Tensor:
    return torch.eye(mask.shape[1], dtype=torch.float64)


WIDTH = 25.0  # of the kernel, in hundredths of cosine distance
RIDGE = 1.0


def lime(reader: Reader, *, samples: int = 256, seed: int = 0) -> Doubted:
    """The weight (B,T) of each word in the linear model; the doubt is the share it leaves unexplained."""
    if samples < 2:
        raise UserError(f"LIME needs at least two masked texts, better 256, and got {samples}.")
    batch = reader.batch
    gone = random_subsets(batch, samples=samples - 1, seed=seed)
    gone = torch.cat([torch.zeros_like(gone[:1]), gone])  # the whole text is one of them
    there = (batch.mask & ~gone).transpose(0, 1).double()  # (B,M,T)
    said = reader.chance(reader.without(gone)).T  # (B,M)
    near = kernel(there.sum(2) / batch.mask.sum(1, keepdim=True))
    scores, unexplained = weighted_ridge(there, said, near)
    return Doubted(scores, unexplained, "the weighted share of the variance that the linear model misses")


def random_subsets(batch: Batch, *, samples: int, seed: int = 0) -> Tensor:
    """Random sets of words (M,B,T) of each text: the size even from 1 to all but one, then which.

    A text of one word has none but the empty set. They belong to the text: neither padding nor the other
    texts of a batch matter.
    """
    length = batch.mask.shape[1]
    counts = batch.mask.sum(1).cpu().numpy()
    lots = chance_of(batch, seed, sample=-(2**21), each=samples)
    lot = lots.reshape(len(batch), length, samples).transpose(2, 0, 1)  # (M,B,T)
    sizes = chance_of(batch, seed, sample=-(2**21) - 1, each=samples)[:, :samples].T
    size = np.minimum(1 + (sizes * (counts - 1)).astype(np.int64), counts - 1)  # (M,B)
    # The words with the lowest lots: those below the one that is the first to stay.
    lot = np.where(batch.mask.cpu().numpy(), lot, 2.0)
    stays = np.take_along_axis(np.sort(lot, axis=-1), size[..., None], -1)
    return torch.from_numpy(lot < stays).to(batch.mask.device)


def kernel(kept: Tensor) -> Tensor:
    """How much a text counts that keeps this share (...) of the words; its cosine to the whole is √share."""
    return torch.exp(-0.5 * (100 * (1 - kept.sqrt()) / WIDTH) ** 2)


def weighted_ridge(features: Tensor, targets: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Ridge regression with an intercept of targets (B,M) on features (B,M,T), counting by weights (B,M).

    Gives the coefficients (B,T), and the share (B,) of the weighted variance that is left.
    """
    total = weights.sum(1, keepdim=True)
    centre = (weights[..., None] * features).sum(1, keepdim=True) / total[..., None]
    middle = (weights * targets).sum(1, keepdim=True) / total
    root = weights.sqrt()
    x, y = (features - centre) * root[..., None], (targets - middle) * root
    size = min(x.shape[1:])
    ridge = RIDGE * torch.eye(size, dtype=x.dtype, device=x.device)
    # The smaller of the two ways to write the same solution.
    if x.shape[2] <= x.shape[1]:
        found = torch.linalg.solve(x.mT @ x + ridge, (x.mT @ y[..., None]))[..., 0]
    else:
        found = (x.mT @ torch.linalg.solve(x @ x.mT + ridge, y[..., None]))[..., 0]
    left = (y - (x @ found[..., None])[..., 0]).square().sum(1)
    spread = y.square().sum(1)
    return found, torch.where(spread > 0, left / spread.where(spread > 0, 1), 0)
