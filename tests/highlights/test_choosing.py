"""Which map paints: what an audit, or a small one, found best."""

from dataclasses import replace

import pytest
from small_model import small_model, texts_of

from heedful.auditing.instead import Instead
from heedful.auditing.reading import ReadSettings, read_subject
from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, UNKNOWN, ClassReading
from heedful.highlights.choosing import CHANGES, Choice, _choice, choose_by_reading
from heedful.records import Estimate, Finding, Interval

SKILL = Finding("skill", 0.63, count=40, measured="made up", interval=Interval(0.5, 0.7, 0.95, "made up"))
BETTER = Instead("integrated", replace(SKILL, value=0.9), Estimate(0.27), FAITHFUL, 1.0)


@pytest.mark.parametrize(
    ("reading", "instead", "by", "judged", "says"),
    [
        (FAITHFUL, None, "attention", FAITHFUL, "as faithful"),
        (CARE, BETTER, "integrated", FAITHFUL, "integrated gradients, which predicts 90 %"),
        (CARE, None, "attention", CARE, "nothing measured better"),
        (NOT_SHOWN, BETTER, "integrated", FAITHFUL, "attention predicts 63 %"),
        (NOT_SHOWN, None, CHANGES, None, "no map to show instead"),
        (UNKNOWN, None, CHANGES, None, "cannot say"),
    ],
)
def test_the_reading_decides_which_map_paints(reading, instead, by, judged, says):
    classes = [ClassReading("bad", UNKNOWN, 30, default=True), ClassReading("good", CARE, 30)]
    found = _choice("the audit in x", reading, "attention", SKILL, instead, classes)
    assert (found.by, found.reading, found.defaults) == (by, judged, ("bad",))
    assert says in found.why
    assert Choice.from_dict(found.to_dict()) == found


def test_a_small_audit_chooses_what_reading_the_subject_finds():
    model, texts = small_model(), texts_of(80)
    found = choose_by_reading(model, texts, {}, seed=2)
    read = read_subject(model, texts, settings=ReadSettings(texts=400, operator=False), seed=2)
    best = read.shown if read.reading == FAITHFUL or read.instead is None else read.instead.ranking
    assert found.by == best
    assert "small audit of" in found.why


def test_too_few_texts_for_an_audit_are_painted_by_their_changes():
    found = choose_by_reading(small_model(), texts_of(6), {})
    assert found.by == CHANGES
    assert "cannot say" in found.why
