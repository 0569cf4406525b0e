"""Words and their offsets, against a plain `re.finditer` tokeniser that is slow and easy to believe."""

import re
import subprocess
import sys
import unicodedata
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from heedful.bench import tokenize
from heedful.data import words as words_module
from heedful.data.words import NUMBER, WordRules, split_texts, split_words
from heedful.errors import UserError

ALL_RULES = [
    WordRules(lower=lower, numbers=numbers, punctuation=punctuation, apostrophes=apostrophes)
    for lower, numbers, punctuation, apostrophes in product(
        (True, False), ("keep", "one", "drop"), ("drop", "keep"), (True, False)
    )
]


MARKS = "".join(
    point for point in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(point)[0] == "M"
)


def plain_words(text: str, rules: WordRules) -> list[tuple[str, int, int]]:
    """The oracle: the rules written as a pattern, one match at a time."""
    run, more = rf"\w[\w{MARKS}]*", rf"[\w{MARKS}]"
    word = rf"{run}(?:['’]{run})*" if rules.apostrophes else run
    before = r"(?<!\w)(?<!\w['’])" if rules.apostrophes else r"(?<!\w)"
    more = rf"{more}|['’]\w" if rules.apostrophes else more
    digits = rf"\d+(?!{more})"
    pattern = word if rules.numbers == "keep" else rf"(?P<number>{before}{digits}(?:[.,]{digits})*)|{word}"
    found = []
    for match in re.finditer(rf"{pattern}|(?P<mark>[^\w\s])", text):
        groups = match.groupdict()
        form = match.group().replace("’", "'") if groups["mark"] is None else match.group()
        form = form.lower() if rules.lower else form
        if groups.get("number") is not None:
            if rules.numbers == "drop":
                continue
            form = NUMBER
        is_mark = groups["mark"] is not None
        if is_mark and (rules.punctuation == "drop" or unicodedata.category(match.group())[0] not in "PS"):
            continue
        found.append((form, match.start(), match.end()))
    return found


def triples(words) -> list[tuple[str, int, int]]:
    return list(zip(words.forms, words.starts.tolist(), words.ends.tolist(), strict=True))


any_text = st.text(st.characters())
awkward = st.text(
    st.sampled_from("aBΣςİßǅ_ '’.,-19٣²\u0301\u0940\ufe0f\U000e0100\x00\ud800\n\u00a0漢😀…"), max_size=30
)


@settings(max_examples=300)
@given(texts=st.lists(any_text | awkward, max_size=5), rules=st.sampled_from(ALL_RULES))
@example(texts=["", "ΑΣ ΑΣΑ Σ", "", "İSTANBUL"], rules=WordRules())
@example(texts=["1,000.5 and 3.x 1.2a '90's a'1.2"], rules=WordRules(numbers="one", apostrophes=True))
def test_words_of_any_texts_equal_those_of_the_plain_pattern(texts, rules):
    found = split_texts(texts, rules)
    assert [triples(found[row]) for row in range(len(texts))] == [plain_words(text, rules) for text in texts]
    assert found.forms == [form for text in texts for form, _, _ in plain_words(text, rules)]


@pytest.mark.slow
@pytest.mark.parametrize("rules", [WordRules(), WordRules(punctuation="keep", numbers="one")])
def test_every_character_there_is_is_treated_as_the_plain_pattern_treats_it(rules):
    text = " ".join(map(chr, range(sys.maxunicode + 1))) + " ΑΣ"
    assert triples(split_words(text, rules)) == plain_words(text, rules)


def test_offsets_point_into_the_original_text_when_lower_casing_changes_its_length():
    text = "İİ Film: GREAT"
    words = split_words(text)
    assert words.forms == ["i̇i̇", "film", "great"]
    assert [text[a:b] for a, b in zip(words.starts, words.ends, strict=True)] == ["İİ", "Film", "GREAT"]


@pytest.mark.slow
def test_every_mark_there_is_stays_on_its_word_and_nothing_else_does():
    found = split_words(" ".join(f"x{mark}y" for mark in MARKS)).forms
    assert found == [f"x{mark}y".lower() for mark in MARKS]
    assert split_words(" ".join(MARKS)).forms == []
    others = re.sub(rf"[\w{MARKS}]", "", "".join(map(chr, range(sys.maxunicode + 1))))
    assert split_words(" ".join(f"x{other}y" for other in others)).forms == ["x", "y"] * len(others)


