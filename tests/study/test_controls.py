"""Whether attention is needed: decisions under other weights, seed by seed and text by text."""

import numpy as np
import pytest
import torch

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.study.controls import Controls, compare_controls
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


def test_equal_decisions_gain_exactly_nothing():
    labels = np.tile([0, 1], 17)
    decided = np.where(np.arange(34) % 5 == 0, 1 - labels, labels)[None]
    found = by_name(Controls({"trained": decided, "uniform": decided.copy()}, labels))
    for measure in ("accuracy", "macro F1"):
        gain = found[f"{measure} gained over uniform weights"]
        assert (gain.value, gain.interval.low, gain.interval.high) == (0, 0, 0)


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
    dev = compare_controls(runs, corpus, split="dev").table().set_index("kind")
    assert dev.loc["trained", "accuracy"] == pytest.approx(runs["trained"][0].result["dev_accuracy"])


def test_decisions_of_another_number_of_texts_are_refused():
    with pytest.raises(UserError, match="uniform"):
        Controls({"trained": np.zeros((1, 5), int), "uniform": np.zeros((1, 4), int)}, np.zeros(5, int))
