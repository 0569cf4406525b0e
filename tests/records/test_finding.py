"""Findings: shown, stored, refused."""

import dataclasses
import json
import math
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest

from heedful.errors import UserError
from heedful.records import Estimate, Finding, Interval, append_rows, bootstrap_interval, query


def interval(low=0.51, high=0.59):
    return Interval(low, high, level=0.95, method="percentile bootstrap, 2000 resamples")


def skill(**changes):
    fields = {
        "count": 872,
        "interval": interval(),
        "baselines": {"random": Estimate(0.0), "shuffled": Estimate(0.02, interval(-0.01, 0.05))},
        "better": "higher",
        "measured": "Words deleted by attention, the text encoded again.",
        "coordinates": {"corpus": "sst", "model": "dp", "scale": 10.0, "seed": 3, "split": "test"},
    }
    return Finding("word skill", 0.55, **{**fields, **changes})


def test_a_finding_reads_as_one_line():
    assert str(skill()) == "0.55 [0.51, 0.59] (n = 872; random 0.00, shuffled 0.02)"


def test_units_seeds_and_bounds_are_said():
    finding = skill(unit="nats", seeds=5, kind="lower bound", baselines={}, count=25_000)
    assert str(finding) == "≥ 0.55 nats [0.51, 0.59] (n = 25,000, 5 seeds)"
    assert str(skill(kind="upper bound")).startswith("≤ 0.55 [")


def test_decimals_follow_the_interval():
    def shown(value, low, high):
        finding = Finding("x", value, count=3, measured="By hand.", interval=interval(low, high))
        return str(finding).removesuffix(" (n = 3)")

    assert shown(0.8234, 0.8151, 0.8311) == "0.823 [0.815, 0.831]"
    assert shown(0.5, 0.1, 0.9) == "0.50 [0.10, 0.90]"
    assert shown(82.34, 80.12, 84.77) == "82.3 [80.1, 84.8]"
    assert shown(1384, 1300.2, 1450.7) == "1,384 [1,300, 1,451]"
    assert shown(0.0001234, 0.0001, 0.00014) == "0.00012 [0.00010, 0.00014]"
    assert shown(-0.001, -0.04, 0.04) == "0.00 [-0.04, 0.04]"  # never -0.00
    assert shown(0.5, 0.5, 0.5) == "0.50 [0.50, 0.50]"


def test_a_number_without_interval_is_shown_plainly():
    def shown(value):
        return str(Finding("x", value, count=3, measured="By hand.", kind="exact"))

    assert shown(1384) == "1,384 (n = 3)"
    assert shown(1.2345e-7) == "1.23e-07 (n = 3)"
    assert shown(12345.6) == "12,346 (n = 3)"


def test_an_interval_that_cannot_be_known_says_why():
    alone = Finding("x", 0.5, count=1, measured="By hand.", interval=bootstrap_interval([0.5]))
    assert str(alone) == "0.50 [none: one instance] (n = 1)"


def test_a_finding_survives_a_dictionary_a_file_and_a_pickle(tmp_path):
    half_open = Interval(-math.inf, 2.0, level=0.9, method="by hand")
    finding = skill(baselines={"random": Estimate(0.1, half_open), "majority": Estimate(0.2)})
    assert Finding.from_dict(finding.to_dict()) == finding
    path = finding.save(tmp_path / "new" / "skill.json")
    assert Finding.load(path) == finding
    assert pickle.loads(pickle.dumps(finding)) == finding  # noqa: S301 - as a process pool does


def test_the_file_is_strict_json_with_a_schema_version(tmp_path):
    path = skill(interval=bootstrap_interval([1.0])).save(tmp_path / "f.json")

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    content = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert (content["kind_of_record"], content["schema_version"]) == ("finding", 1)
    assert content["interval"]["low"] is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"schema_version": 2}, r"schema version 2 and 1 is read here"),
        ({"kind_of_record": "run"}, "not a heedful finding"),
        ({"colour": "red"}, "'colour'"),
        ({"value": None}, "Expected a number for the finding 'word skill', and got None"),
        ({"interval": 3}, "An interval needs an object"),
        ({"interval": {"low": 1}}, "lacks 'high'"),
        ({"interval": {"low": 2, "high": 1, "level": 0.95, "method": "x"}}, "low end below"),
        ({"baselines": {"random": 0.3}}, "A baseline needs an object"),
        ({"coordinates": []}, "The coordinates of this finding need an object"),
    ],
)
def test_a_wrong_or_damaged_object_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(UserError, match=sentence):
        Finding.from_dict({**skill().to_dict(), **change})


def test_a_missing_key_is_named():
    content = skill().to_dict()
    del content["count"]
    with pytest.raises(UserError, match="lacks 'count'"):
        Finding.from_dict(content)


