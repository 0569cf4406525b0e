"""Gallery `nested`: sentences have the faults they say, and letters put right what words cannot."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.corrector import after
from heedful.gallery.nested import ENTRY, VOCABULARIES, as_texts, build, correct, fit, judge
from heedful.gallery.seeded import seeded
from heedful.gallery.spelling import (
    COMMON,
    END,
    FORMS,
    NOUNS,
    UNKNOWN,
    Sentences,
    as_word,
    is_for_test,
    letter_ids,
    misspellings,
    number_words,
    word_ids,
    write_sentences,
)


def test_misspellings_are_no_words_and_come_of_one_noun_only():
    all_of_them = [fault for noun in NOUNS for fault in misspellings(noun)]
    assert len(all_of_them) == len(set(all_of_them))
    assert not set(all_of_them) & {*FORMS, *COMMON}
    assert {"gadren", "gardn", "gardden", "gaxden"} <= set(misspellings("garden"))


def test_no_misspelling_of_the_test_is_learnt_from_and_every_noun_is():
    learnt, tested = (write_sentences(3000, seed=3, test=test) for test in (False, True))

    def wrong(sentences):
        return {word for words in sentences.given for word in words if word not in (*COMMON, *FORMS)}

    assert not wrong(learnt) & wrong(tested)
    assert {word for words in learnt.wanted for word in words} >= set(FORMS)
    assert is_for_test("garden").sum() == pytest.approx(len(misspellings("garden")) / 3, abs=1)


def test_each_sentence_has_a_misspelt_noun_at_the_places_named_and_a_slip_where_said():
    sentences = write_sentences(300, seed=5, test=False)
    for given, wanted, misspelt, slipped in zip(*vars(sentences).values(), strict=True):
        came = [word for word in given if word not in COMMON]
        places = [place for place, word in enumerate(wanted) if word not in COMMON]
        differ = [place for place, word in zip(places, came, strict=True) if wanted[place] != word]
        assert differ == list(misspelt) != []
        common = [[word for word in words if word in COMMON] for words in (given, wanted)]
        assert (common[0] != common[1]) == slipped


def test_verbs_agree_with_their_nouns_in_what_is_wanted():
    sentences = write_sentences(200, seed=7, test=True)
    for wanted in sentences.wanted:
        noun = next(place for place, word in enumerate(wanted) if word in FORMS)
        assert wanted[noun].endswith("s") != wanted[noun + 1].endswith("s")


def test_words_and_letters_become_ids_and_letters_words_again():
    vocabulary = number_words(("the", "my"))
    assert word_ids([("my", "gadren"), ("the",)], vocabulary).tolist() == [[4, UNKNOWN, END], [3, END, 0]]
    letters = letter_ids(["abz", "b"])
    assert letters.tolist() == [[2, 3, 27, END], [3, END, 0, 0]]
    assert [as_word(row) for row in letters] == ["abz", "b"]
    assert letter_ids([]).shape == (0, 1)
    assert after(torch.tensor([[5, 7, END]])).tolist() == [[END, 5, 7]]


def test_shares_count_sentences_misspellings_and_slips():
    sentences = Sentences(
        given=(("a", "dgo", "see", "the", "cta"), ("the", "the", "gadren")),
        wanted=(("a", "garden", "sees", "the", "river"), ("the", "garden")),
        misspelt=((1, 4), (1,)),
        slipped=(True, True),
    )
    came = [["a", "garden", "sees", "the", "rivre"], ["the", "the", "garden"]]
    assert judge(came, sentences) == {"sentences": 0.0, "misspellings": pytest.approx(1 / 3), "slips": 0.5}


@pytest.mark.parametrize("spells", ["nested", "by heart", "not"])
def test_a_sentence_alone_equals_itself_in_company(spells):
    sentences, vocabulary = write_sentences(7, seed=1, test=False), VOCABULARIES[spells]
    with seeded(1):
        model = build(spells).eval()
    texts = as_texts(sentences, range(7), vocabulary)
    together = model.write(model.read(texts.given, texts.given_letters), after(texts.wanted))
    for row in range(7):
        one = as_texts(sentences, [row], vocabulary)
        alone = model.write(model.read(one.given, one.given_letters), after(one.wanted))
        length = one.wanted.shape[1]
        torch.testing.assert_close(alone.scores[0], together.scores[row, :length])
        assert alone.weights is not None
        torch.testing.assert_close(alone.weights[0], together.weights[row, :length, : one.given.shape[1]])


def test_one_seed_learns_and_writes_the_same_twice():
    sentences, vocabulary, results = write_sentences(40, seed=2, test=False), VOCABULARIES["nested"], []
    for _ in range(2):
        with seeded(3):
            model = build("nested")
            fit(model, sentences, vocabulary, steps=2)
        results.append(correct(model, sentences, vocabulary))
    assert results[0][0] == results[1][0]
    assert results[0][1].words.equal(results[1][1].words)


@pytest.mark.slow
def test_letters_put_right_what_words_alone_cannot():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.1
    assert outcome.table["misspellings, nested"] > outcome.table["misspellings, words alone"] + 0.3
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    ENTRY.draw(outcome, Figure())
