"""The bench of the audit: it measures stages, the pass beside it and memory, and judges its own limits."""

import pytest

from heedful.bench.audit import AuditTimes, measure_audit
from heedful.errors import UserError


def times(**changes):
    known = {"plain": 2.0, "whole": 99.0, "processor": 98.0, "peak_bytes": 2**30, "texts": 7, "audited": 7}
    known |= {"announced": 70.0, "reading": "use with care", "stages": {}}
    return AuditTimes("films", "dp", **{**known, **changes})


def test_five_passes_and_ninety_seconds_are_allowed():
    assert times().allowed == 100
    assert times().within
    assert not times(whole=101.0).within
    assert not times(peak_bytes=4 * 2**30).within


def test_half_as_much_again_as_was_announced_is_kept():
    assert times(whole=105.0).kept
    assert times(whole=3.0).kept
    assert not times(whole=106.0).kept


@pytest.mark.slow
def test_an_audit_is_timed_stage_by_stage(tmp_path):
    rows = [f"{'good' if row % 2 else 'bad'} film number {row},{row % 2}" for row in range(100)]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    found = measure_audit(str(tmp_path / "films.csv"))
    assert found.audited == found.texts > 5
    assert {"deletions-1", "top", "adversary", "browsing"} <= set(found.stages)
    assert found.whole > sum(found.stages[name] for name in ("deletions-1", "top"))
    assert found.peak_bytes > 2**26
    assert found.processor > 0
    assert found.announced > 1
    assert not any("announced" in name for name in found.stages)


def test_without_imdb_the_data_folder_is_asked_for(tmp_path):
    with pytest.raises(UserError, match=r"all of IMDB.*--data-dir"):
        measure_audit(data_dir=tmp_path)


@pytest.mark.slow
def test_a_failure_is_said_in_a_sentence(tmp_path):
    with pytest.raises(UserError, match="failed"):
        measure_audit(str(tmp_path / "nothing.csv"))
