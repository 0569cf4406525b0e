"""A watch records what it says, at the moments it says, and changes nothing in the training."""

import numpy as np
import pandas as pd
import pytest
import torch

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.training.callbacks import Callback
from heedful.training.from_corpus import encode_splits, train
from heedful.training.run import load_run
from heedful.understanding.flow import flow_terms
from heedful.understanding.omega import TypedSample, dot_products
from heedful.understanding.token_types import TypeRules, find_types, synthetic_types
from heedful.understanding.watch import Watch, WatchSettings, sample_texts, watched
from heedful.understanding.word_scoring import token_scores

FAST = {"embedding": 13, "hidden": 12, "epochs": 3, "batch": 17, "rate": 0.1}


@pytest.fixture(scope="module")
def corpus():
    return make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20), name="small")


def watch_rows(run):
    return run.history[run.history["kind"] == "watch"]


@pytest.mark.parametrize("model", ["dp", "dp-a", "ad", "dp-l"])
def test_a_watched_training_is_the_same_training(corpus, model):
    with_watch = train(corpus, model=model, callbacks=[Watch()], **FAST)
    without = train(corpus, model=model, **FAST)
    for name, value in without.model.state_dict().items():
        assert torch.equal(with_watch.model.state_dict()[name], value)
    epochs = with_watch.history[with_watch.history["kind"] == "epoch"]
    assert epochs["dev_accuracy"].tolist() == without.history["dev_accuracy"].tolist()


class Look(Callback):
    """Keeps what the flow terms of the whole training set are at one step."""

    def __init__(self, step):
        self.step = step

    def step_ends(self, training):
        if training.step == self.step:
            model, texts = training.model, training.train
            self.flow = flow_terms(model, texts)
            self.types = find_types(texts, model.vocabulary, classes=model.classes)
            self.scores = token_scores(model)


@pytest.mark.parametrize("model", ["dp", "dp-a", "ad"])
def test_records_are_the_flow_terms_where_all_texts_are_watched(corpus, model):
    look = Look(step=6)
    run = train(corpus, model=model, callbacks=[Watch(settings=WatchSettings(every=3)), look], **FAST)
    rows = watch_rows(run)
    now = rows[rows["step"] == 6].set_index(["quantity", "group"])
    expected = look.flow.by_type(look.types).set_index(["quantity", "type"])
    for quantity, kind in expected.index:
        if expected.loc[(quantity, kind), "count"] == 0:
            continue
        for statistic in ("mean", "size"):
            assert now.loc[(quantity, kind), statistic] == pytest.approx(
                expected.loc[(quantity, kind), statistic], rel=1e-3, abs=1e-7
            )
    for quantity in ("polarity", "attention"):
        for statistic in ("low", "middle", "high"):
            assert now.loc[(quantity, "positive"), statistic] == pytest.approx(
                expected.loc[(quantity, "positive"), statistic], rel=1e-3
            )
    sample = TypedSample.draw(look.types, 40)
    pairs = dot_products(look.flow, sample.ids).by_pair(sample).set_index(["quantity", "pair"])
    assert now.loc[("omega", "negative-positive"), "mean"] == pytest.approx(
        pairs.loc[("omega", "negative-positive"), "mean"], rel=1e-4
    )
    assert (("states", "positive-positive") in now.index) == (model == "dp-a")
    assert now.loc[("alignment", ""), "mean"] == pytest.approx(float(look.flow.form.alignment[0]), rel=1e-4)
    assert now.loc[("context norm", ""), "mean"] == pytest.approx(
        float(look.flow.form.context.square().sum()), rel=1e-5
    )
    assert now.loc[("head norm", ""), "mean"] == pytest.approx(
        float(look.flow.form.head.square().sum()), rel=1e-5
    )
    assert now.loc[("beta", ""), "mean"] == pytest.approx(look.flow.sums.beta, rel=1e-4)
    assert now.loc[("spread", ""), "mean"] == pytest.approx(look.flow.sums.spread, rel=1e-4)
    assert now.loc[("beta", ""), "count"] == 120


def test_types_may_be_named_word_by_word_and_one_pair_of_words_is_followed(corpus):
    settings = Synthetic(neutral=23, polar=11, per_class=60, held_out=20)
    look = Look(step=6)
    run = train(
        corpus, model="dp", callbacks=[Watch(synthetic_types(settings), WatchSettings(every=3)), look], **FAST
    )
    rows = watch_rows(run)
    now = rows[rows["step"] == 6].set_index(["quantity", "group"])
    assert now.loc[("attention", "neutral"), "count"] == 23
    one = now.loc[("omega of one pair", "negative-positive")]
    first, second = run.vocabulary.ids(one["words"].split(", "))
    table = look.flow.form.table
    assert one["mean"] == pytest.approx(float(table[first] @ table[second]), rel=1e-4)
    assert one["words"][:3] == "neg"


