"""The figures of Serrano & Smith (2019), each a function of its experiment's tables, and their forms."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from heedful.report.serrano_smith.boxes import fractions, masses
from heedful.report.serrano_smith.contingency import contingency
from heedful.report.serrano_smith.gap_to_exact import optimality
from heedful.report.serrano_smith.gaps import js_against_weight, negatives_by_weight

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

# The paper's forms of figure by themselves, for the rows of any model.
FORMS: "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]" = {
    "flips": contingency,
    "js": js_against_weight,
    "negatives": negatives_by_weight,
    "fractions": fractions,
    "masses": masses,
}

FIGURES: "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]" = {
    "serrano-smith-table2": contingency,
    "serrano-smith-fig3": js_against_weight,
    "serrano-smith-fig4": negatives_by_weight,
    "serrano-smith-fig5": fractions,
    "serrano-smith-fig6": fractions,
    "serrano-smith-fig7": js_against_weight,
    "serrano-smith-fig8": negatives_by_weight,
    "serrano-smith-fig9": contingency,
    "serrano-smith-fig10": fractions,
    "serrano-smith-fig11": masses,
    "serrano-smith-fig12": contingency,
    "serrano-smith-fig13": contingency,
    "serrano-smith-exact": optimality,
}
