"""Every question from rows made by hand: its findings, its words, every outcome, and when it is not asked."""

import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hand_made import CLASSES, of_map, read, rows_of

from heedful.auditing.asking import NOT_OURS, Asking, in_words
from heedful.auditing.plan import AuditSettings
from heedful.auditing.questions import (
    QUESTIONS,
    Answer,
    NotAsked,
    adversary,
    agreement,
    foretells,
    head,
    labels,
    needed,
    stable,
    top,
)
from heedful.auditing.questions.answer import outcome_of, scale_of
from heedful.auditing.reading import ReadSubject
from heedful.auditing.rule import percent
from heedful.auditing.skill import Scored
from heedful.errors import UserError
from heedful.records import Estimate, Finding, Interval, wilson_interval
from heedful.records.interval import share_of

ABOUT = {"corpus": "films", "model": "dp", "split": "test"}
NAN = float("nan")


def asking(**more):
    return SimpleNamespace(about=ABOUT, seed=0, settings=AuditSettings(seeds=3), **more)


def exactly(low, high, value=None):
    interval = Interval(low, high, level=0.95, method="by hand")
    return Finding(
        "x", (low + high) / 2 if value is None else value, count=9, interval=interval, measured="m"
    )


def test_who_watches_reads_what_is_measured_in_words():
    streamed = [one.id for one in QUESTIONS if one.id not in ("foretells", "needed", "halves")]
    assert all(" " in in_words(stage) for stage in [*streamed, "hidden"])
    assert in_words("deletions-2") == "deleting words, part 2"
    assert in_words("last-word") == "last-word"  # a question of somebody's own


def test_the_questions_are_told_apart_and_the_first_alone_decides():
    assert [one.id for one in QUESTIONS] == [
        "foretells", "top", "agreement", "adversary", "needed", "head",
        "stable", "noise", "dropout", "halves", "labels",
    ]  # fmt: skip
    assert [number for number, one in enumerate(QUESTIONS) if one.decides] == [0]
    assert all(one.asks.endswith("?") for one in QUESTIONS)
    titles = [one.figure_title for one in QUESTIONS if one.figure is not None]
    assert len(set(titles)) == len(titles) == 9
    assert all(titles)


def test_the_docs_list_these_questions_in_this_order():
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\d+) \| (.+?)( \*)? \|", page, flags=re.MULTILINE)
    asked = [(one.asks, " *" * one.of_others) for one in QUESTIONS]
    assert listed == [(str(number), *one) for number, one in enumerate(asked, start=1)]


def test_answers_are_read_again_as_they_were_written():
    found = needed.answer(decided(3, 1, 8), asking())
    assert Answer.from_dict(found.to_dict()) == found
    nothing = QUESTIONS[0].not_asked("There is none.")
    assert Answer.from_dict(nothing.to_dict()) == nothing
    assert (nothing.outcome, nothing.good, nothing.decides) == ("not asked", None, True)
    assert nothing.findings == ()
    for damaged in ({}, {**found.to_dict(), "odd": 1}):
        with pytest.raises(UserError, match="damaged"):
            Answer.from_dict(damaged)


@pytest.mark.parametrize(("outcome", "good"), [("yes", True), ("no", False), ("unsure", None)])
def test_an_outcome_speaks_for_the_map_unless_it_is_said_otherwise(outcome, good):
    said = QUESTIONS[1].said(outcome, "words", "how")
    assert said.good is good
    assert QUESTIONS[1].said(outcome, "words", "how", good=not good).good is (not good)


