"""Rankings beside words that people marked: the measures by hand and by scikit-learn, and what is refused."""

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, jaccard_score

from heedful.auditing.plausibility import agreement, marked, read_column
from heedful.errors import UserError


def test_the_measures_are_those_of_scikit_learn():
    draw = np.random.default_rng(3)
    for length in (2, 5, 13):
        scores = draw.permutation(length).astype(float)  # no ties
        marks = np.zeros(length, dtype=bool)
        marks[draw.choice(length, size=max(1, length // 3), replace=False)] = True
        order = np.argsort(-scores)[None]
        found = agreement("mine", order, [marks]).iloc[0]
        top = np.isin(np.arange(length), order[0, : marks.sum()])
        assert found["AUPRC"] == pytest.approx(average_precision_score(marks, scores))
        assert found["token F1"] == pytest.approx(f1_score(marks, top))
        assert found["IoU"] == pytest.approx(jaccard_score(marks, top))


def test_texts_with_no_word_or_every_word_marked_say_nothing():
    order = np.tile(np.arange(3), (3, 1))
    marks = [np.zeros(3, bool), np.ones(3, bool), np.array([True, False, False])]
    found = agreement("mine", order, marks)
    assert found.to_dict("records") == [{"ranking": "mine", "AUPRC": 1.0, "token F1": 1.0, "IoU": 1.0}]


def test_a_rationale_is_a_text_of_words_or_a_mark_for_each():
    forms = ["A", "witty", "film", ",", "witty"]
    assert marked("Witty!", forms).tolist() == [False, True, False, False, True]
    assert marked([0, 1, 0, 0, 1], forms).tolist() == [False, True, False, False, True]
    assert marked([0, 1, 0, 0, 1, 1, 0], forms, unread=2).tolist() == [False, True, False, False, True]


@pytest.mark.parametrize("given", [[0, 1], [0, 1, 0, 0, 1, 1]])
def test_marks_that_do_not_fit_the_words_are_refused(given):
    with pytest.raises(UserError, match=f"marks {len(given)} words, but its text has 5"):
        marked(given, ["a", "witty", "film", ",", "witty"])


def test_marks_that_are_no_marks_are_refused():
    with pytest.raises(UserError, match="0 and 1 for each word"):
        marked([0, 0.5, 1], ["a", "b", "c"])


def test_rationales_come_from_a_column_as_words_or_as_lists(tmp_path):
    rows = [("a b", "b"), ("c d", ["d", "c"]), ("e f", [0, 1]), ("g h", None), ("i j", [])]
    lines = [json.dumps({"text": text, "why": why}) for text, why in rows]
    (tmp_path / "marked.jsonl").write_text("\n".join(lines), encoding="utf-8")
    texts = ["e f", "c d", "a b", "g h", "i j"]
    found = read_column(tmp_path / "marked.jsonl", texts, text="text", column="why")
    assert found == [[0, 1], "d c", "b", "", ""]
    with pytest.raises(UserError, match="no row with the text “k l”"):
        read_column(tmp_path / "marked.jsonl", ["k l"], text="text", column="why")
