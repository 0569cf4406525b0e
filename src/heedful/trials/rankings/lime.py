"""LIME for words (Ribeiro et al., 2016): a linear model of what the subject says near one text.

Texts with random words taken out are read, and a ridge regression with an intercept tells from which words
are there how probable the decided class is. Texts count by how near they are: √exp(−d²/25²), with d the
cosine distance to the whole text in hundredths. Unlike the published program, each place of a word is taken
out by itself, and a text always keeps one word.

Axes: M masked texts of each text, B texts, T words.
"""

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings.word_chance import chance_of
from heedful.trials.rankings.word_gradients import Doubted

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
