"""A study on a Dask cluster: real processes on the loopback address, killed at random, the same results."""

import os
import pickle
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from clusters import Cluster, wait_for, worker_processes
from typer.testing import CliRunner

from heedful.cli import app
from heedful.errors import UserError
from heedful.records import read_rows
from heedful.study import cluster as cluster_module
from heedful.study import load_study, run_study
from heedful.study import parcels as parcels_module
from heedful.study.cells import Job
from heedful.study.engines import Engine
from heedful.study.held import AbsentError, hold, let_go
from heedful.study.parcels import fingerprint, pack, unpack
from heedful.study.text_measures import accuracy
from heedful.study.workbench import Bench, Measure, result

pytest.importorskip("distributed")
linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes through /proc")
TIMED = ["seconds"]  # of a record: all else must be the same

STUDY = """corpora = ["reviews.csv"]
models = ["dp", "dp-l"]
seeds = [1, 2, 3, 4, 5]
keep_runs = true
[settings]
epochs = 3
embedding = 13
batch = 7
[grid]
scale = [1, 10]
"""


@pytest.fixture
def twenty(study_file):
    """A study of twenty cells, and its undisturbed local records."""
    study_file.write_text(STUDY)
    assert len(load_study(study_file).cells) == 20
    return study_file


def same_results(one: Path, other: Path) -> None:
    """Records, settings, vocabularies and weights to the last bit."""
    first, second = (
        read_rows(folder / "records").drop(columns=TIMED).sort_values("cell", ignore_index=True)
        for folder in (one, other)
    )
    pd.testing.assert_frame_equal(first, second)
    runs = sorted(path.name for path in (one / "runs").iterdir())
    assert runs == sorted(path.name for path in (other / "runs").iterdir() if not path.name.startswith("."))
    for name in runs:
        for file in ("weights.safetensors", "settings.toml", "vocabulary.json"):
            assert (one / "runs" / name / file).read_bytes() == (other / "runs" / name / file).read_bytes()


class Client:
    """`heedful sweep` in a process of its own, started again when it was killed."""

    def __init__(self, study: Path, out: Path, address: str) -> None:
        self.command = [sys.executable, "-m", "heedful", "sweep", str(study), "--out", str(out)]
        self.command += ["--scheduler", address, "--json"]
        self.log = out.parent / "client.log"
        self.begin()

    def begin(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True)

    def restart(self) -> None:
        self.process.kill()
        self.process.wait()
        self.begin()

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def killed_round(cluster: Cluster, study: Path, out: Path, chance: random.Random) -> list[str]:
    """A whole study on the cluster, with a worker, the scheduler and the client killed at random moments."""
    kills = ["worker", "scheduler", "client"]
    chance.shuffle(kills)
    # Moments as counts of ended cells, so that each comes in the middle on a fast and on a slow machine.
    moments = sorted(chance.sample(range(1, 17), len(kills)))
    client = Client(study, out, cluster.address)
    done = []
    try:
        for kill, moment in zip(kills, moments, strict=True):
            wait_for(
                lambda moment=moment: (
                    len(list(out.glob("records/part-*"))) >= moment or client.process.poll() is not None
                )
            )
            time.sleep(chance.uniform(0, 0.3))
            if client.process.poll() is not None:
                break
            if kill == "worker":
                wait_for(lambda: cluster.kill_worker(chance))
            elif kill == "scheduler":
                cluster.restart_scheduler()
            else:
                client.restart()
            done.append(kill)
        assert client.process.wait(timeout=1800) == 0, (out.parent / "client.log").read_text()[-3000:]
    finally:
        client.stop()
    return done


@pytest.mark.nightly
@linux
def test_a_study_whose_worker_scheduler_and_client_are_killed_ends_as_if_nothing_had_been(
    cluster, twenty, tmp_path
):
    local = run_study(load_study(twenty), tmp_path / "local", workers=2)
    assert local.failures == ()
    assert len(local.records) == 20
    done = killed_round(cluster, twenty, tmp_path / "far", random.Random(20))
    assert len(done) == 3, "the study ended before all kills: make its cells longer"
    same_results(tmp_path / "local", tmp_path / "far")