def test_outcomes_scales_and_shares():
    assert outcome_of(exactly(0.1, 0.3), ">", 0.0) == "yes"
    assert outcome_of(exactly(-0.3, 0.0), ">", 0.0) == "no"
    assert outcome_of(exactly(0.0, 0.3), ">", 0.0) == "unsure"
    assert outcome_of(None, ">", 0.0) == "unsure"
    assert outcome_of(Estimate(0.5), ">", 0.0) == "unsure"
    assert percent(exactly(0.125, 0.375)) == "25 % [12, 38]"
    assert percent(Estimate(0.5)) == "50 %"
    assert percent(exactly(-0.004, 0.25)) == "12 % [0, 25]"  # and not -0
    found = replace(exactly(0.125, 0.375), baselines={"random": Estimate(0.0625)})
    scale = scale_of(found, low_end=-1.0, high_end=2.0, best=0.5, best_name="this")
    assert (scale.low, scale.high, scale.you, scale.you_low, scale.you_high) == (-1, 2, 0.25, 0.125, 0.375)
    assert (scale.random, scale.shuffled, scale.best, scale.best_name) == (0.0625, None, 0.5, "this")
    wide = exactly(-math.inf, math.inf, 0.25)
    assert scale_of(wide, low_end=0.0, high_end=1.0).you_low is None
    share = share_of(np.array([1.0, 0, 0, 1, 1]))
    assert share.value == 0.6
    assert share.interval == wilson_interval(3, 5)


# The one that decides


def answered(rows, shown="attention"):
    verdict = read(rows, shown=shown)
    scored = Scored(rows[rows["words"] > 1])
    found = ReadSubject(shown, CLASSES, verdict, rows, pd.DataFrame(), None, scored, 0.95, 1)
    return foretells.answer(rows, asking(read=found))


def test_the_skill_says_what_the_verdict_rests_on():
    rows = rows_of(
        maps=("attention", "gradient", "shuffled", "random"),
        **of_map("gradient", told=0.75), **of_map("shuffled", told=0.25),
        **of_map("random", told=0.0, paint=0.5), explained=0.125,
    )  # fmt: skip
    found = answered(rows)
    assert (found.outcome, found.good) == ("yes", True)
    assert found.answer == (
        "Yes. This map predicts 100 % [100, 100] of what the best map could; 100 % [94, 100] of "
        "its paint lies on words that matter, and its strongest word is one of them in 100 % [94, 100] of "
        "texts. No map of single words can show more than 50 % of what this model does."
    )
    assert found.finding.value == 1
    assert {name: one.value for name, one in found.finding.baselines.items()} == {
        "random": 0.0,
        "shuffled": 0.25,
    }
    assert (found.scale.low, found.scale.high, found.scale.best) == (0, 1, 1)
    assert (found.scale.shuffled, found.scale.random) == (0.25, 0.0)
    named = [(one.name, one.coordinates.get("predicted"), one.value) for one in found.evidence]
    assert ("paint on words that matter", None, 1.0) in named
    assert ("strongest word matters", None, 1.0) in named
    assert ("signed heat-map skill", None, 1.0) in named
    assert [one for one in named if one[1]] == [
        ("heat-map skill", "bad", 1.0), ("heat-map skill", "good", 1.0),
    ]  # fmt: skip
    assert named[-2:] == [  # gradient with lent and with its own signs, and neither of the nulls
        ("heat-map skill", None, 0.75), ("signed heat-map skill", None, 1.0),
    ]  # fmt: skip
    assert foretells.figure(found, rows) is not None


def test_regressions_are_told_with_lent_and_with_their_own_signs():
    found = answered(rows_of(fitted_told_lime=0.5, fitted_signed_lime=0.25))
    assert [(one.name, one.value) for one in found.evidence[-2:]] == [
        ("heat-map skill", 0.5), ("signed heat-map skill", 0.25),
    ]  # fmt: skip


def test_what_attention_does_speaks_for_no_other_map():
    answer = needed.QUESTION.said("yes", "It is.", "So.")
    beside = needed.QUESTION.beside(answer, "LIME")
    assert (beside.question, beside.good) == (needed.QUESTION.of_attention, None)
    assert beside.answer == (
        "It is. This was measured of the model's attention, not of what is judged here (LIME)."
    )
    unasked = needed.QUESTION.not_asked("No run.")
    assert needed.QUESTION.beside(unasked, "LIME").answer == "No run."
    assert foretells.QUESTION.beside(answer, "LIME") is answer


