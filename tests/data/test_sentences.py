"""Where sentences end, case by case, and the sentence number of each word."""

import csv
import gzip
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.sentences import sentence_numbers, split_sentences
from heedful.data.words import WordRules, split_words

CASES = {
    "plain": "I came. | I saw! | Did I win?",
    "no stop at all": "a text without any stop",
    "no stop at the end": "One sentence. | and a tail",
    "lower case throughout": "i loved it. | it was great.",
    "stops set apart by spaces": "the film is slow . | it is also long .",
    "titles": "Mr. Smith met Dr. Jones and Mrs. Lee at St. Mary's. | They left.",
    "abbreviations inside": "Some actors, e.g. Brando, i.e. the best, vs. the rest. | Yes.",
    "etc. before a capital": "Horses, dogs, etc. | Great fun.",
    "etc. going on": "Horses, dogs, etc. are in it.",
    "initials": "J. R. R. Tolkien and Samuel L. Jackson. | Both.",
    "the word I": "He knew more than I. | Sad.",
    "a country going on": "The U.S. Army won.",
    "a country at the end": "He left the U.S. | He came back.",
    "a firm": "Pixar Inc. made it. | We went to Pixar Inc. | It was closed.",
    "hours": "We met at 5 p.m. on Monday.",
    "the end of the text": "We met at 5 p.m.",
    "decimals": "It cost 3.5 million. | It made 10.",
    "a number before the stop": "I give it 10. | Go see it.",
    "No. before a number": "It is No. 5 on the list.",
    "No as an answer": "Is it good? | No. | It is bad.",
    "addresses": "See www.imdb.com for more. | Bye.",
    "list items": "1. The acting. | 2. The plot.",
    "quotes after the stop": 'He said "I know." | Then he left.',
    "typographic quotes": "“Why?” | “Because.” | He left.",
    "a quote that goes on": '"Stop!" he said. | She stopped.',
    "brackets": "It was bad. | (Really bad.) | I left.",
    "brackets inside": "It was (what a pity!) over.",
    "ellipsis going on": "Well... maybe not.",
    "ellipsis at the end": "I waited... | Nothing came.",
    "one-character ellipsis": "I waited… | Nothing came… or did it?",
    "ellipsis with spaces": "I waited . . . and left.",
    "several marks": "What?! | No!!! | Really??",
    "stray marks at the end": "It is done. ***",
    "marks alone": "!!! Great. ... ???",
    "line breaks of a page": "A start<br /><br /> | an end. <BR> | Then more.",
    "a page break first": "<br />Only one.",
    "paragraph tags": "<p>One</p> | <p>Two</p>",
    "blank lines": "A title\n\n | A text\nover two lines",
    "no letters": "?!",
    "full-width stops": "好。 | 不好！",
    "words with points": "Use .NET. | It works.",
}


@pytest.mark.parametrize("case", CASES)
def test_sentences_end_where_a_reader_would_end_them(case):
    expected = [piece.strip() for piece in CASES[case].split("|")]
    # the bar and one of the spaces around it only mark the place
    text = CASES[case].replace(" | ", " ")
    assert [text[start:end] for start, end in split_sentences(text)] == expected


@given(st.text(st.sampled_from("aB1 .!?…\"')<br />\n。") | st.characters()))
def test_spans_hold_all_that_is_not_space_in_order_and_without_overlap(text):
    spans = split_sentences(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(start < end for start, end in spans)
    assert "".join("".join(text[a:b] for a, b in spans).split()) == "".join(text.split())


def test_empty_and_blank_texts_have_no_sentence():
    assert split_sentences("") == split_sentences(" \n\n ") == []
    assert sentence_numbers(split_words(" ")).tolist() == []


def test_each_word_has_the_number_of_its_sentence():
    words = split_words("Mr. Smith came. He saw! <br /> The end")
    assert words.forms == ["mr", "smith", "came", "he", "saw", "br", "the", "end"]
    numbers = sentence_numbers(words)
    assert numbers.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert numbers.dtype == np.int32


def test_sentences_without_words_do_not_count():
    words = split_words("I see. 1999! You see. 77 Yes.", WordRules(numbers="drop"))
    assert sentence_numbers(words).tolist() == [0, 0, 1, 1, 2]
    first = split_words("1999! You see.", WordRules(numbers="drop"))
    assert sentence_numbers(first).tolist() == [0, 0]


@pytest.mark.parametrize(
    "text", ["." * 200_000 + "x", ". " * 100_000, "\n " * 100_000, "<br " * 50_000, "a." * 99_999]
)
def test_tiresome_texts_take_no_time(text):
    start = perf_counter()
    split_sentences(text)
    assert perf_counter() - start < 5


@pytest.mark.corpora
def test_reviews_have_a_plausible_number_of_sentences(data_dir):
    """Serrano & Smith's Table 1 gives 17 (Amazon), 18 (Yelp) and 24 (other IMDB reviews) words a sentence."""
    with gzip.open(data_dir / "imdb.csv.gz", "rt", encoding="utf-8", newline="") as file:
        texts = [row["text"] for row, _ in zip(csv.DictReader(file), range(500), strict=False)]
    sentences = sum(len(split_sentences(text)) for text in texts)
    words = sum(len(split_words(text)) for text in texts)
    assert 17 < words / sentences < 25
