"""A debate is prepared from a run or a corpus, adopts what is there, and leaves out what cannot be had."""

from dataclasses import replace

import numpy as np
import pytest

from debated import MODEL, SMALL, bench_in, work_here, write_corpus
from heedful.errors import UserError
from heedful.papers.debate.forecast import Work, estimate, work
from heedful.papers.debate.preparing import STAGES, debate_on
from heedful.study.experiment import Reproduction, reproduce
from heedful.training import load_run, train


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("debate")
    path = write_corpus(folder)
    train(path, model=MODEL, seed=5, out=folder / "run", **SMALL)
    return folder


def test_a_corpus_is_debated_with_the_papers_model_unless_another_is_named(place):
    debate = debate_on(place / "small.csv", quick=True)
    assert debate.trainings.models == ("jain-wallace-bilstm-tanh",)
    assert debate.trainings.seeds == (0, 1, 2)
    assert [stage.name for stage in debate.stages()] == list(STAGES)
    assert [stage.name for stage in debate.stages(["sanity", "agreement"])] == ["agreement", "sanity"]
    with pytest.raises(UserError, match="'agrement'; the nearest is 'agreement'"):
        debate.stages(["agrement"])


def test_a_run_keeps_its_settings_and_is_the_first_of_its_seeds(place):
    debate = debate_on(place / "run", seeds=3)
    assert debate.trainings.seeds == (5, 0, 1)
    model, training = debate.trainings.study("x").cells[0].prepared
    run = load_run(place / "run")
    assert (model, training) == (run.recipe.model, run.recipe.training)
    assert debate_on(place / "run", seeds=3, seed=5).trainings.seeds == (5, 6, 7)
    assert debate_on(place / "small.csv", seeds=2, seed=9).trainings.seeds == (9, 10)
    with pytest.raises(UserError, match="leave those out"):
        debate_on(place / "run", model="dp")
    with pytest.raises(UserError, match="leave text out"):
        debate_on(place / "run", columns={"text": "review"})


def test_a_run_that_is_there_is_adopted_and_not_trained_again(place, tmp_path, monkeypatch):
    work_here(monkeypatch)
    monkeypatch.setattr("heedful.study.kept_runs.train_run", None)  # training would fail
    debate, bench = debate_on(place / "run", seeds=2, limit=29), bench_in(tmp_path)
    debate.adopt(bench)
    debate.adopt(bench)
    for stage in debate.stages(["agreement", "permutation", "adversary"]):
        done = reproduce(stage.on(debate.trainings), bench)
        assert len(done.tables["findings"]) == len(stage.findings(done.tables))
        again = Reproduction.load(bench.folder / f"debate-{stage.name}")
        assert again.claims == done.claims
        assert {claim.effect.coordinates["corpus"] for claim in done.claims} == {"small"}


def test_a_hierarchical_model_leaves_out_what_needs_one_row_of_weights(place, tmp_path, monkeypatch):
    work_here(monkeypatch)
    changes = {"embedding_source": "uniform", "embedding": 11, "hidden": 6, "epochs": 1, "attention_width": 7}
    debate = debate_on(place / "small.csv", model="han-noenc", seeds=2, limit=7, **changes)
    assert set(debate.left_out) == {"diagnostic", "adversarial"}
    stages = debate.stages()
    assert [stage.name for stage in stages] == [
        "agreement",
        "permutation",
        "adversary",
        "uniform",
        "seeds",
        "sanity",
    ]
    with pytest.raises(UserError, match="diagnostic is left out here"):
        debate.stages(["diagnostic"])
    bench = bench_in(tmp_path)
    for stage in stages:
        if stage.name in ("agreement", "uniform", "seeds"):
            done = reproduce(stage.on(debate.trainings), bench)
            assert not done.tables["findings"].empty


