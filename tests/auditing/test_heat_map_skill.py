"""Numbers over texts from rows made by hand: exact values, what is left out, and what counts how."""

import numpy as np
import pytest
from hand_made import CLASSES, LIMITS, STEP, of_map, rows_of

from heedful.auditing.instead import MATTERS, instead
from heedful.auditing.rule import CARE, FAITHFUL
from heedful.auditing.skill import FIRST, MEASURED, PAINT, Scored
from heedful.records import wilson_interval

NAN = float("nan")


def four(**columns):
    found = {"size": [1.0, 2, 4, 8], "blank": [0.5, 1, 3, 4], "blank_signed": [0.25, -1, 2, 4], **columns}
    return Scored(rows_of(4, **found))


def test_skill_is_a_ratio_of_sums():
    rows = four(told_attention=[1.0, 1, 3.5, 6], signed_attention=[0.25, 0, 2, 8])
    skill = rows.skill("attention")
    assert skill.value == pytest.approx((0.5 + 0 + 0.5 + 2) / (0.5 + 1 + 1 + 4))
    signed = rows.skill("attention", signed=True)
    assert signed.value == pytest.approx((0 + 1 + 0 + 4) / (0.75 + 3 + 2 + 4))
    assert (skill.name, signed.name) == ("heat-map skill", "signed heat-map skill")
    assert skill.measured == signed.measured == MEASURED
    assert skill.count == 4
    assert skill.better == "higher"
    assert skill.coordinates == {"ranking": "attention"}


def test_texts_count_by_weight_and_paint_by_effect_too():
    rows = four(weight=[1.0, 1, 2, 2], **of_map(told=2.0, paint=[0, 0.5, 1, 1], first=[1.0, 0, 1, 0]))
    assert rows.skill("attention").value == pytest.approx((1.5 + 1 - 2 - 4) / (0.5 + 1 + 2 + 8))
    paint, first = rows.paint("attention"), rows.first("attention")
    assert paint.value == pytest.approx((0 + 1 + 8 + 16) / (1 + 2 + 8 + 16))
    assert first.value == pytest.approx((1 + 8) / 27)
    assert (paint.name, paint.measured) == ("paint on words that matter", PAINT)
    assert (first.name, first.measured) == ("strongest word matters", FIRST)
    assert (paint.better, first.better, rows.against("attention").better) == ("higher", "higher", "lower")


def test_texts_without_any_effect_do_not_count_for_paint():
    rows = four(size=[0.0, 0, 1, 1], blank=0.0, **of_map(paint=[0.0, 0, 1, 0.5]))
    assert rows.paint("attention").value == 0.75
    assert four(size=0.0, blank=0.0).paint("attention") is None


def ends(**columns):
    found = Scored(rows_of(64, **columns)).paint("attention").interval
    return found.low, found.high


def wilson(successes, count):
    found = wilson_interval(successes, count)
    return found.low, found.high


