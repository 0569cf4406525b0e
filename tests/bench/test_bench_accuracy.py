"""Accuracies: runs are those of `heedful.train`, the bag of words learns, summaries are means over seeds."""

from dataclasses import replace

import numpy as np
import pytest

import heedful.bench.accuracy as bench
from heedful.bench.accuracy import Reached, bag_of_words, standings, train_models
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.errors import UserError
from heedful.training import train


@pytest.fixture(scope="module")
def corpus():
    return make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20), name="small")


def test_a_model_reaches_what_it_reaches_in_a_training_by_itself(corpus):
    changes = {"epochs": 3, "scale": 2.0}
    (reached,) = train_models(corpus, ["dp"], seeds=[5], changes=changes)
    alone = train(corpus, model="dp", seed=5, **changes).result
    assert reached.model == "dp"
    assert reached.seed == 5
    assert reached.chosen == changes
    for name in ("dev_accuracy", "test_accuracy", "epoch", "epochs"):
        assert getattr(reached, name) == alone[name]


def test_word_vectors_are_trained_once_for_all_models_of_a_seed(corpus, monkeypatch):
    trained = []

    def counted(settings, vocabulary, *, texts, seed):
        trained.append(seed)  # and leave the vectors to noise, which is as good here and faster

    monkeypatch.setattr(bench, "vectors_for", counted)
    changes = {"epochs": 1, "embedding": 7, "min_count": 1}
    heard = []
    reached = train_models(
        corpus, ["flan-noenc", "han-noenc"], seeds=[0, 1], changes=changes, done=heard.append
    )
    assert trained == [0, 1]
    assert [(one.model, one.seed) for one in reached] == [
        ("flan-noenc", 0),
        ("flan-noenc", 1),
        ("han-noenc", 0),
        ("han-noenc", 1),
    ]
    assert heard == reached


def test_a_bag_of_words_decides_texts_whose_words_tell_their_class(corpus):
    found = bag_of_words(corpus, strengths=(1.0, 100.0))
    assert found.test_accuracy > 0.95
    assert found.chosen["C"] in (1.0, 100.0)


def test_a_corpus_without_a_test_split_is_refused(corpus):
    kept = np.asarray(corpus.splits) != "test"
    without = replace(
        corpus,
        texts=[text for text, keep in zip(corpus.texts, kept, strict=True) if keep],
        labels=np.asarray(corpus.labels)[kept],
        splits=np.asarray(corpus.splits)[kept],
    )
    for measure in (bag_of_words, lambda given: train_models(given, ["dp"])):
        with pytest.raises(UserError, match="has no test"):
            measure(without)


def test_a_standing_is_a_mean_over_seeds_beside_the_paper_and_the_bag_of_words():
    def reached(model, seed, test):
        return Reached("c", model, seed, test + 0.01, test, 1, 2, 3.0, {})

    words = reached("bag of words", 0, 0.7)
    first, second = standings(
        [reached("dp", 0, 0.8), reached("dp", 1, 0.6), reached("ad", 0, 0.5)], words=words, papers={"dp": 0.9}
    )
    assert (first.model, first.seeds, first.paper, first.bag_of_words) == ("dp", 2, 0.9, 0.7)
    assert first.test_accuracy == pytest.approx(0.7)
    assert first.dev_accuracy == pytest.approx(0.71)
    assert first.spread == pytest.approx(0.02**0.5)
    assert (second.model, second.seeds, second.paper, second.spread) == ("ad", 1, None, None)
