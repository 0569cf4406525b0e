"""A corpus goes through in batches: rows as they are made, a killed stream goes on, memory stays flat."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from word_subjects import VOCABULARY, many_texts, model

from heedful.data.encoded import encode_texts
from heedful.errors import UserError
from heedful.records import read_rows
from heedful.records.rows import read_parts
from heedful.trials import stream as stream_module
from heedful.trials.erasure.until_flip import Erasures, erase
from heedful.trials.erasure.word_erasures import WordErasures, word_erasures
from heedful.trials.stream import sample_rows, stream
from heedful.trials.streamed_trials import layer_findings, layer_trial, word_findings, word_trial

TEXTS = many_texts(37)


def encoded(texts=TEXTS, *, sentences=False):
    return encode_texts(texts, np.zeros(len(texts), int), VOCABULARY, sentences=sentences)


def lengths_trial(batch, first):
    return pd.DataFrame({"words": batch.mask.sum(1).numpy(), "first": first, "own": batch.rows})


def test_every_text_has_one_row_and_keeps_its_number(tmp_path):
    texts = encoded()
    told = []
    done = stream(lengths_trial, model(), texts, tmp_path / "a", recipe={}, places=29, progress=told.append)
    rows = done.rows()
    assert rows["instance"].tolist() == list(range(37))
    assert rows["own"].tolist() == list(range(37))
    assert rows["words"].tolist() == texts.lengths.tolist()
    assert (done.instances, done.skipped, sum(told)) == (37, 0, 37)
    assert done.batches == len(list((tmp_path / "a").glob("part-*.parquet"))) > 5
    # `first` counts the texts walked before.
    assert sorted(rows["first"].unique()) == sorted(np.cumsum([0, *told[:-1]]))


def test_of_many_rows_some_are_drawn_and_one_part_is_held_at_a_time(tmp_path, monkeypatch):
    done = stream(lengths_trial, model(), encoded(), tmp_path / "a", recipe={}, places=29)
    whole = done.rows()
    pd.testing.assert_frame_equal(done.rows(37), whole)
    read = []
    monkeypatch.setattr(
        stream_module, "read_parts", lambda parts: read.append(len(parts)) or read_parts(parts)
    )
    drawn = done.rows(11, seed=3)
    assert read == [1] * done.batches
    assert len(drawn) == 11
    assert drawn["instance"].is_monotonic_increasing
    taken = whole.set_index("instance").loc[drawn["instance"]].reset_index()
    pd.testing.assert_frame_equal(drawn, taken[drawn.columns])
    pd.testing.assert_frame_equal(drawn, done.rows(11, seed=3))
    assert drawn["instance"].tolist() != done.rows(11, seed=4)["instance"].tolist()
    # Every text has the same chance, the long ones in the first parts and the short ones in the last.
    counts = np.zeros(37)
    for seed in range(200):
        counts[done.rows(11, seed=seed)["instance"]] += 1
    assert abs(counts / 200 - 11 / 37).max() < 0.14


def test_a_split_is_summed_up_by_all_its_texts_or_by_some_of_very_many(tmp_path, monkeypatch):
    done = stream(lengths_trial, model(), encoded(), tmp_path / "a", recipe={}, places=29)
    assert len(done.summed()) == 37
    monkeypatch.setattr(stream_module, "MOST_SUMMED", 36)
    monkeypatch.setattr(stream_module, "DRAWN", 18)
    pd.testing.assert_frame_equal(done.summed(seed=5), done.rows(18, seed=5))


def test_texts_are_streamed_as_well_as_ids(tmp_path):
    subject = model("han-gru")
    by_text = stream(word_trial(subject), subject, TEXTS, tmp_path / "a", recipe={}, places=61).rows()
    by_ids = stream(
        word_trial(subject), subject, encoded(sentences=True), tmp_path / "b", recipe={}, places=61
    ).rows()
    pd.testing.assert_frame_equal(by_text, by_ids, atol=1e-9)


def test_a_stream_says_what_all_texts_at_once_say(tmp_path):
    subject = model("bigru")
    rows = stream(word_trial(subject), subject, TEXTS, tmp_path / "a", recipe={}, places=61).rows()
    whole = word_erasures(subject, subject.encode(TEXTS)).to_frame()
    pd.testing.assert_frame_equal(rows[whole.columns], whole, atol=1e-9)
    assert len(word_findings(rows)[0]) > 20


@pytest.mark.parametrize(("name", "level"), [("dp", "final"), ("han-gru", "final"), ("han-gru", "words")])
def test_layer_trials_are_the_same_however_the_corpus_is_cut(tmp_path, name, level):
    subject = model(name)
    texts = encoded(sentences=name.startswith("han"))
    trial = layer_trial(subject, level=level)
    small, large = (
        stream(trial, subject, texts, tmp_path / str(places), recipe={}, places=places).rows()
        for places in (29, 10_000)
    )
    pd.testing.assert_frame_equal(small, large, atol=1e-9)
    found, notes = layer_findings(small, coordinates={"corpus": "made"})
    names = {finding.name for finding in found}
    assert {"fraction removed", "flips by the top item"} <= names
    assert ("optimality gap" in names) == (level == "final")
    assert notes == []


def test_the_rows_of_a_layer_trial_are_those_of_erase(tmp_path):
    subject = model("dp")
    same = [text for text in TEXTS if len(text.split()) == 7] + TEXTS[:1]
    rows = stream(layer_trial(subject), subject, same[:-1], tmp_path / "a", recipe={}).rows()
    direct = erase(subject.trace(subject.encode(same[:-1])))
    again = Erasures.from_frame(rows)
    for name in direct.sizes:
        np.testing.assert_array_equal(again.sizes[name], direct.sizes[name])


def test_a_stream_goes_on_where_it_stopped_and_ends_the_same(tmp_path):
    subject, texts = model("bigru"), encoded()
    trial = word_trial(subject)
    whole = stream(trial, subject, texts, tmp_path / "whole", recipe={"seed": 0}, places=61)

    seen = 0

    def stops(batch, first):
        nonlocal seen
        seen += 1
        if seen == 4:
            raise KeyboardInterrupt
        return trial(batch, first)

    with pytest.raises(KeyboardInterrupt):
        stream(stops, subject, texts, tmp_path / "part", recipe={"seed": 0}, places=61)
    assert len(list((tmp_path / "part").glob("part-*.parquet"))) == 3
    again = stream(trial, subject, texts, tmp_path / "part", recipe={"seed": 0}, places=61)
    assert (again.skipped, again.batches) == (3, whole.batches)
    pd.testing.assert_frame_equal(again.rows(), whole.rows())

    def never(batch, first):
        raise AssertionError

    assert (
        stream(never, subject, texts, tmp_path / "part", recipe={"seed": 0}, places=61).skipped
        == whole.batches
    )


def test_another_question_does_not_mix_with_the_answers_of_one(tmp_path):
    subject, texts = model(), encoded()
    stream(lengths_trial, subject, texts, tmp_path / "a", recipe={"seed": 0})
    for changes, name in (
        ({"recipe": {"seed": 1}}, "seed was 0, and is 1"),
        ({"recipe": {"seed": 0}, "rows": [1, 2]}, "texts was"),
        ({"recipe": {"seed": 0}, "places": 29}, "places was"),
    ):
        with pytest.raises(UserError, match=name):
            stream(lengths_trial, subject, texts, tmp_path / "a", **changes)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other files"):
        stream(lengths_trial, subject, texts, tmp_path / "b", recipe={})
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["mine.txt"]  # not even a lock


def test_a_damaged_part_is_named(tmp_path):
    subject, texts = model(), encoded()
    stream(lengths_trial, subject, texts, tmp_path / "a", recipe={})
    part = next((tmp_path / "a").glob("part-*.parquet"))
    part.write_bytes(part.read_bytes()[:40])
    with pytest.raises(UserError, match=f"{part.name} is damaged"):
        stream(lengths_trial, subject, texts, tmp_path / "a", recipe={})


def test_a_limit_draws_texts_by_the_seed():
    assert sample_rows(7, None).tolist() == list(range(7))
    assert sample_rows(7, 11).tolist() == list(range(7))
    drawn = sample_rows(1000, 13, seed=3)
    assert len(set(drawn.tolist())) == 13
    assert drawn.tolist() == sorted(drawn.tolist()) == sample_rows(1000, 13, seed=3).tolist()
    assert drawn.tolist() != sample_rows(1000, 13, seed=4).tolist()
    with pytest.raises(UserError, match="at least 1"):
        sample_rows(7, 0)


SCRIPT = """
import re, sys, tempfile
from dataclasses import replace
from pathlib import Path
import numpy as np
sys.path.insert(0, {here!r})
from word_subjects import SETTINGS, VOCABULARY
from heedful.data.encoded import encode_texts
from heedful.models.building import build_model
from heedful.trials.stream import stream
from heedful.trials.streamed_trials import layer_trial, word_trial

