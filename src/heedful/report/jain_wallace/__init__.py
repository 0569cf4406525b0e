"""The figures of Jain & Wallace (2019), each a function of its experiment's tables."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from heedful.report.jain_wallace.adversary import adversary_figure, adversary_weights_figure
from heedful.report.jain_wallace.agreement import agreement_figure, taus_figure
from heedful.report.jain_wallace.permutation import permutation_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

FIGURES: "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]" = {
    "jain-wallace-agreement": agreement_figure,
    "jain-wallace-taus": taus_figure,
    "jain-wallace-permutation": permutation_figure,
    "jain-wallace-adversary": adversary_figure,
    "jain-wallace-adversary-weights": adversary_weights_figure,
}
