"""Claims: what an interval decides, and what a bound cannot."""

import math
from dataclasses import replace

import pytest

from heedful.errors import UserError
from heedful.records import Claim, Finding, Interval, append_rows, decide, query


def between(low, high):
    return Interval(low, high, level=0.95, method="by hand")


def effect(low, high, kind="estimate"):
    return Finding(
        "gap", (low + high) / 2, count=101, measured="By hand.", interval=between(low, high), kind=kind
    )


def claim(found, comparison=">", threshold=0):
    return Claim.decided(
        "Attention finds words.", "A Paper, §2", effect=found, comparison=comparison, threshold=threshold
    )


@pytest.mark.parametrize(
    ("low", "high", "comparison", "outcome"),
    [
        (1.1, 2, ">", "holds"),
        (1, 2, ">", "undecided"),
        (1, 2, ">=", "holds"),
        (0, 1, ">", "does not hold"),
        (0, 1, ">=", "undecided"),
        (0, 0.9, ">=", "does not hold"),
        (0, 0.9, "<", "holds"),
        (0, 1, "<", "undecided"),
        (0, 1, "<=", "holds"),
        (1, 2, "<", "does not hold"),
        (1, 2, "<=", "undecided"),
        (1.1, 2, "<=", "does not hold"),
        (-1, 1, "within", "holds"),
        (-1.1, 0, "within", "undecided"),
        (1.1, 2, "within", "does not hold"),
        (-2, -1.1, "within", "does not hold"),
        (1, 2, "within", "undecided"),
        (-2, -1, "within", "undecided"),
        (-math.inf, math.inf, ">", "undecided"),
        (-math.inf, math.inf, "within", "undecided"),
        (1, 1, ">", "does not hold"),
        (1, 1, ">=", "holds"),
    ],
)
def test_the_whole_interval_decides_against_a_threshold_of_one(low, high, comparison, outcome):
    assert decide(between(low, high), comparison, 1) == outcome


def test_an_unknown_comparison_or_threshold_is_refused():
    with pytest.raises(UserError, match="no comparison '=='"):
        decide(between(0, 1), "==", 1)
    with pytest.raises(UserError, match="got nan"):
        decide(between(0, 1), ">", math.nan)


def test_a_lower_bound_can_confirm_more_and_never_less():
    assert claim(effect(2, 3, "lower bound")).outcome == "holds"
    assert claim(effect(-3, -2, "lower bound")).outcome == "undecided"
    assert claim(effect(-1, 3, "lower bound")).outcome == "undecided"
    assert claim(effect(-3, -2, "lower bound"), "<").outcome == "undecided"


def test_an_upper_bound_can_confirm_less_and_never_more():
    assert claim(effect(-3, -2, "upper bound"), "<").outcome == "holds"
    assert claim(effect(2, 3, "upper bound")).outcome == "undecided"
    assert claim(effect(-3, 1, "upper bound"), "<").outcome == "undecided"
    assert claim(effect(2, 3, "upper bound"), "<").outcome == "undecided"


def test_an_exact_number_stands_for_itself_and_a_bare_estimate_for_nothing():
    exact = Finding("architectures", 10, count=16, measured="Counted.", kind="exact")
    guess = Finding("architectures", 10, count=16, measured="Counted.")
    assert claim(exact, ">=", 10).outcome == "holds"
    assert claim(exact, ">", 10).outcome == "does not hold"
    assert claim(guess, ">=", 10).outcome == "undecided"


def test_a_claim_says_outcome_statement_source_and_effect():
    assert (
        str(claim(effect(1, 3))) == "holds: Attention finds words. (A Paper, §2): 2.00 [1.00, 3.00] (n = 101)"
    )
    assert claim(effect(1, 3)).criterion == "> 0"
    assert claim(effect(1, 3), "within", 0.02).criterion == "within ±0.02"


@pytest.mark.parametrize(
    ("trained", "seeds", "kind", "low", "said"),
    [
        (True, 1, "estimate", 1, "holds in this run"),
        (False, 1, "estimate", 1, "holds"),
        (True, 2, "estimate", 1, "holds"),
        (True, 1, "exact", 1, "holds"),
        (True, 1, "estimate", -1, "undecided"),
        (True, 1, "lower bound", 1, "holds in this run"),
    ],
)
def test_what_one_training_decides_it_decides_of_this_run(trained, seeds, kind, low, said):
    found = replace(effect(low, 3, kind), seeds=seeds)
    assert claim(found).told(trained=trained) == said


def test_a_claim_survives_a_dictionary_and_a_file(tmp_path):
    made = claim(effect(1, 3))
    assert Claim.from_dict(made.to_dict()) == made
    assert made.to_dict()["schema_version"] == 1  # what is on people's disks
    assert Claim.load(made.save(tmp_path / "claim.json")) == made


def test_a_damaged_claim_is_refused_in_a_sentence():
    content = claim(effect(1, 3)).to_dict()
    for change, sentence in [
        ({"outcome": "maybe"}, "no outcome 'maybe'"),
        ({"effect": 3}, "needs a finding"),
        ({"effect": {**content["effect"], "schema_version": 9}}, "schema version 9"),
        ({"schema_version": 0}, "schema version 0"),
        ({"extra": 1}, "'extra'"),
    ]:
        with pytest.raises(UserError, match=sentence):
            Claim.from_dict({**content, **change})


def test_claims_can_be_stored_as_rows_and_shown_as_a_frame(tmp_path):
    made = claim(effect(1, 3))
    append_rows(tmp_path, [made.to_row()])
    assert query(tmp_path, "SELECT outcome, value FROM records").values.tolist() == [["holds", 2.0]]
    assert made.to_frame()["criterion"].tolist() == ["> 0"]


def test_hostile_text_in_a_claim_is_shown_as_text():
    shown = Claim("<script>", "<b>", "undecided", effect(1, 3))._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
