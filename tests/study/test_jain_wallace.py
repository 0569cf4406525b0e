"""The measures of Jain & Wallace's experiments on a small model, and their claims on tables made up."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from debated import CORPUS, SMALL, bench_in, ground, work_here
from scipy.stats import kendalltau

from heedful.models.trace import probabilities
from heedful.study.experiment import find_experiments, reproduce
from heedful.study.ground import MAIN, MODELS, paper_ground
from heedful.study.jain_wallace.adversary import adversary_claims, adversary_rows
from heedful.study.jain_wallace.agreement import agreement_claims, agreement_rows, measure_agreement
from heedful.study.jain_wallace.permutation import permutation_claims, permutation_rows
from heedful.study.workbench import Bench
from heedful.training import train
from heedful.trials import word_scores


@pytest.fixture(scope="module", params=["jain-wallace-average-tanh", "jain-wallace-bilstm-dot"])
def run(request):
    return train(CORPUS, model=request.param, **SMALL)


def test_tau_is_that_of_each_text_read_alone(run):
    rows = agreement_rows(run, CORPUS, limit=5)
    test = CORPUS.split("test")
    for instance in rows["instance"].unique():
        batch = run.model.encode([test.texts[instance]])
        attention = run.model.trace(batch).weights[0].numpy()
        gradient = word_scores("jain-wallace", run.model, batch)[0].numpy()
        words = test.texts[instance].split()
        with torch.no_grad():
            whole = probabilities(run.model.logits(batch)).double()
            shorter = [" ".join(words[:place] + words[place + 1 :]) for place in range(len(words))]
            without = probabilities(run.model.logits(run.model.encode(shorter))).double()
        left_out = (without - whole).abs().sum(1).numpy() / 2
        own = rows[rows["instance"] == instance].set_index(["first", "second"])["tau"]
        assert own["attention", "gradient"] == pytest.approx(kendalltau(attention, gradient)[0], abs=0.04)
        assert own["attention", "leave-one-out"] == pytest.approx(
            kendalltau(attention, left_out)[0], abs=0.04
        )
        assert own["gradient", "leave-one-out"] == pytest.approx(kendalltau(gradient, left_out)[0], abs=0.04)


def test_a_limit_takes_the_same_texts_for_every_measure(run):
    taken = [f(run, CORPUS, limit=7)["instance"] for f in (agreement_rows, permutation_rows, adversary_rows)]
    assert set(taken[0]) == set(taken[1]) == set(taken[2])
    assert len(set(taken[0])) == 7


def test_measures_see_no_dropout(monkeypatch):
    run = train(CORPUS, model="dp", embedding=11, epochs=1)
    expected = permutation_rows(run, CORPUS, limit=7)
    assert run.model.settings.dropout_words > 0
    pd.testing.assert_frame_equal(permutation_rows(run, CORPUS, limit=7), expected)
    run.model.train()
    with pytest.raises(ValueError, match="dropout"):
        permutation_rows(run, CORPUS, limit=7)
    with pytest.raises(ValueError, match="dropout"):
        agreement_rows(run, CORPUS, limit=7)


def test_the_adversary_is_exact_for_two_classes_and_a_bound_for_more():
    binary = train(CORPUS, model="dp", embedding=11, epochs=2)
    exact = adversary_rows(binary, CORPUS, limit=11)
    assert set(exact["kind"]) == {"exact"}
    assert (exact["change"] <= 0.01 + 1e-6).all()
    logits = train(CORPUS, model="dp", embedding=11, epochs=2, head="logits")
    assert set(adversary_rows(logits, CORPUS, limit=3)["kind"]) == {"exact"}
    from heedful.data.synthetic import Synthetic, make_synthetic

    three = make_synthetic(Synthetic(neutral=23, polar=5, classes=3, per_class=30, held_out=11), name="three")
    bound = adversary_rows(
        train(three, model="dp", embedding=11, epochs=2), three, limit=5, restarts=2, steps=30
    )
    assert set(bound["kind"]) == {"lower bound"}
    assert (bound["change"] <= 0.01 + 1e-6).all()


def agreement_table(**taus):
    """Made-up τ of 60 texts for each pair and model, around given means."""
    generator = np.random.default_rng(0)
    frames = []
    for model, means in taus.items():
        for (first, second), mean in means.items():
            noise = 0.1 * generator.standard_normal(60)
            about = {"corpus": "made", "model": model.replace("_", "-"), "seed": 0, "instance": np.arange(60)}
            frames.append(
                pd.DataFrame(
                    {**about, "first": first, "second": second, "tau": mean + noise, "random_tau": noise}
                )
            )
    return {"agreement": pd.concat(frames)}


def test_claims_about_agreement_follow_the_numbers():
    pairs = [("attention", "gradient"), ("attention", "leave-one-out"), ("gradient", "leave-one-out")]
    tables = agreement_table(
        jain_wallace_bilstm_tanh=dict(zip(pairs, (0.3, 0.8, 0.6), strict=True)),
        jain_wallace_average_tanh=dict(zip(pairs, (0.7, 0.8, 0.6), strict=True)),
    )
    outcomes = {claim.statement: claim.outcome for claim in agreement_claims(tables)}
    assert [outcome for statement, outcome in outcomes.items()] == [
        "holds",
        "does not hold",
        "does not hold",
        "holds",
    ]


def test_claims_about_permutation_and_adversary_follow_the_numbers():
    about = {"corpus": "made", "model": MAIN, "seed": 0, "instance": np.arange(60), "decided": 0}
    largest = np.where(np.arange(60) % 2, 0.9, 0.1)
    change = np.where(np.arange(60) % 2, 0.6, 0.01)
    tables = {"permutation": pd.DataFrame({**about, "largest": largest, "change": change})}
    assert [claim.outcome for claim in permutation_claims(tables)] == ["undecided", "does not hold"]
    far = pd.DataFrame({**about, "largest": largest, "divergence": 0.6, "kind": "exact", "epsilon": 0.01})
    assert [claim.outcome for claim in adversary_claims({"adversary": far})] == ["holds", "holds"]
    bound = far.assign(divergence=0.1, kind="lower bound")
    assert [claim.outcome for claim in adversary_claims({"adversary": bound})] == ["undecided", "undecided"]


def test_an_experiment_leaves_tables_claims_and_figures(tmp_path, monkeypatch):
    work_here(monkeypatch)
    bench, place = bench_in(tmp_path), ground(tmp_path)
    tables = measure_agreement(bench, place)
    assert tables["summary"]["texts"].tolist() == [13]
    assert tables["summary"]["seeds"].tolist() == [2]
    (experiment,) = find_experiments("jain-wallace-agreement")
    monkeypatch.setattr("heedful.study.jain_wallace.paper_ground", lambda bench: place)
    done = reproduce(experiment, bench)
    assert {claim.source for claim in done.claims} == {"Jain & Wallace (2019), 4.1"}
    from heedful.report.figures import draw_to

    for name in experiment.figures:
        png, svg = draw_to(name, done.tables, tmp_path)
        assert png.stat().st_size > 5000
        assert "τ" in svg.read_text(encoding="utf-8")


def test_the_papers_ground_is_four_corpora_and_six_models_and_quick_is_small(tmp_path):
    full = paper_ground(Bench(tmp_path))
    assert (len(full.corpora), full.models, len(full.seeds)) == (4, MODELS, 3)
    assert len(full.study("all").cells) == 72
    quick = paper_ground(Bench(tmp_path, quick=True))
    assert (quick.corpora, len(quick.models)) == (("sst",), 2)
    assert all(cell.prepared[0].hidden == 32 for cell in quick.study("quick").cells)
    asked = paper_ground(Bench(tmp_path, corpora=("agnews",), models=(MODELS[3],)), models=(MAIN,))
    assert (asked.corpora, asked.models) == (("agnews",), (MODELS[3],))


def test_figures_are_drawn_without_torch():
    probe = (
        "import sys\nfrom heedful.report.jain_wallace import FIGURES as a\n"
        "from heedful.report.wiegreffe_pinter import FIGURES as b\n"
        "print(len(a), len(b), 'torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["5", "5", "False"]
