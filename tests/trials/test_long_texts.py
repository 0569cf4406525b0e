"""Texts of very many words: judged in bounded memory, by rows of deletions, and beyond that left out."""

import json
import subprocess
import sys

import numpy as np
import pytest
from word_subjects import batch_for, many_texts, model

from heedful.auditing.maps import maps_trial
from heedful.auditing.reading import hidden_maps, maps_of, read_subject
from heedful.errors import UserError
from heedful.highlights.strength import strengths
from heedful.trials.erasure import random_deletions, words_alone
from heedful.trials.erasure.random_deletions import LONGEST, UNIT, budget_of, counts_of, read_deletions
from heedful.trials.erasure.rereading import Reader
from heedful.trials.rankings import regressions
from heedful.trials.rankings.regressions import shapley

MEMORY = 8_000_000_000  # bytes of addresses; a matrix of words by words alone would take 12.8 GB
AUDIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from heedful.cli import main
main(["audit", "long.csv", "--out", "found", "--seeds", "1", "--no-uniform"])
"""


@pytest.mark.slow  # half a minute
def test_an_audit_with_a_text_of_20_000_words_ends_well_in_8_gb(tmp_path):
    chance = np.random.default_rng(1)
    rows = ["text,label,split"]
    for number in range(48):
        words = [f"w{word}" for word in chance.integers(0, 40, 9)] + [["bad", "good"][number % 2]]
        rows.append(f"{' '.join(words)} {number},{number % 2},{'train' if number < 24 else 'test'}")
    rows.append(" ".join(f"w{word}" for word in chance.integers(0, 40, 20_000)) + ",1,test")
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", AUDIT.format(limit=MEMORY)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    audit = json.loads((tmp_path / "found" / "audit.json").read_text())
    by_length = {len(text["words"]): text for text in audit["instances"]}
    long, short = by_length[20_000], by_length[11]
    assert "more words than it had deletions" in long["untold"]
    assert {"attention", "leave-one-out"} <= {*long["rankings"], "attention"}
    assert not {"lime", "shapley"} & {*long["rankings"], *long["errors"]}
    assert short["untold"] == ""
    assert {"lime", "shapley"} <= set(short["rankings"])


def test_very_long_texts_get_fewer_deletions_and_longer_ones_none():
    words = np.array([10, 1280, 26_214, 26_215, 100_000, LONGEST, LONGEST + 1])
    assert LONGEST == 419_430
    assert budget_of(words, per_word=16, most=1280).tolist() == [160, 1280, 1280, 1200, 320, 80, 0]
    assert counts_of(np.array([2, LONGEST + 1]), per_word=16).tolist() == [4, 0]


@pytest.fixture
def short_ones(monkeypatch):
    """As if texts of more than 20 words were too long."""
    monkeypatch.setattr(random_deletions, "PLACES", 20 * UNIT)
    monkeypatch.setattr(words_alone, "LONGEST", 20)


TEXTS = ["w1 w2 w3 w4 w5 w6 w7 w8 w9", " ".join(f"w{n % 29}" for n in range(21)), "w3"]


def test_a_text_that_is_too_long_is_unknown_as_one_of_one_word(short_ones):
    subject = model("dp")
    maps = maps_of(subject)
    assert [found.rows.tolist() for found in read_deletions(Reader(subject, batch_for(subject, TEXTS)))] == [
        [0]
    ]
    for asked in (maps, hidden_maps(maps)):
        rows = maps_trial(subject, asked)(batch_for(subject, TEXTS), 0)
        assert rows["size"].notna().tolist() == [True, False, False]
        assert rows["told_attention"].notna().tolist() == [True, False, False]
    rows = maps_trial(subject, maps)(batch_for(subject, TEXTS), 0)
    assert rows["reads"].tolist() == [160 + 9, 0, 1]
    assert rows["alone"].notna().tolist() == [True, False, True]


def test_texts_that_are_too_long_take_no_part_in_a_reading(short_ones):
    subject = model("dp")
    texts = many_texts()
    own = read_subject(subject, texts)
    long = read_subject(subject, [*texts, TEXTS[1]])
    assert len(own.rows) + 1 == len(long.rows)
    assert len(own.scored) == len(long.scored) > 0


def test_what_needs_deletions_of_such_a_text_is_refused(monkeypatch):
    subject = model("dp")
    reader = Reader(subject, batch_for(subject, TEXTS))
    monkeypatch.setattr("heedful.highlights.strength.LONGEST", 20)
    with pytest.raises(UserError, match="A text of 21 words has no random deletions"):
        strengths(reader, "deletions")
    monkeypatch.setattr(regressions, "LONGEST", 20)
    with pytest.raises(UserError, match="at most 20 in a text, and one has 21"):
        shapley(reader)
