"""The tables of the truth bench, from rows that a person can count."""

import json

import pandas as pd
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, UNKNOWN
from heedful.bench.truth import tables
from heedful.bench.truth.publishing import as_markdown, found, published, rate_cells
from heedful.cli.app import app

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
    frame.loc[2, "kind"] = "trained"
    frame = frame.assign(covered_audits=[5, 5, 4, None, None, None, None])
    for name in ("skill", "paint", "strongest"):
        frame[f"covered_{name}"] = [5, 3, 3] + [None] * 4
        frame[f"at_95_{name}"] = [4, 3, 2] + [None] * 4
    frame = frame.assign(paint=frame["skill"], strongest=1 - frame["skill"])
    frame = frame.assign(first_attention=frame["first"], k_attention=0.25, skill_attention=frame["skill"])
    frame = frame.assign(instead="attention", hiding_attention=0.4)
    for name, where in (("effects", 0.9), ("lime", 0.8), ("shapley", 1.0)):
        frame[f"first_{name}"], frame[f"k_{name}"] = [where] * 3 + [None] * 4, 0.5
        frame[f"hiding_{name}"] = where - 0.1
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
        "interval of skill covers, deletions are products": (8, 10),
        "interval of paint covers, deletions are products": (8, 10),
        "interval of strongest word covers, deletions are products": (8, 10),
        "interval of skill covers, deletions are texts read again": (3, 4),
        "interval of paint covers, deletions are texts read again": (3, 4),
        "interval of strongest word covers, deletions are texts read again": (3, 4),
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


def test_a_look_s_interval_is_counted_beside_one_of_95_percent(results):
    found = {rate.name: (rate.hits, rate.of, rate.counted) for rate in tables.coverage(results, kind="at_95")}
    assert found["interval of skill covers, deletions are products"] == (7, 10, "audits of 2 models")
    assert found["interval of skill covers, deletions are texts read again"] == (2, 4, "audits of 1 models")
    plain = results.drop(columns=[name for name in results if name.startswith(("covered", "at_95"))])
    assert tables.coverage(plain) == tables.coverage(plain, kind="at_95") == []


def test_every_map_has_its_precision_and_how_well_its_skill_tells_right_from_wrong(results):
    one, last = tables.rankings(results).to_dict("records")
    assert one == {
        "ranking": "attention",
        "models": 7,
        "precision@1": pytest.approx(4.0 / 7),
        "precision@k": 0.25,
        "finds": pytest.approx(2 / 7),
        "skill": 0.5,
        # precision@1 of 1, 1 and 0.9 is right, of 0 and 0.1 wrong; skills 0.9, 0.8, 0.4 against 0.1, 0.4
        "right": 3,
        "wrong": 2,
        "auc": pytest.approx(5.5 / 6),
    }
    assert last["ranking"] == tables.RECOMMENDED
    assert (last["models"], last["precision@1"]) == (4, pytest.approx((0.97 + 0.3 + 0.2 + 1.0) / 4))
    assert last["precision@k"] == 0.25


def test_regressions_are_compared_on_the_models_that_have_them(results):
    found = tables.regressions(results).set_index("ranking")
    assert (found["models"] == 3).all()
    assert found.loc["attention", "precision@1"] == pytest.approx(2.9 / 3)
    assert found["hiding"].to_dict() == pytest.approx(
        {"attention": 0.4, "effects": 0.8, "lime": 0.7, "shapley": 0.9}
    )
    assert not len(tables.regressions(results.drop(columns=["first_effects"])))


def test_every_architecture_has_its_cost(results):
    costs = tables.costs(results)
    assert costs.loc[("built", "conv"), "models"] == 2
    assert tables.left_out(results).to_dict("records") == [{"fault": "no words", "models": 1}]


def test_the_docs_tables_say_the_same(results):
    said = as_markdown(found(results.assign(part="held-out")))
    assert "7 models with known truth (6 built, 1 trained)" in said
    assert "| right | 2 | 1 | 0 | 0 |" in said
    assert "| wrong → do not show | 1 of 2 | 50.0 % | ≥ 2.5 % | ≥ 95 % | NO | NO |" in said
    assert "| 8 of 10 audits of 2 models | 80.0 % |" in said
    assert "| conv, built | 2 of 2 | 0 of 2 | 0 of 0 | 0 of 0 | 0 of 0 |" in said
    assert "| attention | 7 | 0.57 | 0.25 | 0.50 | 3 | 2 | 0.917 |" in said
    assert "| what is recommended | 4 | 0.62 | 0.25 | – | – | – | – |" in said
    assert "| Shapley values | 3 | 1.00 | 0.50 | 0.90 |" in said
    assert "| conv, built | 2 | 2.0 | 3.0 | 100 |" in said
    assert said.endswith("Left out: 1 models, no words.")


def test_a_terminal_shows_the_same_tables(results, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "rows.csv"
    results.assign(part="held-out").to_csv(path, index=False)
    asked = ["bench", "truth", "--rows", str(path)]
    plain, marked, machine = (
        CliRunner().invoke(app, [*asked, *more]) for more in ([], ["--markdown"], ["--json"])
    )
    assert (plain.exit_code, marked.exit_code, machine.exit_code) == (0, 0, 0), plain.output
    for table in published(pd.read_csv(path)):
        assert table.title in plain.stdout
        for row in table.rows:
            assert f"| {' | '.join(row)} |" in marked.stdout
            assert all(cell in plain.stdout for cell in row)
    found = json.loads(machine.stdout, parse_constant=pytest.fail)
    assert found["rankings"][-1]["auc"] is None
