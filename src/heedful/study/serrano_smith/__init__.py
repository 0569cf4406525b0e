"""The experiments of Serrano & Smith (2019), in the paper's order, and one of ours: the exact smallest sets.

All figures read the same rows (`rows`), so each model is trained and tested once. Minutes are those of the
first experiment that is run: the others then take seconds.
"""

from collections.abc import Callable, Iterable
from functools import partial

from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.serrano_smith import claims_many_items as many
from heedful.study.serrano_smith import claims_one_item as one
from heedful.study.serrano_smith.accuracy import accuracy_tables
from heedful.study.serrano_smith.claims_one_item import paper
from heedful.study.serrano_smith.measuring import box_tables, exact_tables, flip_tables, gap_tables

_HAN_RNN = ("han-rnn",)
_FIG5 = ("han-rnn", "flan-rnn", "flan-conv")
_BARE = ("han-noenc", "flan-noenc")


def _claims(*parts: Callable[[Tables], Iterable[Claim]]) -> Callable[[Tables], list[Claim]]:
    def claims(tables: Tables) -> list[Claim]:
        return [claim for part in parts for claim in part(tables)]

    return claims


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "serrano-smith-table2",
        "Decision flips by the most attended item and by a random other one, HANrnn",
        paper("Table 2"),
        partial(flip_tables, models=_HAN_RNN),
        _claims(one.flip_claims),
        ("serrano-smith-table2",),
        (3, 70),
    ),
    Experiment(
        "serrano-smith-table3",
        "Test accuracy of the six architectures",
        paper("Table 3"),
        accuracy_tables,
        minutes=(8, 240),
    ),
    Experiment(
        "serrano-smith-fig3",
        "ΔJS against Δα, HANrnn",
        paper("Fig. 3"),
        partial(gap_tables, models=_HAN_RNN),
        _claims(one.js_claims),
        ("serrano-smith-fig3",),
        (3, 70),
    ),
    Experiment(
        "serrano-smith-fig4",
        "Where ΔJS is negative, HANrnn",
        paper("Fig. 4"),
        partial(gap_tables, models=_HAN_RNN),
        _claims(one.negative_claims),
        ("serrano-smith-fig4",),
        (3, 70),
    ),
    Experiment(
        "serrano-smith-fig5",
        "Items removed before the first flip, three architectures with an encoder",
        paper("Fig. 5"),
        partial(box_tables, models=_FIG5),
        _claims(many.encoder_claims, many.late_claims),
        ("serrano-smith-fig5",),
        (6, 150),
    ),
    Experiment(
        "serrano-smith-fig6",
        "Items removed before the first flip, without an encoder",
        paper("Fig. 6"),
        partial(box_tables, models=_BARE),
        _claims(many.bare_claims),
        ("serrano-smith-fig6",),
        (2, 50),
    ),
    Experiment(
        "serrano-smith-fig7",
        "ΔJS against Δα, all architectures",
        paper("Fig. 7"),
        gap_tables,
        _claims(one.js_claims, one.context_claims),
        ("serrano-smith-fig7",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig8",
        "Where ΔJS is negative, all architectures",
        paper("Fig. 8"),
        gap_tables,
        _claims(one.negative_claims),
        ("serrano-smith-fig8",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig9",
        "Decision flips by the most attended item and by a random other one, all architectures",
        paper("Fig. 9"),
        flip_tables,
        _claims(one.flip_claims, one.family_claims),
        ("serrano-smith-fig9",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig10",
        "Items removed before the first flip, all architectures",
        paper("Fig. 10"),
        box_tables,
        _claims(many.encoder_claims, many.late_claims, many.bare_claims, many.context_claims),
        ("serrano-smith-fig10",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig11",
        "Attention mass removed before the first flip, all architectures",
        paper("Fig. 11"),
        partial(box_tables, quantity="mass"),
        _claims(many.mass_claims),
        ("serrano-smith-fig11",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig12",
        "Decision flips by the top item by gradient, all architectures",
        paper("Fig. 12"),
        partial(flip_tables, ranking="gradient"),
        _claims(one.gradient_top_claims),
        ("serrano-smith-fig12",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-fig13",
        "Decision flips by the top item by gradient × attention, all architectures",
        paper("Fig. 13"),
        partial(flip_tables, ranking="product"),
        _claims(one.product_top_claims),
        ("serrano-smith-fig13",),
        (8, 240),
    ),
    Experiment(
        "serrano-smith-exact",
        "The exact smallest sets: how far each ranking is from them (not in the paper)",
        paper("section 5.1 calls it prohibitive"),
        exact_tables,
        _claims(many.exact_claims),
        ("serrano-smith-exact",),
        (8, 240),
    ),
)
