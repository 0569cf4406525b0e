"""Highlights from model and texts to files: what is marked, what is said, and what is written."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from small_model import CLASSES, OTHER, WORTH, small_model, texts_of

import heedful
from heedful.auditing.names import NOBODY
from heedful.errors import UserError
from heedful.highlights import Highlights, making
from heedful.highlights.choosing import CHANGES
from heedful.highlights.marking import NO_WORDS
from heedful.highlights.texts import Texts, open_texts, survey
from heedful.models.trace import decisions


@pytest.fixture(scope="module")
def found():
    return heedful.highlight(small_model(), texts_of(60), seed=3)


def test_the_word_that_decides_is_marked_with_its_change(found):
    for item, text in zip(found, texts_of(60), strict=True):
        own = next(word for word in text.split() if word in WORTH)
        marked = {mark.word: mark for mark in item.marks}
        assert item.text == text
        assert own in marked
        assert marked[own].effect > 0.05
        assert item.text[marked[own].start : marked[own].end] == own
        assert item.decision == CLASSES[int(WORTH[own] > 0)]


def test_a_flipping_set_flips_and_no_smaller_one_does(found):
    model = small_model()

    def decides(words):
        return CLASSES[int(decisions(model.logits(model.encode([" ".join(words)])))[0])]

    known = [item for item in found if item.flip is not None]
    assert len(known) > 50
    for item in known[:20]:
        words = item.text.split()
        rest = [word for place, word in enumerate(words) if place not in item.flip.places]
        assert decides(rest) == item.flip.to != item.decision
        for gone in combinations(range(len(words)), len(item.flip.places) - 1):
            kept = [word for place, word in enumerate(words) if place not in gone]
            assert decides(kept) == item.decision


def test_it_says_that_a_small_audit_chose_the_map():
    said = []
    found = heedful.highlight(small_model(), texts_of(60), say=said.append)
    assert any("small one of its own" in one for one in said)
    assert "small audit of" in found.about.why
    assert found.about.by != "random"


def test_a_text_in_which_nothing_is_surely_moved_has_no_marks():
    found = heedful.highlight(small_model(), [*texts_of(30), "film film film film film film film film"])
    assert found[30].marks == ()
    assert found[30].said == NOBODY


def test_a_saturated_text_by_leave_one_out_has_no_single_word():
    text = " ".join(["gorgeous"] * 9)
    found = heedful.highlight(small_model(), [text], by="leave-one-out", strength="leave-one-out")
    assert (found[0].marks, found[0].said) == ((), NOBODY)


def test_a_default_class_is_never_painted():
    worth = {"gorgeous": 4.0, "witty": 3.0}
    texts = [*texts_of(60)[1::2], *["film story scene plot actors music camera"] * 3, "scene plot " * 4]
    texts += [
        " ".join(np.random.default_rng(row).choice(["film", "story", "music", "letter"], 8))
        for row in range(40)
    ]
    found = heedful.highlight(small_model(worth, bias=-1.5, others=0.0), texts)
    assert found.about.defaults == ("bad",)
    bad = [item for item in found if item.decision == "bad"]
    assert len(bad) >= 40
    assert not any(item.marks for item in bad)
    assert all("No word decides “bad”" in item.said for item in bad)


def test_texts_without_words_keep_their_place():
    found = heedful.highlight(small_model(), ["gorgeous film scene", "😀", "", "dull story film"], by=CHANGES)
    assert [item.said == NO_WORDS for item in found] == [False, True, True, False]
    assert [item.number for item in found] == [0, 1, 2, 3]


def test_the_cut_into_pieces_changes_nothing(found, monkeypatch):
    monkeypatch.setattr(making, "PIECE", 7)
    again = heedful.highlight(small_model(), texts_of(60), seed=3)
    assert [item.marks for item in again] == [item.marks for item in found]


def test_words_of_a_black_box_are_measured_by_leaving_them_out():
    worth = {**WORTH, **{word: 0.2 * (-1) ** place for place, word in enumerate(OTHER)}}

    def predict(texts):
        margin = np.array([sum(worth.get(word, 0.0) for word in text.split()) for text in texts])
        return 1 / (1 + np.exp(-margin))

    found = heedful.highlight(predict, texts_of(40), classes=CLASSES)
    assert found.about.strength == "leave-one-out"
    assert all(len(item.marks) == 1 and item.marks[0].word in WORTH for item in found)
    assert all(item.flip is None for item in found)  # not known exactly, so left out


def test_a_map_of_ones_own_paints(found):
    def first_word(reader, *, seed=0):
        scores = np.zeros(tuple(reader.batch.mask.shape))
        scores[:, 0] = 1
        return scores

    own = heedful.highlight(
        small_model(others=0.0),
        ["gorgeous film witty scene", "film gorgeous scene plot"],
        by="mine",
        rankings={"mine": first_word},
    )
    assert [mark.word for mark in own[0].marks] == ["gorgeous"]
    assert "misses what matters" in own[1].said
    assert [mark.word for mark in own[1].marks] == ["gorgeous"]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"by": "atention"}, "map to highlight by"),
        ({"strength": "magic"}, "way to measure strength"),
        ({"audit": "nowhere"}, "holds no audit"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(options, match):
    with pytest.raises(UserError, match=match):
        heedful.highlight(small_model(), texts_of(4), **options)


def test_texts_without_any_word_are_refused():
    with pytest.raises(UserError, match="no text with words"):
        heedful.highlight(small_model(), ["😀", "…"])


# Tables


def test_frames_have_a_row_a_text_and_a_row_a_word(found):
    table, words = found.to_frame(), found.to_frame(words=True)
    assert len(table) == 60
    assert len(words) == sum(len(item.marks) for item in found)
    assert {"word", "effect", "error", "number"} <= set(words)
    assert json.loads(table["highlights"][0])[0]["word"] == found[0].marks[0].word


def test_parquet_is_loaded_as_it_was_saved(found, tmp_path):
    again = Highlights.load(found.save(tmp_path / "x.parquet"))
    assert (again.about, again.items) == (found.about, found.items)


def test_every_format_has_every_text(found, tmp_path):
    assert len(pd.read_csv(found.save(tmp_path / "x.csv"))) == 60
    lines = found.save(tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["number"] for line in lines] == list(range(60))
    assert found.save(tmp_path / "x.html").read_text(encoding="utf-8").count("<article") == 60


def test_another_ending_and_another_file_are_refused(found, tmp_path):
    with pytest.raises(UserError, match=r"ends in '\.txt'"):
        found.save(tmp_path / "x.txt")
    (tmp_path / "y.parquet").write_bytes(b"no")
    with pytest.raises(UserError, match="damaged"):
        Highlights.load(tmp_path / "y.parquet")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "z.parquet")
    with pytest.raises(UserError, match="holds no highlights"):
        Highlights.load(tmp_path / "z.parquet")


def test_without_texts_nothing_written_has_a_word(tmp_path):
    found = heedful.highlight(small_model(), texts_of(40), keep_texts=False)
    assert sum(len(item.marks) for item in found) >= 40
    for ending in (".html", ".csv", ".jsonl", ".parquet"):
        content = found.save(tmp_path / f"x{ending}").read_bytes()
        assert not [word for word in WORTH if word.encode() in content]
        assert b"letter" not in content


# Files


def files(tmp_path, rows=60, **options):
    path = tmp_path / "texts.csv"
    pd.DataFrame({"review": texts_of(rows)}).to_csv(path, index=False)
    return making.highlight_files(
        small_model(), open_texts(path), [tmp_path / "x.parquet"], seed=3, **options
    )


def test_a_file_gives_what_a_list_gives(found, tmp_path):
    tally = files(tmp_path)
    again = Highlights.load(tmp_path / "x.parquet")
    assert again.items == found.items
    assert tally.texts == 60
    assert tally.marked + tally.nobody == 60
    assert sorted(path.name for path in tmp_path.iterdir()) == ["texts.csv", "x.parquet"]


def test_what_was_stopped_goes_on_where_it_was(found, tmp_path, monkeypatch):
    monkeypatch.setattr(making, "PIECE", 13)
    real, count = making.Marking.highlights, [0]

    def stopping(self, batch):
        count[0] += len(batch)
        if count[0] > 40:
            raise KeyboardInterrupt
        return real(self, batch)

    monkeypatch.setattr(making.Marking, "highlights", stopping)
    with pytest.raises(KeyboardInterrupt):
        files(tmp_path)
    assert not (tmp_path / "x.parquet").exists()
    kept = len(list((tmp_path / "x.parquet.parts").glob("part-*")))
    assert kept == 3
    count[0] = 0
    monkeypatch.setattr(
        making.Marking,
        "highlights",
        lambda self, batch: (count.__setitem__(0, count[0] + len(batch)), real(self, batch))[1],
    )
    files(tmp_path)
    assert count[0] == 60 - 3 * 13
    assert Highlights.load(tmp_path / "x.parquet").items == found.items


def test_parts_of_other_texts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "write", lambda *given: (_ for _ in ()).throw(RuntimeError))
    with pytest.raises(RuntimeError):
        files(tmp_path)
    with pytest.raises(UserError, match="with other settings"):
        files(tmp_path, rows=61)


def test_a_survey_counts_and_draws_evenly():
    texts = Texts("numbers", lambda: iter([f"t{number}" for number in range(1000)]))
    found = survey(texts, 100, seed=1)
    assert found.count == 1000
    assert len(set(found.sample)) == 100
    assert 350 < np.mean([int(text[1:]) for text in found.sample]) < 650
    assert survey(texts, 100, seed=1) == found