def test_at_least_so_many_records_and_one_at_the_beginning(corpus):
    run = train(corpus, model="dp", callbacks=[Watch(settings=WatchSettings(records=7))], **FAST)
    steps = sorted(set(watch_rows(run)["step"]))
    assert steps[0] == 0
    assert len(steps) >= 8
    assert len(set(np.diff(steps))) == 1
    more = train(corpus, model="dp", callbacks=[Watch(settings=WatchSettings(records=999))], **FAST)
    assert len(set(watch_rows(more)["step"])) == 1 + more.history["step"].max()


def test_three_classes_have_a_polarity_and_an_alignment_each():
    corpus = make_synthetic(Synthetic(neutral=23, polar=11, classes=3, per_class=120, held_out=20))
    rules = {"share_count": 5, "neutral_spread": 0.9, "neutral_spread_count": None}
    run = train(corpus, model="dp", callbacks=[Watch(rules=TypeRules(**rules))], **FAST)
    assert list(watched(run.history, "polarity 1").columns) == ["0", "1", "2", "neutral"]
    assert list(watched(run.history, "alignment").columns) == ["0", "1", "2"]
    last = watched(run.history, "polarity 1").iloc[-1]
    assert last["1"] == last.max()


def test_a_model_beyond_the_analysis_gets_scores_and_alignment(corpus):
    run = train(corpus, model="dp-l", callbacks=[Watch()], **FAST)
    assert set(watch_rows(run)["quantity"]) == {"polarity", "attention", "alignment"}
    with pytest.raises(UserError, match="watched quantity"):
        watched(run.history, "spread")


def test_a_hierarchical_model_is_refused(corpus):
    with pytest.raises(UserError, match="reads sentences"):
        train(
            corpus,
            model="han-noenc",
            callbacks=[Watch()],
            embedding_source="uniform",
            min_count=1,
            epochs=1,
        )


def test_records_survive_the_run_folder_and_a_resumed_run_has_each_once(corpus, tmp_path):
    run = train(corpus, model="dp", callbacks=[Watch()], out=tmp_path / "run", **FAST)
    back = load_run(tmp_path / "run").history
    pd.testing.assert_frame_equal(watched(back, "attention"), watched(run.history, "attention"))
    again = Watch()
    from heedful.models.building import build_model
    from heedful.training.loop import fit

    vocabulary, sets = encode_splits(corpus, run.recipe)
    kept = []
    short = fit(
        build_model(run.recipe.model, vocabulary, run.recipe.classes),
        sets["train"],
        sets["dev"],
        settings=run.recipe.training,
        callbacks=[Watch()],
        keep=lambda point: kept.append(point) if point.epoch == 2 else None,
    )
    cut = kept[0].__class__(**{**vars(kept[0]), "history": [row for row in short if row["epoch"] <= 2]})
    resumed = fit(
        build_model(run.recipe.model, vocabulary, run.recipe.classes),
        sets["train"],
        sets["dev"],
        settings=run.recipe.training,
        callbacks=[again],
        resume=cut,
    )
    steps = watched(resumed, "attention").index
    assert steps.is_unique
    assert steps.tolist() == watched(short, "attention").index.tolist()
    count = [row for row in resumed if row.get("quantity") == "loss"]
    assert len(count) == len(steps)


def test_a_sample_of_texts_keeps_the_shares_of_the_classes(texts):
    encoded = texts([(2, 3)] * 300, classes=3)
    rows = sample_texts(encoded, 30, seed=1)
    assert np.bincount(encoded.labels[rows]).tolist() == [10, 10, 10]
    assert len(set(rows)) == 30
    assert (rows != sample_texts(encoded, 30, seed=2)).any()
    assert sample_texts(encoded, 301, seed=1).tolist() == list(range(300))


def test_a_run_that_was_not_watched_is_said_so(corpus):
    with pytest.raises(UserError, match="was not watched"):
        watched(train(corpus, model="dp", **FAST).history, "attention")
    with pytest.raises(UserError, match="at least 1"):
        WatchSettings(records=0)
    with pytest.raises(UserError, match="every 1 step"):
        WatchSettings(every=0)
