"""The seven answers: all there, in order, with their numbers; and what to show instead."""

import json

import pytest
from verdict_records import evidence, finding, skill

from heedful.errors import UserError
from heedful.verdict import QUESTIONS, Evidence, answers, instead, judge, nothing_better


def by_id(found):
    return {answer.id: answer for answer in found}


def test_all_seven_are_answered_in_order_and_fit_into_json():
    found = answers(evidence())
    assert [answer.id for answer in found] == list(QUESTIONS)
    plain = json.loads(json.dumps([answer.to_dict() for answer in found], allow_nan=False))
    assert [entry["number"] for entry in plain] == [1, 2, 3, 4, 5, 6, 7]
    assert [entry["outcome"] for entry in plain] == ["yes"] * 7
    assert [entry["id"] for entry in plain if entry["decides"]] == ["decides", "agreement", "stable"]
    assert all(entry["finding"] and entry["scale"] and entry["measured"] for entry in plain)


def test_the_scale_runs_from_chance_to_the_best():
    scale = by_id(answers(evidence()))["decides"].scale
    assert (scale.low, scale.high, scale.you, scale.shuffled, scale.best) == (0, 1, 0.7, 0.02, 1)
    assert (scale.you_low, scale.you_high) == (pytest.approx(0.65), pytest.approx(0.75))


@pytest.mark.parametrize(
    ("changes", "question", "outcome", "good"),
    [
        ({"skill": skill(0.1)}, "decides", "no", False),
        ({"skill": skill(0.4)}, "decides", "unsure", None),
        ({"top_advantage": finding("x", -0.1, -0.2, 0.0)}, "top", "no", False),
        ({"agreement_margin": finding("x", 0.0, -0.1, 0.1)}, "agreement", "unsure", None),
        ({"adversary": finding("x", 0.1, 0.05, 0.15, kind="exact")}, "adversary", "no", True),
        ({"adversary": finding("x", 0.1, 0.05, 0.15, kind="lower bound")}, "adversary", "unsure", None),
        ({"adversary": finding("x", 0.5, 0.45, 0.55, kind="lower bound")}, "adversary", "yes", False),
        ({"needed": finding("x", 0.0, -0.005, 0.005)}, "needed", "no", False),
        ({"needed": finding("x", 0.005, -0.01, 0.02)}, "needed", "unsure", None),
        ({"stable_advantage": finding("x", 0.0, -0.1, 0.1)}, "stable", "unsure", None),
        ({"labels_advantage": finding("x", -0.1, -0.2, -0.05)}, "labels", "no", False),
    ],
)
def test_an_outcome_follows_the_interval(changes, question, outcome, good):
    answer = by_id(answers(evidence(**changes)))[question]
    assert (answer.outcome, answer.good) == (outcome, good)


def test_a_question_that_was_not_asked_says_why():
    found = by_id(answers(evidence(stable=None, not_asked={"stable": "It is not ours to train."})))
    assert (found["stable"].outcome, found["stable"].answer) == ("not asked", "It is not ours to train.")


def test_the_exact_adversary_is_put_in_its_place():
    assert "almost any model" in by_id(answers(evidence()))["adversary"].answer


def test_the_best_ranking_is_shown_instead_and_chance_never_is():
    found = instead(evidence(), subject="runs/x")
    assert found is not None
    assert found.name == "leave-one-out"
    assert found.command == 'heedful explain runs/x "a text of yours" --by leave-one-out'
    assert found.to_dict()["ranking"] == "leaving each word out"


def test_one_head_of_a_transformer_can_be_shown_instead():
    found = instead(evidence(rankings=(skill(1.2, ranking="head-11-only"),)), subject="hf:x")
    assert found is not None
    assert found.command.endswith("--by head-11-only")
    assert found.to_dict()["ranking"] == "attention of head 11 alone"


def test_an_answer_names_the_yardstick_it_was_measured_by():
    other = finding("τ", 0.4, 0.38, 0.42, coordinates={"yardstick": "contribution"})
    found = by_id(answers(evidence(agreement=other, skill=skill(0.7, yardstick="gradient"))))
    assert "agrees with each word's contribution at" in found["agreement"].answer
    assert "of what gradient × input finds" in found["decides"].answer
    plain = by_id(answers(evidence()))
    assert "agrees with leaving each word out at" in plain["agreement"].answer