def test_what_cannot_be_debated_is_refused_in_a_sentence(place, tmp_path):
    with pytest.raises(UserError, match="uniform"):
        debate_on(place / "small.csv", model=MODEL, control="uniform")
    train(
        place / "small.csv",
        model=MODEL,
        control="uniform",
        out=tmp_path / "uniform",
        **{**SMALL, "epochs": 1},
    )
    with pytest.raises(UserError, match="learnt attention"):
        debate_on(tmp_path / "uniform")


def test_the_estimate_grows_with_what_is_asked(place):
    debate = debate_on(place / "small.csv", model=MODEL, seeds=4, **SMALL)
    few = estimate(debate, debate.stages(["agreement"]), quick=False, workers=1)
    all_of_it = estimate(debate, debate.stages(), quick=False, workers=1)
    assert (few.trainings, few.guided) == (1, 0)
    # Seeds, uniform, frozen, three ladders' adversaries, all strengths but the shared one, labels.
    assert all_of_it.trainings == 4 + 4 + 4 + 3 + (6 - 1) + 3
    assert all_of_it.guided == 3 * 5
    assert all_of_it.total > few.total > 0
    known = debate_on(place / "run", seeds=4)
    run = estimate(known, known.stages(["agreement"]), quick=False, workers=1)
    assert (run.trainings, run.training) == (0, load_run(place / "run").result["seconds"])
    assert np.isfinite(run.total)


def test_the_estimate_counts_no_frozen_training_where_there_is_none(place):
    changes = {"embedding_source": "uniform", "embedding": 11, "hidden": 6, "epochs": 1, "attention_width": 7}
    debate = debate_on(place / "small.csv", model="han-noenc", seeds=2, limit=7, **changes)
    assert not debate.frozen
    assert [one.cells for one in work(debate, ["uniform"], quick=True)] == [2, 2]
    flat = debate_on(place / "small.csv", model=MODEL, seeds=2, **SMALL)
    assert [one.cells for one in work(flat, ["uniform"], quick=True)] == [2, 2, 2]


def test_cells_share_workers_and_trainings_of_one_cell_follow_each_other():
    assert Work(5, 2).turns(2) == 6
    assert Work(1, 4).turns(8) == 4


def test_more_classes_have_no_exact_guide(place, monkeypatch):
    debate = debate_on(place / "small.csv", model=MODEL, seeds=2, **SMALL)
    (guided,) = (one for one in work(debate, ["diagnostic"], quick=True) if one.guided)
    assert (guided.cells, guided.trainings) == (2, 5)
    three = replace(debate, corpus=replace(debate.corpus, label_names=("a", "b", "c")))
    (guided,) = (one for one in work(three, ["diagnostic"], quick=True) if one.guided)
    assert guided.trainings == 4


def test_a_run_finds_its_file_from_another_folder(tmp_path, monkeypatch):
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir(), away.mkdir()
    write_corpus(home)
    monkeypatch.chdir(home)
    train("small.csv", model=MODEL, out="runs/mine", **{**SMALL, "epochs": 1})
    here = debate_on("runs/mine", seeds=2)
    monkeypatch.chdir(away)
    debate, bench = debate_on(home / "runs" / "mine", seeds=2, limit=5), bench_in(tmp_path)
    assert debate.corpus.fingerprint == here.corpus.fingerprint
    # The same cells, so that what was measured from one folder is there in the other.
    assert debate.trainings.study("x").cells == here.trainings.study("x").cells
    work_here(monkeypatch)
    monkeypatch.setattr("heedful.study.kept_runs.train_run", None)
    debate.adopt(bench)
    (stage,) = debate.stages(["permutation"])
    assert not reproduce(stage.on(debate.trainings), bench).tables["findings"].empty


def test_a_file_that_is_gone_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path)
    train("small.csv", model=MODEL, out="runs/mine", **{**SMALL, "epochs": 1})
    (tmp_path / "small.csv").unlink()
    with pytest.raises(UserError, match=r"trained on small\.csv, which is neither here nor"):
        debate_on("runs/mine")
