"""Published results: small files from which claims come out as they were."""

import errno
import json
import shutil
from unittest.mock import Mock

import pandas as pd
import pytest

from heedful.errors import UserError
from heedful.records import Claim, Finding, Interval
from heedful.study.experiment import Experiment, Reproduction
from heedful.study.latex import to_latex
from heedful.study.published import MOST_ROWS, covers, joined, part_of, publish, read_published


def claims(tables):
    for row in tables["runs"].to_dict("records"):
        effect = Finding(
            "accuracy",
            row["accuracy"],
            interval=Interval(row["accuracy"] - 0.1, row["accuracy"] + 0.1, 0.95, "made"),
            count=row["texts"],
            measured="made",
        )
        yield Claim.decided(
            f"{row['model']}{row['note']}", "A (2020), §1", effect=effect, comparison=">", threshold=0.5
        )


EXPERIMENT = Experiment("sun-lu-table2", "title", "A (2020)", lambda bench: {}, claims)


def done(asked="--corpus sst --model dp --seeds 5", *, quick=False, model="dp", rows=1):
    runs = pd.DataFrame(
        {"model": model, "note": "", "accuracy": 1 / 3 + 0.5, "missing": float("nan"), "texts": 11},
        index=range(rows),
    )
    tables = {"runs": runs}
    return Reproduction(
        "sun-lu-table2", "title", "A (2020)", quick, tables, tuple(claims(tables)), asked=asked
    )


def test_what_is_published_is_read_again_to_the_last_digit_and_word(tmp_path):
    for rows in (1, MOST_ROWS + 1):
        given = done(rows=rows)
        place = publish(given, EXPERIMENT, tmp_path)
        assert place == tmp_path / "sun-lu-table2" / "sst-dp"
        (one,) = read_published(tmp_path)
        assert one.claims(EXPERIMENT) == given.claims
        pd.testing.assert_frame_equal(one.tables["runs"], given.tables["runs"])
        assert one.command == "heedful reproduce sun-lu-table2 --corpus sst --model dp --seeds 5"
    assert sorted(path.name for path in place.iterdir()) == ["about.json", "runs.parquet"]


def test_parts_stand_side_by_side_until_all_is_there(tmp_path):
    publish(done(), EXPERIMENT, tmp_path)
    publish(done("--corpus sst --model ad", model="ad"), EXPERIMENT, tmp_path)
    parts = read_published(tmp_path)
    assert [one.part for one in parts] == ["sst-ad", "sst-dp"]
    assert joined(parts)["runs"]["model"].tolist() == ["ad", "dp"]
    publish(done("--seeds 5"), EXPERIMENT, tmp_path)
    assert [one.part for one in read_published(tmp_path)] == ["all"]


def test_a_quick_run_is_no_result(tmp_path):
    with pytest.raises(UserError, match="quick"):
        publish(done(quick=True), EXPERIMENT, tmp_path)
    with pytest.raises(UserError, match="no published results"):
        read_published(tmp_path)


def test_claims_that_do_not_come_out_again_are_not_published(tmp_path):
    other = Experiment("sun-lu-table2", "t", "s", lambda bench: {}, lambda tables: ())
    with pytest.raises(UserError, match="do not come out"):
        publish(done(), other, tmp_path)
    assert not list(tmp_path.glob("*/*/about.json"))


def test_a_full_disk_keeps_what_was_published(tmp_path, monkeypatch):
    publish(done(model="ad"), EXPERIMENT, tmp_path)
    with monkeypatch.context() as patch:
        full = OSError(errno.ENOSPC, "No space left on device")
        patch.setattr(pd.DataFrame, "to_csv", Mock(side_effect=full))
        with pytest.raises(UserError, match="No space left on device"):
            publish(done(), EXPERIMENT, tmp_path)
    (one,) = read_published(tmp_path)
    assert one.tables["runs"]["model"].tolist() == ["ad"]
    publish(done(), EXPERIMENT, tmp_path)
    (one,) = read_published(tmp_path)
    assert one.tables["runs"]["model"].tolist() == ["dp"]


def test_what_a_killed_process_left_is_no_part(tmp_path):
    place = publish(done(), EXPERIMENT, tmp_path)
    shutil.copytree(place, place.with_name(".sst-ad.0a1b2c3d.part"))
    place.with_name(".sst-ac.0a1b2c3d.part").mkdir()
    assert [one.part for one in read_published(tmp_path)] == ["sst-dp"]
    publish(done("--seeds 5"), EXPERIMENT, tmp_path)
    assert [one.part for one in read_published(tmp_path)] == ["all"]


def test_a_damaged_part_is_named(tmp_path):
    place = publish(done(), EXPERIMENT, tmp_path)
    about = json.loads((place / "about.json").read_text())
    (place / "about.json").write_text(json.dumps({**about, "tables": {"other": {}}}))
    with pytest.raises(UserError, match="sst-dp is damaged"):
        read_published(tmp_path)


def test_another_number_in_a_published_table_is_refused(tmp_path):
    place = publish(done(), EXPERIMENT, tmp_path)
    table = place / "runs.csv"
    before = table.read_text()
    table.write_text(before.replace("0.8333", "0.9333"))
    assert table.read_text() != before
    with pytest.raises(UserError, match=r"sst-dp is damaged \(runs.csv is not as it was written\)"):
        read_published(tmp_path)
    table.write_text(before)
    assert len(read_published(tmp_path)) == 1


def test_parts_are_called_after_what_was_asked():
    assert part_of("") == part_of("--seeds 5") == "all"
    assert part_of("--corpus 20news-1 --model dp --model ad --seeds 2") == "20news-1-dp-ad"


def test_a_part_covers_what_it_has_all_of():
    one, both = "--corpus sst --model dp --seeds 5", "--corpus sst --model dp --model ad"
    assert covers("", one)
    assert covers("--corpus sst --seeds 1", one)
    assert covers("--model dp", one)
    assert covers(both, one)
    assert not covers(one, both)
    assert not covers(one, "--corpus sst")
    assert not covers("--corpus imdb", "--corpus imdb-ratings --model dp")
    assert not covers("--corpus sst", "")


def test_latex_escapes_what_would_be_a_command():
    made = to_latex(pd.DataFrame({"50 %_λ": ["a & b\\"], "n": [0.123456]}))
    assert r"50 \%\_$\lambda$ & n \\" in made
    assert r"a \& b\textbackslash{} & 0.1235 \\" in made
    assert r"\begin{tabular}{lr}" in made
