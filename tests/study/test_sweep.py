"""A sweep: real processes, one record a cell, the same results as alone, and nothing lost by a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.errors import UserError
from heedful.records import query, read_rows
from heedful.study import engines, load_study, processes, run_study
from heedful.study.cells import RECORDS, Job, work_on_cell
from heedful.training import load_run, train
from promises import hear_ctrl_c

linux = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes through /proc")
FACTS = ["dev_accuracy", "test_accuracy", "test_macro_f1", "epoch", "epochs"]

# A sweep in a process of its own, as the command line runs it; a slow one sleeps at the end of each cell.
PROGRAM = """
import sys, time
import heedful.study.kept_runs as module
from heedful.study import load_study, run_study

real = module.trained_once

def slow(*given, **named):
    run = real(*given, **named)
    time.sleep(1.5)
    return run

if "slow" in sys.argv:
    module.trained_once = slow

if __name__ == "__main__":
    study = load_study(sys.argv[1])
    run_study(study, sys.argv[2], workers=2, done=lambda *cell: print("done", flush=True))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def begin():
    """Start a sweep as the leader of its own group of processes, of which nothing is left after the test."""
    started = []

    def start(*command: object, **more: Any) -> subprocess.Popen:
        started.append(
            subprocess.Popen(
                [sys.executable, *map(str, command)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                **more,
            )
        )
        return started[-1]

    yield start
    for sweep in started:
        with suppress(ProcessLookupError):
            os.killpg(sweep.pid, signal.SIGKILL)
        sweep.communicate()


def alone(study, cell, **more):
    return train(study.origin(cell.corpus).source, model=cell.model, **{**cell.settings, **more})


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


PATIENCE = 300.0  # seconds: a machine may be busy with other things


def wait_for(condition) -> None:
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.02)


@pytest.mark.slow
def test_each_cell_ends_as_if_it_were_trained_alone_to_the_last_bit(study_file, tmp_path):
    study_file.write_text(
        'corpora = ["reviews.csv"]\nmodels = ["dp", "dp-l"]\nseeds = [3, 5]\nkeep_runs = true\n'
        "[settings]\nepochs = 2\nembedding = 13\nhidden = 14\nbatch = 7\n[grid]\nscale = [1, 10]\n"
    )
    study = load_study(study_file)
    heard = []
    swept = run_study(study, tmp_path / "out", workers=2, done=lambda cell, row: heard.append((cell, row)))
    assert swept.failures == ()
    assert swept.skipped == 0
    assert sorted(cell.key for cell, _ in heard) == sorted(cell.key for cell in study.cells)
    assert list(swept.records["cell"]) == [cell.key for cell in study.cells]
    for cell, row in zip(study.cells, swept.records.to_dict("records"), strict=True):
        run = alone(study, cell)
        assert {name: row[name] for name in FACTS} == {name: run.result[name] for name in FACTS}
        (folder,) = (tmp_path / "out" / "runs").glob(f"{cell.key}-*")
        kept = load_run(folder)
        assert all(
            value.equal(kept.model.state_dict()[name]) for name, value in run.model.state_dict().items()
        )


@pytest.mark.slow
def test_one_row_a_cell_with_all_that_made_it_and_columns_of_unequal_types(study_file, tmp_path):
    study_file.write_text(
        'corpora = ["reviews.csv"]\nmodels = ["dp", "flan-noenc"]\n[settings]\nepochs = 1\nembedding = 13\n'
        'embedding_source = "uniform"\nmin_count = 1\n'
    )
    study = load_study(study_file)
    swept = run_study(study, tmp_path / "out", workers=1)
    rows = read_rows(tmp_path / "out" / "records")
    assert len(list((tmp_path / "out" / "records").glob("part-*.parquet"))) == len(rows) == 2
    assert len(swept.records) == 2
    row = rows.set_index("model").loc["dp"]
    assert (row["study"], row["corpus"], row["scale"], row["seed"]) == ("small", "reviews.csv", 10.0, 0)
    assert list(row["widths"]) == [3, 5]
    # A preset that clips beside one that does not, and one with patience beside one without.
    assert rows.set_index("model")["clip"].isna().to_dict() == {"dp": True, "flan-noenc": False}
    assert rows.set_index("model")["patience"].isna().to_dict() == {"dp": True, "flan-noenc": False}
    assert pd.api.types.is_integer_dtype(rows["seed"])
    asked = query(tmp_path / "out" / "records", "select model, clip from records where clip is not null")
    assert asked.to_dict("records") == [{"model": "flan-noenc", "clip": 10.0}]


@pytest.mark.slow
def test_a_second_sweep_trains_nothing_and_says_the_same(study_file, tmp_path, monkeypatch):
    study = load_study(study_file)
    first = run_study(study, tmp_path / "out", workers=1)
    heard = []
    monkeypatch.setattr(processes, "_workers", None)  # no process is started
    second = run_study(study, tmp_path / "out", done=lambda cell, row: heard.append(row["test_accuracy"]))
    assert second.skipped == len(study.cells)
    pd.testing.assert_frame_equal(first.records, second.records)
    assert heard == list(second.records["test_accuracy"])