@pytest.mark.parametrize(
    ("told", "outcome", "said", "good"), [(0.5, "unsure", "In part.", None), (-1.0, "no", "No.", False)]
)
def test_the_skill_in_part_or_not(told, outcome, said, good):
    found = answered(rows_of(**of_map(told=told, paint=0.625, first=0.625)))
    assert found.outcome == outcome
    assert found.answer.startswith(said)
    assert found.good is good


def test_the_skill_cannot_say():
    found = answered(rows_of(16))
    assert found.outcome == "unsure"
    assert found.answer == "It could not be measured; the reason stands beside the reading."
    assert found.finding is None
    assert foretells.figure(found, rows_of(16)) is None


def test_paint_against_the_decision_is_said_beside():
    found = answered(rows_of(against_attention=0.25))
    (against,) = (one for one in found.evidence if "against" in one.name)
    assert against.value == 0.25


# The top item


def flips(own, shuffled, other=0, count=40, **columns):
    place = np.arange(count)
    return pd.DataFrame(
        {
            "items": 5,
            "single_attention_top_flips": place < own,
            "single_shuffled_top_flips": place < shuffled,
            "single_attention_other_flips": place < other,
            **columns,
        }
    )


def test_the_top_item_flips_more_than_that_of_shuffled_weights():
    found = top.answer(flips(30, 10, 4), asking())
    assert found.outcome == "yes"
    assert found.answer == (
        "Yes. Erasing its top item alone changes 75 % of decisions, and that of shuffled weights 25 %."
    )
    assert found.finding.value == 0.75
    assert found.finding.interval == wilson_interval(30, 40)
    assert found.finding.baselines["shuffled"].value == 0.25
    assert found.finding.baselines["random"].value == 0.1
    assert found.finding.coordinates == ABOUT
    (beside,) = found.evidence
    assert beside.value == 0.5
    assert beside.interval.low > 0
    assert (found.scale.high, found.scale.best) == (1.0, None)


@pytest.mark.parametrize(
    ("own", "shuffled", "outcome", "why"),
    [
        (10, 10, "no", "weights this uneven do that wherever they lie."),
        (0, 0, "no", "neither decides alone."),
        (5, 30, "no", "what it puts first decides less than what chance puts there."),
    ],
)
def test_the_top_item_flips_no_more(own, shuffled, outcome, why):
    found = top.answer(flips(own, shuffled), asking())
    assert found.outcome == outcome
    assert found.answer.endswith(why)
    assert found.good is False


def test_the_top_item_may_be_unclear():
    found = top.answer(flips(11, 10), asking())
    assert found.outcome == "unsure"
    assert found.answer.startswith("Not clearly. Erasing its top item alone changes 28 % of decisions")


def test_texts_of_one_item_are_left_out_and_without_others_it_is_not_asked():
    frame = flips(30, 10)
    more = pd.concat([frame, frame.assign(items=1, single_attention_top_flips=True)])
    assert top.answer(more, asking()).finding.value == 0.75
    with pytest.raises(NotAsked, match="two items"):
        top.answer(frame.assign(items=1), asking())


def gaps(**columns):
    frame = flips(30, 10, smallest=2, smallest_shuffled=2, smallest_kind="exact", size_attention=6)
    return frame.assign(**{"size_random": 8, "size_shuffled": 12, **columns})


def test_beside_stands_how_many_items_go_before_a_decision_flips():
    found = top.answer(gaps(), asking())
    assert found.answer.endswith(
        " To change a decision at the layer, its order takes 3 times as many items as needed (median)."
    )
    by_name = {one.name: one for one in found.evidence}
    gap = by_name["median optimality gap"]
    assert (gap.value, gap.count, gap.kind, gap.better) == (3, 40, "estimate", "lower")
    assert {name: one.value for name, one in gap.baselines.items()} == {"random": 4, "shuffled": 6}
    assert by_name["gap of shuffled weights beside attention's"].value == 1  # twice: one doubling
    assert by_name["decisions that can be flipped"].value == 1
    assert (found.scale.best, found.scale.high) == (0.0, 1.0)


