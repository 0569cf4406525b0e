"""Whether attention is needed: decisions under other weights, seed by seed and text by text."""

import numpy as np
import pytest
import torch

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.study.controls import (
    Controls,
    compare_controls,
    error_of,
    influences,
    judge,
    scores,
    text_errors,
)
from heedful.training import train
from heedful.training.evaluation import macro_f1


def by_name(controls):
    return {finding.name: finding for finding in controls.findings(coordinates={"corpus": "made"})}


def test_scores_are_those_of_the_evaluation():
    generator = np.random.default_rng(0)
    labels = generator.integers(3, size=53)
    decided = np.where(generator.random(53) < 0.7, labels, generator.integers(3, size=53))
    table = Controls({"trained": decided[None]}, labels).table()
    assert table["accuracy"].item() == pytest.approx((decided == labels).mean())
    assert table["macro_f1"].item() == pytest.approx(macro_f1(torch.tensor(decided), torch.tensor(labels)))


def test_one_seed_is_judged_over_texts_and_several_over_seeds():
    generator = np.random.default_rng(1)
    labels = generator.integers(2, size=211)

    def right(share, seeds):
        return np.where(generator.random((seeds, 211)) < share, labels, 1 - labels)

    one = by_name(Controls({"trained": right(0.95, 1), "uniform": right(0.6, 1)}, labels))
    gain = one["accuracy gained over uniform weights"]
    assert gain.interval.low > 0
    assert "paired over texts" in gain.measured
    assert gain.value == pytest.approx(
        one["accuracy with trained weights"].value - one["accuracy with uniform weights"].value
    )
    several = by_name(Controls({"trained": right(0.9, 5), "uniform": right(0.9, 5)}, labels))
    gain = several["macro F1 gained over uniform weights"]
    assert gain.interval.low < 0 < gain.interval.high
    assert (gain.seeds, "Student" in gain.interval.method) == (5, True)
    assert "211 texts" in gain.interval.method


@pytest.mark.parametrize("seeds", [1, 2])
def test_equal_decisions_gain_nothing_and_are_not_certain_of_it(seeds):
    labels = np.tile([0, 1], 17)
    decided = np.tile(np.where(np.arange(34) % 5 == 0, 1 - labels, labels), (seeds, 1))
    found = by_name(Controls({"trained": decided, "uniform": decided.copy()}, labels))
    for measure in ("accuracy", "macro F1"):
        gain = found[f"{measure} gained over uniform weights"]
        assert gain.value == 0
        assert (gain.interval.low, gain.interval.high) == pytest.approx((-0.1, 0.1), abs=0.01)


def test_scores_stay_between_0_and_1_with_their_intervals():
    labels = np.tile([0, 1], 17)
    nearly = labels.copy()
    nearly[3] = 1 - nearly[3]
    found = by_name(Controls({"trained": np.stack([labels, nearly])}, labels))
    for measure in ("accuracy", "macro F1"):
        interval = found[f"{measure} with trained weights"].interval
        assert interval.low < 0.95
        assert interval.high == 1


@pytest.mark.parametrize("measure", ["accuracy", "macro_f1"])
def test_the_error_over_texts_is_what_resampling_texts_finds(measure):
    generator = np.random.default_rng(5)
    labels = generator.integers(3, size=307)
    decided = np.stack(
        [np.where(generator.random(307) < 0.7, labels, generator.integers(3, size=307)) for _ in range(2)]
    )
    error = error_of(influences(decided, labels, measure))
    draws = [
        scores(decided[:, rows], labels[rows], measure).mean()
        for rows in generator.integers(307, size=(600, 307))
    ]
    assert error == pytest.approx(np.std(draws), rel=0.1)
    assert influences(decided, labels, measure).sum() == pytest.approx(0, abs=1e-9)


def test_errors_of_a_lead_are_paired_over_texts():
    generator = np.random.default_rng(6)
    labels = generator.integers(2, size=211)
    one = np.where(generator.random((1, 211)) < 0.8, labels, 1 - labels)
    other = one.copy()
    other[0, :3] = 1 - other[0, :3]  # three texts alone are decided otherwise
    table = text_errors({"trained": one, "uniform": other}, labels, [("trained", "uniform")])
    errors = table.set_index(["kind", "than", "measure"])["error"]
    for measure in ("accuracy", "macro_f1"):
        assert errors["trained", "uniform", measure] < errors["trained", "", measure] / 2


def test_runs_are_judged_on_the_split_that_is_asked_for():
    corpus = make_synthetic(Synthetic(neutral=23, polar=5, per_class=40, held_out=13), name="small")
    runs = {
        "trained": [train(corpus, embedding=13, epochs=6, rate=0.1)],
        "uniform": [train(corpus, embedding=13, epochs=6, rate=0.1, control="uniform")],
    }
    controls = compare_controls(runs, corpus)
    table = controls.table().set_index("kind")
    for kind, own in runs.items():
        assert table.loc[kind, "accuracy"] == pytest.approx(own[0].result["test_accuracy"])
        assert table.loc[kind, "macro_f1"] == pytest.approx(own[0].result["test_macro_f1"])
    row = judge(runs["trained"][0], corpus).iloc[0]
    assert row["test_macro_f1"] == pytest.approx(runs["trained"][0].result["test_macro_f1"])
    assert row["decided"] == controls.decided["trained"][0].tolist()
    dev = compare_controls(runs, corpus, split="dev").table().set_index("kind")
    assert dev.loc["trained", "accuracy"] == pytest.approx(runs["trained"][0].result["dev_accuracy"])


def test_decisions_of_another_number_of_texts_are_refused():
    with pytest.raises(UserError, match="uniform"):
        Controls({"trained": np.zeros((1, 5), int), "uniform": np.zeros((1, 4), int)}, np.zeros(5, int))
