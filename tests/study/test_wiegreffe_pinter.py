"""The measures of Wiegreffe & Pinter's experiments on a small model, and their claims on tables made up."""

import numpy as np
import pandas as pd
import pytest
from debated import CORPUS, MODEL, SMALL, bench_in, ground, work_here

from heedful.study.diagnostic import GUIDES, diagnose, exact_guide, freeze, uniform_guide
from heedful.study.ground import MAIN
from heedful.study.strengths import adversaries, beside, kept_adversary
from heedful.study.wiegreffe_pinter.curve import MARGIN, curve_claims, measure_curve, points, strongest
from heedful.study.wiegreffe_pinter.ladder import diagnostic_claims, measure_diagnostic
from heedful.study.wiegreffe_pinter.seeds import measure_seeds, seeds_claims
from heedful.study.wiegreffe_pinter.uniform import measure_uniform, uniform_claims
from heedful.training import load_run, train
from heedful.training.reopening import encode_for


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(CORPUS, model=MODEL, out=tmp_path_factory.mktemp("runs") / "base", **SMALL)


def test_the_ladder_has_a_rung_for_each_guide(run):
    table = diagnose(run, CORPUS, strength=0.01, settings=SMALL)
    assert tuple(table["guide"]) == GUIDES
    assert table["macro_f1"].between(0, 1).all()
    assert table["texts"].unique().tolist() == [46]
    again = diagnose(run, CORPUS, strength=0.01, settings=SMALL)
    pd.testing.assert_frame_equal(table, again)
    assert load_run(run.folder / "adversaries" / "0.01").recipe.corpus["strength"] == 0.01


def test_guides_are_weights_of_each_text(run):
    encoded = encode_for(run.model, CORPUS.split("test"))
    for guide in (uniform_guide(encoded), exact_guide(run, encoded)):
        sums = np.add.reduceat(guide, encoded.offsets[:-1])
        assert np.allclose(sums, 1, atol=1e-5)
    two = exact_guide(run, encoded) > 0
    assert np.add.reduceat(two.astype(int), encoded.offsets[:-1]).max() <= 2


def test_the_diagnostic_never_sees_the_test_split_before_the_end(run):
    from dataclasses import replace

    labels = np.where(CORPUS.splits == "test", 1 - CORPUS.labels, CORPUS.labels)
    first, second = (
        diagnose(run, corpus, strength=0.01, settings=SMALL).set_index("guide")
        for corpus in (CORPUS, replace(CORPUS, labels=labels))
    )
    pd.testing.assert_series_equal(first["dev_accuracy"], second["dev_accuracy"])
    assert np.allclose(first["accuracy"], 1 - second["accuracy"])


def test_frozen_weights_of_a_good_model_are_good_enough(run):
    frozen = freeze(run, CORPUS)
    assert frozen["test_accuracy"].item() > 0.8
    assert run.result["test_accuracy"] > 0.8


def test_a_run_beside_itself_is_no_distance_away(run):
    rows = beside(run, run, CORPUS, limit=11)
    assert (rows["change"] == 0).all()
    assert (rows["divergence"] < 1e-9).all()
    assert rows["same"].all()


def test_stronger_adversaries_go_farther(run):
    table = adversaries(run, CORPUS, strengths=(0.0, 0.05), epochs=8)
    means = table.groupby("strength")[["divergence", "change"]].mean()
    assert means.loc[0.05, "divergence"] > means.loc[0.0, "divergence"]
    kept = kept_adversary(run, CORPUS, strength=0.05, epochs=8)
    assert kept.folder.name == "0.05-epochs-8"


def runs_table(**reached):
    frames = [
        pd.DataFrame(
            {
                "corpus": "made",
                "model": MAIN,
                "seed": range(4),
                "kind": kind,
                "macro_f1": values,
                "texts": 100,
            }
        )
        for kind, values in reached.items()
    ]
    return pd.concat(frames, ignore_index=True)


def test_claims_about_uniform_weights_follow_the_numbers():
    better = {"trained": [0.8, 0.81, 0.82, 0.8], "uniform": [0.7, 0.71, 0.71, 0.7]}
    outcomes = [claim.outcome for claim in uniform_claims({"runs": runs_table(**better)})]
    assert outcomes == ["does not hold", "holds"]
    alike = {"trained": [0.8, 0.81, 0.82, 0.8], "uniform": [0.8, 0.812, 0.818, 0.8]}
    outcomes = [claim.outcome for claim in uniform_claims({"runs": runs_table(**alike)})]
    assert outcomes == ["holds", "undecided"]


