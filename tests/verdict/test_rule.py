"""The rule on hand-made records: each reading, each reason, and that worse evidence never reads better."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_records import evidence, finding, skill

from heedful.records import Interval
from heedful.verdict import Thresholds, judge, sentence


def test_good_evidence_reads_faithful():
    verdict = judge(evidence())
    assert (verdict.reading, verdict.failed, verdict.caps) == ("faithful", (), ())
    assert "0.70" in verdict.reasons[0]
    assert sentence(verdict).startswith("You may show")


@pytest.mark.parametrize(
    ("changes", "failed", "said"),
    [
        ({"skill": skill(0.5)}, ("decides",), "not surely 0.5"),
        ({"class_skills": (skill(0.2, predicted="bad", count=101),)}, ("decides",), "“bad”"),
        ({"gap": finding("gap", 2.5, 2.4, 2.6)}, ("decides",), "2.5 times"),
        ({"gap_advantage": finding("gap", 0.1, -0.1, 0.3)}, ("decides",), "Shuffled weights"),
        ({"agreement_margin": finding("margin", 0.02, -0.01, 0.05)}, ("agreement",), "half"),
        ({"stable_advantage": finding("overlap", 0.01, -0.02, 0.04)}, ("stable",), "seeds"),
    ],
)
def test_one_thing_that_fails_asks_for_care_and_is_named(changes, failed, said):
    verdict = judge(evidence(**changes))
    assert (verdict.reading, verdict.failed) == ("use with care", failed)
    assert any(said in reason for reason in verdict.reasons)
    assert said in sentence(verdict)


def test_a_class_whose_skill_is_hardly_known_is_said_to_be():
    wide = finding("w", 2.56, -0.47, 10.61, coordinates={"predicted": "bad"})
    reason = judge(evidence(class_skills=(wide,))).reasons[0]
    assert "cannot be told well on these texts: 2.56 [-0.47, 10.61], not surely 0.25 or more" in reason
    whole = finding("w", 1.39, 0.14, 2.92)
    assert "cannot be told well" in judge(evidence(skill=whole, class_skills=())).reasons[0]


def test_a_small_class_is_not_asked():
    assert judge(evidence(class_skills=(skill(0.0, predicted="rare", count=99),))).reading == "faithful"


@pytest.mark.parametrize("missing", ["stable_advantage", "agreement_margin", "gap"])
def test_what_was_not_asked_caps_at_care(missing):
    verdict = judge(evidence(**{missing: None}, not_asked={"stable": "It is not ours to train."}))
    assert (verdict.reading, verdict.failed) == ("use with care", ())
    assert len(verdict.caps) == 1
    assert "not everything could be asked" in sentence(verdict)


def test_few_flippable_decisions_leave_the_gap_unasked():
    few = finding("flippable", 0.29, 0.25, 0.33)
    verdict = judge(evidence(flippable=few, gap=finding("gap", 9.0, 8.0, 10.0)))
    assert (verdict.reading, verdict.failed) == ("use with care", ())
    assert "29%" in verdict.caps[0]


def test_a_gap_that_is_only_a_lower_bound_cannot_speak_for_attention():
    bound = finding("gap", 1.1, 1.0, 1.2, kind="lower bound")
    assert judge(evidence(gap=bound)).reading == "use with care"


def test_weights_so_uneven_that_any_place_is_optimal_are_not_held_against_attention():
    no_room = finding("gap", 1.0, 1.0, 1.0, baselines={"shuffled": 1.0})
    level = finding("advantage", 0.0, -0.01, 0.01)
    assert judge(evidence(gap=no_room, gap_advantage=level)).reading == "faithful"
    room = finding("gap", 1.2, 1.0, 1.3, baselines={"shuffled": 1.2})
    assert judge(evidence(gap=room, gap_advantage=level)).failed == ("decides",)


def test_a_skill_surely_below_a_quarter_is_no_explanation():
    assert judge(evidence(skill=skill(0.19))).reading == "do not show as an explanation"
    assert judge(evidence(skill=skill(0.21))).reading == "use with care"


def test_constant_weights_are_no_explanation_even_without_a_skill():
    verdict = judge(evidence(constant=finding("constant", 1.0), skill=None))
    assert verdict.reading == "do not show as an explanation"
    assert "same for every word" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"accuracy": finding("a", 0.9, 0.8, 1.0, count=199, coordinates={"majority": 0.5})}, "199 texts"),
        ({"accuracy": finding("a", 0.6, 0.5, 0.7, coordinates={"majority": 0.5})}, "largest class"),
        ({"accuracy": finding("a", 0.3, 0.2, 0.4, coordinates={"majority": 0.5})}, "largest class"),
        ({"skill": None}, "could not be measured"),
        ({"skill": finding("word skill", 0.9)}, "yardstick"),
        ({"skill": finding("w", 0.9, -float("inf"), float("inf"))}, "yardstick"),
        ({"skill": skill(0.9, count=150)}, "two words"),
    ],
)
def test_what_cannot_be_said_is_not_said(changes, said):
    verdict = judge(evidence(**changes))
    assert verdict.reading == "cannot say"
    assert any(said in reason for reason in verdict.reasons)


def test_context_never_decides():
    bad = finding("bad", 0.0, -0.1, -0.05, baselines={"random": 0.5, "shuffled": 0.5})
    changes = dict.fromkeys(
        ("top", "top_advantage", "adversary", "needed", "labels", "labels_advantage"), bad
    )
    assert judge(evidence(**changes)).reading == "faithful"


def test_thresholds_are_the_callers_to_change():
    assert judge(evidence(), Thresholds(faithful=0.8)).reading == "use with care"


MEASURED = ("skill", "gap_advantage", "agreement_margin", "stable_advantage")


@settings(deadline=None, max_examples=200)
@given(
    st.fixed_dictionaries({name: st.tuples(st.floats(-1, 2), st.floats(0.01, 0.5)) for name in MEASURED}),
    st.fixed_dictionaries({name: st.floats(0, 1) for name in MEASURED}),
    st.floats(1, 4),
    st.floats(0, 2),
)
def test_weaker_evidence_never_reads_better(found, losses, gap, wider):
    """What mixing in shuffled weights does: every number falls towards chance, and the gap grows."""

    def read(lost, more):
        changes = {}
        for name, (value, half) in found.items():
            fallen = value - lost * losses[name]
            changes[name] = finding(name, fallen, fallen - half, fallen + half)
        return judge(evidence(**changes, gap=finding("gap", gap + more, 1, 9)))

    assert read(0, 0).rank <= read(1, wider).rank


def test_a_wider_interval_never_makes_attention_faithful():
    wide = skill(0.7)
    assert wide.interval is not None
    ends = Interval(0.2, 1.2, level=0.95, method="by hand")
    assert judge(evidence(skill=replace(wide, interval=ends))).reading == "use with care"


def test_a_verdict_needs_no_torch():
    probe = "import sys, heedful.verdict\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
