"""Multi-item tests: how many items must go before the decision flips, by ranking and at least.

Serrano & Smith (2019), section 5; the least number is ours.

Axes: B instances, S samples (1, but for the random ranking).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.trials.erasure.erased import decided
from heedful.trials.erasure.flips import SmallSets, flip_sizes
from heedful.trials.erasure.linear_votes import Floats, Longs, in_numpy
from heedful.trials.erasure.smallest import smallest_flips
from heedful.trials.rankings.layer_rankings import (
    LINEAR_ONLY,
    attention,
    order_of,
    random,
    rankings_for,
    shuffle_weights,
)
from heedful.trials.rankings.named import check_own_names
from heedful.trials.rankings.ranking import Ranking

if TYPE_CHECKING:
    import pandas

SAMPLES = 5  # random orders an instance
KNOWN = ("smallest", "to_class", "smallest_shuffled")  # columns that only exact or searched sets give


@dataclass(frozen=True, eq=False)
class Erasures:
    """One row for each instance: what each ranking needed for the first flip, and what is truly needed."""

    instance: Longs  # (B,) its number in the corpus
    items: Longs  # (B,) how many it has
    decided: Longs  # (B,)
    sizes: Mapping[str, Longs]  # ranking -> (B,S) items erased at the first flip, −1 never
    masses: Mapping[str, Floats]  # ranking -> (B,S) share of the attention erased with them, NaN never
    smallest: Longs | None = None  # (B,) the size of the smallest set, −1 where none flips
    to_class: Longs | None = None  # (B,)
    kind: Literal["exact", "upper bound"] = "exact"  # of `smallest`
    smallest_shuffled: Longs | None = None  # (B,) of the trace with shuffled weights, where it was tested too

    def __len__(self) -> int:
        return len(self.items)

    def to_frame(self) -> "pandas.DataFrame":
        """One row per instance: size_NAME and mass_NAME for each ranking, size_random_0 … for its samples."""
        import pandas

        columns: dict[str, object] = {"instance": self.instance, "items": self.items, "decided": self.decided}
        if self.smallest is not None:
            columns |= {"smallest": self.smallest, "to_class": self.to_class, "smallest_kind": self.kind}
        if self.smallest_shuffled is not None:
            columns["smallest_shuffled"] = self.smallest_shuffled
        for prefix, table in (("size", self.sizes), ("mass", self.masses)):
            for name, values in table.items():
                for sample, column in enumerate(values.T):
                    columns[f"{prefix}_{name}" + (f"_{sample}" if values.shape[1] > 1 else "")] = column
        return pandas.DataFrame(columns)

    @classmethod
    def from_frame(cls, frame: "pandas.DataFrame") -> Self:
        """What `to_frame` gave, perhaps of many batches."""
        found: dict[str, dict[str, list[ArrayLike]]] = {"size": {}, "mass": {}}
        for column in frame.columns:
            match = re.fullmatch(r"(size|mass)_(.+?)(_\d+)?", column)
            if match:
                found[match[1]].setdefault(match[2], []).append(frame[column].to_numpy())
        kinds = set(frame["smallest_kind"]) if "smallest_kind" in frame else {"exact"}
        known = {name: frame[name].to_numpy() for name in KNOWN if name in frame}
        return cls(
            instance=frame["instance"].to_numpy(),
            items=frame["items"].to_numpy(),
            decided=frame["decided"].to_numpy(),
            sizes={name: np.stack(columns, 1) for name, columns in found["size"].items()},
            masses={name: np.stack(columns, 1) for name, columns in found["mass"].items()},
            kind="exact" if kinds == {"exact"} else "upper bound",
            **known,
        )

    @classmethod
    def joined(cls, parts: Iterable[Self]) -> Self:
        """Several batches as one."""
        import pandas

        return cls.from_frame(pandas.concat([part.to_frame() for part in parts], ignore_index=True))


def erase(
    trace: Trace,
    rankings: Sequence[str] | None = None,
    *,
    own: Mapping[str, ArrayLike | Tensor | Ranking] | None = None,
    samples: int = SAMPLES,
    smallest: SmallSets | None = None,
    seed: int = 0,
) -> Erasures:
    """Erase the items of every instance in the order of each ranking, until the decision flips.

    `rankings` are names, by default all that the trace can have; `own` are a user's by name. "random" is
    drawn `samples` times; "shuffled" is run on the trace with shuffled weights. `smallest` is given for a
    head that is not linear (from `beam_flips`), and computed for a linear one.

    Example: `heedful.erase(trace, ["attention", "gradient"]).to_frame()`
    """
    names = rankings_for(trace) if rankings is None else list(rankings)
    if trace.linear is None and LINEAR_ONLY & set(names):
        raise UserError(
            f"The rankings {sorted(LINEAR_ONLY)} need a linear head over one row of weights; leave them out."
        )
    own = dict(own or {})
    check_own_names(own, names)
    smallest = smallest_flips(trace) if smallest is None and trace.linear is not None else smallest

    known = {} if smallest is None else {"smallest": smallest.sizes, "to_class": smallest.to_class}
    moved = shuffle_weights(trace, seed=seed) if "shuffled" in names else trace
    if "shuffled" in names and trace.linear is not None:
        known["smallest_shuffled"] = smallest_flips(moved).sizes

    sizes, masses = {}, {}
    for name in [*names, *own]:
        subject = moved if name == "shuffled" else trace
        draws: list[str | Ranking | ArrayLike | Tensor] = [own.get(name, name)]
        if name == "shuffled":
            draws = ["attention"]
        elif name == "random":
            draws = [random(trace, seed=seed, sample=sample) for sample in range(samples)]
        orders = [order_of(draw, subject, seed=seed) for draw in draws]
        flips = [flip_sizes(subject, order) for order in orders]
        removed = [_mass_removed(subject, *pair) for pair in zip(orders, flips, strict=True)]
        sizes[name], masses[name] = in_numpy(torch.stack(flips, 1)), in_numpy(torch.stack(removed, 1))

    return Erasures(
        instance=np.arange(trace.first, trace.first + len(trace)),
        items=in_numpy(trace.item_counts),
        decided=in_numpy(decided(trace)),
        sizes=sizes,
        masses=masses,
        kind="exact" if smallest is None else smallest.kind,
        **{name: in_numpy(column) for name, column in known.items()},
    )


def _mass_removed(trace: Trace, order: Tensor, sizes: Tensor) -> Tensor:
    """The share (B,) of the erasable attention that the first `sizes` of an order have; NaN for −1."""
    ranked = attention(trace).double().gather(1, order)
    gone = torch.arange(order.shape[1], device=order.device) < sizes[:, None]
    total = ranked.sum(1)
    return ((ranked * gone).sum(1) / total.where(total > 0, 1)).where(sizes >= 0, torch.nan)
