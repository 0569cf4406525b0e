"""Words grouped into sentences and put back."""

import torch

from heedful.models.grouping import group_sentences

SENTENCES = torch.tensor([[0, 0, 1, 1, 1, 2], [0, 2, 2, -1, -1, -1], [5, -1, -1, -1, -1, -1]])
MASK = SENTENCES >= 0


def test_each_sentence_has_its_words_in_their_order() -> None:
    groups = group_sentences(SENTENCES, MASK)
    words = [row[mask].tolist() for row, mask in zip(groups.word, groups.mask, strict=True)]
    assert words == [[0, 1], [2, 3, 4], [5], [0], [1, 2], [0]]
    assert groups.text.tolist() == [0, 0, 0, 1, 1, 2]


def test_sentences_are_counted_anew_where_one_was_deleted() -> None:
    groups = group_sentences(SENTENCES, MASK)
    assert groups.rank.tolist() == [0, 1, 2, 0, 1, 0]
    assert groups.present.tolist() == [[True, True, True], [True, True, False], [True, False, False]]


def test_gathering_and_spreading_put_every_word_where_it_belongs() -> None:
    groups = group_sentences(SENTENCES, MASK)
    vectors = torch.arange(3 * 6 * 2.0).view(3, 6, 2)
    block = groups.spread(groups.gather(vectors))
    assert block.shape == (3, 3, 3, 2)
    assert torch.equal(block[0, 1], vectors[0, 2:5])
    assert torch.equal(block[1, 1, :2], vectors[1, 1:3])
    assert (block[2, 1:] == 0).all()
    assert groups.spread(groups.rank, fill=-1).tolist() == [[0, 1, 2], [0, 1, -1], [0, -1, -1]]


def test_what_stands_in_the_padding_is_not_gathered() -> None:
    vectors = torch.ones(3, 6, 2)
    vectors[~MASK] = 99
    assert group_sentences(SENTENCES, MASK).gather(vectors).max() == 1


def test_sentences_of_one_word_each_are_apart() -> None:
    groups = group_sentences(torch.tensor([[3, 4, 5]]), torch.ones(1, 3, dtype=torch.bool))
    assert groups.word.tolist() == [[0], [1], [2]]