def test_a_gap_that_a_search_bounds_is_not_called_exact():
    bound = finding("gap", 1.1, 1.0, 1.2, kind="lower bound")
    assert "lower bound" in by_id(answers(evidence(gap=bound)))["decides"].measured
    assert "lower bound" not in by_id(answers(evidence()))["decides"].measured


def test_nothing_is_shown_instead_of_the_best():
    assert instead(evidence(rankings=(skill(0.5, ranking="gradient"),)), subject="runs/x") is None


def test_evidence_comes_back_from_json_and_is_judged_alike():
    before = evidence(skill=skill(0.4), stable=None, not_asked={"stable": "no"})
    after = Evidence.from_dict(json.loads(json.dumps(before.to_dict(), allow_nan=False)))
    assert judge(after) == judge(before)
    assert after.to_dict() == before.to_dict()


def test_evidence_of_another_kind_is_refused():
    with pytest.raises(UserError, match="no evidence has"):
        Evidence.from_dict({**evidence().to_dict(), "mood": None})


def test_a_skill_with_a_very_wide_interval_is_said_to_be_hardly_known():
    wide = finding("w", 1.39, 0.14, 2.92, coordinates={"yardstick": "leave-one-out"})
    answer = by_id(answers(evidence(skill=wide)))["decides"]
    assert answer.outcome == "unsure"
    assert answer.answer.startswith("Not clearly. How much it finds cannot be told well on these texts")
    assert "139 % [14, 292]" in answer.answer
    surely = finding("w", 1.39, 0.6, 2.92, coordinates={"yardstick": "leave-one-out"})
    answer = by_id(answers(evidence(skill=surely)))["decides"].answer
    assert answer.startswith("Yes. ")
    assert "cannot be told well" in answer


def test_more_than_the_yardstick_finds_is_not_called_a_part_of_it():
    alike = by_id(answers(evidence(skill=skill(1.03))))["decides"].answer
    assert "it finds as much as leaving each word out finds (103 % [98, 108] of it)" in alike
    more = by_id(answers(evidence(skill=skill(1.3))))["decides"].answer
    assert "it finds more than leaving each word out finds (130 % [125, 135] of it)" in more
    less = by_id(answers(evidence(skill=skill(0.7))))["decides"].answer
    assert "it finds 70 % [65, 75] of what leaving each word out finds" in less


@pytest.mark.parametrize(
    ("own", "dealt", "said"),
    [
        (0.0, 0.27, "decides less than what chance puts there"),
        (0.31, 0.31, "weights this uneven do that wherever they lie"),
        (0.0, 0.0, "neither decides alone"),
    ],
)
def test_why_the_top_item_does_not_matter_more_fits_the_numbers(own, dealt, said):
    top = finding("flips", own, own, own, baselines={"random": 0.05, "shuffled": dealt})
    beside = finding("beyond", own - dealt, own - dealt, own - dealt)
    answer = by_id(answers(evidence(top=top, top_advantage=beside)))["top"]
    assert answer.outcome == "no"
    assert said in answer.answer


def test_noise_is_no_recommendation_and_what_measured_best_is_named():
    close = evidence(skill=skill(1.39, 0.4), rankings=(skill(1.41, 0.4, ranking="gradient"),))
    assert instead(close, subject="runs/x") is None
    said = nothing_better(close)
    assert said is not None
    assert "Nothing measured clearly better than attention (word skill 1.39 [0.99, 1.79])" in said
    assert "gradient × input (1.41 [1.01, 1.81])" in said
    behind = evidence(rankings=(skill(0.5, ranking="gradient"),))
    assert (
        nothing_better(behind)
        == "Nothing else measured better than attention (word skill 0.70 [0.65, 0.75])."
    )


def test_where_something_is_clearly_better_or_nothing_was_measured_there_is_no_such_sentence():
    assert nothing_better(evidence()) is None
    assert nothing_better(evidence(skill=None)) is None
    assert nothing_better(evidence(rankings=())) is None
