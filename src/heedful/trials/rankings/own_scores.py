"""A user's own ranking of a whole split, from a file: scores by text and item, made by Captum or by anything.

The rows are the texts in the corpus's order. A row has a score for each item of its text, as the model reads
them, the highest most important; what comes after is not read. `.npy` holds an array (texts, most items),
`.json` a list of lists, which need no padding.

Axes: B texts of a batch, N items, or places of words.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UserError
from heedful.files import regular
from heedful.records.stored import read_json


@dataclass(frozen=True, eq=False)
class OwnScores:
    """The scores of all texts of a split, under the name that the ranking has in the results."""

    name: str
    scores: NDArray[np.float64]  # (texts, most items), NaN where there is none

    @property
    def digest(self) -> str:
        """Changes with any score: results of other scores are never taken for those of these."""
        shape = repr(self.scores.shape).encode()
        return blake2b(shape + self.scores.tobytes(), digest_size=8).hexdigest()

    def of(self, rows: NDArray[np.int64], present: Tensor) -> Tensor:
        """The scores (B,N) of these texts, of which `present` (B,N) says which items they have; else 0."""
        found = np.full(present.shape, np.nan)
        width = min(found.shape[1], self.scores.shape[1])
        found[:, :width] = self.scores[rows, :width]
        scores = torch.from_numpy(found).to(present.device)
        lacking = (scores.isnan() & present).any(1)
        if lacking.any():
            place = int(lacking.nonzero()[0])
            items, given = (int((x & present)[place].sum()) for x in (present, ~scores.isnan()))
            raise UserError(
                f"Text {int(rows[place])} of the split has {items} items, but the ranking {self.name!r} "
                f"has scores for {given} of them."
            )
        return scores.where(present, 0)


def read_scores(name: str, path: str | Path, *, texts: int) -> OwnScores:
    """Read the scores of a split of so many texts from a `.npy` or a `.json` file."""
    path = Path(path)
    if path.suffix not in (".npy", ".json"):
        raise UserError(f"The scores of a ranking are read from .npy or .json, and {path} is neither.")
    try:
        scores = _array(path) if path.suffix == ".npy" else _lists(path)
    except FileNotFoundError:
        raise UserError(f"There is no file {path} with the scores of the ranking {name!r}.") from None
    except UserError:
        raise
    except (ValueError, TypeError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{path} does not hold a table of numbers ({reason}).") from None
    if scores.ndim != 2 or len(scores) != texts:
        raise UserError(
            f"The ranking {name!r} needs a row of scores for each of the {texts:,} texts of the split, "
            f"but {path} has the shape {scores.shape}."
        )
    return OwnScores(name, scores)


def _array(path: Path) -> NDArray[np.float64]:
    return np.asarray(np.load(regular(path), allow_pickle=False), dtype=np.float64)


def _lists(path: Path) -> NDArray[np.float64]:
    rows = [np.asarray(row, dtype=np.float64) for row in read_json(path)]
    if any(row.ndim != 1 for row in rows):
        raise ValueError("each text needs one list of numbers")
    table = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table
