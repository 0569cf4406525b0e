"""Words of a text as it is written: nothing is lost, and what leaves leaves one space."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.models.written import batch_of_words, words_of, written
from heedful.trials.erasure.deletion import delete_words, replace_words


@given(st.text())
def test_the_words_of_an_unchanged_text_give_it_back_to_the_last_character(text):
    words = words_of(text)
    if len(words):
        again = written(words, "[UNK]")
        assert again.text == text
        assert again.begins.tolist() == words.starts.tolist()
        assert again.ends.tolist() == words.ends.tolist()


@given(st.text())
def test_every_character_but_white_space_is_in_one_word(text):
    words = words_of(text)
    covered = "".join(words.forms)
    assert covered == "".join(text.split())


def test_scripts_without_spaces_have_small_words():
    assert words_of("我很喜欢。電影です、カメラ").forms == [*"我很喜欢。電影", "です", "、", "カメラ"]
    assert words_of("หนังดี").forms == ["ห", "นั", "ง", "ดี"]
    assert words_of("שָׁלוֹם עולם").forms == ["שָׁלוֹם", "עולם"]
    assert words_of("wasn’t ❤️ cafe\u0301!").forms == ["wasn’t", "❤️", "cafe\u0301", "!"]


def test_words_that_leave_take_their_spaces_with_them_but_one():
    batch = batch_of_words(["  The  wonderful film,\twas it?\n"])
    gone = torch.zeros_like(batch.mask)
    gone[0, [1, 6]] = True
    assert written(delete_words(batch, gone).words[0], "U").text == "  The film,\twas it"
    assert written(replace_words(batch, gone).words[0], "U").text == "  The  U film,\twas itU\n"
    assert written(delete_words(batch, batch.mask).words[0], "U").text == "U"
    gone = torch.zeros_like(batch.mask)
    gone[0, 0] = True
    assert written(delete_words(batch, gone).words[0], "U").text == "wonderful film,\twas it?\n"
