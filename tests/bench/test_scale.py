"""Made-up texts have the statistics of real ones; what they cost is measured in processes of their own."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from heedful.bench.made_texts import WordStatistics, write_texts
from heedful.bench.scale import Cost, exponent, measure_scale, measure_streaming, shown
from heedful.cli import app
from heedful.data import load_data
from heedful.data.synthetic import data_one
from heedful.data.words import split_texts


@pytest.fixture(scope="module")
def corpus():
    return data_one()


def test_made_texts_have_the_words_and_lengths_of_their_label(corpus, tmp_path):
    statistics = WordStatistics.of(corpus)
    path = tmp_path / "made.csv"
    characters = write_texts(path, statistics, 5003, seed=7)
    with open(path) as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5003
    assert sum(len(row["text"]) for row in rows) == characters
    train = corpus.split("train")
    for label, name in enumerate(corpus.label_names):
        real = split_texts([train.texts[row] for row in np.flatnonzero(train.labels == label)])
        made = split_texts([row["text"] for row in rows if row["label"] == name])
        assert set(made.types) <= set(real.types)
        assert set(made.lengths.tolist()) <= set(real.lengths.tolist())
        shares = dict(zip(real.types, real.counts / real.counts.sum(), strict=True))
        drawn = np.array([shares[form] for form in made.types])
        assert np.abs(made.counts / made.counts.sum() - drawn).max() < 0.005


def test_csv_and_parquet_are_the_same_texts_and_the_seed_decides(corpus, tmp_path):
    statistics = WordStatistics.of(corpus)
    for name, seed in (("one.csv", 0), ("two.parquet", 0), ("three.csv", 1)):
        write_texts(tmp_path / name, statistics, 997, seed=seed)
    one, two, three = (load_data(tmp_path / name) for name in ("one.csv", "two.parquet", "three.csv"))
    assert one.fingerprint == two.fingerprint != three.fingerprint


def test_an_exponent_is_found_at_the_larger_sizes():
    sizes = [1000, 4000, 16_000, 64_000, 256_000]
    assert exponent(sizes, [5 + 0.001 * n**1.5 for n in sizes]) == pytest.approx(1.5, abs=0.01)


def test_costs_are_shown_with_their_exponents(corpus):
    costs = [Cost("train", n, n / 100, 2**20) for n in (100, 200)]
    found = shown(corpus, costs)
    assert found.numbers["exponents"] == {"train": pytest.approx({"seconds": 1, "bytes": 0})}
    assert found.shown[0].rows == [["train", "1.0 s, 1 MB", "2.0 s, 1 MB", "1.00", "0.00"]]


def test_the_last_rows_can_be_the_test_split(corpus, tmp_path):
    write_texts(tmp_path / "made.csv", WordStatistics.of(corpus), 5003, test=3000)
    with open(tmp_path / "made.csv") as file:
        splits = [row["split"] for row in csv.DictReader(file)]
    assert splits == ["train"] * 2003 + ["test"] * 3000


def test_streamed_erasure_is_shown_beside_its_first_size(corpus):
    found = shown(corpus, [Cost("stream", 20, 1.0, 2**20), Cost("stream", 200, 9.0, 2**21)])
    assert [table.rows for table in found.shown] == [
        [["20", "1.0 s", "1 MB", "1.00"], ["200", "9.0 s", "2 MB", "2.00"]]
    ]
    assert found.numbers["streamed"][1]["ratio"] == 2


@pytest.mark.slow
def test_a_stream_is_measured(corpus):
    assert [cost.texts for cost in measure_streaming(corpus, tests=[300])] == [300]


@pytest.mark.slow
def test_the_workers_of_a_cluster_are_measured(corpus):
    pytest.importorskip("distributed")
    (cost,) = measure_streaming(corpus, tests=[300], workers=2)
    assert len(cost.workers) == 2
    assert min(cost.workers) > 200 * 2**20  # each has torch in it
    (table,) = shown(corpus, [cost]).shown
    assert [len(row) for row in table.rows] == [len(table.columns)] == [4]


def test_texts_can_be_made_as_parquet(corpus, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "heedful.bench.scale._measured", lambda command: asked.append(command) or (1.0, 1, ())
    )
    monkeypatch.setattr("heedful.bench.scale.write_texts", lambda path, *_, **__: asked.append([path.name]))
    list(measure_scale(corpus, [300], stages=["train"], form="parquet"))
    assert asked[0] == ["texts.parquet"]
    assert asked[1][1].endswith("/texts.parquet")


@pytest.mark.slow
def test_every_command_is_measured(corpus):
    costs = list(measure_scale(corpus, [300]))
    assert [cost.stage for cost in costs] == ["prepare", "train", "scores", "erase", "audit"]
    assert all(cost.bytes > 50 * 2**20 and cost.seconds > 0 for cost in costs)


def test_sizes_that_cannot_be_are_refused():
    for texts, said in (
        ("12", "texts can be made"),
        ("1000,-4", "texts can be made"),
        ("many", "whole numbers with commas between, not 'many'"),
    ):
        found = CliRunner().invoke(app, ["bench", "scale", "--texts", texts])
        assert found.exit_code == 2
        assert said in found.output
    found = CliRunner().invoke(app, ["bench", "scale", "--format", "json"])
    assert found.exit_code == 2
    assert "there are: csv, parquet" in found.output