def test_both_readings_of_the_diagnostic_are_judged():
    rungs = {
        "uniform": [0.7, 0.71, 0.7, 0.71],
        "trained model": [0.8, 0.81, 0.8, 0.81],
        "adversary, trained": [0.6, 0.62, 0.61, 0.6],
        "adversary, exact": [0.8, 0.811, 0.799, 0.81],
    }
    table = runs_table(**rungs).rename(columns={"kind": "guide"})
    claims = diagnostic_claims({"ladder": table})
    assert [claim.outcome for claim in claims] == [
        "holds",
        "holds",
        "does not hold",
        "undecided",
        "holds",
    ]
    assert len({claim.source for claim in claims}) == 2


def curve_table(change, divergence):
    """A made-up curve: two strengths, two seeds, and the post-hoc adversary, of 40 texts."""
    rows = []
    for kind, strength, moved, apart in (
        ("adversary", 0.0, 0.01, 0.1),
        ("adversary", 0.1, change, divergence),
        ("seed", np.nan, 0.05, 0.2),
        ("post-hoc adversary", np.nan, 0.005, 0.65),
    ):
        noise = 0.01 * np.random.default_rng(3).standard_normal(40)
        about = {
            "corpus": "made",
            "model": MAIN,
            "seed": 0,
            "kind": kind,
            "strength": strength,
            "how": "exact",
        }
        numbers = {"instance": np.arange(40), "change": moved, "divergence": apart + noise, "same": True}
        rows.append(pd.DataFrame({**about, **numbers}))
    return {"curve": pd.concat(rows, ignore_index=True)}


def test_claims_about_trained_adversaries_are_about_those_that_decide_alike():
    outcomes = [claim.outcome for claim in curve_claims(curve_table(0.02, 0.5))]
    assert outcomes == ["holds", "holds"]
    tables = curve_table(0.05 + 2 * MARGIN, 0.5)  # far, but it decides otherwise
    assert strongest(tables["curve"])[0] == 0.0
    assert [claim.outcome for claim in curve_claims(tables)] == ["does not hold", "holds"]
    assert [name for name, _ in points(tables["curve"])][:2] == ["adversary, λ = 0", "adversary, λ = 0.1"]


def test_a_penalty_on_learnt_attention_is_dropped_where_nothing_is_learnt(tmp_path, monkeypatch):
    work_here(monkeypatch)
    place = ground(tmp_path, seeds=(0,), penalty=0.001, epochs=1)
    tables = measure_uniform(bench_in(tmp_path), place, frozen=False)
    assert tables["runs"]["kind"].tolist() == ["trained", "uniform"]
    assert [claim.outcome for claim in uniform_claims(tables)] == ["undecided", "undecided"]  # one seed


@pytest.mark.slow
def test_the_four_experiments_share_their_runs_and_draw_their_figures(tmp_path, monkeypatch):
    from heedful.report.figures import draw

    work_here(monkeypatch)
    bench, place = bench_in(tmp_path), ground(tmp_path, seeds=(0, 1, 2))
    figures = {}
    uniform = measure_uniform(bench, place)
    assert set(uniform["runs"]["kind"]) == {"trained", "uniform", "frozen"}
    assert len(uniform_claims(uniform)) == 2
    figures["wiegreffe-pinter-uniform"] = uniform
    trained = len(list((bench.folder / "runs").iterdir()))
    seeds = measure_seeds(bench, place)
    assert len(list((bench.folder / "runs").iterdir())) == trained == 6
    assert [len(seeds["seeds"]), int(seeds["seeds"]["adversary_divergence"].notna().sum())] == [46, 13]
    assert len(seeds_claims(seeds)) == 2
    figures["wiegreffe-pinter-seeds"] = seeds
    figures["wiegreffe-pinter-diagnostic"] = measure_diagnostic(bench, place)
    figures["wiegreffe-pinter-adversarial"] = measure_curve(bench, place)
    kinds = figures["wiegreffe-pinter-adversarial"]["curve"]["kind"]
    assert set(kinds) == {"adversary", "seed", "uniform", "post-hoc adversary"}
    for name, tables in figures.items():
        assert not tables["summary"].empty
        assert draw(name, tables).axes
