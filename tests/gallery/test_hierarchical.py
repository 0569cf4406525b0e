"""Gallery `hierarchical`: one review on a page of lines about other films, read at two levels."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.attention import HierarchicalAttention
from heedful.data import Vocabulary, split_sentences
from heedful.gallery.hierarchical import (
    ENTRY,
    LINE,
    LONGEST,
    MARK,
    SENTENCE,
    SHORTEST,
    around_the_review,
    is_review,
    is_short,
    make_page,
    read_lines,
    read_page,
    read_pages,
    read_reviews,
    weight_on_reviews,
)
from heedful.gallery.hierarchical import LINES as LINES_OF_A_PAGE
from heedful.gallery.levels import painted_by_both
from heedful.models import ModelSettings, build_model

SIZES, LINES = {"train": 41, "dev": 13, "test": 23}, 7


@pytest.fixture(scope="module")
def pages():
    return read_pages(SIZES, lines=LINES)


@pytest.fixture(scope="module")
def reviews():
    return read_reviews(SIZES)


def small_model(control="none"):
    vocabulary = Vocabulary.build(["also", "showing", "a", "film", "good", "bad", "the", "it", "was"] * 3)
    settings = ModelSettings(
        encoder="bigru",
        levels="hierarchical",
        attention="additive",
        hidden=10,
        embedding=7,
        attention_width=3,
        control=control,
    )
    return build_model(settings, vocabulary, ("bad", "good"), seed=1)


def test_pages_are_as_many_as_asked_for_and_no_review_is_in_two_splits(pages, reviews):
    assert {split: int((pages.splits == split).sum()) for split in SIZES} == SIZES
    assert len(set(reviews.texts)) == len(reviews) == len(pages)
    assert all(SHORTEST <= len(text.split()) <= LONGEST for text in reviews.texts)
    assert np.array_equal(reviews.labels, pages.labels)
    assert 0.3 < pages.labels.mean() < 0.7


def test_a_page_is_one_review_whole_among_lines_that_bear_the_mark(pages, reviews):
    for page, review in zip(pages.texts, reviews.texts, strict=True):
        sentences = [page[start:end] for start, end in split_sentences(page)]
        marked = [sentence for sentence in sentences if sentence.startswith(MARK)]
        assert len(marked) == len(set(marked)) == LINES
        assert review.strip() in page
        assert len(sentences) == LINES + len(split_sentences(review.strip()))


def test_no_line_of_one_split_is_in_another_and_all_are_short():
    lines = read_lines()
    seen = [set(lines[split]) for split in SIZES]
    assert min(map(len, seen)) > max(LINES_OF_A_PAGE.values())
    assert len(set.union(*seen)) == sum(map(len, seen))
    assert max(len(line.split()) for line in lines["train"]) <= LINE + len(MARK.split())


def test_every_reading_gives_the_same_pages(pages):
    again = read_pages(SIZES, lines=LINES)
    assert again.texts == pages.texts
    assert np.array_equal(again.splits, pages.splits)


def test_the_review_stands_anywhere_on_its_page(pages):
    assert {page.startswith(MARK) for page in pages.texts} == {True, False}
    assert {page.split("\n\n")[-1].startswith(MARK) for page in pages.texts} == {True, False}
    assert make_page(" mine ", ["a", "b"], place=1) == "a\n\nmine\n\nb"


def test_very_short_long_and_endless_reviews_are_left_out():
    sentence = " ".join(["word"] * (SENTENCE // 2)) + ". "
    assert is_short(sentence.capitalize() * 4)
    assert not is_short(sentence)
    assert not is_short(sentence * 10)
    assert not is_short(" ".join(["word"] * (SENTENCE + 1)))


def test_a_line_is_told_from_the_review_by_its_mark():
    assert not is_review([("also", 0.5), ("showing", 0.2), ("a", 0.3)])
    assert is_review([("also", 0.5), ("a", 0.5)])


def test_colours_are_the_papers_and_the_largest_is_full():
    words = [[("a", 0.25), ("b", 0.75)], [("c", 1.0)]]
    painted = painted_by_both(words, np.array([0.64, 0.36]))
    assert [[round(weight, 6) for _, weight in line] for line in painted] == [[0.333333, 1.0], [1.0]]


def test_lines_far_from_the_review_are_drawn_as_one():
    words = [[(str(place), 0.0)] for place in range(17)]
    weights = np.full(17, 1 / 17)
    own = np.isin(np.arange(17), [7, 8])
    shown, sums = around_the_review(words, weights, own)
    assert [sentence[0][0] for sentence in shown] == [
        "(2 more lines, together)",
        *map(str, range(2, 14)),
        "(3 more lines, together)",
    ]
    assert sums.sum() == pytest.approx(1)
    assert len(around_the_review(words[2:14], weights[2:14], own[2:14])[0]) == 12


def test_equal_weights_lie_on_the_review_by_its_share_of_the_sentences():
    page = "Also showing: a bad film.\n\nIt was good. The film.\n\nAlso showing: a good film."
    weight, share = weight_on_reviews([read_page(small_model("uniform"), page)])
    assert weight == pytest.approx(share) == pytest.approx(0.5)


def test_the_model_attends_as_the_mechanism_does():
    model = small_model()
    mechanism = HierarchicalAttention(10, between=model.sentences.encode, width=3)
    for ours, theirs in (
        (mechanism.word_score, model.words.attention.score),
        (mechanism.sentence_score, model.sentences.attention.score),
    ):
        ours.load_state_dict(theirs.state_dict())
    batch = model.encode(["It was good. The film was a bad film. It was.", "A film."])
    states, sentences = model.states(model.embed(batch), batch)
    attended = mechanism(sentences.spread(states), sentences.spread(sentences.mask))
    torch.testing.assert_close(attended.words.weights, model.trace(batch, "words").weights)
    torch.testing.assert_close(attended.sentences.weights, model.trace(batch).weights)
    page = read_page(model, "It was good. The film was a bad film. It was.")
    assert [len(sentence) for sentence in page.words] == [3, 6, 2]
    torch.testing.assert_close(torch.from_numpy(page.sentences), attended.sentences.weights[0])


@pytest.mark.slow
def test_attention_beats_equal_weights_and_looks_at_the_review():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    weight, share = outcome.table.values()
    assert weight > 1.2 * share
    shown = outcome.picture
    assert len(shown["words"]) == len(shown["sentences"])
    assert shown["sentences"].sum() == pytest.approx(1, abs=1e-5)
    for words in shown["words"]:
        assert sum(weight for _, weight in words) == pytest.approx(1, abs=1e-5)
    ENTRY.draw(outcome, Figure())