@pytest.mark.nightly
@linux
@pytest.mark.parametrize("round_", range(5))
def test_three_kills_at_random_moments_change_nothing(round_, cluster, twenty, tmp_path):
    run_study(load_study(twenty), tmp_path / "local", workers=2)
    done = killed_round(cluster, twenty, tmp_path / "far", random.Random(100 + round_))
    assert len(done) == 3, "the study ended before all kills: make its cells longer"
    same_results(tmp_path / "local", tmp_path / "far")


LATE = """
import sys
import heedful.study.cluster_workers as workers
workers.GIVE_UP = workers.LONGEST = 0.2  # long before a process has imported what it needs
workers.serve_workers(sys.argv[1], workers=2, say=lambda sentence: print(sentence, flush=True))
"""


@pytest.mark.nightly
@linux
def test_workers_that_came_too_late_are_ended_and_it_is_said(cluster, tmp_path):
    with open(tmp_path / "late.log", "wb") as log:
        late = subprocess.Popen([sys.executable, "-c", LATE, cluster.address], stdout=log, stderr=log)
    try:
        wait_for(lambda: b"could not come" in (tmp_path / "late.log").read_bytes())
        started = set()
        until = time.monotonic() + 15
        while time.monotonic() < until:
            there = set(worker_processes(late.pid))
            assert len(there) <= 2  # those that were given up are gone
            started |= there
            time.sleep(0.05)
        assert len(started) > 2, "none was tried again"
        assert b"workers are at" not in (tmp_path / "late.log").read_bytes()
    finally:
        late.kill()
        late.wait()


