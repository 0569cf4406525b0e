"""A trial over texts on a Dask cluster: the rows are those of this process, shard by shard."""

import json
import subprocess
import sys

import pandas as pd
import pytest

from heedful.data.named import load_data
from heedful.errors import UserError
from heedful.study.cluster_streams import SHARD, _shards, streams_on
from heedful.training import train
from heedful.training.evaluation import encode_for
from heedful.trials.stream import SPREAD, stream
from heedful.trials.streamed_trials import word_trial
from small_reviews import SETTINGS, write_reviews

pytest.importorskip("distributed")


@pytest.mark.slow
def test_rows_made_on_workers_are_those_made_here_and_a_restart_makes_none(tmp_path):
    source = write_reviews(tmp_path / "reviews.csv")
    run = train(source, epochs=2, embedding=7)
    texts = encode_for(run.model, load_data(source))
    trial = word_trial(run.model, ["attention"], seed=3)
    asked = {"recipe": {"seed": 3}, "places": 13}
    here = stream(trial, run.model, texts, tmp_path / "here", **asked)
    assert here.batches > 2 * SHARD  # several tasks, the last of them not full
    heard = []
    with streams_on("local", 2):
        there = stream(trial, run.model, texts, tmp_path / "there", **asked, progress=heard.append)
        assert (there.instances, there.batches, there.skipped) == (here.instances, here.batches, 0)
        assert sum(heard) == there.instances
        (tmp_path / "there" / "part-000003.parquet").unlink()
        again = stream(trial, run.model, texts, tmp_path / "there", **asked)
        assert again.skipped == again.batches - 1
    assert SPREAD.get() is None
    pd.testing.assert_frame_equal(here.rows(), there.rows())
    for part in sorted((tmp_path / "here").glob("part-*")):
        assert part.read_bytes() == (tmp_path / "there" / part.name).read_bytes()


def rows_in(folder):
    """Every part below a folder as it is, by its path, but for the seconds that something took."""
    return {
        str(path.relative_to(folder)): pd.read_parquet(path).drop(columns="seconds", errors="ignore")
        for path in sorted(folder.rglob("*.parquet"))
    }


def same_rows(one, other):
    first, second = rows_in(one), rows_in(other)
    assert list(first) == list(second) != []
    for name, rows in first.items():
        pd.testing.assert_frame_equal(rows, second[name], obj=name)


def in_a_process(*command):
    done = subprocess.run([sys.executable, "-m", "heedful", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trials_sent(cluster):
    return (cluster.folder / "cluster.log").read_text().count("Registering Worker plugin heedful-trial-")


def without(content, *names):
    return {name: value for name, value in content.items() if name not in names}


@pytest.mark.slow
def test_erase_and_audit_by_a_scheduler_and_its_workers_are_those_of_this_machine(tmp_path, cluster):
    """Both commands as they are given, in processes of their own, on a cluster that is there already."""
    run = str(tmp_path / "run")
    train(write_reviews(tmp_path / "reviews.csv", 2003), out=run, **SETTINGS)
    there, told = ["--scheduler", cluster.address], []
    for name, where in (("here", []), ("there", there)):
        out = ["--out", str(tmp_path / name / "erased")]
        told.append(json.loads(in_a_process("erase", run, *where, *out, "--json")))
    assert without(told[0], "rows", "figures") == without(told[1], "rows", "figures")
    assert trials_sent(cluster) == 1
    same_rows(tmp_path / "here" / "erased", tmp_path / "there" / "erased")
    for name, where in (("here", []), ("there", there)):
        out = ["--out", str(tmp_path / name / "audit")]
        in_a_process("audit", run, *where, *out, "--seeds", "2")
    same_rows(tmp_path / "here" / "audit", tmp_path / "there" / "audit")
    one, other = (
        json.loads((tmp_path / name / "audit" / "audit.json").read_text()) for name in ("here", "there")
    )
    assert without(one, "made", "seconds") == without(other, "made", "seconds")
    assert one["verdict"]["skill"] is not None
    assert trials_sent(cluster) > 5  # one a stage


def test_shards_hold_every_batch_once_and_are_made_as_they_are_needed():
    taken = []
    batches = ((taken.append(number) or (f"{number}", None, number)) for number in range(2 * SHARD + 3))
    shards = _shards(batches)
    assert len(next(shards)) == SHARD
    assert taken == list(range(SHARD))
    assert [len(shard) for shard in shards] == [SHARD, 3]


def test_workers_without_a_scheduler_are_refused():
    with pytest.raises(UserError, match="--scheduler"), streams_on(None, 2):
        pass
