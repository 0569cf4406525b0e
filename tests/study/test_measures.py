"""Trials as cells of a study: each measure once a cell, over seeds with intervals, and as a paper's table."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.errors import UserError
from heedful.study import engines, forecast, load_study, run_study, sweep
from heedful.study.sweep import sweep_job
from heedful.study.tables import _linear, long_table, pivot, to_latex
from heedful.study.text_measures import MEASURES

run = CliRunner().invoke
NAMES = list(MEASURES)


@pytest.fixture
def worked(monkeypatch):
    """Cells are worked on in this process; gives those that were, with what was wanted of each."""
    seen = []

    def here(work, job, tasks, *, workers=None, done=None):
        for task in tasks:
            seen.append(task)
            done(task, work(job, task))
        return iter(())

    monkeypatch.setattr(engines, "in_processes", here)
    return seen


def swept(path, out):
    return run_study(load_study(path), out)


def write(path, names=NAMES, seeds=(3, 5, 8), scales=(1, 10), keep_runs=False):
    path.write_text(
        f'corpora = ["reviews.csv"]\nseeds = {list(seeds)}\nmeasures = {json.dumps(list(names))}\n'
        f"texts = 5\nkeep_runs = {json.dumps(keep_runs)}\n"
        f"[settings]\nepochs = 2\nembedding = 13\nbatch = 7\n[grid]\nscale = {list(scales)}\n"
    )


def test_every_measure_has_a_number_with_an_interval_for_each_setting(study_file, tmp_path, worked):
    write(study_file)
    found = swept(study_file, tmp_path / "out")
    assert [(entry.row, entry.measure) for entry in found.entries] == [
        (("dp", scale), name) for scale in ("1", "10") for name in NAMES
    ]
    for entry in found.entries:
        assert entry.finding.seeds == 3
        low, high = MEASURES[entry.measure].within
        assert low <= entry.finding.interval.low <= entry.finding.value <= entry.finding.interval.high <= high
        assert entry.finding.count == (24 if entry.measure == "accuracy" else entry.finding.count) > 0
        assert entry.measure == "accuracy" or entry.finding.count <= 5
    by_scale = found.records.groupby("scale")["test_accuracy"].mean()
    accuracies = [entry.finding.value for entry in found.entries if entry.measure == "accuracy"]
    assert accuracies == pytest.approx(list(by_scale))


def test_a_seed_a_setting_or_a_measure_that_is_added_runs_alone(study_file, tmp_path, worked):
    write(study_file, ["accuracy"], seeds=[3], scales=[1], keep_runs=True)
    swept(study_file, tmp_path / "out")
    write(study_file, ["accuracy"], seeds=[3, 5], scales=[1], keep_runs=True)
    swept(study_file, tmp_path / "out")
    write(study_file, ["accuracy"], seeds=[3, 5], scales=[1, 10], keep_runs=True)
    swept(study_file, tmp_path / "out")
    asked = [(task.cell.settings["scale"], task.cell.settings["seed"]) for task in worked]
    assert asked == [(1, 3), (1, 5), (10, 3), (10, 5)]
    weights = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/runs/*/weights.safetensors")}
    write(study_file, ["accuracy", "adversary"], seeds=[3, 5], scales=[1, 10], keep_runs=True)
    swept(study_file, tmp_path / "out")
    assert [sorted(name.split("/")[1][:9] for name in task.wanted) for task in worked[4:]] == [
        ["adversary"]
    ] * 4
    assert {path: path.stat().st_mtime_ns for path in weights} == weights  # measured again, not trained


def test_a_measure_that_a_model_cannot_have_is_said_and_does_not_fail_its_cell(study_file, tmp_path, worked):
    write(study_file, ["accuracy", "optimality-gap", "seeds"], seeds=[3], scales=[1])
    study_file.write_text(study_file.read_text().replace("measures", 'models = ["flan-rnn"]\nmeasures'))
    found = swept(study_file, tmp_path / "out")
    assert found.failures == ()
    assert [bool(entry.why) for entry in found.entries] == [False, False, True]
    assert found.entries[2].why == "it needs two seeds or more"
    assert str(found.entries[2]) == "–"


def test_a_ratio_of_sums_is_the_mean_of_its_linear_numbers_for_each_seed():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "seed": np.repeat([1, 2], 11),
            "instance": np.tile(np.arange(11), 2),
            "value": rng.random(22),
            "over": rng.random(22) + 0.5,
        }
    )
    linear = _linear(rows, ["value"])
    for seed, own in rows.groupby("seed"):
        wanted = own["value"].sum() / own["over"].sum()
        assert linear.loc[linear["seed"] == seed, "value"].mean() == pytest.approx(wanted)


def test_the_table_goes_to_latex_and_csv_through_the_command_line(study_file, tmp_path, worked):
    write(study_file, ["accuracy", "tau-gradient", "seeds"], seeds=[3, 5, 8])
    out, csv, latex = tmp_path / "out", tmp_path / "table.csv", tmp_path / "table.tex"
    command = ["sweep", str(study_file), "--out", str(out)]
    planned = run(app, [*command, "--plan", "--json"])
    assert json.loads(planned.stdout)["left"] == 6
    assert json.loads(planned.stdout)["hours"] > 0
    assert not out.exists()
    assert "6 cells to do" in run(app, [*command, "--plan"]).stdout
    told = run(app, [*command, "--csv", str(csv), "--latex", str(latex)])
    assert told.exit_code == 0, told.stderr
    table = pd.read_csv(csv)
    assert len(table) == 6
    assert {"value", "low", "high", "seeds", "scale", "baseline_random"} <= set(table.columns)
    lines = latex.read_text().splitlines()
    assert lines[3] == r"model & scale & accuracy & $\tau$ gradient & JSD over seeds \\"
    assert [line.split(" & ")[:2] for line in lines[5:7]] == [["dp", "1"], ["dp", "10"]]
    again = run(app, [*command, "--json"])
    assert len(json.loads(again.stdout)["table"]) == 6
    assert json.loads(run(app, [*command, "--plan", "--json"]).stdout)["left"] == 0
    assert "6 of them done" in run(app, [*command, "--plan"]).stdout


def test_names_in_latex_are_escaped_and_corpora_are_headings(study_file, tmp_path, worked):
    write(study_file, ["accuracy"], seeds=[3], scales=[1])
    (tmp_path / "re_views&.csv").write_bytes((study_file.parent / "reviews.csv").read_bytes())
    study_file.write_text(
        study_file.read_text().replace('["reviews.csv"]', '["reviews.csv", "re_views&.csv"]')
    )
    study = load_study(study_file)
    found = swept(study_file, tmp_path / "out")
    laid = pivot(study, found.entries)
    assert laid.titles() == ["model", "scale", "reviews: accuracy", "re_views&: accuracy"]
    assert list(laid.narrow()) == [("", laid)]
    assert r"\multicolumn{1}{c}{re\_views\&}" in to_latex(laid)
    assert list(long_table(study, found.entries)["corpus"]) == ["reviews.csv", "re_views&.csv"]


def test_a_table_too_wide_for_a_terminal_is_one_table_a_measure(study_file):
    write(study_file, ["accuracy", "tau-gradient", "heat-map-skill"])
    study = load_study(study_file)
    wide = pivot(replace(study, corpora=("one.csv", "two.csv")), [])
    parts = dict(wide.narrow())
    assert [place for part in parts.values() for place in part.across] == [
        (corpus, name) for name in study.measures for corpus in ("one.csv", "two.csv")
    ]
    assert next(iter(parts)) == ", accuracy"


def test_mistakes_are_refused_before_any_work(study_file, tmp_path):
    write(study_file, ["acuracy"])
    with pytest.raises(UserError, match="accuracy"):
        load_study(study_file)
    write(study_file, ["accuracy", "accuracy"])
    with pytest.raises(UserError, match="twice"):
        load_study(study_file)
    write(study_file)
    study_file.write_text(study_file.read_text().replace("texts = 5", "texts = 0"))
    with pytest.raises(UserError, match="at least one text"):
        load_study(study_file)
    write(study_file, [])
    refused = run(app, ["sweep", str(study_file), "--out", str(tmp_path / "out"), "--latex", "t.tex"])
    assert refused.exit_code == 2
    assert 'measures = ["accuracy"]' in refused.stderr
    assert not (tmp_path / "out").exists()


def test_texts_of_a_trial_are_those_of_every_seed(study_file, tmp_path, worked):
    write(study_file, ["tau-gradient"], seeds=[3, 5], scales=[1])
    swept(study_file, tmp_path / "out")
    study = load_study(study_file)
    job = sweep_job(study, tmp_path / "out")
    one, other = (job.stage(job.measures[0]).rows([task.key]) for task in worked)
    assert list(one["instance"]) == list(other["instance"])
    assert len(one) == 5
    assert not one["value"].equals(other["value"])


def test_what_is_foretold_counts_trainings_and_measures_that_are_left(
    study_file, tmp_path, worked, monkeypatch
):
    monkeypatch.setattr(sweep, "training_seconds", lambda study, cells, corpora: [100.0] * len(cells))
    each = {"accuracy": 3.0, "adversary": 20.0}
    monkeypatch.setattr(sweep, "measuring_seconds", lambda study, cells, corpora, names: [each] * len(cells))
    write(study_file, ["accuracy"], seeds=[3, 5], scales=[1], keep_runs=True)
    out = tmp_path / "out"
    assert sweep.plan_study(load_study(study_file), out).seconds == (103.0, 103.0)
    swept(study_file, out)
    write(study_file, ["accuracy", "adversary"], seeds=[3, 5, 8], scales=[1], keep_runs=True)
    planned = sweep.plan_study(load_study(study_file), out)
    assert planned.seconds == (20.0, 20.0, 123.0)
    assert (planned.cells, planned.done) == (3, 0)
    assert planned.hours == pytest.approx(163 / 3600)


def test_measures_are_tried_on_a_few_texts_and_scaled_to_all(study_file):
    write(study_file, ["accuracy", "tau-gradient"], seeds=[3, 5], scales=[1])
    study = load_study(study_file)
    first, second = forecast.measuring_seconds(study, study.cells, study.check(), study.measures)
    assert first is second  # one kind, tried once
    assert set(first) == {"accuracy", "tau-gradient"}
    assert all(seconds > 0 for seconds in first.values())