def test_where_a_ranking_never_flips_all_items_count_and_some_cannot_be_flipped():
    half = np.arange(40) % 2
    found = top.answer(gaps(size_attention=-1, smallest=np.where(half, 1, -1)), asking())
    by_name = {one.name: one for one in found.evidence}
    assert by_name["median optimality gap"].value == 5
    assert by_name["median optimality gap"].count == 20
    assert by_name["decisions that can be flipped"].value == 0.5
    assert found.scale.best == found.scale.high == 0.5
    never = top.answer(gaps(smallest=-1), asking())
    assert [one.name for one in never.evidence][1:] == ["decisions that can be flipped"]
    assert never.evidence[-1].value == 0
    assert "To change a decision" not in never.answer


def test_an_order_that_is_the_best_needs_no_more_and_a_search_says_only_a_bound():
    assert top.answer(gaps(size_attention=2), asking()).answer.endswith("takes no more than needed (median).")
    searched = top.answer(gaps(smallest_kind="upper bound"), asking())
    assert "To change a decision" not in searched.answer
    assert {one.kind for one in searched.evidence if "gap" in one.name or "can be" in one.name} == {
        "lower bound",
        "estimate",
    }


# Agreement


def taus(own, shuffled, gradient=0.5, count=40):
    wave = np.where(np.arange(count) % 2, 0.0625, -0.0625)
    return pd.DataFrame(
        {
            "tau_attention": own + wave,
            "tau_shuffled": shuffled + 0 * wave,
            "tau_gradient": gradient + 0 * wave,
        }
    )


@pytest.mark.parametrize(
    ("own", "shuffled", "outcome", "said"),
    [
        (0.5, 0.25, "yes", "Yes. Attention agrees with leaving items out at τ = 0.50, shuffled weights that"),
        (0.25, 0.5, "no", "No. Attention agrees"),
        (0.25, 0.25, "unsure", "Not clearly. Attention agrees"),
    ],
)
def test_agreement_beside_shuffled_weights_measured_again(own, shuffled, outcome, said):
    found = agreement.answer(taus(own, shuffled), asking())
    assert found.outcome == outcome
    assert found.answer.startswith(said)
    assert found.finding.value == own
    assert found.finding.baselines["shuffled"].value == shuffled
    beside, gradient = found.evidence
    assert beside.value == own - shuffled
    assert gradient.value == 0.5
    assert found.scale.best == 0.5
    assert found.scale.high == 0.5
    assert found.scale.low == 0


def test_undefined_agreement_is_left_out_and_counted():
    frame = taus(0.5, 0.25)
    frame.loc[:2, "tau_attention"] = NAN
    found = agreement.answer(frame, asking())
    assert found.finding.count == 37
    assert "3 texts where it is undefined are left out" in found.finding.measured
    assert "left out" not in agreement.answer(taus(0.5, 0.25), asking()).finding.measured
    assert agreement.answer(taus(0.5, 0.25)[:2], asking()).finding.count == 2
    with pytest.raises(NotAsked, match="no order"):
        agreement.answer(frame.assign(tau_gradient=NAN), asking())
    with pytest.raises(NotAsked, match="no order"):
        agreement.answer(taus(0.5, 0.25)[:1], asking())


# Adversary


