"""Sun & Lu's synthetic data: as in the supplement, exactly symmetric where asked, any noise and ratio."""

from collections import Counter

import numpy as np
import pytest

from heedful.data.synthetic import (
    Synthetic,
    data_k,
    data_one,
    data_two,
    make_synthetic,
    paired_words,
    token_types,
)
from heedful.errors import UserError

SMALL = {"neutral": 29, "polar": 7, "neutral_tokens": 5, "polar_tokens": 3, "per_class": 23, "held_out": 11}


def types_of(text: str, types: dict[str, str]) -> Counter:
    return Counter(types[word] for word in text.split())


def rows(corpus, split):
    part = corpus.split(split)
    return [(corpus.label_names[label], text) for label, text in zip(part.labels, part.texts, strict=True)]


def test_data_one_is_that_of_the_supplement():
    train, types = data_one().split("train"), token_types(Synthetic())
    assert Counter(types.values()) == {"neutral": 1000, "positive": 50, "negative": 50}
    assert train.class_sizes("train") == {"negative": 6000, "positive": 6000}
    for label, text in rows(train, "train"):
        words = text.split()
        assert len(words) == len(set(words)) == 12
        assert types_of(text, types) == {"neutral": 10, label: 2}


def test_all_words_of_data_one_occur_and_about_equally_often():
    counts = Counter(word for text in data_one().split("train").texts for word in text.split())
    assert len(counts) == 1100
    # Of 12,000 sentences a neutral word is in 120 on average, a polar one in 240; five standard deviations.
    for word, kind in token_types(Synthetic()).items():
        mean = 120 if kind == "neutral" else 240
        assert abs(counts[word] - mean) < 5 * mean**0.5


def test_polar_words_stand_anywhere_in_a_sentence():
    places = Counter(
        place
        for text in data_one(per_class=500).split("train").texts
        for place, word in enumerate(text.split())
        if not word.startswith("n") or word.startswith("neg")
    )
    assert sorted(places) == list(range(12))
    assert max(places.values()) < 2 * min(places.values())


def test_data_two_takes_a_twelfth_of_each_class_from_the_other():
    corpus, types = data_two(), token_types(Synthetic())
    strangers = Counter(label for label, text in rows(corpus, "train") if types_of(text, types)[label] == 0)
    assert strangers == {"negative": 500, "positive": 500}
    assert any("500 of 6,000" in note for note in corpus.notes)


@pytest.mark.parametrize(("noise", "noisy"), [(0.0, 0), (0.02, 0), (0.1, 2), (0.5, 12), (1.0, 23)])
def test_any_noise_is_counted_out_and_rounded_to_the_nearest(noise, noisy):
    settings = Synthetic(noise=noise, **SMALL)
    types = token_types(settings)
    for label in ("negative", "positive"):
        texts = [text for name, text in rows(make_synthetic(settings), "train") if name == label]
        other = {"negative": "positive", "positive": "negative"}[label]
        assert sum(types_of(text, types)[other] == 3 for text in texts) == noisy
        assert sum(types_of(text, types)[label] == 3 for text in texts) == 23 - noisy


@pytest.mark.parametrize(
    ("ratio", "sizes"), [(0.25, (96, 24)), (0.5, (80, 40)), (1.0, (60, 60)), (2.0, (40, 80)), (4.0, (24, 96))]
)
def test_the_ratio_of_positive_to_negative_keeps_the_total(ratio, sizes):
    corpus = make_synthetic(Synthetic(ratio=ratio, **SMALL | {"per_class": 60}))
    assert tuple(corpus.class_sizes("train").values()) == sizes
    assert sum(corpus.class_sizes("dev").values()) == 22


def test_a_ratio_that_does_not_come_out_even_loses_no_sentence():
    corpus = make_synthetic(Synthetic(classes=3, ratio=(1, 1, 1.5), **SMALL | {"per_class": 10}))
    assert corpus.class_sizes("train") == {"0": 9, "1": 8, "2": 13}


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1 / 12, 0.5])
def test_symmetric_data_is_itself_after_moving_labels_and_words_to_the_next_class(classes, noise):
    settings = Synthetic(classes=classes, noise=noise, symmetric=True, **SMALL)
    corpus, partner = make_synthetic(settings), paired_words(settings)
    following = dict(
        zip(settings.label_names, settings.label_names[1:] + settings.label_names[:1], strict=True)
    )
    for split in ("train", "dev", "test"):
        found = rows(corpus, split)
        moved = [
            (following[label], " ".join(partner[word] for word in text.split())) for label, text in found
        ]
        assert Counter(found) == Counter(moved)