@pytest.mark.parametrize("rules", ALL_RULES, ids=str)
def test_words_keep_the_marks_that_are_written_on_them(rules):
    assert split_words("हिन्दी भाषा", rules).forms == ["हिन्दी", "भाषा"]
    text = "a cafe\u0301, naïve"
    words = split_words(text, rules)
    assert [form for form in words.forms if form != ","] == ["a", "cafe\u0301", "naïve"]
    assert text[words.starts[1] : words.ends[1]] == "cafe\u0301"


def test_a_mark_without_a_letter_before_it_is_in_no_word():
    assert split_words("❤️ \u0301abc, '\u0301d 12\ufe0f", WordRules(apostrophes=True)).forms == [
        *("abc", "d", "12\ufe0f")
    ]
    assert split_words("\u030112", WordRules(numbers="one")).forms == [NUMBER]


def test_the_default_rule_is_the_plain_one_of_the_papers():
    assert split_words("It's well-made, isn't it? 10/10 <br />").forms == (
        ["it", "s", "well", "made", "isn", "t", "it", "10", "10", "br"]
    )


def test_each_rule_does_what_it_says():
    text = "Don’t pay $1,000.50 for 3 of it!"
    assert split_words(text, WordRules(apostrophes=True)).forms[:2] == ["don't", "pay"]
    assert split_words(text, WordRules(numbers="one")).forms == [
        *("don", "t", "pay", "<num>", "for", "<num>", "of", "it")
    ]
    assert split_words(text, WordRules(numbers="drop")).forms == ["don", "t", "pay", "for", "of", "it"]
    assert split_words(text, WordRules(lower=False)).forms[0] == "Don"
    assert split_words(text, WordRules(punctuation="keep", numbers="one")).forms == (
        ["don", "’", "t", "pay", "$", "<num>", "for", "<num>", "of", "it", "!"]
    )


def test_an_unknown_rule_is_refused_by_name():
    with pytest.raises(UserError, match="'keep'"):
        WordRules(numbers="keeep")


def test_cutting_the_texts_into_chunks_changes_nothing(monkeypatch):
    texts = ["One two", "", "three", "FOUR, five; six " * 7, " ", "sEven"]
    whole = split_texts(texts)
    monkeypatch.setattr(words_module, "_CHUNK", 5)
    cut = split_texts(texts)
    assert cut.types == whole.types
    for name in ("codes", "starts", "ends", "offsets"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


def test_no_texts_and_texts_without_words_have_no_words():
    assert len(split_texts([])) == 0
    assert split_texts([]).forms == []
    assert split_texts(["", " .", ""]).lengths.tolist() == [0, 0, 0]


def test_indexing_from_the_end_and_walking_give_the_texts_in_order():
    found = split_texts(["a b", "c"])
    assert found[-1].forms == ["c"]
    assert [words.forms for words in found] == [["a", "b"], ["c"]]
    with pytest.raises(IndexError):
        found[2]


def test_words_beyond_a_limit_are_counted_as_unread():
    words = split_words("a b c d e")
    assert words.first(None).unread == words.first(5).unread == 0
    cut = words.first(3).first(2)
    assert (cut.forms, len(cut.starts), len(cut.ends), cut.unread) == (["a", "b"], 2, 2, 3)


def test_the_bench_gives_each_way_the_same_words_and_its_own_time(monkeypatch):
    texts = ["One two three", "four"]
    given = {}

    def take_turns(ways, *, rounds):
        given.update({name: way() for name, way in ways.items()}, rounds=rounds)
        return {"ours": 1.0, "ours_with_forms": 2.0, "plain": 3.0}

    monkeypatch.setattr(tokenize, "take_turns", take_turns)
    times = tokenize.run(texts, rounds=7)
    assert given["rounds"] == times.rounds == 7
    assert (
        given["ours"].forms
        == given["ours_with_forms"]
        == [form for forms in given["plain"] for form in forms]
    )
    assert (times.texts, times.words, times.words_per_second) == (2, 4, 2)
    assert times.ratio == pytest.approx(2 / 3)


def test_one_string_where_texts_are_needed_is_refused():
    with pytest.raises(TypeError, match="split_words"):
        split_texts("a text")


def test_words_vocabularies_sentences_and_encoding_do_without_torch():
    code = (
        "import sys, heedful.data.words, heedful.data.vocabulary, heedful.data.sentences;"
        "import heedful.data.encoded; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
