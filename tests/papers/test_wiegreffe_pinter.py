"""The measures of Wiegreffe & Pinter's experiments on a small model, and their claims on tables made up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawn import draw

from debated import CORPUS, MODEL, SMALL, bench_in, trainings, work_here, write_corpus
from heedful.papers.debate.trainings import MAIN, Trainings
from heedful.papers.jain_wallace import adversary, agreement, permutation
from heedful.papers.jain_wallace.adversary import adversary_measure, posthoc_rows, searched
from heedful.papers.wiegreffe_pinter import adversarial, diagnostic, seeds, uniform
from heedful.papers.wiegreffe_pinter.adversarial import MARGIN, points, strongest
from heedful.papers.wiegreffe_pinter.diagnostic import GUIDES
from heedful.study.diagnostic import diagnose, exact_guide, freeze, uniform_guide
from heedful.study.pooling import shown
from heedful.study.trained_adversaries import adversaries, beside, kept_adversary
from heedful.training import load_run, train
from heedful.training.evaluation import encode_for


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train(CORPUS, model=MODEL, out=tmp_path_factory.mktemp("runs") / "base", **SMALL)


def test_the_ladder_has_a_rung_for_each_guide(run):
    table = diagnose(run, CORPUS, strength=0.01, settings=SMALL)
    assert list(table["guide"]) == list(GUIDES)
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


@pytest.fixture(scope="module")
def knowing(tmp_path_factory):
    """A run whose frozen word vectors, one number each, say which words are positive."""
    place = tmp_path_factory.mktemp("knowing")
    words = sorted({word for text in CORPUS.texts for word in text.split()})
    signs = {"pos": 1.0, "neg": -1.0}
    lines = [f"{word} {signs.get(word[:3], 0.0)}\n" for word in words]
    (place / "vectors.txt").write_text("".join(lines))
    given = {"embedding": 1, "embedding_source": "file", "vectors_file": str(place / "vectors.txt")}
    settings = {**SMALL, **given, "embedding_frozen": True}
    return train(CORPUS, model=MODEL, out=place / "run", **settings)


def test_guided_models_start_from_the_vectors_of_the_run_that_guides_them(knowing):
    # With one frozen number of noise for each word a model can hardly tell the classes.
    assert knowing.result["test_accuracy"] > 0.9
    assert freeze(knowing, CORPUS)["test_accuracy"].item() > 0.9
    small = {name: value for name, value in SMALL.items() if name != "embedding"}
    table = diagnose(knowing, CORPUS, strength=0.01, settings={**small, "embedding_frozen": True})
    assert (table.set_index("guide").loc[["uniform", "learnt", "trained model"], "accuracy"] > 0.9).all()


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
                "accuracy": values,
                "macro_f1": values,
                "texts": 1000,
            }
        )
        for kind, values in reached.items()
    ]
    return pd.concat(frames, ignore_index=True)


def test_claims_about_uniform_weights_follow_the_numbers():
    better = {"trained": [0.8, 0.81, 0.82, 0.8], "uniform": [0.7, 0.71, 0.71, 0.7]}
    outcomes = [claim.outcome for claim in uniform.claims({"runs": runs_table(**better)})]
    assert outcomes == ["does not hold", "holds"]
    alike = {"trained": [0.8, 0.81, 0.82, 0.8], "uniform": [0.8, 0.812, 0.818, 0.8]}
    outcomes = [claim.outcome for claim in uniform.claims({"runs": runs_table(**alike)})]
    assert outcomes == ["holds", "undecided"]


def test_both_readings_of_the_diagnostic_are_judged():
    rungs = {
        "uniform": [0.7, 0.71, 0.7, 0.71],
        "trained model": [0.8, 0.81, 0.8, 0.81],
        "adversary, trained": [0.6, 0.62, 0.61, 0.6],
        "adversary, exact": [0.8, 0.811, 0.799, 0.81],
    }
    table = runs_table(**rungs).rename(columns={"kind": "guide"})
    claims = list(diagnostic.claims({"ladder": table}))
    assert [claim.outcome for claim in claims] == [
        "holds",
        "holds",
        "does not hold",
        "undecided",
        "holds",
    ]
    assert len({claim.source for claim in claims}) == 2
    assert all("(λ = 0.005)" in claim.statement for claim in claims[1:3])


def curve_table(change, divergence, *, dev_change=None, seeds=3, how="exact"):
    """A made-up curve: two strengths, other seeds, and the post-hoc adversary, of 400 texts a split."""
    tables = {}
    for split, moves in (("curve", change), ("dev", change if dev_change is None else dev_change)):
        rows = []
        for kind, strength, moved, apart in (
            ("adversary", 0.0, moves[0], 0.1),
            ("adversary", 0.1, moves[1], divergence),
            ("seed", np.nan, 0.05, 0.2),
            ("post-hoc adversary", np.nan, 0.005, 0.65),
        ):
            noise = 0.01 * np.random.default_rng(3).standard_normal(400)
            about = {"corpus": "made", "model": MAIN, "seed": 0, "kind": kind, "strength": strength}
            about |= {"how": how, "search": "as it was searched"}
            numbers = {"instance": np.arange(400), "change": moved, "divergence": apart + noise, "same": True}
            for other in range(seeds) if kind == "seed" else [np.nan]:
                rows.append(pd.DataFrame({**about, **numbers, "other": other}))
        tables[split] = pd.concat(rows, ignore_index=True)
    return tables


NEAR, FAR = 0.01, 0.05 + 2 * MARGIN  # outputs that are as near as other seeds', and that are not


def test_claims_about_trained_adversaries_are_about_those_that_decide_alike():
    tables = curve_table((NEAR, 0.02), 0.5)
    assert [claim.outcome for claim in adversarial.claims(tables)] == ["holds", "holds", "holds"]
    tables = curve_table((NEAR, FAR), 0.5)  # far, but it decides otherwise
    assert strongest(tables["dev"]) == (0.0, True)
    assert [claim.outcome for claim in adversarial.claims(tables)] == ["holds", "does not hold", "holds"]
    assert [name for name, _ in points(tables["curve"])][:2] == ["adversary, λ = 0", "adversary, λ = 0.1"]


def test_the_dev_split_chooses_the_adversary_and_the_test_split_judges_it():
    tables = curve_table((NEAR, 0.02), 0.5, dev_change=(NEAR, FAR))
    assert {claim.effect.coordinates["strength"] for claim in adversarial.claims(tables)} == {0.0}
    tables = curve_table((NEAR, FAR), 0.5, dev_change=(NEAR, 0.02))  # as the test split would not choose
    claims = list(adversarial.claims(tables))
    assert {claim.effect.coordinates["strength"] for claim in claims} == {0.1}
    assert [claim.outcome for claim in claims] == ["does not hold", "undecided", "undecided"]


def test_where_no_adversary_decides_alike_the_claims_say_so_and_are_there():
    claims = list(adversarial.claims(curve_table((FAR, 0.3), 0.5)))
    assert [claim.outcome for claim in claims] == ["does not hold", "undecided", "undecided"]
    assert "λ = 0, the nearest on dev, where none does" in claims[0].statement
    assert all("no trained model decides alike" in claim.statement for claim in claims[1:])
    assert claims[0].effect.value == pytest.approx(2 * MARGIN)


def test_one_seed_cannot_tell_how_far_others_go_and_says_so():
    claims = list(adversarial.claims(curve_table((NEAR, 0.015), 0.5, seeds=0)))
    assert [claim.outcome for claim in claims] == ["holds", "undecided", "holds"]
    assert "there is no other seed" in claims[1].statement


def test_one_other_seed_does_not_tell_of_others():
    claims = list(adversarial.claims(curve_table((NEAR, 0.02), 0.5, seeds=1)))
    assert [claim.outcome for claim in claims] == ["undecided", "undecided", "undecided"]
    assert not claims[1].effect.interval.bounded


def test_seeds_that_scatter_widely_leave_undecided_what_texts_alone_would_decide():
    tables = curve_table((NEAR, 0.02), 0.5)
    seed = tables["curve"]["kind"] == "seed"
    tables["curve"].loc[seed, "divergence"] += 0.3 * (tables["curve"].loc[seed, "other"] - 1)
    claims = list(adversarial.claims(tables))
    assert [claim.outcome for claim in claims] == ["holds", "undecided", "holds"]
    assert claims[1].effect.value == pytest.approx(0.3)


@pytest.mark.parametrize(("how", "kind"), [("exact", "estimate"), ("lower bound", "lower bound")])
def test_a_post_hoc_adversary_that_was_climbed_for_is_a_lower_bound(how, kind):
    tables = curve_table((NEAR, 0.02), 0.5, how=how)
    found = {finding.name: finding for finding in adversarial.findings(tables)}
    far = found["divergence of attention, post-hoc adversary"]
    assert (far.kind, shown(far).startswith("≥")) == (kind, kind == "lower bound")
    assert "as it was searched" in far.measured
    assert found["change of output, post-hoc adversary"].kind == "estimate"
    assert found["divergence of attention, seed"].kind == "estimate"
    last = list(adversarial.claims(tables))[-1]
    assert (last.outcome, last.effect.kind) == ("holds", kind)


def test_the_adversary_is_compared_with_each_other_seed_from_the_first_run():
    generator = np.random.default_rng(4)
    table = pd.DataFrame({"corpus": "made", "model": MAIN, "runs": 3, "seed": 0, "instance": range(50)})
    table["divergence_0_1"] = 0.1 + 0.01 * generator.standard_normal(50)
    table["divergence_0_2"] = 0.12
    table["divergence_1_2"] = 0.6  # neither is the first run
    table["divergence"] = table[[f"divergence_{pair}" for pair in ("0_1", "0_2", "1_2")]].mean(axis=1)
    table["adversary_divergence"], table["adversary_kind"], table["adversary_search"] = (
        0.5,
        "exact",
        "exactly",
    )
    found = seeds.beyond_seeds(table)
    assert found.value == pytest.approx(0.39, abs=0.005)
    assert (found.seeds, "2 seeds" in found.interval.method) == (2, True)


def test_test_texts_of_one_word_leave_claims_out_and_say_so(tmp_path, monkeypatch):
    work_here(monkeypatch)
    path = write_corpus(tmp_path)
    frame = pd.read_csv(path)
    short = frame["split"] == "test"
    frame.loc[short, "text"] = frame.loc[short, "text"].str.split().str[0]
    frame.to_csv(path, index=False)
    place = Trainings((str(path),), (MODEL,), (0, 1, 2), {**SMALL, "epochs": 1}, limit=11)
    said = []
    bench = replace(bench_in(tmp_path), say=said.append)
    stages = {"seeds": seeds, "agreement": agreement, "permutation": permutation, "adversary": adversary}
    for name, test in stages.items():
        tables = test.measure(bench, place)
        assert (test.findings(tables), list(test.claims(tables))) == ([], []), name
        assert not tables["summary"].empty or name == "agreement"
        assert "no text has" in said[-1]
        figure = draw(f"{'wiegreffe-pinter' if name == 'seeds' else 'jain-wallace'}-{name}", tables)
        if name in ("seeds", "adversary"):
            assert figure.texts[0].get_text().startswith("No text has two")
        if name == "adversary":
            assert draw("jain-wallace-adversary-weights", tables).texts[0].get_text().startswith("No text")
    assert len(said) == 4
    curve = adversarial.measure(bench, place)
    assert len(list(adversarial.claims(curve))) == 1  # about outputs, which there are
    assert draw("wiegreffe-pinter-adversarial", curve).axes


def test_a_shortened_ascent_says_so_and_the_published_one_does_not():
    assert "3 restarts × 100 steps, fewer than the published 5 × 500" in searched(
        {"restarts": 3, "steps": 100}
    )
    assert "fewer" not in searched({"restarts": 5, "steps": 500})


def test_three_classes_have_a_lower_bound_that_is_measured_once(tmp_path, monkeypatch):
    work_here(monkeypatch)
    path = write_corpus(tmp_path)
    frame = pd.read_csv(path)
    frame["label"] = [
        f"{label} {number % 2}" if label == frame["label"][0] else label
        for number, label in enumerate(frame["label"])
    ]
    frame.to_csv(path, index=False)
    place = Trainings((str(path),), (MODEL,), (0, 1), {**SMALL, "epochs": 1}, limit=11)
    bench = bench_in(tmp_path)
    adversary.measure(bench, place)
    climbed = []
    monkeypatch.setattr("heedful.trials.weights.ascent.ascent_adversary", climbed.append)
    found = seeds.measure(bench, place)  # reads what was measured: nothing climbs again
    assert not climbed
    assert len(list((bench.folder / "measured").glob("adversary_rows-*"))) == 1
    beyond = [finding for finding in seeds.findings(found) if "adversary" in finding.name]
    assert [finding.kind for finding in beyond] == ["lower bound", "lower bound"]
    assert all("5 restarts × 500 steps: a lower bound" in finding.measured for finding in beyond)
    assert found["summary"]["adversary"].str.startswith("≥").all()
    assert len(draw("wiegreffe-pinter-seeds", found).axes[0].texts) == 1
    posthoc = posthoc_rows(bench, place)
    assert (posthoc["seed"].unique().tolist(), len(posthoc)) == ([0], 11)


@pytest.mark.parametrize("quick", [False, True])
def test_the_ascent_is_the_published_one_also_when_quick(tmp_path, quick):
    measure = adversary_measure(trainings(tmp_path))
    assert (measure.options["restarts"], measure.options["steps"]) == (5, 500)


def test_accuracy_and_f1_have_findings_with_intervals_inside_0_and_1():
    table = runs_table(trained=[0.97, 0.99, 0.98, 1.0], uniform=[0.9, 0.92, 0.91, 0.9])
    table["accuracy"] = table["macro_f1"] - 0.01
    found = {finding.name: finding for finding in uniform.findings({"runs": table})}
    for name in ("accuracy", "macro F1"):
        for kind in ("trained", "uniform"):
            finding = found[f"{name} with {kind} weights"]
            assert 0 <= finding.interval.low < finding.value < finding.interval.high <= 1
        assert found[f"{name} gained over uniform weights"].seeds == 4
    assert found["accuracy with trained weights"].value == pytest.approx(0.975)


def test_seeds_that_happen_to_agree_decide_nothing_for_sure():
    same = runs_table(trained=[0.81] * 4, uniform=[0.8] * 4).query("seed < 2").assign(texts=100)
    claims = uniform.claims({"runs": same})  # 100 texts cannot tell 0.01 from 0 or 0.02
    assert [claim.outcome for claim in claims] == ["undecided", "undecided"]


def test_the_diagnostic_reads_no_word_beyond_those_its_guides_have_weights_for():
    run = train(CORPUS, model=MODEL, max_length=3, **SMALL)
    words = [text.split() for text in CORPUS.texts]
    ends = np.empty(len(words), int)  # each text ends as another of its split does, so all words stay
    for split in ("train", "dev", "test"):
        rows = np.flatnonzero(CORPUS.splits == split)
        ends[rows] = np.roll(rows, 1)
    texts = [" ".join([*own[:3], *words[end][3:]]) for own, end in zip(words, ends, strict=True)]
    first, second = (
        diagnose(run, replace(CORPUS, texts=own), strength=0.01, settings=SMALL)
        for own in (CORPUS.texts, texts)
    )
    pd.testing.assert_frame_equal(first, second)


def test_a_penalty_on_learnt_attention_is_dropped_where_nothing_is_learnt(tmp_path, monkeypatch):
    work_here(monkeypatch)
    place = trainings(tmp_path, seeds=(0,), penalty=0.001, epochs=1)
    tables = uniform.measure(bench_in(tmp_path), place, frozen=False)
    assert tables["runs"]["kind"].tolist() == ["trained", "uniform"]
    assert [claim.outcome for claim in uniform.claims(tables)] == ["undecided", "undecided"]  # one seed


@pytest.mark.slow
def test_the_four_experiments_share_their_runs_and_draw_their_figures(tmp_path, monkeypatch):
    work_here(monkeypatch)
    bench, place = bench_in(tmp_path), trainings(tmp_path, seeds=(0, 1, 2))
    figures = {}
    even = uniform.measure(bench, place)
    assert set(even["runs"]["kind"]) == {"trained", "uniform", "frozen"}
    assert len(list(uniform.claims(even))) == 2
    figures["wiegreffe-pinter-uniform"] = even
    trained = len(list((bench.folder / "runs").iterdir()))
    found = seeds.measure(bench, place)
    assert len(list((bench.folder / "runs").iterdir())) == trained == 6
    assert [len(found["seeds"]), int(found["seeds"]["adversary_divergence"].notna().sum())] == [46, 13]
    assert len(list(seeds.claims(found))) == 2
    figures["wiegreffe-pinter-seeds"] = found
    figures["wiegreffe-pinter-diagnostic"] = diagnostic.measure(bench, place)
    figures["wiegreffe-pinter-adversarial"] = adversarial.measure(bench, place)
    kinds = figures["wiegreffe-pinter-adversarial"]["curve"]["kind"]
    assert set(kinds) == {"adversary", "seed", "uniform", "post-hoc adversary"}
    for name, tables in figures.items():
        assert not tables["summary"].empty
        assert draw(name, tables).axes
