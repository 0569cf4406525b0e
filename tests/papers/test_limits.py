"""What Serrano & Smith leave open: importance for any class by hand, and the experiment on small texts."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from heedful.data.corpus import Corpus
from heedful.models.trace import Trace
from heedful.papers import find_experiments
from heedful.papers.serrano_smith import limits
from heedful.papers.serrano_smith.rows import MODELS
from heedful.study.experiment import Reproduction, reproduce
from heedful.study.workbench import Bench


def test_the_most_influential_item_is_the_one_whose_loss_lowers_a_class_most():
    # Items speak for classes 0, 1 and 2; the second has most of the attention and decides.
    head = nn.Linear(3, 3, bias=False, dtype=torch.float64)
    with torch.no_grad():
        head.weight.copy_(4 * torch.eye(3))
    values = torch.eye(3, dtype=torch.float64)[torch.tensor([[0, 1, 2], [0, 0, 1]])]
    weights = torch.tensor([[0.3, 0.5, 0.2], [0.35, 0.2, 0.45]], dtype=torch.float64)
    trace = Trace(weights, values, torch.ones(2, 3, dtype=torch.bool), head)
    found = limits.pushes(trace)
    assert found["top_decided"].tolist() == [True, False]  # in the second text two words speak for class 0
    assert found["top_any"].tolist() == [True, True]  # and the top word for class 1
    assert found["chance_any"].tolist() == pytest.approx([1, 2 / 3])
    assert found["chance_decided"].tolist() == pytest.approx([1 / 3, 1 / 3])
    rows = found.assign(corpus="agnews", model="flan-conv", seed=0, layer=limits.FINAL)
    told = limits._class_findings(rows).set_index("name")  # the first text has an item for every class
    assert told.loc["top towards any class", ["value", "count"]].tolist() == [1, 1]
    assert told.loc["towards any class, beyond chance", "value"] == pytest.approx(1 / 3)
    assert limits._class_findings(rows[:1]).empty


WORDS = {"sport": "goal match team win", "money": "bank stock price pay", "sky": "star moon orbit light"}


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Reproduction:
    texts, labels, splits = [], [], []
    for split, count in (("train", 48), ("dev", 8), ("test", 8)):
        for number in range(count):
            for label, words in enumerate(WORDS.values()):
                one, two, three, four = (words.split() * 2)[number % 4 :][:4]
                texts.append(f"the {one} is a {two} of it. there was {three} {four} and no other {one}.")
                labels.append(label)
                splits.append(split)
    corpus = Corpus("agnews", texts, np.array(labels), np.array(splits), tuple(WORDS))
    folder = tmp_path_factory.mktemp("limits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heedful.papers.serrano_smith.rows.load_data", lambda name, **given: corpus)
        patch.setattr("heedful.papers.serrano_smith.rows.QUICK_CORPORA", ("agnews",))
        bench = Bench(folder, quick=True, models=("han-noenc", "flan-noenc"), workers=1)
        return reproduce(find_experiments("serrano-smith-limits")[0], bench)


def test_every_layer_is_tried_and_drawn(done):
    findings = done.tables["findings"]
    assert set(findings["layer"]) == {layer.name for layer in limits.LAYERS}
    assert set(findings["model"]) == {"han-noenc", "flan-noenc"}
    summary = done.tables["summary"].set_index(["layer", "model"])
    assert summary.loc[(limits.WORDS, "han-noenc"), "towards any"] <= 1
    figure = limits.draw_limits(done.tables)
    assert len(figure.axes) == 2


def test_claims_are_about_each_layer_and_about_any_class(done):
    told = [claim.statement for claim in done.claims]
    assert len(told) == 2 * (len(limits.LAYERS) - 1) + 1 + 3
    for layer in limits.LAYERS[1:]:
        assert sum(f"({layer.name})" in statement for statement in told) == 2
    assert sum("class" in statement for statement in told) == 2
    models = done.tables["models"]
    assert set(models["model"]) <= set(MODELS)
    assert models["setting"].str.contains("self-attention").sum() == 1


def test_without_some_layers_the_rest_is_claimed(done):
    findings = done.tables["findings"]
    words = findings[findings["layer"] == limits.WORDS]
    assert len(list(limits.claims({"findings": words}))) == 2
    assert isinstance(limits._summary(words), pd.DataFrame)