@pytest.mark.nightly
def test_an_experiment_of_a_paper_is_the_same_on_a_real_scheduler(cluster, tmp_path):
    """Its tables and claims, byte for byte; of its runs all but the seconds that they took."""
    command = ["reproduce", "sun-lu-s-fig2", "--quick", "--seeds", "2", "--out"]
    here = CliRunner().invoke(app, [*command, str(tmp_path / "here"), "--workers", "1"])
    there = CliRunner().invoke(app, [*command, str(tmp_path / "there"), "--scheduler", cluster.address])
    assert (here.exit_code, there.exit_code) == (0, 0), (here.output, there.output)
    written = sorted(path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*.*"))
    compared = [
        name for name in written if name.suffix in (".csv", ".safetensors") or name.name == "experiment.json"
    ]
    assert {name.suffix for name in compared} == {".csv", ".safetensors", ".json"}
    for name in compared:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


@pytest.mark.slow
def test_a_workbench_measures_on_a_cluster_what_it_measures_here(twenty, tmp_path):
    twenty.write_text(STUDY.replace("[1, 2, 3, 4, 5]", "[1, 2]").replace('"dp", "dp-l"', '"dp"'))
    study = load_study(twenty)
    here = Bench(tmp_path / "here", workers=1).measured(study, Measure(result)).drop(columns=TIMED)
    bench = Bench(tmp_path / "there", workers=2, scheduler="local")
    there = bench.measured(study, Measure(result)).drop(columns=TIMED)
    pd.testing.assert_frame_equal(here, there)
    assert [cell for cell, _ in bench.runs(study)] == list(study.cells)  # the runs came back, too
    # What is measured later on runs that are here is sent to the workers, and not trained again.
    weights = {path: path.stat().st_mtime_ns for path in tmp_path.glob("there/runs/*/weights.safetensors")}
    again = bench.measured(study, Measure(accuracy))
    assert again.groupby("cell")["value"].mean().to_dict() == pytest.approx(
        there.set_index("cell")["test_accuracy"].to_dict()
    )
    assert {path: path.stat().st_mtime_ns for path in weights} == weights


# Without a cluster


def test_a_job_that_is_sent_names_no_path_of_ours_and_texts_by_their_fingerprints(study_file, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("good 1 0\nbad 0 1\n")
    study_file.write_text(
        study_file.read_text().replace(
            "[settings]", f'[settings]\nembedding_source = "file"\nvectors_file = "{vectors.name}"'
        )
    )
    study = load_study(study_file)
    corpora = study.check()
    job = Job(study, tmp_path / "out", data_dir=str(tmp_path), records=True)
    sent, parcels = job.sent(corpora)
    assert str(tmp_path).encode() not in pickle.dumps(sent)
    assert sent.texts == {"reviews.csv": corpora["reviews.csv"].fingerprint}
    mark = sent.study.sent["vectors.txt"]
    assert parcels == {
        corpora["reviews.csv"].fingerprint: corpora["reviews.csv"],
        mark: {"vectors.txt": vectors.read_bytes()},
    }
    with pytest.raises(AbsentError) as absent:
        sent.corpus(study.cells[0])
    assert absent.value.fingerprint == corpora["reviews.csv"].fingerprint
    for name, content in ((mark, "/elsewhere/vectors.txt"), *sent.texts.items()):
        hold(name, content)
    try:
        assert sent.study.place(study.cells[0].prepared[0]).vectors_file == "/elsewhere/vectors.txt"
    finally:
        for name in (mark, *sent.texts):
            let_go(name)


def test_files_arrive_as_they_were_sent(tmp_path):
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    for name in ("result.json", "settings.toml", ".lock"):
        (run / name).write_text(name)
    parcel = pack(tmp_path, [run])
    assert set(parcel) == {"runs/one/result.json", "runs/one/settings.toml"}
    unpack(parcel, tmp_path / "there")
    assert pack(tmp_path / "there") == parcel
    assert fingerprint(parcel) == fingerprint(dict(reversed(parcel.items())))
    assert fingerprint(parcel) != fingerprint({**parcel, "runs/one/result.json": b""})


def test_a_client_killed_between_two_files_leaves_none_that_vouches_for_a_missing_one(tmp_path, monkeypatch):
    names = ["records/part-one.parquet", "runs/one/result.json", "runs/one/weights.safetensors"]
    whole = parcels_module.write_atomically

    def killed_after(count):
        left = iter(range(count))

        def write(path, mode):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return whole(path, mode)

        monkeypatch.setattr(parcels_module, "write_atomically", write)

    for count in range(len(names)):
        killed_after(count)
        folder = tmp_path / str(count)
        with pytest.raises(KeyboardInterrupt):
            unpack(dict.fromkeys(names, b"x"), folder)
        assert list(pack(folder)) == sorted(names[::-1][:count])


@pytest.mark.parametrize("name", ["../outside", "/outside", "runs/../../outside"])
def test_a_worker_cannot_write_outside_the_folder_of_results(name, tmp_path):
    with pytest.raises(UserError, match="outside the folder"):
        unpack({name: b"x"}, tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "address",
    ["nowhere", "tcp://127.0.0.1", "http://127.0.0.1:9", "tcp://a:b", f"tcp://{'a' * 64}:1", "tcp://a..b:1"],
)
def test_what_is_no_address_never_reaches_dask_whose_client_would_complain_at_the_end(address, monkeypatch):
    monkeypatch.setattr(cluster_module, "Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(UserError, match="tcp://HOST:PORT"):
        cluster_module.count_workers(address)


@pytest.mark.parametrize("host", ["NONSENSE.invalid", "192.0.2.1", "", "a" * 300, "a\0b"])
def test_a_host_at_which_no_worker_can_listen_is_refused_before_anything_waits(host, monkeypatch):
    async def wait(*arguments: object) -> None:
        raise AssertionError("it waited for its scheduler")

    monkeypatch.setattr("heedful.study.cluster_workers._serve", wait)
    refused = CliRunner().invoke(app, ["worker", "tcp://127.0.0.1:9", "--host", host])
    assert refused.exit_code == 2, refused.output
    assert refused.stderr.strip().endswith(f"--host {host!r}: it is no address of this machine.")
    for ours in ("127.0.0.1", "localhost", "0.0.0.0"):
        waits = CliRunner().invoke(app, ["worker", "tcp://127.0.0.1:9", "--host", ours])
        assert isinstance(waits.exception, AssertionError)


@pytest.mark.slow  # Dask tries for ten seconds
def test_a_scheduler_that_is_not_there_and_workers_that_are_not_ours_are_sentences(study_file, tmp_path):
    command = ["sweep", str(study_file), "--out", str(tmp_path / "out"), "--scheduler"]
    for address, told in (("tcp://127.0.0.1:9", "no Dask scheduler"), ("nowhere", "tcp://HOST:PORT")):
        refused = CliRunner().invoke(app, [*command, address])
        assert refused.exit_code == 2, refused.output
        assert told in refused.stderr
        assert "Traceback" not in refused.stderr
    with pytest.raises(UserError, match="leave out the number of workers"):
        Engine(2, "tcp://127.0.0.1:9")
    for address, told in (("tcp://10.0.0.1:8786", "--host"), ("10.0.0.1", "tcp://HOST:PORT")):
        refused = CliRunner().invoke(app, ["worker", address])
        assert refused.exit_code == 2
        assert told in refused.stderr
