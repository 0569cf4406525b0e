"""The measurements of understanding run, and their ratios are of what they say."""

import pytest

from heedful.bench.understanding import measure_flow
from heedful.bench.watch import measure_watch
from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.models.building import build_model
from heedful.training.from_corpus import encode_splits
from heedful.training.presets import prepare
from heedful.training.run import Recipe
from heedful.understanding.watch import WatchSettings


@pytest.fixture(scope="module")
def prepared():
    corpus = make_synthetic(Synthetic(neutral=23, polar=11, per_class=60, held_out=20))
    model, training = prepare("dp", {"embedding": 13, "epochs": 3, "batch": 17})
    recipe = Recipe(model, training, words=None, corpus={}, classes=corpus.label_names)
    return corpus, model, training, *encode_splits(corpus, recipe)


def test_the_flow_is_measured_beside_an_evaluation(prepared):
    corpus, model, _, vocabulary, sets = prepared
    found = measure_flow(build_model(model, vocabulary, corpus.label_names), sets["train"], rounds=2)
    assert found.ratio == pytest.approx(found.flow_seconds / found.evaluation_seconds)
    assert found.texts == 120
    assert found.occurrences == 120 * 12


def test_the_watch_is_measured_beside_its_training(prepared):
    corpus, model, training, vocabulary, sets = prepared
    found = measure_watch(
        sets,
        vocabulary,
        classes=corpus.label_names,
        model=model,
        training=training,
        settings=WatchSettings(records=8),
        rounds=1,
    )
    assert found.records >= 9
    assert found.share == pytest.approx(found.inside_seconds / (found.watched_seconds - found.inside_seconds))
    assert found.ratio == pytest.approx(found.watched_seconds / found.plain_seconds)