def test_a_changed_corpus_is_trained_anew(study_file, tmp_path, monkeypatch):
    study = load_study(study_file)
    trained = stand_in(monkeypatch)
    run_study(study, tmp_path / "out", workers=1)
    with open(study_file.parent / "reviews.csv", "a") as file:
        file.write("one more good film,liked\n")
    assert run_study(study, tmp_path / "out").skipped == 0
    assert len(trained) == 2 * len(study.cells)
    swept = run_study(study, tmp_path / "out")
    assert (swept.skipped, len(swept.records), swept.records["fingerprint"].nunique()) == (4, 4, 1)


def stand_in(monkeypatch) -> list:
    """Record cells without processes or training, to test what is trained and what is skipped."""
    trained = []

    def pretend(work, job, tasks, *, workers, done):
        for task in tasks:
            trained.append(task.cell)
            fingerprint = job.study.check()[task.cell.corpus].fingerprint
            job.store.stage(RECORDS).keep(task.key, [{"cell": task.cell.key, "fingerprint": fingerprint}])
        return iter(())

    monkeypatch.setattr(engines, "in_processes", pretend)
    return trained


def test_a_larger_grid_trains_only_what_is_new(study_file, tmp_path, monkeypatch):
    trained = stand_in(monkeypatch)
    run_study(load_study(study_file), tmp_path / "out")
    study_file.write_text(study_file.read_text().replace("scale = [1, 10]", "scale = [10, 1, 100]"))
    swept = run_study(load_study(study_file), tmp_path / "out")
    assert swept.skipped == 4
    assert [(cell.settings["scale"], cell.settings["seed"]) for cell in trained[4:]] == [(100, 3), (100, 5)]
    assert list(swept.records["cell"]) == [cell.key for cell in load_study(study_file).cells]


@pytest.mark.slow
def test_a_cell_that_fails_does_not_stop_the_others_and_is_tried_again(study_file, tmp_path):
    study_file.write_text(
        study_file.read_text()
        .replace("rate = 0.1\n", 'optimiser = "sgd"\n')
        .replace("scale = [1, 10]", "rate = [1e38, 0.1]")
    )
    study = load_study(study_file)
    heard = []
    for failed in (2, 4):
        swept = run_study(study, tmp_path / "out", workers=2, done=lambda cell, row: heard.append(row))
        assert [cell.settings["rate"] for cell, _ in swept.failures] == [1e38, 1e38]
        assert all("no longer a number" in fault for _, fault in swept.failures)
        assert list(swept.records["rate"]) == [0.1, 0.1]
        assert heard.count(None) == failed


@pytest.mark.slow
@linux
def test_a_killed_sweep_takes_its_workers_along_and_goes_on_by_cells(study_file, program, begin, tmp_path):
    folder = tmp_path / "out"
    sweep = begin(program, study_file, folder, "slow")
    assert sweep.stdout.readline() == "done\n"
    workers = children(sweep.pid)
    assert len(workers) >= 2
    os.kill(sweep.pid, signal.SIGKILL)
    wait_for(lambda: all(gone(worker) for worker in workers))
    before = len(read_rows(folder / "records"))
    assert 1 <= before < 4
    again = begin(program, study_file, folder)
    out, errors = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, errors
    assert out.splitlines() == ["done"] * 4
    rows = read_rows(folder / "records")
    study = load_study(study_file)
    assert sorted(rows["cell"]) == sorted(cell.key for cell in study.cells)  # each once
    for cell in study.cells:
        row = rows.set_index("cell").loc[cell.key]
        assert {name: row[name] for name in FACTS} == {
            name: alone(study, cell).result[name] for name in FACTS
        }


@pytest.mark.slow
@linux
def test_ctrl_c_ends_a_sweep_and_its_workers_at_once(begin, study_file, tmp_path):
    content = study_file.read_text().replace("epochs = 2", "epochs = 1000000")
    study_file.write_text(content)
    command = ["-m", "heedful", "sweep", study_file, "--out", tmp_path / "out", "--workers", "2"]
    sweep = begin(*command, preexec_fn=hear_ctrl_c)
    wait_for(lambda: len(children(sweep.pid)) >= 3)  # two workers and multiprocessing's resource tracker
    workers = children(sweep.pid)
    time.sleep(0.5)
    os.killpg(sweep.pid, signal.SIGINT)  # as a terminal does: the whole group hears it
    out, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 130
    assert errors.strip().splitlines()[-1].startswith("heedful: stopped.")
    assert "Traceback" not in errors
    assert out == ""
    wait_for(lambda: all(gone(worker) for worker in workers))
    assert not list((tmp_path / "out").glob("records/part-*"))


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_own_cell_alone(study_file, program, begin, tmp_path):
    deadly = (
        program.read_text()
        .replace(
            "def slow(*given, **named):",
            "def slow(*given, **named):\n"
            "    import os, signal\n"
            "    if named['training'].seed == 5 and named['model'].scale == 1:\n"
            "        os.kill(os.getpid(), signal.SIGKILL)",
        )
        .replace("time.sleep(1.5)", "pass")
        .replace('done=lambda *cell: print("done", flush=True))', ").failures and print('one failed')")
    )
    program.write_text(deadly)
    sweep = begin(program, study_file, tmp_path / "out", "slow")
    out, errors = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 0, errors
    assert out == "one failed\n"
    rows = read_rows(tmp_path / "out" / "records")
    assert sorted(zip(rows["scale"], rows["seed"], strict=True)) == [(1, 3), (10, 3), (10, 5)]


