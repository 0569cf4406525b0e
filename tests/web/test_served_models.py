"""Which models a folder gives: one run, or the runs of a sweep that differ in λ alone."""

import pytest

from heedful.errors import UserError
from heedful.study.grid import load_study
from heedful.study.sweep import run_study
from heedful.web.models import open_models
from heedful.web.server import bind
from small_reviews import write_reviews

STUDY = """
name = "scales"
corpora = ["reviews.csv"]
models = ["dp"]
seeds = [0, 1]
keep_runs = true
[settings]
epochs = 1
embedding = 13
[grid]
scale = [10, 1]
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept")
    write_reviews(folder / "reviews.csv")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run_study(load_study(folder / "study.toml"), folder / "out", workers=1)
    return folder / "out"


@pytest.mark.slow
def test_a_sweep_gives_its_models_by_rising_scale_and_says_what_it_left_out(swept):
    models, notes = open_models(swept)
    assert [model.scale for model in models] == [1, 10]
    assert notes == ["2 of the sweep's 4 runs differ in more than λ and are left out."]
    assert all(model.name == "dp on reviews" for model in models)


def test_a_run_gives_one_model(run, tmp_path):
    run.save(tmp_path / "run")
    models, notes = open_models(tmp_path / "run")
    assert len(models) == 1
    assert notes == []
    assert models[0].test_accuracy == run.result["test_accuracy"]


def test_a_folder_that_is_neither_is_refused(tmp_path):
    with pytest.raises(UserError, match="not a run"):
        open_models(tmp_path)
    (tmp_path / "runs").mkdir()
    with pytest.raises(UserError, match="keep_runs = true"):
        open_models(tmp_path)


def test_a_port_that_is_taken_is_said():
    with bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(UserError, match="choose another --port"):
            bind("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no such host", "192.0.2.1"])
def test_an_address_that_is_not_this_machines_is_said(host):
    with pytest.raises(UserError, match="choose another --host"):
        bind(host, 0)
