"""The measures of Jain & Wallace's experiments on a small model, and their claims on tables made up."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import FIGURES, drawn_to
from scipy.stats import kendalltau

from debated import CORPUS, SMALL, bench_in, trainings, work_here
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.trace import probabilities
from heedful.papers import find_experiments
from heedful.papers.debate.as_published import as_published, within
from heedful.papers.debate.panels import class_colours, grid_of, label_edges
from heedful.papers.debate.trainings import MAIN, MODELS, main_model, paper_trainings, quick_settings
from heedful.papers.debate.trainings import SMALL as SMALL_SETTINGS
from heedful.papers.jain_wallace import adversary, agreement, permutation
from heedful.papers.jain_wallace.adversary import adversary_rows, divergences
from heedful.papers.jain_wallace.agreement import agreement_rows
from heedful.papers.jain_wallace.permutation import permutation_rows
from heedful.study.experiment import reproduce
from heedful.study.workbench import Bench
from heedful.training import train
from heedful.training.presets import prepare
from heedful.trials import word_scores
from heedful.trials.weights.divergence import js_divergence
from heedful.trials.weights.moved import attainable


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


def agreement_table(*, texts=60, corpus="made", **taus):
    """Made-up τ of some texts for each pair and model, around given means."""
    generator = np.random.default_rng(0)
    frames = []
    for model, means in taus.items():
        for (first, second), mean in means.items():
            noise = 0.1 * generator.standard_normal(texts)
            about = {"corpus": corpus, "model": model.replace("_", "-"), "seed": 0}
            about["instance"] = np.arange(texts)
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
    outcomes = {claim.statement: claim.outcome for claim in agreement.claims(tables)}
    assert [outcome for statement, outcome in outcomes.items()] == [
        "holds",
        "does not hold",
        "does not hold",
        "holds",
    ]


def test_our_agreement_is_put_beside_the_printed_one_where_there_is_one_and_the_run_was_full():
    means = {
        ("attention", "gradient"): 0.36,  # printed 0.35
        ("attention", "leave-one-out"): 0.09,  # printed 0.29
        ("gradient", "leave-one-out"): 0.56,  # printed 0.66: on the edge
    }

    def beside(**about):
        tables = agreement_table(jain_wallace_bilstm_tanh=means, **about)
        return [claim for claim in agreement.claims(tables) if "published" in claim.source]

    found = beside(texts=500, corpus="sst")
    assert [claim.outcome for claim in found] == ["holds", "does not hold", "undecided"]
    assert "biLSTM, additive, τ(attention, gradient) is the printed 0.35, within 0.1" in found[0].statement
    assert found[1].effect.value == pytest.approx(-0.2, abs=0.02)
    assert beside(texts=200, corpus="sst") == beside(texts=500, corpus="imdb") == []


def test_a_random_ranking_stands_beside_the_share_of_significant_texts():
    pairs = [("attention", "gradient"), ("attention", "leave-one-out"), ("gradient", "leave-one-out")]
    table = agreement_table(m=dict(zip(pairs, (0.3, 0.8, 0.6), strict=True)))["agreement"]
    table = table.assign(spearman=0.0, random_spearman=0.0, overlap=0.0, random_overlap=0.0)
    table["decided_class"] = "yes"
    table["significant"] = np.where(table["instance"] < 45, 1.0, 0.0)
    table["random_significant"] = np.where(table["instance"] < 3, 1.0, 0.0)
    table.loc[table["instance"] == 59, ["significant", "random_significant"]] = np.nan
    shares = [one for one in agreement.findings({"agreement": table}) if one.name.startswith("share")]
    assert len(shares) == 3
    for share in shares:
        assert (share.value, share.count) == (pytest.approx(45 / 59), 59)
        assert share.baselines["random"].value == pytest.approx(3 / 59)
        assert share.baselines["random"].interval.high < 0.2
    other = table.assign(seed=1, significant=0.0, random_significant=0.0)
    (two, *_) = [
        one
        for one in agreement.findings({"agreement": pd.concat([table, other])})
        if one.name.startswith("share")
    ]
    assert (two.value, two.seeds) == (pytest.approx(45 / 59 / 2), 2)  # not the first seed's alone
    assert "crossed" in two.interval.method
    lines = agreement.summary(table)
    assert lines["significant, random"].tolist() == ["0.051"] * 3
    assert lines["pair"].tolist() == [" and ".join(pair) for pair in pairs]


def test_claims_about_permutation_and_adversary_follow_the_numbers():
    about = {"corpus": "made", "model": MAIN, "seed": 0, "instance": np.arange(60), "decided": 0}
    largest = np.where(np.arange(60) % 2, 0.9, 0.1)
    change = np.where(np.arange(60) % 2, 0.6, 0.01)
    tables = {"permutation": pd.DataFrame({**about, "largest": largest, "change": change})}
    assert [claim.outcome for claim in permutation.claims(tables)] == ["undecided", "does not hold"]
    # A hierarchical model's weights are of sentences, so these claims must not speak of words.
    assert not any("word" in claim.statement for claim in permutation.claims(tables))
    far = pd.DataFrame({**about, "largest": largest, "divergence": 0.6, "kind": "exact", "epsilon": 0.01})
    far["attainable"] = 0.65
    assert [claim.outcome for claim in adversary.claims({"adversary": far})] == ["holds", "holds"]
    assert not any("word" in claim.statement for claim in adversary.claims({"adversary": far}))
    bound = far.assign(divergence=0.1, kind="lower bound")
    assert [claim.outcome for claim in adversary.claims({"adversary": bound})] == ["undecided", "undecided"]


def test_far_is_asked_only_of_texts_that_can_be():
    mask = torch.ones(3, 8, dtype=torch.bool)
    mask[0, 2:], mask[1, 1:] = False, False
    even = mask / mask.sum(1, keepdim=True)
    assert attainable(even, mask).tolist() == pytest.approx([0.2158, 0, 0.4969], abs=1e-4)
    uneven = torch.tensor([[0.7, 0.1, 0.2]])
    whole = torch.ones(1, 3, dtype=torch.bool)
    one_each = [float(js_divergence(uneven[0], torch.eye(3)[item])) for item in range(3)]
    assert attainable(uneven, whole).item() == pytest.approx(max(one_each), abs=1e-6)
    about = {"corpus": "made", "model": MAIN, "seed": 0, "instance": np.arange(60), "largest": 0.2}
    table = pd.DataFrame({**about, "divergence": 0.6, "kind": "exact", "epsilon": 0.01, "attainable": 0.65})
    table.loc[:36, ["divergence", "attainable"]] = 0.3, 0.4  # near, and nothing is farther
    table.loc[0, ["divergence", "attainable"]] = np.nan  # one word
    mean, share = divergences(table)
    assert (share.value, share.count) == (1, 23)
    assert "37 of 60 texts left out" in share.measured
    assert (mean.count, mean.baselines["attainable"].value < 0.65) == (59, True)
    assert "1 of 60 texts left out" in mean.measured


def test_a_text_of_one_word_has_no_other_weights():
    run = train(CORPUS, model="dp", embedding=11, epochs=1)
    texts = list(CORPUS.texts)
    first = int(np.flatnonzero(CORPUS.splits == "test")[0])
    texts[first] = texts[first].split()[0]
    rows = adversary_rows(run, replace(CORPUS, texts=tuple(texts)))
    assert rows["divergence"].isna().tolist() == rows["attainable"].isna().tolist() == [True] + [False] * 45
    assert (rows["divergence"][1:] <= rows["attainable"][1:] + 1e-6).all()


def test_an_experiment_leaves_tables_claims_and_figures(tmp_path, monkeypatch):
    work_here(monkeypatch)
    bench, place = bench_in(tmp_path), trainings(tmp_path)
    tables = agreement.measure(bench, place)
    assert tables["summary"]["texts"].tolist() == [13] * 3
    assert tables["summary"]["seeds"].tolist() == [2] * 3
    (experiment,) = find_experiments("jain-wallace-agreement")
    monkeypatch.setattr("heedful.papers.debate.stage.paper_trainings", lambda bench: place)
    done = reproduce(experiment, bench)
    assert {claim.source for claim in done.claims} == {"Jain & Wallace (2019), 4.1"}
    for name in experiment.figures:
        png, svg = drawn_to(name, done.tables, tmp_path)
        assert png.stat().st_size > 5000
        assert "τ" in svg.read_text(encoding="utf-8")


def test_the_papers_ground_is_four_corpora_and_six_models_and_quick_is_small(tmp_path):
    full = paper_trainings(Bench(tmp_path))
    assert (len(full.corpora), full.models, len(full.seeds)) == (4, MODELS, 3)
    assert len(full.study("all").cells) == 72
    quick = paper_trainings(Bench(tmp_path, quick=True))
    assert (quick.corpora, len(quick.models)) == (("sst",), 2)
    assert all(cell.prepared[0].hidden == 32 for cell in quick.study("quick").cells)
    named = paper_trainings(Bench(tmp_path, quick=True, models=MODELS))
    for cell in named.study("all").cells:  # tanh has a layer of H/2, dot is divided by √H
        model = build_model(cell.prepared[0], Vocabulary.build([]), ("no", "yes"))
        score = model.words.attention.score
        if cell.model.endswith("dot"):
            assert score.scale == pytest.approx(32**0.5)
        else:
            assert (score.context.shape, score.scale) == ((16,), 1)
    # Another model keeps its own scale, and Adagrad its own rate, for more epochs.
    assert quick_settings("dp") == {**SMALL_SETTINGS, "epochs": 10}
    assert quick_settings("flan-rnn") == {**SMALL_SETTINGS, "rate": 0.003}
    asked = paper_trainings(Bench(tmp_path, corpora=("agnews",), models=(MODELS[3],)), models=(MAIN,))
    assert (asked.corpora, asked.models) == (("agnews",), (MODELS[3],))


@pytest.mark.parametrize("packed", [False, True])
def test_in_full_the_papers_texts_and_vectors_are_taken_and_kept_in_the_bench(tmp_path, monkeypatch, packed):
    long = [f"word{number} " * count for number, count in enumerate((5, 6, 499, 500, 501))]
    corpus = replace(CORPUS.take(np.arange(5)), texts=tuple(long))
    assert [len(text.split()) for text in within(corpus, 5, np.inf).texts] == [6, 499, 500, 501]
    assert [len(text.split()) for text in within(corpus, 6, 500).texts] == [499]
    monkeypatch.setattr("heedful.papers.debate.as_published.load_data", lambda name, data_dir: corpus)
    bench = Bench(tmp_path / "bench", data_dir=str(tmp_path / "data"), corpora=("sst", "agnews"))
    (tmp_path / "data").mkdir()
    asked = paper_trainings(bench)
    with pytest.raises(UserError, match=r"put vectors/glove.6B.100d.txt \(GloVe\) into the data folder"):
        as_published(bench, asked)
    path = tmp_path / "data" / "vectors" / f"glove.6B.100d.some.txt{'.gz' if packed else ''}"
    path.parent.mkdir()
    path.write_bytes(b"anything")
    for _ in range(2):
        theirs = as_published(bench, asked)
    assert theirs.corpora == ("corpora/jain-wallace/sst.csv", "agnews")
    assert len(pd.read_csv(bench.folder / theirs.corpora[0])) == 4
    model, _ = theirs.study("all").cells[0].prepared
    assert (model.embedding, model.embedding_source) == (100, "file")
    assert not Path(model.vectors_file).is_absolute()
    assert (theirs.base / model.vectors_file).read_bytes() == b"anything"


def test_the_papers_training_is_that_of_their_code():
    for name in MODELS:
        model, training = prepare(name)
        assert model.initialisation == "pytorch"
        assert (training.choose, training.earliest, training.balance) == ("roc-auc", 2, True)
        assert training.l2_embedding * training.batch == pytest.approx(1e-5)
        assert training.l2_attention == 0


def test_a_legend_names_the_classes_of_every_corpus():
    frames = []
    for corpus, names in (("one", ["no", "yes"]), ("other", ["cats", "dogs", "yes"])):
        decided = np.arange(60) % len(names)
        about = {"corpus": corpus, "model": MAIN, "seed": 0, "instance": np.arange(60), "decided": decided}
        about |= {"decided_class": np.array(names)[decided], "largest": 0.1, "kind": "exact"}
        about |= {"first": "attention", "second": "gradient", "tau": np.linspace(-1, 1, 60)}
        frames.append(pd.DataFrame({**about, "random_tau": 0.0, "change": 0.1, "divergence": 0.2}))
    table = pd.concat(frames)
    for name in ("taus", "permutation", "adversary-weights"):
        figure = FIGURES[f"jain-wallace-{name}"](
            {"agreement": table, "permutation": table, "adversary": table}
        )
        told = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        expected = [f"decided: {name}" for name in ("no", "yes", "cats", "dogs")]
        assert told == (["random ranking"] if name == "taus" else []) + expected
        assert not any(axis.get_legend() for axis in figure.axes)


def test_the_lowest_panel_of_each_column_is_labelled_also_where_the_last_row_is_short():
    from heedful.drawing import new_figure

    axes = grid_of(new_figure(), 3, sharex=True)
    for axis in axes:
        axis.set_xlabel("τ")
    label_edges(axes)
    assert [axis.get_xlabel() for axis in axes] == ["", "τ", "τ"]


def test_eight_classes_have_eight_colours():
    table = pd.DataFrame({"corpus": "x", "decided": range(8), "decided_class": list("abcdefgh")})
    assert len(set(class_colours(table).values())) == 8


def test_claims_are_about_the_papers_own_model_or_another_recurrent_one():
    assert main_model(MODELS) == MAIN
    assert main_model(["jain-wallace-bilstm-dot", "jain-wallace-average-dot"]) == "jain-wallace-bilstm-dot"
    assert main_model(["dp", "ad", "dp"]) == "ad"