def test_a_run_that_ended_without_its_record_is_not_trained_again(study_file, tmp_path):
    study_file.write_text("keep_runs = true\n" + study_file.read_text())
    study = load_study(study_file)
    job = Job(study, tmp_path / "out", records=True)
    task = job.tasks(study.cells[:1], study.check())[0]
    first = work_on_cell(job, task)
    for part in (tmp_path / "out" / "records").iterdir():
        part.unlink()
    assert work_on_cell(job, task) == first  # also the seconds: it was read, not trained


@pytest.mark.parametrize("change", ["epochs = 0", "epochz = 1", 'optimiser = "adagrat"'])
def test_a_mistake_anywhere_in_the_grid_writes_nothing(study_file, tmp_path, change):
    study_file.write_text(study_file.read_text().replace("epochs = 2", change))
    with pytest.raises(UserError):
        run_study(load_study(study_file), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_device_that_is_not_there_is_refused_before_any_work(study_file, tmp_path):
    with pytest.raises(UserError, match="no-such-device"):
        run_study(load_study(study_file), tmp_path / "out", device="no-such-device")
    assert not (tmp_path / "out").exists()


def test_two_sweeps_do_not_share_a_folder(study_file, tmp_path):
    from heedful.files import locked

    with locked(tmp_path / "out" / ".lock"), pytest.raises(UserError, match="being written"):
        run_study(load_study(study_file), tmp_path / "out")


def test_workers_get_one_thread_each_and_the_caller_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with processes._workers(1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
        assert pool.submit(os.getenv, "MKL_NUM_THREADS").result() == "1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


# Through the command line

run = CliRunner().invoke


@pytest.mark.slow
def test_the_command_line_trains_the_grid_and_answers_sql(study_file, tmp_path):
    place = ["sweep", str(study_file), "--out", str(tmp_path / "out")]
    swept = run(app, [*place, "--workers", "1", "--json"])
    assert swept.exit_code == 0, swept.stderr
    rows = json.loads(swept.stdout)["rows"]
    assert [(row["scale"], row["seed"]) for row in rows] == [(1, 3), (1, 5), (10, 3), (10, 5)]
    assert "small, cells: 4 of 4" in swept.stderr
    sql = "select scale, count(*) as cells, avg(test_accuracy) as mean from records group by scale order by 1"
    asked = run(app, [*place, "--sql", sql, "--json"])
    answer = json.loads(asked.stdout)["rows"]
    assert [(row["scale"], row["cells"]) for row in answer] == [(1, 2), (10, 2)]
    assert answer[0]["mean"] == pytest.approx(sum(row["test_accuracy"] for row in rows[:2]) / 2)
    assert "cells" in run(app, [*place, "--sql", sql]).stdout
    wrong = run(app, [*place, "--sql", "select nothing from records"])
    assert (wrong.exit_code, len(wrong.stderr.strip().splitlines())) == (2, 1)


def test_sql_over_no_records_is_a_sentence(study_file, tmp_path):
    asked = run(app, ["sweep", str(study_file), "--out", str(tmp_path / "out"), "--sql", "select 1"])
    assert asked.exit_code == 2
    assert "no records" in asked.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command_line_says_what_failed_and_ends_with_two(study_file, tmp_path):
    study_file.write_text(study_file.read_text().replace("rate = 0.1", 'rate = 1e38\noptimiser = "sgd"'))
    swept = run(app, ["sweep", str(study_file), "--out", str(tmp_path / "out"), "--workers", "1", "--json"])
    assert swept.exit_code == 2
    assert len(json.loads(swept.stdout)["failures"]) == 4
    assert swept.stderr.count("failed: The loss is no longer a number") == 4


def test_records_go_to_a_folder_of_the_studys_name_that_every_system_takes(study_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study_file.write_text('name = "../C: my <study>?"\n' + study_file.read_text())
    stand_in(monkeypatch)
    assert run(app, ["sweep", str(study_file)]).exit_code == 0
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["C-my-study"]
