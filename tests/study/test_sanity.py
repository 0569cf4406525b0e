"""What must change attention does, and what must not does not."""

import numpy as np
import pytest
import torch
from debated import CORPUS, MODEL, SMALL

from heedful.study.sanity import (
    NOISE,
    PERMUTED,
    RANDOMISED,
    randomise,
    sanity_findings,
    sanity_rows,
    train_permuted,
)
from heedful.training import train


@pytest.fixture(scope="module")
def run():
    return train(CORPUS, model=MODEL, **{**SMALL, "epochs": 12})


@pytest.fixture(scope="module")
def rows(run):
    return sanity_rows(run, CORPUS).assign(seed=0)


def means(rows, check):
    own = rows[rows["check"] == check]
    return own.groupby("what", sort=False)[["divergence", "tau", "overlap", "same"]].mean()


def test_capitals_and_spaces_change_nothing_at_all(rows):
    found = means(rows, NOISE)
    for what in ("capitals", "spaces"):
        assert found.loc[what].tolist() == pytest.approx([0, 1, 1, 1], abs=1e-6)


def test_a_text_said_twice_keeps_its_attention_where_words_are_read_by_themselves(rows):
    assert means(rows, NOISE).loc["twice"].tolist() == pytest.approx([0, 1, 1, 1], abs=1e-4)


def test_a_text_said_twice_moves_the_attention_of_a_recurrent_model():
    run = train(CORPUS, model="jain-wallace-bilstm-tanh", **SMALL)
    found = means(sanity_rows(run, CORPUS, permute=False, limit=17), NOISE)
    assert found.loc["twice", "divergence"] > 1e-6
    assert found.loc["spaces", "divergence"] == pytest.approx(0, abs=1e-9)


def test_random_parameters_leave_little_of_attention(run, rows):
    found = means(rows, RANDOMISED)
    assert list(found.index) == ["attention", "encoder", "embedding", "all before the head"]
    assert (found["divergence"] > 1e-4).all()
    assert abs(found.loc["all before the head", "tau"]) < 0.3
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    changed = randomise(run, ["attention"], seed=9).state_dict()
    for name, value in before.items():
        assert torch.equal(run.model.state_dict()[name], value)
        assert torch.equal(changed[name], value) == (not name.startswith("words.attention"))


def test_permuted_labels_keep_the_test_split_and_teach_nothing(run, rows):
    assert (rows["check"] == PERMUTED).sum() == 46
    other = train_permuted(run, CORPUS, seed=1)
    assert other.result["test_accuracy"] < run.result["test_accuracy"] - 0.2
    assert means(rows, PERMUTED)["divergence"].item() > 0


def test_findings_name_each_check_and_say_what_is_better(rows):
    found = sanity_findings(rows, corpus="small")
    assert len(found) == 4 * 8
    spaces = [
        one for one in found if one.coordinates["what"] == "spaces" and one.name.startswith("divergence")
    ]
    assert (spaces[0].better, spaces[0].value) == ("lower", pytest.approx(0, abs=1e-9))
    assert {one.coordinates["corpus"] for one in found} == {"small"}


def test_texts_that_no_longer_fit_are_left_out(run):
    short = train(CORPUS, model=MODEL, max_length=7, **{**SMALL, "epochs": 1})
    rows = sanity_rows(short, CORPUS, permute=False)
    twice = rows[rows["what"] == "twice"]
    assert twice["divergence"].isna().all()  # a text of 12 words, said twice, is cut at 7 words
    assert not np.isnan(rows.loc[rows["what"] == "spaces", "divergence"]).any()
