"""The figures of Wiegreffe & Pinter (2019), and of the sanity checks that `heedful debate` adds to theirs."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from heedful.report.wiegreffe_pinter.adversarial import adversarial_figure
from heedful.report.wiegreffe_pinter.diagnostic import diagnostic_figure
from heedful.report.wiegreffe_pinter.sanity import sanity_figure
from heedful.report.wiegreffe_pinter.seeds import seeds_figure
from heedful.report.wiegreffe_pinter.uniform import uniform_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

FIGURES: "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]" = {
    "wiegreffe-pinter-uniform": uniform_figure,
    "wiegreffe-pinter-seeds": seeds_figure,
    "wiegreffe-pinter-diagnostic": diagnostic_figure,
    "wiegreffe-pinter-adversarial": adversarial_figure,
    "debate-sanity": sanity_figure,
}