subject = build_model(replace(SETTINGS["dp"], embedding=61), VOCABULARY, ("no", "yes"))
words = np.array([f"w{{n}}" for n in range(29)])

def peak(count, folder):
    generator = np.random.default_rng(0)
    texts = (" ".join(words[generator.integers(0, 29, 60)]) for _ in range(count))
    encoded = encode_texts(texts, None, VOCABULARY)
    kept = []
    trial = {trial}_trial(subject, ["attention"])
    def maybe_kept(batch, first):
        if {keeps}:
            kept.append(subject.trace(batch))
        return trial(batch, first)
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest mark so far
    stream(maybe_kept, subject, encoded, folder / "rows", recipe={{}}, places=4096)
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

with tempfile.TemporaryDirectory() as folder:
    print(*[peak(count, Path(folder) / str(run)) for run, count in enumerate((500, 500, 2000))])
"""


def growth(keeps, trial="word"):
    """How many MB more 2,000 texts take than 500, after 500 to warm up."""
    script = SCRIPT.format(here=str(Path(__file__).parent), keeps=keeps, trial=trial)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    _, small, large = map(float, run.stdout.split())
    return large - small


linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets a peak")


@linux
@pytest.mark.slow
@pytest.mark.parametrize("trial", ["word", "layer"])
def test_memory_does_not_grow_with_the_corpus(trial):
    assert growth(keeps=False, trial=trial) < 8


@linux
@pytest.mark.slow
def test_a_stream_that_kept_its_traces_would_be_seen_to_grow():
    """So that the test above can fail: the values of 1,500 more texts are 21 MB."""
    assert growth(keeps=True) > 15


KILLED = """
import sys, time
sys.path.insert(0, {here!r})
from word_subjects import model, many_texts
from heedful.trials.stream import stream
from heedful.trials.streamed_trials import word_trial
subject = model("bigru")
trial = word_trial(subject)
def slowly(batch, first):
    time.sleep(0.1)
    return trial(batch, first)
stream(slowly, subject, many_texts(37), {folder!r}, recipe={{}}, places=29)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_whole_parts_and_is_taken_up_again(tmp_path):
    folder = tmp_path / "rows"
    script = KILLED.format(here=str(Path(__file__).parent), folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        until = time.monotonic() + 60
        while len(list(folder.glob("part-*.parquet"))) < 3 and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = len(list(folder.glob("part-*.parquet")))
    subject = model("bigru")
    again = stream(word_trial(subject), subject, TEXTS, folder, recipe={}, places=29)
    assert 3 <= before == again.skipped < again.batches
    assert again.rows()["instance"].tolist() == list(range(37))
    assert json.loads((folder / "stream.json").read_text())["schema"] == 2
    assert len(WordErasures.from_frame(read_rows(folder))) == 37
