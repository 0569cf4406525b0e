"""The figures of Sun & Lu (2020), each a function of its experiment's tables."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from heedful.report.sun_lu.accuracies import draw_accuracies
from heedful.report.sun_lu.beyond_contextual import draw_contextual
from heedful.report.sun_lu.beyond_human import draw_human
from heedful.report.sun_lu.beyond_stability import draw_stability
from heedful.report.sun_lu.beyond_vectors import draw_vectors
from heedful.report.sun_lu.boxes import draw_boxes
from heedful.report.sun_lu.courses import draw_courses, draw_terms
from heedful.report.sun_lu.datasets import draw_sizes, draw_types
from heedful.report.sun_lu.inequalities import draw_inequalities
from heedful.report.sun_lu.scores import draw_scores
from heedful.report.sun_lu.skew import draw_skew
from heedful.report.sun_lu.variants import draw_local_and_global, draw_penalty
from heedful.report.sun_lu.weights import draw_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

FIGURES: "dict[str, Callable[[Mapping[str, DataFrame]], Figure]]" = {
    "sun-lu-terms": draw_terms,
    "sun-lu-table1": draw_sizes,
    "sun-lu-table2": draw_accuracies,
    **{f"sun-lu-fig{number}": draw_scores for number in (2, 3, 4)},
    "sun-lu-penalty": draw_penalty,
    "sun-lu-fig5": draw_weights,
    **{f"sun-lu-s-fig{number}": draw_courses for number in (1, 3, 4, 5, 6, 8, 9, 10, 12)},
    **{f"sun-lu-s-fig{number}": draw_boxes for number in (2, 11)},
    "sun-lu-inequalities": draw_inequalities,
    "sun-lu-s-fig7": draw_skew,
    "sun-lu-s-table1": draw_types,
    "sun-lu-s-fig13": draw_local_and_global,
    "sun-lu-adam": draw_scores,
    **{f"sun-lu-s-fig{number}": draw_scores for number in range(14, 29)},
    "sun-lu-stability": draw_stability,
    "sun-lu-human": draw_human,
    "sun-lu-vectors": draw_vectors,
    "sun-lu-contextual": draw_contextual,
}
