"""Pages are as they say, and gates tell own words from quoted ones."""

from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.data import reviews
from heedful.errors import MissingExtra
from heedful.gallery.dual import (
    ASPECTS,
    CARED,
    ENTRY,
    OWN,
    QUOTE,
    WORTH,
    World,
    judge_biases,
    make_world,
    page_ids,
    quoted,
    read_sentences,
    write_page,
)


@pytest.fixture(scope="module")
def sentences():
    return read_sentences()


def test_a_quotation_has_a_mark_before_every_four_words():
    assert " ".join(quoted(["a", "b", "c", "d", "e", "f"])) == "> a b c d > e f"
    assert quoted(["a"]) == [QUOTE, "a"]


def test_sentences_name_one_aspect_and_those_of_the_test_are_not_trained_on(sentences):
    words = [set(words.split()) for words in ASPECTS.values()]
    for said in (sentences.train, sentences.test):
        assert all(len(about) >= 10 for about in said)
        for aspect, about in enumerate(said):
            for sentence in about:
                assert [place for place, named in enumerate(words) if named & set(sentence)] == [aspect]
    trained = {tuple(sentence) for about in sentences.train for sentence in about}
    assert not trained & {tuple(sentence) for about in sentences.test for sentence in about}
    assert QUOTE in sentences.vocabulary


def test_a_page_speaks_of_its_own_aspects_and_quotes_about_others(sentences):
    about = np.array([True, False, False, True, False, False])
    chance = np.random.default_rng(0)
    words = [set(words.split()) for words in ASPECTS.values()]
    for _ in range(20):
        page = write_page(about, sentences.train, chance=chance)
        assert len(page) == 2 * OWN
        own = [sentence for sentence in page if sentence[0] != QUOTE]
        assert len(own) == OWN
        for sentence in page:
            named = next(place for place, some in enumerate(words) if some & set(sentence))
            assert about[named] == (sentence[0] != QUOTE)


def test_pages_become_padded_ids(sentences):
    ids = page_ids([[["funny"], [QUOTE, "plot"]], [["funny"]]], sentences.vocabulary)
    funny, quote, plot = sentences.vocabulary.ids(["funny", QUOTE, "plot"]).tolist()
    assert ids.tolist() == [[funny, quote, plot], [funny, 0, 0]]


def test_ratings_are_the_worth_of_shared_aspects_and_follow_from_the_seed():
    world, again = make_world(3, users=7, items=11, noise=0), make_world(3, users=7, items=11, noise=0)
    assert torch.equal(world.ratings, again.ratings)
    assert torch.equal(world.known, again.known)
    assert (world.cares.sum(1) == CARED).all()
    shared = world.cares[4] & world.strong[9]
    assert float(world.ratings[4, 9]) == pytest.approx(1 + WORTH[shared].sum())


def test_biases_alone_predict_what_is_only_bias():
    chance = np.random.default_rng(0)
    users, items = torch.randn(13, 1), torch.randn(1, 17)
    known = torch.from_numpy(chance.random((13, 17)) < 0.8)
    world = World(np.zeros((13, 6), bool), np.zeros((17, 6), bool), 3 + users + items, known)
    assert judge_biases(world, decay=1e-6) < 0.01
    assert judge_biases(world, decay=1e6) > 0.5


def test_without_the_reviews_the_error_names_the_extra(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(reviews, "distribution", absent)
    with pytest.raises(MissingExtra, match="reviews"):
        ENTRY.train(0, "small")


@pytest.mark.slow
def test_gates_beat_equal_convolutions_and_close_on_quoted_words():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure < outcome.baseline - 0.05
    assert outcome.figure < outcome.table["RMSE of the biases alone"]
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.02
    assert outcome.table["local gate on own words"] > 1.5 * outcome.table["local gate on quoted words"]
    ENTRY.draw(outcome, Figure())