def test_without_asking_data_is_not_exactly_symmetric():
    settings = Synthetic(**SMALL)
    partner, found = paired_words(settings), rows(make_synthetic(settings), "train")
    moved = {" ".join(partner[word] for word in text.split()) for _, text in found}
    assert moved != {text for _, text in found}


def test_partners_are_of_one_number_and_neutral_words_are_their_own():
    partner = paired_words(Synthetic(**SMALL))
    assert partner["pos3"] == "neg3"
    assert partner["neg3"] == "pos3"
    assert partner["n17"] == "n17"
    assert paired_words(Synthetic(classes=3, **SMALL))["c2w6"] == "c0w6"


def test_three_labels_have_their_words_and_neutral_is_the_fourth_type():
    corpus, types = data_k(), token_types(Synthetic(classes=3))
    assert Counter(types.values()) == {"3": 1000, "0": 50, "1": 50, "2": 50}
    assert corpus.class_sizes("train") == {"0": 6000, "1": 6000, "2": 6000}
    for label, text in rows(corpus, "train")[:500]:
        assert types_of(text, types) == {"3": 10, label: 2}


def test_noise_comes_from_all_other_classes_in_turn():
    settings = Synthetic(classes=3, noise=0.5, **SMALL | {"per_class": 20})
    types = token_types(settings)
    owners = Counter(
        (label, kind)
        for label, text in rows(make_synthetic(settings), "train")
        for kind in types_of(text, types)
        if kind != "3"
    )
    assert owners == {(a, b): 10 if a == b else 5 for a in "012" for b in "012"}


def test_the_seed_decides_and_sizes_of_other_splits_do_not():
    first = make_synthetic(Synthetic(seed=5, **SMALL))
    assert make_synthetic(Synthetic(seed=5, **SMALL)).fingerprint == first.fingerprint
    assert make_synthetic(Synthetic(seed=6, **SMALL)).fingerprint != first.fingerprint
    alone = make_synthetic(Synthetic(seed=5, **SMALL | {"held_out": 0}))
    assert list(alone.texts) == list(first.split("train").texts)


def test_splits_are_drawn_apart_and_rows_are_not_sorted_by_class():
    corpus = make_synthetic(Synthetic(**SMALL | {"per_class": 11}))
    assert set(corpus.split("dev").texts).isdisjoint(corpus.split("test").texts)
    labels = corpus.split("train").labels
    assert (np.diff(labels) < 0).any()


def test_a_sentence_may_hold_every_word_there_is():
    corpus = make_synthetic(
        Synthetic(neutral=3, neutral_tokens=3, polar=2, polar_tokens=2, per_class=5, held_out=0)
    )
    assert {frozenset(text.split()) for text in corpus.texts} == {
        frozenset(("n0", "n1", "n2", "neg0", "neg1")),
        frozenset(("n0", "n1", "n2", "pos0", "pos1")),
    }


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"classes": 1}, "two classes or more"),
        ({"neutral": 9}, "10 distinct neutral words out of 9"),
        ({"polar": 1}, "2 distinct polar words out of 1"),
        ({"polar_tokens": 0}, "polar_tokens above 0"),
        ({"per_class": 0}, "per_class must be above 0"),
        ({"noise": 1.5}, "between 0 and 1"),
        ({"ratio": 0.0}, "one positive number"),
        ({"ratio": (1.0, 2.0, 3.0)}, "one positive number"),
        ({"classes": 3, "ratio": 2.0}, "3 for 3 classes"),
        ({"ratio": 2.0, "symmetric": True}, "classes of one size"),
    ],
)
def test_impossible_settings_are_refused_before_anything_is_drawn(change, sentence):
    with pytest.raises(UserError, match=sentence):
        Synthetic(**change)
