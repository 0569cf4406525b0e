"""Embedding dot-products Ω_ik = e_iᵀe_k and how they move (Sun & Lu, 2020, supplement B; Eq. 42–47,
corrected).

dΩ_ik/dτ = A_ik + B_ik + A_ki + B_ki with A_ik = ρ(e_i) a_k/m and B_ik = π(e_i)ᵀs_k/m. The printed Eq. 44
divides a_k by λ once more, and Eq. 45 and 46 lack the 1/m. Of additive attention A_ik has the word's own
slope, ρ(e_i) (MᵀD_iV)ᵀe_k/mλ; of an affine model both hold as they are, with a_k and s_k taken through the
layer.
Axes: n chosen words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from heedful.understanding.flow import Flow
from heedful.understanding.groups import grouped
from heedful.understanding.token_types import TokenTypes

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class TypedSample:
    """Some words of each type, drawn by a seed: all of a type that has no more than `size`."""

    ids: np.ndarray  # (n,) word ids, type after type
    names: tuple[str, ...]  # the types that have words
    places: dict[str, np.ndarray]  # where in `ids` each type stands

    @staticmethod
    def draw(types: TokenTypes, size: int, *, seed: int = 0) -> "TypedSample":
        """At most `size` words of each type."""
        generator = np.random.default_rng(seed)
        drawn = {
            name: np.sort(generator.choice(ids, min(size, len(ids)), replace=False))
            for name, ids in types.members.items()
            if len(ids)
        }
        ends = np.cumsum([0, *map(len, drawn.values())])
        places = {name: np.arange(ends[k], ends[k + 1]) for k, name in enumerate(drawn)}
        ids = np.concatenate(list(drawn.values())) if drawn else np.zeros(0, np.int64)
        return TypedSample(ids, tuple(drawn), places)

    def pairs(self) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Each pair of types, as "positive-neutral", and the places of its word pairs, each pair once."""
        for first, second in combinations_with_replacement(self.names, 2):
            i, k = np.meshgrid(self.places[first], self.places[second], indexing="ij")
            distinct = i < k if first == second else np.full(i.shape, True)
            yield f"{first}-{second}", i[distinct], k[distinct]


@dataclass(frozen=True, eq=False)
class DotProducts:
    """Ω and its movement between chosen words, each (n, n)."""

    ids: np.ndarray
    omega: Tensor
    a: Tensor  # A_ik: what the movement of e_i through attention does to Ω_ik
    b: Tensor  # B_ik: what its movement through the head does
    states: Tensor | None = None  # h_iᵀh_k of an affine model (supplement Fig. 8)

    @property
    def change(self) -> Tensor:
        """dΩ_ik/dτ (Eq. 43)."""
        one = self.a + self.b
        return one + one.T

    def by_pair(self, sample: TypedSample) -> "pandas.DataFrame":
        """Mean, size, quartiles and count of Ω, A, B, the movement (and hᵀh) for each pair of types.

        A and B are the sums of both words' parts, so that Ω's movement is A + B.
        """
        import pandas

        parts = {
            "omega": self.omega,
            "A": self.a + self.a.T,
            "B": self.b + self.b.T,
            "omega change": self.change,
        }
        if self.states is not None:
            parts["states"] = self.states
        rows = []
        for name, part in parts.items():
            values = part.cpu().numpy()
            rows += [
                {"quantity": name, "pair": pair, **grouped(values[i, k])} for pair, i, k in sample.pairs()
            ]
        return pandas.DataFrame(rows)


@torch.no_grad()
def dot_products(flow: Flow, ids: np.ndarray) -> DotProducts:
    """Ω, A_ik and B_ik between the words with these ids."""
    chosen = torch.from_numpy(np.asarray(ids, np.int64)).to(flow.form.table.device)
    form, m = flow.form.take(chosen), flow.sums.instances
    rho, pi = flow.rho[chosen], flow.pi[chosen]
    through_attention = rho[:, None] * form.slopes / form.scale  # (n, E)
    return DotProducts(
        ids=np.asarray(ids),
        omega=form.table @ form.table.T,
        a=through_attention @ form.table.T / m,
        b=pi @ form.polarity.T / m,
        states=form.keys @ form.keys.T if form.family == "dp-a" else None,
    )
