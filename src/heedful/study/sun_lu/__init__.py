"""The experiments of Sun & Lu (2020), in the paper's order, and those that go beyond it."""

from heedful.study.experiment import Experiment
from heedful.study.sun_lu import (
    accuracies,
    datasets,
    inequalities,
    recurrent,
    scores,
    sides,
    synthetic,
    terms,
    variants,
    weights,
)
from heedful.study.sun_lu.beyond_contextual import CONTEXTUAL
from heedful.study.sun_lu.beyond_human import HUMAN
from heedful.study.sun_lu.beyond_stability import STABILITY
from heedful.study.sun_lu.beyond_vectors import VECTORS

EXPERIMENTS: tuple[Experiment, ...] = (
    terms.TERMS,
    datasets.TABLE_ONE,
    accuracies.TABLE_TWO,
    scores.FIG_TWO,
    sides.FIG_THREE,
    scores.FIG_FOUR,
    variants.PENALTY,
    weights.FIGURE,
    inequalities.B_TWO,
    *synthetic.EXPERIMENTS,
    datasets.TYPE_TABLE,
    recurrent.FIGURE,
    variants.ADAM,
    *scores.MORE,
    STABILITY,
    HUMAN,
    VECTORS,
    CONTEXTUAL,
)