def apart(divergence, *, exact=True, count=12):
    return pd.DataFrame(
        {"divergence": divergence, "divergence_shuffled": 0.5, "divergence_random": 0.25, "permuted": 0.125,
         "change": 0.01, "kind": "exact" if exact else "lower bound"}, index=range(count),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("divergence", "exact", "outcome", "good"),
    [
        (math.log(2) / 2, True, "yes", False),
        (math.log(2) / 2 - 1e-6, True, "no", True),
        (math.log(2) / 2, False, "yes", False),
        (math.log(2) / 2 - 1e-6, False, "unsure", None),
    ],
)
def test_other_weights_for_the_same_output(divergence, exact, outcome, good):
    found = adversary.answer(apart(divergence, exact=exact), asking())
    assert (found.outcome, found.good) == (outcome, good)
    assert found.finding.kind == ("exact" if exact else "lower bound")
    assert found.finding.baselines["shuffled"].value == 0.5
    assert found.finding.baselines["random"].value == 0.25
    assert "50 % as far away as weights can be" in found.answer
    assert found.answer.endswith("Such weights exist for almost any model, so this alone says little.")
    assert found.evidence[0].value == 0.125
    assert (found.scale.low, found.scale.high) == (math.log(2), 0)


def test_an_exact_adversary_that_may_be_far_is_unsure():
    found = adversary.answer(apart(np.where(np.arange(12) % 2, 0.0, math.log(2) * 0.9)), asking())
    assert found.outcome == "unsure"
    assert found.answer.startswith("Perhaps.")


def test_texts_of_one_item_have_no_other_weights():
    rows = apart(0.25)
    rows.loc[:5, ["divergence", "divergence_shuffled", "divergence_random", "permuted"]] = NAN
    found = adversary.answer(rows, asking())
    assert (found.finding.count, found.evidence[0].count) == (6, 6)
    assert found.finding.baselines["random"].value == 0.25
    with pytest.raises(NotAsked, match="none has other weights"):
        adversary.answer(rows[:6], asking())


# Needed


def decided(both, only_own, only_uniform, neither=0):
    own = [0] * (both + only_own) + [1] * (only_uniform + neither)
    uniform = [0] * both + [1] * only_own + [0] * only_uniform + [1] * neither
    return pd.DataFrame({"label": 0, "decided": own, "uniform": uniform})


@pytest.mark.parametrize(
    ("counts", "outcome", "said"),
    [
        ((50, 40, 0), "yes", "Yes. It is worth +44.4 points of accuracy over"),
        ((90, 0, 0), "no", "No. A model that gives every word the same weight decides as well (+0.0 points"),
        (
            (50, 5, 5),
            "unsure",
            "Not clearly. Beside a model that gives every word the same weight it is worth",
        ),
        ((50, 0, 40), "no", "No. A model that gives every word the same weight decides as well (-44.4"),
    ],
)
def test_whether_attention_is_needed(counts, outcome, said):
    found = needed.answer(decided(*counts), asking())
    assert found.outcome == outcome
    assert found.answer.startswith(said)
    assert found.finding.value == pytest.approx((counts[1] - counts[2]) / sum(counts))
    assert found.finding.coordinates["uniform_accuracy"] == pytest.approx(
        (counts[0] + counts[2]) / sum(counts)
    )
    assert found.scale.low == min(0, found.finding.value)
    assert found.scale.high == max(0.05, found.finding.value)


# Stable


def pairs(overlap, shuffled=0.25, count=40):
    found = {"shuffled_overlap": shuffled, "random_overlap": 0.125, "shuffled_divergence": 0.5}
    for one in ("0_1", "0_2", "1_2"):
        found |= {f"overlap_{one}": overlap, f"divergence_{one}": 0.25}
    return pd.DataFrame(found, index=range(count))


@pytest.mark.parametrize(
    ("overlap", "outcome", "said"),
    [(0.75, "yes", "Yes."), (0.125, "no", "No."), (0.25, "unsure", "Not clearly.")],
)
def test_whether_other_seeds_attend_to_the_same_word(overlap, outcome, said):
    found = stable.answer(pairs(overlap), asking())
    assert found.finding.value == overlap
    assert found.evidence[0].value == overlap - 0.25
    assert found.evidence[1].value == 0.25
    assert found.finding.baselines["shuffled"].value == 0.25
    assert found.finding.baselines["random"].value == 0.125
    assert found.outcome == outcome
    assert found.answer == (
        f"{said} Models trained from other seeds share their top word in {100 * overlap:.0f} % of texts, and "
        "25 % if weights are shuffled."
    )