def test_a_share_that_is_1_or_0_in_every_text_is_only_as_sure_as_texts_are_many():
    assert ends() == wilson(64, 64)
    assert ends()[0] == pytest.approx(64 / (64 + 1.96**2), abs=1e-4)
    assert ends(paint_attention=0.0) == wilson(0, 64)
    assert ends(cluster=np.arange(64) // 2) == wilson(32, 32)  # copies are one text
    assert ends(weight=np.where(np.arange(64) < 16, 1.0, 0.0)) == wilson(16, 16)
    assert ends(size=np.where(np.arange(64) < 16, 1.0, 0.0)) == wilson(16, 16)
    assert ends(paint_attention=0.75) == (0.75, 0.75)  # no share of texts: resamples say how sure it is


def test_maps_are_judged_on_the_texts_they_were_tried_on():
    rows = four(told_attention=[1.0, 1, NAN, NAN], paint_attention=[NAN, 0.5, 1, NAN])
    assert rows.skill("attention").value == pytest.approx(0.5 / 1.5)
    assert rows.skill("attention").count == 2
    assert rows.paint("attention").value == pytest.approx((1 + 4) / 6)
    assert rows.paint("attention").count == 2
    none = four(**of_map(told=NAN, paint=NAN, first=NAN))
    assert none.skill("attention") is none.paint("attention") is none.first("attention") is None


def test_where_nothing_is_left_to_predict_there_is_no_skill():
    assert four(blank=[1.0, 2, 4, 8]).skill("attention") is None
    assert four(blank=[1.0, 2, 4, 9]).skill("attention") is None
    assert four(blank=[1.0, 2, 4, 9]).limit() is None
    assert four(blank=[1.0, 2, 4, 8 - STEP]).skill("attention") is not None
    still = four(size=0.0, blank=0.0)
    assert still.paint("attention") is None
    assert still.room.value == 0
    assert still.room.interval is None


def test_one_map_beyond_another_is_paired_on_the_texts_of_both():
    rows = Scored(rows_of(8, maps=("attention", "other"), told_attention=0.25, told_other=[0.75] * 7 + [NAN]))
    assert rows.names == ("attention", "other")
    found = rows.beyond("other", "attention")
    assert (found.value, found.interval.low, found.interval.high) == (0.5, 0.5, 0.5)
    assert rows.beyond("attention", "other").value == -0.5
    apart = Scored(rows_of(2, maps=("attention", "other"), told_attention=[1.0, NAN], told_other=[NAN, 1.0]))
    assert apart.beyond("attention", "other") is None


def test_limit_room_and_the_share_that_words_show_alone():
    rows = four(limit=[1.0, 2, 3, 6], variance=[0.25, 0.5, 0.25, 1], explained=[0.25, 0.25, 0, 0.5])
    assert rows.limit().value == pytest.approx((0.5 + 1 + 0 + 2) / 6.5)
    assert rows.room.value == pytest.approx(6.5 / 15)
    assert rows.linear_share == 0.5
    assert rows.moved == pytest.approx(np.sqrt(0.5))
    weighted = four(variance=[0.25, 0.5, 0.25, 1], explained=[0.25, 0.25, 0, 0.5], weight=[1.0, 1, 1, 2])
    assert weighted.moved == pytest.approx(np.sqrt(3 / 5))
    assert weighted.linear_share == 0.5
    assert four(variance=0.0, explained=0.0).linear_share == 0
    assert four(variance=0.25, explained=0.5).linear_share == 1  # an estimate may be beyond it
    assert four(variance=0.25, explained=-0.5).linear_share == 0


def test_copies_and_classes_are_handed_to_the_bootstrap():
    told = np.random.default_rng(0).normal(0.5, 0.3, 64)
    plain = Scored(rows_of(told_attention=told)).skill("attention").interval
    copied = Scored(
        rows_of(128, told_attention=np.repeat(told, 2), decided=np.repeat(np.arange(64) % 2, 2),
                cluster=np.repeat(np.arange(64), 2))
    )  # fmt: skip
    assert copied.different == 64
    assert len(copied) == 128
    again = copied.skill("attention").interval
    assert (again.low, again.high) == pytest.approx((plain.low, plain.high))
    by_class = np.where(np.arange(64) % 2, 0.25, 0.75)
    apart = Scored(rows_of(told_attention=by_class)).skill("attention").interval
    assert (apart.low, apart.high) == (0.5, 0.5)
    narrow = Scored(rows_of(told_attention=told), level=0.5).skill("attention").interval
    assert plain.low < narrow.low < narrow.high < plain.high


def test_some_of_the_texts():
    rows = Scored(rows_of(4), 0.9, 3, {"corpus": "films"})
    part = rows.of(np.array([True, False, True, False]))
    assert len(part) == 2
    assert (part.level, part.seed) == (0.9, 3)
    assert part.skill("attention").coordinates == {"corpus": "films", "ranking": "attention"}


# What to show instead


def choice(rows, limits=LIMITS):
    return instead(Scored(rows), "attention", CLASSES, limits)


def with_other(**numbers):
    return rows_of(maps=("attention", "other"), **of_map(told=0.5), **of_map("other", **numbers))


def test_a_map_is_better_by_a_difference_that_matters():
    assert MATTERS == 0.05
    assert choice(with_other(told=0.5 + 3 * 2**-6)) is None
    found = choice(with_other(told=0.5 + 4 * 2**-6))
    assert found.ranking == "other"
    assert found.skill.value == 0.5625
    assert found.better_by.value == found.better_by.interval.low == 0.0625
    assert found.reading == CARE
    assert found.first == 1


def test_a_better_map_has_its_skill_with_its_own_signs_beside_if_it_has_any():
    assert choice(with_other(told=1.0, signed=0.875)).signed.value == 0.875
    rows = with_other(told=1.0, signed=0.875)
    for name in ("rollout", "layer-2-head-5", "head-1-only"):
        renamed = rows.rename(columns=lambda column, name=name: column.replace("other", name))
        assert choice(renamed).ranking == name
        assert choice(renamed).signed is None


def test_a_better_map_is_judged_by_the_same_rule():
    assert choice(with_other(told=1.0)).reading == FAITHFUL
    assert choice(with_other(told=1.0, paint=0.625)).reading == CARE
    assert choice(with_other(told=1.0, paint=0.25)) is None  # better than bad is not good
    assert choice(with_other(told=1.0, paint=0.625), LIMITS.__class__()).reading == CARE


def test_a_strongest_word_is_about_as_good_up_to_a_difference_that_matters(monkeypatch):
    monkeypatch.setattr("heedful.auditing.instead.MATTERS", 0.0625)  # whose sums are exact
    rows = rows_of(
        maps=("attention", "a", "b"), **of_map(told=0.25), **of_map("b", told=0.75, first=1.0),
        **of_map("a", told=1.0, first=1 - 0.0625),
    )  # fmt: skip
    assert choice(rows).ranking == "a"
    assert choice(rows.assign(first_a=1 - 0.0625 - STEP)).ranking == "b"
    assert choice(rows.assign(told_a=0.25 + 0.0625, told_b=0.25)).ranking == "a"
    assert choice(rows.assign(told_a=0.25 + 0.0625 - STEP, told_b=0.25)) is None


def test_better_than_nothing_is_not_good():
    rows = rows_of(maps=("attention", "other"), **of_map(told=-1.0), **of_map("other", told=0.25 - STEP))
    assert choice(rows) is None
    at = rows_of(maps=("attention", "other"), **of_map(told=-1.0), **of_map("other", told=0.25))
    assert choice(at).ranking == "other"


def test_a_difference_that_is_not_sure_is_none():
    draw = np.random.default_rng(0)
    assert choice(with_other(told=draw.normal(0.7, 1.5, 64))) is None


def test_neither_chance_nor_shuffled_weights_nor_the_map_itself_is_recommended():
    rows = rows_of(maps=("attention", "shuffled", "random"), **of_map(told=0.25))
    assert choice(rows) is None


def test_among_better_maps_the_strongest_word_comes_first_then_the_skill():
    three = rows_of(
        maps=("attention", "a", "b", "c"), **of_map(told=0.25), **of_map("a", told=1.0, first=0.875),
        **of_map("b", told=0.75, first=1.0), **of_map("c", told=0.625, first=1.0),
    )  # fmt: skip
    assert choice(three).ranking == "b"
    near = three.assign(first_a=1 - 3 * 2**-6)
    assert choice(near).ranking == "a"
    known = three.assign(first_b=NAN, first_c=NAN, paint_b=NAN, paint_c=NAN)
    assert choice(known).ranking == "a"  # what cannot be told does not speak for a map
