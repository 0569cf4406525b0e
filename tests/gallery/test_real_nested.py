"""`nested` on real misspellings: GLEU, what became of words, how errors are dealt and put in."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_data import write_spelling
from matplotlib.figure import Figure

from heedful.gallery.corrector import after
from heedful.gallery.gleu import from_sums, gleu, statistics
from heedful.gallery.learning import parameters_of
from heedful.gallery.misspelt import (
    cased,
    corrupt,
    corrupted,
    near,
    read_faults,
    read_holbrook,
    read_jfleg,
    read_material,
    split_of,
    words_of,
)
from heedful.gallery.nearest_word import NearestWord, slips
from heedful.gallery.putting_right import (
    BUDGETS,
    LONGEST,
    as_ids,
    build,
    correct,
    correct_all,
    cut,
    draw_texts,
    learn_to_correct,
    number_common,
)
from heedful.gallery.real_nested import REAL
from heedful.gallery.seeded import seeded
from heedful.gallery.spelling import END, UNKNOWN
from heedful.gallery.word_by_word import Tally, became, tally


@pytest.fixture
def folder(tmp_path):
    write_spelling(tmp_path)
    return tmp_path


@pytest.fixture
def material(folder):
    return read_material(folder)


def test_gleu_counts_shared_ngrams_and_takes_off_what_should_have_changed():
    # "a b c" should become "a d c". Unigrams of the source: 2 shared, 1 kept wrong; bigrams: none, 2 kept.
    assert statistics(["a", "b", "c"], ["a", "b", "c"], ["a", "d", "c"]) == [3, 3, 1, 3, 0, 2, 0, 1, 0, 0]
    assert statistics(["a", "b", "c"], ["a", "d", "c"], ["a", "d", "c"]) == [3, 3, 3, 3, 2, 2, 1, 1, 0, 0]
    # A word that the reference has, though less often than the source, is not counted against.
    assert statistics(["a", "a"], ["a", "a"], ["a"])[:4] == [2, 1, 1, 2]


def test_gleu_of_a_corpus_is_a_geometric_mean_and_short_corrections_pay():
    assert from_sums(np.array([10, 10, 8, 10, 4, 8, 3, 6, 2, 4])) == pytest.approx((0.8 * 0.5**3) ** 0.25)
    assert from_sums(np.array([5, 10, 5, 5, 4, 4, 3, 3, 2, 2])) == pytest.approx(np.exp(-1))
    assert from_sums(np.array([12, 10, 5, 5, 4, 4, 3, 3, 2, 2])) == 1
    assert from_sums(np.array([12, 10, 5, 5, 4, 4, 3, 3, 0, 2])) == 0


def test_gleu_of_several_references_lies_between_those_of_each():
    sources = ["the cat sit on the mat ."] * 9
    good, other = "the cat sits on the mat .", "a cat was sitting on a mat ."
    one, two = (gleu(sources, [good] * 9, [(right,)] * 9) for right in (good, other))
    both = gleu(sources, [good] * 9, [(good, other)] * 9)
    assert one == 1
    assert two < both < 1
    assert gleu(sources, sources, [(good,)] * 9) < 1
    # One reference, whatever is drawn: the figure of the corpus itself.
    assert gleu(sources, sources, [(good,)] * 9, draws=1) == gleu(sources, sources, [(good,)] * 9, draws=7)


@pytest.mark.corpora
def test_gleu_of_unchanged_jfleg_is_the_published_one():
    from heedful.data.named import data_folder

    above = data_folder(None)
    if above is None or not (above / "gallery" / "jfleg.csv.gz").is_file():
        pytest.skip("JFLEG is not here")
    jfleg = read_jfleg(above / "gallery")
    assert gleu(jfleg.sources, jfleg.sources, jfleg.references) == pytest.approx(0.4054, abs=5e-5)
    others = [
        gleu(
            jfleg.sources,
            [several[own] for several in jfleg.references],
            [several[:own] + several[own + 1 :] for several in jfleg.references],
        )
        for own in range(4)
    ]
    assert np.mean(others) == pytest.approx(0.6237, abs=5e-4)


@pytest.mark.parametrize(
    ("source", "other", "expected"),
    [
        ("a b c", "a b c", ["a", "b", "c"]),
        ("a x c", "a b c", ["a", "b", "c"]),
        ("a c", "a b c", ["a b", "c"]),
        ("a c", "b a c", ["b a", "c"]),
        ("a b c", "a c", ["a", "", "c"]),
        ("some times i go", "sometimes i go", ["", "sometimes", "i", "go"]),
        ("a", "", [""]),
        ("", "a", []),
    ],
)
def test_each_word_became_something_and_nothing_is_lost(source, other, expected):
    found = became(source.split(), other.split())
    assert [" ".join(words) for words in found] == expected


def test_what_words_became_joined_is_the_other_version():
    chance = random.Random(3)
    for _ in range(200):
        one, other = ([chance.choice("abc") for _ in range(chance.randint(1, 7))] for _ in range(2))
        assert [word for words in became(one, other) for word in words] == other


def test_errors_put_right_and_good_words_broken_are_counted():
    sources = [["i", "wakh", "tv", "evry", "day"]]
    wanted = [["i", "watch", "tv", "every", "day"]]
    written = [["i", "watch", "to", "very", "day"]]
    counted = tally(sources, written, wanted)
    assert counted == Tally(errors=2, right=1, good=3, broken=1)
    assert counted.net == 0
    assert counted.shares()["good words broken"] == pytest.approx(1 / 3)
    assert tally(sources, written, wanted, only=frozenset(["watch"])) == Tally(1, 1, 3, 1)
    assert tally(sources, sources, wanted).net == 0
    assert tally(sources, wanted, wanted).net == 1


def test_texts_are_split_as_jfleg_has_them():
    text = "I can't go: it's Tom's 3,000 well-known dogs’ O'Hara."
    said = "i ca n't go : it 's tom 's 3,000 well-known dogs ' o ' hara ."
    assert " ".join(words_of(text)) == said


def test_words_are_dealt_by_themselves_about_eight_of_ten_to_training():
    dealt = [split_of(f"word{number}") for number in range(3000)]
    assert dealt == [split_of(f"word{number}") for number in range(3000)]
    assert dealt.count("train") / 3000 == pytest.approx(0.8, abs=0.04)
    assert dealt.count("dev") / 3000 == pytest.approx(0.1, abs=0.03)


def test_no_word_of_dev_or_test_is_seen_misspelt_in_training(material):
    train, dev, test = (set(material.faults[split]) for split in ("train", "dev", "test"))
    assert train
    assert test
    assert not train & test
    assert not dev & test
    chance = np.random.default_rng(1)
    for _ in range(20):
        given, wanted = draw_texts(material, 8, chance)
        for came, right in zip(given, wanted, strict=True):
            assert len(came) == len(right) <= LONGEST
            assert {word for word, now in zip(right, came, strict=True) if word != now} <= train
    pairs = corrupted(material, "test", 30)
    for came, right in zip(pairs.given, pairs.wanted, strict=True):
        changed = {word for word, now in zip(right, came, strict=True) if word != now}
        assert changed
        assert changed <= test


def test_faults_that_are_words_far_off_or_holbrooks_are_left_out(folder):
    kept = read_faults(folder, known={"watch", "church", "there", "their"})
    faults = {word: found for by in kept.values() for word, found in by.items()}
    assert faults["watch"] == ("wach", "wotch")  # not "wakh", which is Holbrook's, nor "o"
    assert "there" not in faults
    assert near("wach", "watch")
    assert not near("o", "watch")
    assert not near("w8ch", "watch")


def test_a_sentence_is_misspelt_at_the_rate_asked_for():
    chance, faults = np.random.default_rng(2), {"b": ["x"]}
    drawn = [corrupt(("a", "b"), faults, chance, rate=0.25) for _ in range(2000)]
    assert {words[0] for words in drawn} == {"a"}
    assert sum(words[1] == "x" for words in drawn) / 2000 == pytest.approx(0.25, abs=0.04)


def test_holbrooks_lines_with_an_unknown_target_are_left_out(folder):
    pairs = read_holbrook(folder)
    assert pairs.given == (("i", "wakh", "tv", "."), ("some", "times", "i", "go", "."))
    assert pairs.wanted[1] == ("sometimes", "i", "go", ".")


def test_case_comes_from_the_source():
    source = ["Teh", "Dog", "of", "TOM", "runn"]
    came = [("the",), ("dog",), ("of", "a"), ("tom",), ()]
    assert cased(source, came) == ["The", "Dog", "of", "a", "TOM"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("teh", "the", 1),
        ("the", "the", 0),
        ("thee", "the", 1),
        ("te", "the", 1),
        ("abcd", "badc", 2),
        ("", "ab", 2),
    ],
)
def test_slips_count_neighbours_swapped_as_one(one, other, expected):
    assert slips(one, other) == slips(other, one) == expected


def test_the_nearest_word_is_taken_and_of_several_the_commonest():
    speller = NearestWord({"the": 90, "then": 9, "ten": 5, "watch": 3, "4711": 1})
    assert speller.correct(("teh", "thn", "wotch", "then", "xyzzy", "4712")) == (
        "the",
        "the",
        "watch",
        "then",
        "xyzzy",
        "4712",
    )


def test_long_texts_are_cut_after_signs_and_nothing_is_lost():
    words = tuple(f"w{place}" for place in range(47))
    assert [len(piece) for piece in cut(words)] == [20, 20, 7]
    signed = (*words[:15], ",", *words[15:])
    assert [len(piece) for piece in cut(signed)][:1] == [16]
    assert sum(cut(signed), ()) == signed
    assert cut(words[:20]) == [words[:20]]


def test_what_is_read_by_letters_is_written_by_letters_and_words_alone_write_words():
    vocabulary = {"the": 3, "dog": 4}
    given, wanted = [("the", "dgo", "42")], [("the", "dog", "42")]
    nested = as_ids(given, wanted, vocabulary, spells="nested")
    assert nested.given.tolist() == [[3, UNKNOWN, UNKNOWN, END]]
    assert nested.wanted.tolist() == [[3, UNKNOWN, UNKNOWN, END]]
    assert nested.given_letters.shape == nested.wanted_letters.shape == (2, 4)
    alone = as_ids(given, wanted, vocabulary, spells="not")
    assert alone.given.tolist() == [[3, UNKNOWN, UNKNOWN, END]]
    assert alone.wanted.tolist() == [[3, 4, UNKNOWN, END]]
    spelt = as_ids(given, wanted, vocabulary, spells="nested", spelt=lambda: True)
    assert spelt.given.tolist() == [[UNKNOWN, UNKNOWN, UNKNOWN, END]]


@pytest.mark.parametrize("spells", ["nested", "not"])
def test_a_text_alone_equals_itself_in_company(material, spells):
    vocabulary = number_common(material, 20)
    with seeded(1):
        model = build(spells, vocabulary, BUDGETS["small"]).eval()
    given, wanted = draw_texts(material, 5, np.random.default_rng(3))
    texts = as_ids(given, wanted, vocabulary, spells=spells)
    together = model.write(model.read(texts.given, texts.given_letters), after(texts.wanted))
    for row in range(5):
        one = as_ids(given[row : row + 1], wanted[row : row + 1], vocabulary, spells=spells)
        alone = model.write(model.read(one.given, one.given_letters), after(one.wanted))
        torch.testing.assert_close(alone.scores[0], together.scores[row, : one.wanted.shape[1]])


def test_word_by_word_is_written_as_all_at_once(material):
    vocabulary = number_common(material, 20)
    with seeded(1):
        model = build("nested", vocabulary, BUDGETS["small"]).eval()
    words = material.clean["train"][0]
    texts = as_ids([words], [words], vocabulary, spells="nested")
    encoded = model.read(texts.given, texts.given_letters)
    before, state = after(texts.wanted), None
    whole = model.write(encoded, before).scores
    for step in range(before.shape[1]):
        written = model.write(encoded, before[:, step : step + 1], state, first=step)
        state = written.state
        torch.testing.assert_close(written.scores[:, 0], whole[:, step])


def test_both_have_as_many_parameters():
    vocabulary = {str(word): word + 3 for word in range(4000)}
    counts = [parameters_of(build(spells, vocabulary, BUDGETS["quick"])) for spells in ("nested", "not")]
    assert max(counts) / min(counts) < 1.01


def test_words_alone_copy_what_they_do_not_know(material):
    vocabulary = {"dog": 3}
    with seeded(1):
        model = build("not", vocabulary, BUDGETS["small"]).eval()
    with torch.no_grad():
        model.decide.bias[UNKNOWN] = 99
    read = correct(model, [("zzz", "zzz", "zzz")], vocabulary, "cpu")[0]
    assert set(read.written) == {"zzz"}
    assert read.words.shape == (len(read.written), 3)


@pytest.mark.slow
def test_a_model_learns_to_write_its_sentences_and_to_spell(material):
    vocabulary = number_common(material, 12)
    budget = replace(BUDGETS["small"], steps=250, rate=0.02)
    model = learn_to_correct("nested", material, vocabulary, budget, seed=0, device="cpu")
    sentences = material.clean["train"][:30]
    written = correct_all(model, sentences, vocabulary, "cpu")
    assert tally(sentences, written, sentences).shares()["good words broken"] < 0.1


def test_the_small_size_is_trained_and_drawn(folder):
    outcome = REAL.train(0, "small", folder, "cpu")
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.05
    assert outcome.yardstick == outcome.table["corrupted: net, nearest word"] > 0
    assert 0 <= outcome.table["jfleg: GLEU, nested"] <= 1
    REAL.draw([outcome, outcome], Figure())
