"""The experiments of Wiegreffe & Pinter (2019), in the paper's order."""

from heedful.study.experiment import Experiment, Tables
from heedful.study.ground import MAIN, paper_ground
from heedful.study.wiegreffe_pinter.curve import curve_claims, measure_curve
from heedful.study.wiegreffe_pinter.ladder import diagnostic_claims, measure_diagnostic
from heedful.study.wiegreffe_pinter.seeds import measure_seeds, seeds_claims
from heedful.study.wiegreffe_pinter.uniform import measure_uniform, uniform_claims
from heedful.study.workbench import Bench

SEEDS = 8  # as many trainings as the issue of variance asks for


def _uniform(bench: Bench) -> Tables:
    return measure_uniform(bench, paper_ground(bench, seeds=SEEDS))


def _seeds(bench: Bench) -> Tables:
    return measure_seeds(bench, paper_ground(bench, seeds=SEEDS))


def _diagnostic(bench: Bench) -> Tables:
    return measure_diagnostic(bench, paper_ground(bench, models=(MAIN,)))


def _adversarial(bench: Bench) -> Tables:
    return measure_curve(bench, paper_ground(bench, models=(MAIN,), seeds=SEEDS))


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "wiegreffe-pinter-uniform",
        "Learnt weights beside uniform and frozen ones",
        "Wiegreffe & Pinter (2019), 3.1",
        _uniform,
        uniform_claims,
        ("wiegreffe-pinter-uniform",),
        (3, 1600),
    ),
    Experiment(
        "wiegreffe-pinter-seeds",
        "How much attention varies over seeds",
        "Wiegreffe & Pinter (2019), 3.2",
        _seeds,
        seeds_claims,
        ("wiegreffe-pinter-seeds",),
        (1, 540),
    ),
    Experiment(
        "wiegreffe-pinter-diagnostic",
        "Each kind of weights as a guide for a classifier of single words",
        "Wiegreffe & Pinter (2019), 3.3",
        _diagnostic,
        diagnostic_claims,
        ("wiegreffe-pinter-diagnostic",),
        (3, 150),
    ),
    Experiment(
        "wiegreffe-pinter-adversarial",
        "Models trained to decide alike and attend elsewhere",
        "Wiegreffe & Pinter (2019), 4",
        _adversarial,
        curve_claims,
        ("wiegreffe-pinter-adversarial",),
        (3, 330),
    ),
)