def test_a_file_that_is_cut_missing_or_a_folder_is_refused_in_a_sentence(tmp_path):
    path = skill().save(tmp_path / "f.json")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(UserError, match=r"f\.json is not readable JSON"):
        Finding.load(path)
    path.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(UserError, match=r"f\.json is not readable JSON"):
        Finding.load(path)
    path.write_text("[1]")
    with pytest.raises(UserError, match="an object was expected"):
        Finding.load(path)
    with pytest.raises(UserError, match="There is no file"):
        Finding.load(tmp_path / "none.json")
    with pytest.raises(UserError, match="is a folder"):
        Finding.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"count": -1}, "at least 0"),
        ({"count": 2.5}, "whole number"),
        ({"seeds": 0}, "at least 1"),
        ({"better": "more"}, 'Better is "higher"'),
        ({"kind": "exakt"}, "nearest is 'exact'"),
        ({"baselines": {"random": 0.0}}, "needs an Estimate"),
        ({"coordinates": {"scale": [1, 2]}}, "coordinate 'scale' needs one plain value"),
        ({"coordinates": {"scale": math.nan}}, "coordinate 'scale' needs a finite number"),
        ({"coordinates": {"Value": 3}}, "'Value' of 'word skill' has the name of another column"),
        ({"coordinates": {"outcome": 3}}, "'outcome' of 'word skill'"),
        ({"coordinates": {"baseline_random": 3}}, "'baseline_random' of 'word skill'"),
        ({"coordinates": {"corpus": "a", "Corpus": "b"}}, "'Corpus' of 'word skill'"),
    ],
)
def test_a_finding_that_could_mislead_is_refused(change, sentence):
    with pytest.raises(UserError, match=sentence):
        skill(**change)


def test_a_value_that_is_no_number_is_refused():
    for value in (math.nan, math.inf, "many", None):
        with pytest.raises(UserError, match="the finding 'x'"):
            Finding("x", value, count=1, measured="By hand.")
    with pytest.raises(UserError, match="needs a name"):
        Finding(" ", 1.0, count=1, measured="By hand.")


def test_numpy_numbers_become_plain_ones(tmp_path):
    finding = skill(
        count=np.int64(5), coordinates={"scale": np.float32(0.5), "seed": np.int32(7), "ok": np.True_}
    )
    assert finding.to_dict()["coordinates"] == {"scale": 0.5, "seed": 7, "ok": True}
    assert type(finding.count) is int
    assert Finding.load(finding.save(tmp_path / "f.json")) == finding


def test_a_finding_does_not_change_with_the_dictionary_it_was_made_from():
    coordinates, baselines = {"seed": 1}, {"random": Estimate(0.1)}
    finding = skill(coordinates=coordinates, baselines=baselines)
    coordinates["seed"] = 2
    baselines.clear()
    assert finding.coordinates == {"seed": 1}
    assert finding.baselines == {"random": Estimate(0.1)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        finding.value = 1.0


def test_the_frame_holds_one_row_with_coordinates_interval_and_baselines():
    row = skill().to_frame().iloc[0]
    assert len(skill().to_frame()) == 1
    assert (row["corpus"], row["seed"], row["value"], row["low"], row["high"]) == ("sst", 3, 0.55, 0.51, 0.59)
    assert (row["baseline_shuffled"], row["baseline_shuffled_low"], row["count"]) == (0.02, -0.01, 872)


def test_rows_of_findings_can_be_queried(tmp_path):
    append_rows(tmp_path, [skill().to_row(), skill(baselines={}, interval=None).to_row()])
    answer = query(tmp_path, "SELECT value - baseline_random AS above, low FROM records WHERE model = 'dp'")
    assert answer["above"][0] == 0.55
    assert answer["low"].isna().tolist() == [False, True]


def test_hostile_text_is_shown_as_text():
    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.seen, self.titles = [], []

        def handle_starttag(self, tag, attrs):
            self.seen.append(tag)
            self.titles += [value for name, value in attrs if name == "title"]

    evil = '"><script>alert(1)</script>'
    finding = Finding(evil, 1, count=2, measured=evil, unit="<img src=x>", baselines={"<i>": Estimate(1)})
    parser = Tags()
    parser.feed(finding._repr_html_())
    assert parser.seen == ["span", "b"]
    assert parser.titles == [evil]


def test_a_row_has_the_ends_of_every_interval():
    ends = Interval(0.25, 0.5, level=0.9, method="by hand")
    found = Finding(
        "x",
        0.375,
        count=3,
        measured="So.",
        interval=ends,
        baselines={"b": Estimate(1.0, Interval(-1, 2, 0.95, "m"))},
    )
    row = found.to_row()
    assert (row["low"], row["high"], row["level"], row["interval"]) == (0.25, 0.5, 0.9, "by hand")
    assert (row["baseline_b"], row["baseline_b_low"], row["baseline_b_high"]) == (1.0, -1.0, 2.0)
    bare = Finding("x", 0.375, count=3, measured="So.", baselines={"b": Estimate(1.0)}).to_row()
    assert [bare[name] for name in ("low", "high", "level", "interval")] == [None] * 4
    assert (bare["baseline_b_low"], bare["baseline_b_high"]) == (None, None)
