"""What must change attention does, and what must not does not."""

import numpy as np
import pandas as pd
import pytest
import torch

from debated import CORPUS, MODEL, SMALL, instances
from heedful.errors import UserError
from heedful.papers.debate import sanity
from heedful.papers.debate.sanity import ABOVE, ALL, NOISE, PERMUTED, RANDOMISED, STARTS, TRAININGS
from heedful.papers.debate.sanity_rows import randomise, sanity_rows, train_permuted
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
    found = means(sanity_rows(run, CORPUS, starts=1, trainings=0, limit=17), NOISE)
    assert found.loc["twice", "divergence"] > 1e-6
    assert found.loc["spaces", "divergence"] == pytest.approx(0, abs=1e-9)


def test_random_parameters_leave_little_of_attention(run, rows):
    found = means(rows, RANDOMISED)
    assert list(found.index) == ["attention", "encoder", "embedding", "all before the head"]
    assert (found["divergence"] > 1e-4).all()
    assert abs(found.loc["all before the head", "tau"]) < 0.3
    draws = rows[rows["check"] == RANDOMISED].groupby("what")["draw"].unique()
    assert all(sorted(own) == list(range(STARTS)) for own in draws)
    taus = rows[rows["what"] == ALL].groupby("draw")["tau"].mean()
    assert taus.nunique() == STARTS  # every start is another
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    changed = randomise(run, ["attention"], seed=9).state_dict()
    for name, value in before.items():
        assert torch.equal(run.model.state_dict()[name], value)
        assert torch.equal(changed[name], value) == (not name.startswith("words.attention"))


def test_permuted_labels_keep_the_test_split_and_teach_nothing(run, rows):
    assert (rows["check"] == PERMUTED).sum() == 46 * TRAININGS
    other = train_permuted(run, CORPUS, seed=1)
    assert other.result["test_accuracy"] < run.result["test_accuracy"] - 0.2
    assert means(rows, PERMUTED)["divergence"].item() > 0


def test_a_model_of_permuted_labels_never_starts_where_the_run_did(run, monkeypatch):
    seeds = []

    def remember(corpus, *, training, **about):
        seeds.append(training.seed)
        return run

    monkeypatch.setattr("heedful.papers.debate.sanity_rows.train_run", remember)
    sanity_rows(run, CORPUS, limit=3, starts=1, trainings=3)
    assert len(set(seeds)) == 3
    assert run.recipe.training.seed not in seeds
    with pytest.raises(UserError, match="trained from seed 0"):
        train_permuted(run, CORPUS, seed=0)


def made_up(taus, *, check=RANDOMISED, what=ALL):
    """Rows of 200 texts for each draw, whose τ is around that draw's."""
    noise = 0.05 * np.random.default_rng(0).standard_normal(200)
    frames = [
        instances(tau + noise, draw=draw, check=check, what=what, random_tau=noise).rename(
            columns={"value": "tau"}
        )
        for draw, tau in enumerate(taus)
    ]
    return pd.concat(frames).assign(divergence=0.2, overlap=0.1, random_overlap=0.1, same=1)


def test_rankings_that_are_only_turned_round_do_not_count_as_gone():
    tables = {"sanity": made_up([0.6, -0.6, 0.61, -0.59, 0.6])}
    by_name = {one.name: one for one in sanity.findings(tables)}
    assert abs(by_name["Kendall's τ with the run's attention"].value) < 0.2
    assert by_name["Kendall's |τ| with the run's attention"].value == pytest.approx(0.6, abs=0.02)
    assert by_name["Kendall's |τ| with the run's attention"].baselines["random"].value < 0.1
    assert "over 5 random starts" in by_name[ABOVE].measured
    assert [claim.outcome for claim in sanity.claims(tables)] == ["does not hold"]


def test_the_interval_of_random_starts_is_over_the_starts():
    def interval(taus):
        return next(one for one in sanity.of_cell(made_up(taus)) if one.name == ABOVE).interval

    assert "5 seeds, crossed with 200 texts" in interval([0.0] * 5).method
    apart, alike = interval([0.0, 0.1, 0.3, 0.5, 0.7]), interval([0.3, 0.31, 0.32, 0.31, 0.3])
    assert apart.high - apart.low > 5 * (alike.high - alike.low)


@pytest.mark.parametrize(
    ("taus", "outcome"),
    [([0.01, -0.02, 0.01], "holds"), ([0.5, 0.52, 0.51], "does not hold"), ([0.0, 0.2, 0.6], "undecided")],
)
def test_permuted_labels_have_a_claim_of_their_own(taus, outcome):
    (claim,) = sanity.claims({"sanity": made_up(taus, check=PERMUTED, what="train and dev labels")})
    assert claim.statement.startswith("Trained on permuted labels")
    assert claim.outcome == outcome


def test_the_summary_has_a_line_a_check_with_the_random_ranking_beside(rows):
    lines = sanity.summary(rows.assign(corpus="small", model=MODEL))
    assert len(lines) == 8
    assert (lines["|τ-b|, random"] == "–").sum() == 3  # noise is judged by τ itself
    assert set(sanity.summary(rows.assign(corpus="small", model=MODEL))["check"]) == {
        RANDOMISED,
        PERMUTED,
        NOISE,
    }


def test_findings_name_each_check_and_say_what_is_better(rows):
    found = sanity.of_cell(rows, corpus="small")
    assert len(found) == 6 * 5 + 4 * 3
    spaces = [
        one for one in found if one.coordinates["what"] == "spaces" and one.name.startswith("divergence")
    ]
    assert (spaces[0].better, spaces[0].value) == ("lower", pytest.approx(0, abs=1e-9))
    assert {one.coordinates["corpus"] for one in found} == {"small"}


def test_texts_that_no_longer_fit_are_left_out(run):
    short = train(CORPUS, model=MODEL, max_length=7, **{**SMALL, "epochs": 1})
    rows = sanity_rows(short, CORPUS, starts=1, trainings=0)
    twice = rows[rows["what"] == "twice"]
    assert twice["divergence"].isna().all()  # a text of 12 words, said twice, is cut at 7 words
    assert not np.isnan(rows.loc[rows["what"] == "spaces", "divergence"]).any()
