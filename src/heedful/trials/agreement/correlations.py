"""Do two ways to score the tokens of a text agree? (Jain & Wallace, 2019, section 4.1.)

Kendall's τ-b, Spearman's ρ and the overlap of the k highest for each instance, all beside a random ranking;
and the share of instances whose τ is significant, with the false-discovery rate controlled (Benjamini &
Hochberg) over all instances at once: thousands of tests find something by chance alone. The same is done with
the random ranking, whose share shows what such a count is worth.
Axes: B instances, T slots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UserError
from heedful.records import Finding, benjamini_hochberg
from heedful.records.finding import Scalar
from heedful.trials.agreement.ranks import kendall, random_overlap, spearman, top_overlap
from heedful.trials.groups import mean_findings, share_findings
from heedful.trials.rankings.chance import chance
from heedful.trials.to_frames import Framed


@dataclass(frozen=True, eq=False)
class Agreement(Framed):
    """How far two scores agree on each instance (B,); NaN where undefined, as for a constant score."""

    names: tuple[str, str]
    tau: Tensor
    p_value: Tensor
    significant: Tensor  # 1 where the adjusted p-value is below `rate`, else 0
    spearman: Tensor
    overlap: Tensor  # of the k highest; also NaN where there are only k tokens
    random_tau: Tensor  # of the first score with a random ranking
    random_significant: Tensor
    random_spearman: Tensor
    random_overlap: Tensor  # k/n, what a random ranking reaches on average
    decided: Tensor | None
    k: int
    rate: float

    def findings(
        self, *, classes: Sequence[str] | None = None, level: float = 0.95, seed: int = 0
    ) -> list[Finding]:
        """Mean τ, ρ and overlap, and the share of significant τ: over all instances, and by class."""
        between = f"between {self.names[0]} and {self.names[1]}"
        coordinates: dict[str, Scalar] = {"first": self.names[0], "second": self.names[1]}
        means: Mapping[str, tuple[Tensor, Tensor, str]] = {
            "Kendall's τ": (self.tau, self.random_tau, f"mean over instances of τ-b {between}"),
            "Spearman's ρ": (self.spearman, self.random_spearman, f"mean over instances of ρ {between}"),
            f"overlap of the top {self.k}": (
                self.overlap,
                self.random_overlap,
                f"mean share of the {self.k} highest tokens in common {between}, in longer texts",
            ),
        }
        found = []
        for name, (values, random, measured) in means.items():
            found += mean_findings(
                values,
                name=name,
                measured=measured,
                decided=self.decided,
                classes=classes,
                baselines={"random": random},
                better="higher",
                coordinates=coordinates,
                level=level,
                seed=seed,
            )
        found += share_findings(
            self.significant,
            name="share of significant τ",
            measured=f"share of instances where τ-b {between} differs from 0, "
            f"false-discovery rate {self.rate:g} over all instances (Benjamini–Hochberg)",
            decided=self.decided,
            classes=classes,
            baselines={"random": self.random_significant},
            coordinates=coordinates,
            level=level,
        )
        return found


def agreement(
    first: Tensor,
    second: Tensor,
    mask: Tensor,
    *,
    names: tuple[str, str] = ("attention", "gradient"),
    decided: Tensor | None = None,
    k: int = 5,
    rate: float = 0.05,
    seed: int = 0,
    first_instance: int = 0,
) -> Agreement:
    """Compare two scores (B,T) of the same tokens, higher being more important, where `mask` is true.

    `decided` (B,) are predicted classes, `rate` is the false-discovery rate, `seed` and `first_instance` (the
    number of the first instance in its corpus) fix the random ranking.
    """
    if not 0 < rate < 1:
        raise UserError(f"A false-discovery rate lies between 0 and 1, such as 0.05, and this one is {rate}.")
    rows, slots = mask.shape
    random = torch.from_numpy(chance(seed, (rows, slots), first=first_instance))
    mask = mask.cpu()
    own, by_chance = kendall(first, second, mask), kendall(first, random, mask)
    return Agreement(
        names=names,
        tau=own.tau,
        p_value=own.p_value,
        significant=_significant(own.p_value.numpy(), rate),
        spearman=spearman(first, second, mask),
        overlap=top_overlap(first, second, mask, k=k),
        random_tau=by_chance.tau,
        random_significant=_significant(by_chance.p_value.numpy(), rate),
        random_spearman=spearman(first, random, mask),
        random_overlap=random_overlap(mask, k=k),
        decided=None if decided is None else decided.cpu(),
        k=k,
        rate=rate,
    )


def _significant(p_values: NDArray[np.float64], rate: float) -> Tensor:
    defined = ~np.isnan(p_values)
    found = np.full(len(p_values), np.nan)
    found[defined] = benjamini_hochberg(p_values[defined]) <= rate
    return torch.from_numpy(found)
