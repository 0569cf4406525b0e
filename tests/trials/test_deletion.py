"""Words leave a batch and nothing else moves: order, sentences, spans, padding at the end."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from word_subjects import TEXTS, VOCABULARY, batch_for, model, plain_batch

from heedful.data.batches import batch_of_texts
from heedful.data.vocabulary import SPECIAL, UNKNOWN_ID
from heedful.errors import UserError
from heedful.trials.erasure.deletion import delete_words, replace_words, take_out, take_rows


def gone_in(batch, *places):
    gone = torch.zeros_like(batch.mask)
    for row, word in places:
        gone[row, word] = True
    return gone


def test_deleting_keeps_order_sentences_and_spans():
    batch = plain_batch()
    left = delete_words(batch, gone_in(batch, (0, 0), (0, 5), (1, 6), (3, 1)))
    assert left.mask.sum(1).tolist() == [11, 6, 1, 2, 2]
    assert left.ids.shape == (5, 11)
    words = left.words[0]
    assert words.forms == ["w4", "w8", "w1", "w28", "w10", "w2", "unheard", "w16", "w22", "w18", "w27"]
    assert [
        TEXTS[0][start:end].lower() for start, end in zip(words.starts, words.ends, strict=True)
    ] == words.forms
    assert left.sentences[0].tolist() == [0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2]  # the second sentence has gone
    assert left.sentences[3].tolist() == [0, 2] + [-1] * 9
    assert left.ids[0].tolist() == [*VOCABULARY.ids(words.forms)]
    assert left.labels.tolist() == [0, 1, 2, 3, 4]
    assert left.rows.tolist() == [0, 1, 2, 3, 4]


def test_padding_stays_at_the_end_and_is_padding():
    batch = plain_batch()
    left = delete_words(batch, gone_in(batch, (0, 3), (1, 0)))
    assert not (~left.mask[:, :-1] & left.mask[:, 1:]).any()
    assert (left.ids[~left.mask] == 0).all()
    assert (left.sentences[~left.mask] == -1).all()


@given(st.data())
def test_a_deleted_batch_is_the_batch_of_the_shorter_text(data):
    batch = plain_batch(sentences=False)
    row = data.draw(st.sampled_from([0, 1, 3, 4]))
    count = int(batch.mask[row].sum())
    gone = data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1))
    left = delete_words(batch, gone_in(batch, *[(row, word) for word in gone]))
    forms = [form for place, form in enumerate(batch.words[row].forms) if place not in gone]
    again = batch_of_texts([" ".join(forms)], VOCABULARY)
    assert left.ids[row][left.mask[row]].tolist() == again.ids[0].tolist()
    assert left.words[row].forms == again.words[0].forms


def test_deleting_nothing_changes_nothing():
    batch = plain_batch()
    left = delete_words(batch, torch.zeros_like(batch.mask))
    for name in ("ids", "mask", "sentences", "labels"):
        assert torch.equal(getattr(left, name), getattr(batch, name))


def test_a_text_that_loses_all_its_words_is_the_unknown_word():
    batch = plain_batch()
    left = delete_words(batch, torch.ones_like(batch.mask))
    assert left.ids.tolist() == [[UNKNOWN_ID]] * 5
    assert left.mask.all()
    assert left.sentences.tolist() == [[0]] * 5
    assert [words.forms for words in left.words] == [[SPECIAL[1]]] * 5


def test_replacing_keeps_places_and_hides_the_form():
    batch = plain_batch()
    hidden = replace_words(batch, gone_in(batch, (0, 2), (4, 1)))
    assert torch.equal(hidden.mask, batch.mask)
    assert torch.equal(hidden.sentences, batch.sentences)
    changed = (hidden.ids != batch.ids).nonzero().tolist()
    assert changed == [[0, 2], [4, 1]]
    assert hidden.ids[0, 2] == UNKNOWN_ID
    assert hidden.words[0].forms[2] == SPECIAL[1]
    assert batch.words[0].forms[2] == "w8"  # the given batch is left alone
    assert replace_words(batch, torch.ones_like(batch.mask)).ids[2].tolist() == [UNKNOWN_ID] + [0] * 12


def test_variants_are_made_of_the_rows_they_name():
    batch = plain_batch()
    of = torch.tensor([1, 1, 4])
    gone = torch.zeros(3, 13, dtype=torch.bool)
    gone[0, 0] = gone[1, 6] = True
    for how, lengths in (("delete", [6, 6, 2]), ("unknown", [7, 7, 2])):
        variants = take_out(batch, gone, how=how, of=of)
        assert variants.mask.sum(1).tolist() == lengths
        assert variants.rows.tolist() == [1, 1, 4]
    rows = take_rows(batch, of)
    assert rows.rows.tolist() == [1, 1, 4]
    assert np.shares_memory(rows.words[0].starts, batch.words[1].starts)


@pytest.mark.parametrize("name", ["dp", "bigru", "conv", "han-gru", "han-noenc"])
def test_a_subject_says_the_same_of_a_deleted_batch_as_of_the_shorter_text(name):
    subject = model(name)
    batch = batch_for(subject)
    left = delete_words(batch, gone_in(batch, (1, 1), (1, 4), (0, 12)))
    alone = batch_for(subject, ["w3 w5. w7 w11 w1"])
    torch.testing.assert_close(subject.logits(left)[1:2], subject.logits(alone))


@pytest.mark.parametrize(
    ("gone", "how", "sentence"),
    [
        (torch.zeros(5, 12, dtype=torch.bool), "delete", "needs a bool tensor"),
        (torch.zeros(5, 13), "delete", "needs a bool tensor"),
        (torch.zeros(5, 13, dtype=torch.bool), "delet", "nearest is 'delete'"),
    ],
)
def test_what_cannot_be_taken_out_is_said(gone, how, sentence):
    with pytest.raises(UserError, match=sentence):
        take_out(plain_batch(), gone, how=how)
