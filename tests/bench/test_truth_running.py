"""The truth bench runs model by model, goes on after a stop, and can be judged again without its models."""

import json
from dataclasses import replace

import pytest
from truth_cases import CASES
from typer.testing import CliRunner

from heedful.auditing.rule import FAITHFUL
from heedful.bench.truth.catalogue import recipes
from heedful.bench.truth.covering import OF, READ_AGAIN, REGRESSED, is_covered
from heedful.bench.truth.measuring import Job, lacks, measure
from heedful.bench.truth.running import MODELS, RESULTS, read_results, read_row, run, take_over
from heedful.cli.app import app
from heedful.errors import UserError

RIGHT, DECOY = (CASES[name].recipe for name in ("right", "97 % on a decoy"))
RIGHT, DECOY = replace(RIGHT, key="right", part="held-out"), replace(DECOY, key="decoy", part="held-out")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("truth")
    run([RIGHT, DECOY], Job(place, texts=60, covered=False), processes=1)
    return place


def test_a_run_leaves_a_row_a_model_with_its_label_and_its_reading(folder):
    rows = read_results(folder).set_index("key")
    assert rows.loc["right", ["label", "reading", "second_reading"]].tolist() == ["right", FAITHFUL, FAITHFUL]
    assert rows.loc["decoy", "label"] == "wrong"
    assert rows.loc["decoy", "first_attention"] == 0.0
    assert rows.loc["decoy", "instead_first"] >= 0.95
    assert (rows["evaluations"] > 0).all()
    assert rows["made"].all()


@pytest.mark.slow
def test_a_restart_makes_only_what_is_missing(folder):
    path = folder / MODELS / "right.json"
    kept = {**json.loads(path.read_text()), "reading": "from the first run"}
    path.write_text(json.dumps(kept))
    (folder / MODELS / "decoy.json").unlink()
    counted = []
    rows = run(
        [RIGHT, DECOY],
        Job(folder, texts=60, covered=False, again=False),
        processes=1,
        done=lambda: counted.append(1),
    )
    assert rows.set_index("key").loc["right", "reading"] == "from the first run"
    assert "second_reading" not in read_row(folder, DECOY)
    assert len(counted) == 2
    assert read_row(folder, replace(RIGHT, seed=16)) is None  # another recipe under the same name


def test_published_rows_are_not_made_again(folder, tmp_path):
    other = replace(DECOY, seed=16)  # of the same name: its row is another's
    assert take_over(tmp_path, [RIGHT, other], folder) == 1
    assert take_over(tmp_path, [RIGHT, other], folder) == 0
    kept = read_row(tmp_path, RIGHT)
    assert kept == {name: value for name, value in read_row(folder, RIGHT).items() if name in kept}
    assert kept["made"] is True
    assert {"reading", "label", "skill"} <= set(kept)
    assert read_row(tmp_path, other) is None


@pytest.mark.slow
def test_a_model_that_cannot_be_made_is_counted_with_its_reason(tmp_path):
    broken = replace(RIGHT, key="broken", how=replace(RIGHT.how, looks=()))
    unconfirmed = replace(RIGHT, key="unconfirmed", how=replace(RIGHT.how, margin=0.0, background=3.0))
    rows = run([broken, unconfirmed], Job(tmp_path, texts=60, covered=False), processes=1).set_index("key")
    assert not rows["made"].any()
    assert "ValueError" in rows.loc["broken", "fault"]
    assert "use test" in rows.loc["unconfirmed", "fault"]
    assert not (tmp_path / MODELS / "broken.json").exists()  # tried again at the next start


def test_coverage_is_measured_against_all_texts_and_many_deletions(tmp_path):
    (tmp_path / "rows").mkdir()
    short = replace(RIGHT, task=replace(RIGHT.task, length=(5, 7)))
    assert short.seed % OF == 0
    row = measure(short, Job(tmp_path, texts=60, again=False))
    assert row["covered_audits"] == 5
    assert row["covered_skill"] >= 3
    assert row["at_95_skill"] <= row["covered_skill"]  # a look's interval is wider
    for name in REGRESSED:
        assert row[f"first_{name}"] >= 0.95
        assert row[f"hiding_{name}"] > 0.8


def test_a_row_of_an_earlier_run_gets_what_it_lacks_and_keeps_the_rest(tmp_path):
    short = replace(RIGHT, task=replace(RIGHT.task, length=(5, 7)))
    job = Job(tmp_path, texts=60, again=False)
    run([short], replace(job, covered=False), processes=1)
    path = tmp_path / MODELS / "right.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "reading": "from the first run"}))
    run([short], job, processes=1)
    row = read_row(tmp_path, short)
    assert row["reading"] == "from the first run"
    assert row["covered_audits"] == 5
    assert not lacks(short, job, row)
    assert lacks(short, job, {"made": True})
    assert not lacks(short, job, {"made": False})
    assert not lacks(replace(short, part="fit"), job, {"made": True})


def test_coverage_is_measured_where_deletions_are_products_and_where_texts_are_read_again():
    covered = [one for one in recipes("held-out", seed=16) if is_covered(one)]
    assert {one.architecture for one in covered if one.kind == "built"} == {"dot", "additive"}
    assert {one.architecture for one in covered if one.kind == "trained"} == set(READ_AGAIN)


def test_there_is_nothing_to_read_before_a_run(tmp_path):
    with pytest.raises(UserError, match=RESULTS):
        read_results(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text("text,label\na,b\n")
    with pytest.raises(UserError, match="architecture is missing"):
        read_results(other)


@pytest.mark.slow
def test_the_quick_bench_prints_its_tables_as_one_object(tmp_path):
    asked = ["bench", "truth", "--quick", "--processes", "1", "--out", str(tmp_path / "quick"), "--json"]
    said = CliRunner().invoke(app, asked)
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    assert found["models"] == 20
    assert found["auc"] > 0.95
    assert {rate["name"]: rate["hits"] for rate in found["rates"]}["wrong → faithful"] == 0
