"""The experiments of Jain & Wallace (2019), in the paper's order."""

from heedful.study.experiment import Experiment, Tables
from heedful.study.ground import paper_ground
from heedful.study.jain_wallace.adversary import adversary_claims, measure_adversary
from heedful.study.jain_wallace.agreement import agreement_claims, measure_agreement
from heedful.study.jain_wallace.permutation import measure_permutation, permutation_claims
from heedful.study.workbench import Bench


def _agreement(bench: Bench) -> Tables:
    return measure_agreement(bench, paper_ground(bench))


def _permutation(bench: Bench) -> Tables:
    return measure_permutation(bench, paper_ground(bench))


def _adversary(bench: Bench) -> Tables:
    return measure_adversary(bench, paper_ground(bench))


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "jain-wallace-agreement",
        "Attention against gradients and leave-one-out",
        "Jain & Wallace (2019), 4.1: Table 2, Figures 2 to 5",
        _agreement,
        agreement_claims,
        ("jain-wallace-agreement", "jain-wallace-taus"),
        (2, 260),
    ),
    Experiment(
        "jain-wallace-permutation",
        "What permuting the weights does to the output",
        "Jain & Wallace (2019), 4.2.1: Figure 6",
        _permutation,
        permutation_claims,
        ("jain-wallace-permutation",),
        (1, 210),
    ),
    Experiment(
        "jain-wallace-adversary",
        "Far other weights with the same output",
        "Jain & Wallace (2019), 4.2.2: Figures 7 and 8",
        _adversary,
        adversary_claims,
        ("jain-wallace-adversary", "jain-wallace-adversary-weights"),
        (1, 220),
    ),
)