def test_without_a_text_of_two_words_stability_is_not_asked():
    with pytest.raises(NotAsked, match="two words"):
        stable.answer(pairs(NAN), asking())


# Labels


def marked(mass, share, count=40, **columns):
    wave = np.where(np.arange(count) % 2, 0.0625, -0.0625)
    found = {"words": 5, "label_mass": mass + wave, "label_words": share, "label_shuffled": 0.125, **columns}
    return pd.DataFrame(found, index=range(count))


@pytest.mark.parametrize(
    ("mass", "share", "outcome", "said"),
    [
        (0.75, 0.25, "yes", "Yes. 75 % of its weight lies on words of one class; by chance 25 % would."),
        (0.25, 0.5, "no", "No. 25 % of its weight lies on words of one class; by chance 50 % would."),
        (
            0.25,
            0.25,
            "unsure",
            "Not clearly. 25 % of its weight lies on words of one class; by chance 25 % would.",
        ),
    ],
)
def test_whether_attention_lies_on_words_of_one_class(mass, share, outcome, said):
    found = labels.answer(marked(mass, share), asking())
    assert (found.outcome, found.answer) == (outcome, said)
    assert found.finding.value == mass
    assert found.finding.baselines["random"].value == share
    assert found.finding.baselines["shuffled"].value == 0.125
    assert found.evidence[0].value == mass - share
    assert labels.figure(found, marked(mass, share)) is not None


def test_texts_of_one_word_say_nothing_about_labels():
    words = np.where(np.arange(40) < 20, 1, 2)
    frame = marked(0.75, 0.25, words=words)
    frame.loc[frame["words"] == 1, "label_mass"] = 0.0
    assert labels.answer(frame, asking()).finding.value == 0.75
    for frame in (marked(0.5, 0.0), marked(0.5, 0.5, words=1)):
        with pytest.raises(NotAsked, match="goes with one class"):
            labels.answer(frame, asking())


# Not asked


def asked_of(audited, **settings):
    plan = SimpleNamespace(audited=audited, settings=AuditSettings(**settings))
    return Asking(plan, folder=None)


class Mute:
    """A subject that gives neither attention nor a trace."""

    classes = CLASSES
    cannot: ClassVar = {"trace": "it has no attention layer", "attention": "it has no attention layer"}


@pytest.mark.parametrize("question", [top, agreement, adversary, head])
def test_what_a_black_box_cannot_be_asked(question):
    audited = SimpleNamespace(subject=Mute(), run=None)
    one = asked_of(audited)
    one.__dict__["label_words"] = None
    with pytest.raises(NotAsked, match="it has no attention layer"):
        question.measure(one)


def test_somebody_elses_model_is_not_trained_again():
    audited = SimpleNamespace(subject=Mute(), run=None)
    for question in (needed, stable):
        with pytest.raises(NotAsked) as why:
            question.measure(asked_of(audited))
        assert str(why.value) == NOT_OURS


def test_what_was_not_asked_for_is_not_asked():
    audited = SimpleNamespace(subject=Mute(), run=None)
    with pytest.raises(NotAsked, match="No uniform control"):
        needed.measure(asked_of(audited, uniform=False))
    with pytest.raises(NotAsked, match="three seeds"):
        stable.measure(asked_of(audited, seeds=2))


def test_a_run_without_its_training_texts_is_not_trained_again():
    corpus = SimpleNamespace(split=lambda name: [])
    control = SimpleNamespace(recipe=SimpleNamespace(model=SimpleNamespace(control="uniform")))
    audited = SimpleNamespace(subject=Mute(), run=control, corpus=corpus)
    for question in (needed, stable):
        with pytest.raises(NotAsked, match="not those the model was trained on"):
            question.measure(asked_of(audited))
    audited.corpus = SimpleNamespace(split=lambda name: ["a text"])
    with pytest.raises(NotAsked, match="attention is uniform already"):
        needed.measure(asked_of(audited))
