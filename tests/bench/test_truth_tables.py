"""The tables of the truth bench, from rows that a person can count."""

import pandas as pd
import pytest
from scipy.stats import binomtest

from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, UNKNOWN
from heedful.bench.truth import tables
from heedful.bench.truth.publishing import as_markdown, rate_cells

ROWS = [
    # label, reading, second reading, skill, top word right, precision@1 of the best and the recommended map
    ("right", FAITHFUL, FAITHFUL, 0.9, 1.0, 1.0, None),
    ("right", FAITHFUL, CARE, 0.8, 1.0, 1.0, None),
    ("right", CARE, CARE, 0.4, 0.9, 1.0, 0.97),
    ("part", CARE, CARE, 0.5, 0.6, 0.96, 0.3),
    ("part", FAITHFUL, FAITHFUL, 0.7, 0.4, 0.9, 0.2),
    ("wrong", NOT_SHOWN, NOT_SHOWN, 0.1, 0.0, 1.0, 1.0),
    ("wrong", UNKNOWN, None, 0.4, 0.1, 1.0, None),
]


@pytest.fixture
def results():
    names = ["label", "reading", "second_reading", "skill", "first", "best_first", "instead_first"]
    frame = pd.DataFrame(ROWS, columns=names).assign(made=True, kind="built", architecture="dot", fault="")
    frame.loc[:2, "architecture"] = "conv"
    frame = frame.assign(covered_audits=[5, 5, None, None, None, None, None])
    frame = frame.assign(
        **{f"covered_{name}": [5, 3] + [None] * 5 for name in ("skill", "paint", "strongest")}
    )
    frame = frame.assign(paint=frame["skill"], strongest=1 - frame["skill"])
    frame = frame.assign(first_attention=0.5, k_attention=0.25, skill_attention=frame["skill"])
    frame = frame.assign(seconds_made=2.0, seconds_audited=3.0, evaluations=100, texts=7)
    failed = {"made": False, "fault": "no words", "kind": "built", "architecture": "dot"}
    return pd.concat([frame, pd.DataFrame([failed])], ignore_index=True)


@pytest.mark.parametrize(("hits", "of"), [(0, 300), (3, 11), (11, 11), (0, 0)])
def test_ends_are_those_of_clopper_and_pearson(hits, of):
    if not of:
        assert tables.upper_end(0, 0) == 1.0
        assert tables.lower_end(0, 0) == 0.0
        return
    exact = binomtest(hits, of).proportion_ci(
        0.9, method="exact"
    )  # two-sided 90 %: each end is one-sided 95 %
    assert tables.upper_end(hits, of) == pytest.approx(exact.high)
    assert tables.lower_end(hits, of) == pytest.approx(exact.low)


def test_none_of_300_keeps_the_end_at_one_in_a_hundred():
    assert tables.upper_end(0, 300) < 0.01 < tables.upper_end(0, 297)


def test_readings_are_counted_by_label_and_by_architecture(results):
    table = tables.confusion(results)
    assert table.loc["right"].to_dict() == {FAITHFUL: 2, CARE: 1, NOT_SHOWN: 0, UNKNOWN: 0}
    assert table.loc["wrong"].to_dict() == {FAITHFUL: 0, CARE: 0, NOT_SHOWN: 1, UNKNOWN: 1}
    by = tables.confusion(results, "architecture")
    assert by.loc[("conv", "right"), FAITHFUL] == 2
    assert by.to_numpy().sum() == len(ROWS)  # the one that could not be made has no reading


def test_rates_count_what_they_name(results):
    found = {rate.name: (rate.hits, rate.of) for rate in tables.rates(results)}
    assert found == {
        "wrong → faithful": (0, 2),
        "part → faithful": (1, 2),
        "part, top word right in under half → faithful": (1, 1),
        "right → faithful": (2, 3),
        "wrong → do not show": (1, 2),
        "right → do not show": (0, 3),
        "cannot say": (1, 7),
        "same reading on other texts": (5, 6),
        "interval of skill covers": (8, 10),
        "interval of paint covers": (8, 10),
        "interval of strongest word covers": (8, 10),
        "what is recommended finds the words": (2, 3),
    }


def test_an_aim_is_reached_by_the_share_and_surely_by_its_end():
    def reached(*numbers, rare):
        rate = tables.Rate("some", *numbers, rare=rare)
        return rate.share_reaches, rate.end_reaches

    assert reached(0, 100, 0.03, 0.01, rare=True) == (True, False)
    assert reached(0, 300, 0.009, 0.01, rare=True) == (True, True)
    assert reached(2, 100, 0.07, 0.01, rare=True) == (False, False)
    assert reached(9, 10, 0.6, 0.9, rare=False) == (True, False)
    assert reached(99, 100, 0.95, 0.9, rare=False) == (True, True)
    assert reached(8, 10, 0.5, 0.9, rare=False) == (False, False)
    assert reached(0, 0, 1.0, 0.01, rare=True) == (None, None)


def test_where_none_at_all_is_the_aim_no_end_can_reach_it():
    rate = tables.Rate("some", 0, 38, tables.upper_end(0, 38), 0.0, rare=True)
    assert (rate.share_reaches, rate.end_reaches) == (True, None)
    assert rate_cells(rate)[-3:] == ["none", "yes", "–"]


def test_the_area_under_the_curve_counts_pairs(results):
    # right 0.9, 0.8, 0.4 against wrong 0.1, 0.4: five pairs above and one tie of six
    assert tables.auc(results) == pytest.approx(5.5 / 6)
    curve = tables.roc(results)
    assert curve.loc[curve["threshold"] == 0.4, ["right", "wrong"]].to_numpy().tolist() == [[1.0, 0.5]]


def test_every_map_has_its_precision_and_every_architecture_its_cost(results):
    (one,) = tables.rankings(results).to_dict("records")
    assert one == {
        "ranking": "attention",
        "models": 7,
        "precision@1": 0.5,
        "precision@k": 0.25,
        "finds": 0.0,
        "skill": 0.5,
    }
    costs = tables.costs(results)
    assert costs.loc[("built", "conv"), "models"] == 3
    assert tables.left_out(results).to_dict("records") == [{"fault": "no words", "models": 1}]


def test_the_docs_tables_say_the_same(results):
    said = as_markdown(results)
    assert "7 models with known truth (7 built)" in said
    assert "| right | 2 | 1 | 0 | 0 |" in said
    assert "| wrong → do not show | 1 of 2 | 50.0% | ≥ 2.5% | ≥ 95% | NO | NO |" in said
    assert "| conv, built | 2 of 3 | 0 of 3 | 0 of 0 | 0 of 0 | 0 of 0 |" in said
    assert "| attention | 7 | 0.50 | 0.25 | 0.50 |" in said
    assert "| conv, built | 3 | 2.0 | 3.0 | 100 |" in said
    assert said.endswith("Left out: 1 models, no words.")
