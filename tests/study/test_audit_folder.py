"""Where an audit goes, and what its folder holds already: refused before any work, and counted as done."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from audit_corpora import graded, write_csv

import heedful
from heedful.errors import UserError
from heedful.records.rows import append_rows
from heedful.study.auditing.at_hand import models_left, other_seeds, share_left
from heedful.study.auditing.plan import AuditSettings, begun_in, claim_folder


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of texts; training on it would fail the test."""

    def refuse(*_, **__):
        raise AssertionError("this place should have been refused before any training")

    for module in ("heedful.study.kept_runs", "heedful.study.auditing.forecast"):
        monkeypatch.setattr(f"{module}.train_run", refuse)
    write_csv(graded(60), tmp_path / "reviews.csv")
    return tmp_path / "reviews.csv"


@pytest.mark.parametrize(
    ("out", "said"),
    [("taken", "is no folder"), ("taken/deeper", "is no folder"), ("thesis", "holds other files")],
)
def test_a_place_that_cannot_be_used_is_refused_before_training_and_left_as_it_was(file, out, said):
    (file.parent / "taken").write_text("mine")
    (file.parent / "thesis").mkdir()
    (file.parent / "thesis" / "thesis.tex").write_text("all of it")
    before = sorted(file.parent.rglob("*"))
    with pytest.raises(UserError, match=said):
        heedful.audit(file, out=file.parent / out)
    assert sorted(file.parent.rglob("*")) == before


def test_an_audit_with_other_settings_is_refused_before_training(file):
    claim_folder(file.parent / "audit", {"subject": "x", **asdict(AuditSettings(seed=3))})
    with pytest.raises(UserError, match=r"another audit \(seed was 3, and is 0\)"):
        heedful.audit(file, out=file.parent / "audit")


def test_checking_a_place_writes_nothing_and_claiming_it_does(tmp_path):
    place = tmp_path / "new" / "audit"
    assert begun_in(place, {}) is None
    assert not place.parent.exists()
    claim_folder(place, {"seed": 5})
    assert begun_in(place, {"seed": 5}) == {"seed": 5}


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range_is_refused_before_any_work(file, seed):
    with pytest.raises(UserError, match="from 0 to"):
        heedful.audit(file, out=file.parent / "audit", seed=seed)
    assert not (file.parent / "audit").exists()


def test_the_number_of_rationales_is_checked_before_any_work(file):
    texts = 20  # a third of them is the test split
    with pytest.raises(UserError, match=rf"{texts} texts, but 3 rationales"):
        heedful.audit(file, out=file.parent / "audit", rationales=["lively"] * 3)


def test_what_was_measured_is_not_left(tmp_path):
    assert share_left(tmp_path, "words", texts=20) == 1
    (tmp_path / "rows" / "words").mkdir(parents=True)
    append_rows(tmp_path / "rows" / "words", pd.DataFrame({"batch": np.zeros(5, int)}))
    assert share_left(tmp_path, "words", texts=20) == pytest.approx(0.75)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "seconds.json").write_text(json.dumps({"words": 1.5}))
    assert share_left(tmp_path, "words", texts=20) == 0
    assert share_left(tmp_path, "layer", texts=20) == 1


def test_models_that_are_kept_or_no_longer_needed_are_not_trained_again(tmp_path):
    kept, private = AuditSettings(seeds=3), AuditSettings(seeds=3, keep_texts=False)
    assert models_left(tmp_path, kept, seed=7) == ["uniform", "seed-8", "seed-9"]
    assert models_left(tmp_path, kept, seed=7, control="shuffled") == ["seed-8", "seed-9"]
    (tmp_path / "runs" / "seed-8").mkdir(parents=True)
    (tmp_path / "runs" / "seed-8" / "result.json").write_text("{}")
    assert models_left(tmp_path, kept, seed=7) == ["uniform", "seed-9"]
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "uniform.json").write_text("[]")
    (tmp_path / "records" / "seconds.json").write_text('{"seeds": 1.0}')
    assert models_left(tmp_path, kept, seed=7) == ["seed-9"]
    assert models_left(tmp_path, private, seed=7) == []


def test_after_the_last_seed_comes_the_first():
    assert other_seeds(2**63 - 2, 3) == [2**63 - 1, 0]


def test_texts_to_learn_from_take_no_other_texts_beside_them(tmp_path):
    train, other = tmp_path / "train.csv", tmp_path / "test.csv"
    for path in (train, other):
        path.write_text("text,label\ngood,1\nbad,0\n")
    with pytest.raises(UserError, match="leave --data out"):
        heedful.audit(str(train), str(other), out=tmp_path / "audit")
    assert not (tmp_path / "audit").exists()
