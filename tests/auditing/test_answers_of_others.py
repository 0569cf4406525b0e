"""The questions for somebody else's model, from rows made by hand: findings, words, what is not asked."""

from types import SimpleNamespace

import pandas as pd
import pytest

from heedful.auditing.questions import NotAsked, dropout, halves, head, noise
from heedful.auditing.steady import steady_answer

ABOUT = {"corpus": "films", "model": "bert"}
WAYS = {"case": "other case", "spacing": "other spaces"}
NAN = float("nan")


def asking():
    return SimpleNamespace(about=ABOUT, seed=0, plan=SimpleNamespace(shown="gradient"))


def steady(**columns):
    rows = {
        "words": [4, 4, 2, 8],
        "top_case": [1.0, 1, 0, 1], "top_spacing": [1.0, NAN, 1, 0],
        "tau_case": [0.5, 0.5, -0.5, 1], "tau_spacing": [1.0, NAN, 1, 1],
        "kept_case": [1.0, 1, 1, 0], "kept_spacing": [1.0, 0, 1, 1],
    }  # fmt: skip
    frame = pd.DataFrame({**rows, **columns})
    return steady_answer(noise.QUESTION, frame, WAYS, asking(), changed="if changed", how="So.")


def test_whether_the_strongest_word_stays():
    found = steady()
    assert found.id == "noise"
    assert found.outcome == "unsure"
    assert found.answer == (
        "Not clearly. Its strongest word stays in 75 % of cases if changed, and the decision in 75 %."
    )
    assert found.measured == "So. It is steady if the strongest word surely stays in 80 % of cases."
    same = found.finding
    assert (same.value, same.count, same.unit, same.better) == (0.75, 4, "of texts", "higher")
    assert same.baselines["random"].value == (0.25 + 0.25 + 0.5 + 0.125) / 4
    assert same.coordinates == {**ABOUT, "ranking": "gradient"}
    assert (found.scale.low, found.scale.high, found.scale.best) == (0, 1, 1)
    decisions, *by_way = found.evidence
    assert (decisions.name, decisions.value, decisions.count) == ("decision that stays", 0.75, 4)
    assert [(one.coordinates["changed"], one.value, one.count) for one in by_way] == [
        ("case", 0.75, 4),
        ("case", 0.375, 4),
        ("spacing", pytest.approx(2 / 3), 3),
        ("spacing", 1.0, 3),
    ]


def test_texts_of_one_word_and_texts_that_lost_their_words_do_not_count():
    found = steady(words=[4, 1, 2, 8])
    assert (found.finding.value, found.finding.count) == (pytest.approx(2 / 3), 3)
    assert found.evidence[0].count == 4  # a decision stays or does not, whatever the words
    lost = steady(top_case=[1.0, 1, NAN, NAN], top_spacing=NAN, tau_spacing=NAN)
    assert (lost.finding.value, lost.finding.count) == (1, 2)
    assert [one.coordinates.get("changed") for one in lost.evidence] == [None, "case", "case"]
    for few in ({"top_case": [1.0, NAN, NAN, NAN], "top_spacing": NAN}, {"words": [4, 1, 1, 1]}):
        with pytest.raises(NotAsked, match="No text kept its words"):
            steady(**few)


@pytest.mark.parametrize("question", [noise, dropout])
def test_the_questions_hand_over_their_ways(question):
    columns = {f"{kind}_{way}": 1.0 for kind in ("top", "tau", "kept") for way in question.WAYS}
    rows = pd.DataFrame({"words": 4, **columns}, index=range(4))
    found = question.answer(rows, asking())
    assert (found.id, found.outcome, found.finding.value) == (question.QUESTION.id, "yes", 1)
    assert found.answer.startswith("Yes. Its strongest word stays in 100 % of cases")
    assert found.answer.endswith("and the decision in 100 %.")
    assert question.figure(found, rows) is not None


def test_what_two_halves_of_the_deletions_say_of_all():
    rows = pd.DataFrame({"halves": [1 / 3, 1 / 3, 1 / 3, 1 / 3, NAN]})
    found = halves.answer(rows, asking())
    assert (found.outcome, found.good) == ("no", False)
    assert found.answer == (
        "No. What single words do agrees at 0.33 between two halves, so at about 0.50 between all deletions "
        "and as many others."
    )
    assert (found.finding.value, found.finding.count) == (0.5, 4)
    assert found.finding.baselines["random"].value == 0
    assert found.finding.coordinates == ABOUT
    assert found.evidence[0].value == pytest.approx(1 / 3)
    assert (found.scale.low, found.scale.high, found.scale.best) == (0, 1, 1)


def test_halves_that_contradict_each_other_count_as_minus_one_at_most():
    found = halves.answer(pd.DataFrame({"halves": [-1.0, -0.5, 1.0, 1.5]}), asking())
    # 2r / (1 + r) is −1998, −2, 1 and 1: the first two are cut off.
    assert found.finding.value == 0
    assert found.evidence[0].value == pytest.approx((-0.999 - 0.5 + 1 + 1) / 4)
    two = halves.answer(pd.DataFrame({"halves": [1.0, 1.0, NAN]}), asking())
    assert (two.outcome, two.finding.count) == ("yes", 2)


@pytest.mark.parametrize("rows", [{"words": [1]}, {"halves": [0.5, NAN]}])
def test_where_all_parts_were_read_nothing_was_left_to_luck(rows):
    with pytest.raises(NotAsked, match="all their parts were read"):
        halves.answer(pd.DataFrame(rows), asking())


def headed(nothing, even=0.5):
    columns = {"nothing": nothing, "even": even, "odds": 2.0, "odds_nothing": 0.25}
    return pd.DataFrame({"decided": [0, 1, 1, 1], **columns})


def test_what_the_rest_decides_without_this_attention():
    found = head.answer(headed(1.0), asking())
    assert (found.outcome, found.good) == ("yes", False)
    assert found.answer == (
        "Nearly the same. Without any word at this layer 100 % of decisions stay, with even weights 50 %; "
        "always the commonest decision would be 75 %."
    )
    assert (found.finding.value, found.finding.count, found.finding.unit) == (1, 4, "of texts")
    assert found.finding.baselines["commonest decision"].value == 0.75
    assert (found.scale.low, found.scale.high) == (1, 0)
    spread, odds = found.evidence
    assert (spread.value, odds.value) == (0.5, 0.25)
    assert odds.measured == "mean log-odds of the decided class; with the model's own weights 2.00"
    assert head.answer(headed(0.5), asking()).answer.startswith("Other things. Without any word")
    unsure = head.answer(headed([1.0, 1, 1, 0.25]), asking())
    assert (unsure.outcome, unsure.good) == ("unsure", None)
    assert unsure.answer.startswith("Much the same, or not: unclear.")


def test_one_text_cannot_be_compared():
    with pytest.raises(NotAsked, match="too few texts"):
        head.answer(headed(1.0)[:1], asking())
    assert head.answer(headed(1.0)[:2], asking()).finding.count == 2
