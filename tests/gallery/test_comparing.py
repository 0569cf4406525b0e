"""When an entry passes: its gain over the seeds excludes none, and its figure reaches the aim."""

import json
import time
from dataclasses import replace

import pytest

from heedful.gallery import ENTRIES, Entry, Outcome, compare_entry, entry


def made(figures, *, baseline=0.5, better="higher", aim=None):
    def train(seed, size):
        return Outcome(figures[seed], baseline, 7, 7, table={"other": seed / 10})

    return Entry(
        name="one",
        title="One",
        source="Somebody (2020)",
        task="A task.",
        formula="a = b",
        without="nothing",
        measure="accuracy",
        better=better,
        train=train,
        draw=lambda outcome, figure: None,
        aim=aim,
    )


def test_a_gain_that_all_seeds_show_passes_and_one_that_they_dispute_does_not():
    assert compare_entry(made([0.9, 0.91, 0.92])).passes
    disputed = compare_entry(made([0.9, 0.5, 0.6]))
    assert disputed.margin.value > 0
    assert not disputed.passes
    assert not compare_entry(made([0.4, 0.41, 0.42])).passes


def test_where_less_is_better_a_smaller_figure_is_a_gain():
    assert compare_entry(made([0.4, 0.41, 0.42], better="lower")).passes
    assert not compare_entry(made([0.9, 0.91, 0.92], better="lower")).passes


def test_one_seed_shows_nothing():
    assert not compare_entry(made([0.9]), seeds=(0,)).passes


@pytest.mark.parametrize(("better", "figure"), [("higher", 0.7), ("lower", 0.3)])
def test_an_aim_must_be_reached_by_the_mean(better, figure):
    figures = [figure - 0.01, figure, figure + 0.01]
    nearer, farther = (0.69, 0.71) if better == "higher" else (0.31, 0.29)
    assert compare_entry(made(figures, better=better, aim=nearer)).passes
    assert not compare_entry(made(figures, better=better, aim=farther)).passes


def test_a_rehearsal_has_no_aim():
    compared = compare_entry(made([0.9, 0.91, 0.92], aim=0.99), size="small")
    assert compared.passes
    assert compared.to_dict()["aim"] is None


def test_plain_values_hold_the_means_and_every_seed():
    shown = compare_entry(made([0.9, 0.91, 0.95])).to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["figure"] == pytest.approx(0.92)
    assert shown["margin"]["value"] == pytest.approx(shown["figure"] - shown["baseline"])
    assert [seed["figure"] for seed in shown["by_seed"]] == [0.9, 0.91, 0.95]
    assert shown["by_seed"][2]["table"] == {"other": 0.2}


def test_waiting_costs_time_by_the_clock_and_none_of_the_processor():
    def train(seed, size):
        if seed == 1:
            time.sleep(0.3)
        return Outcome(0.9 + seed / 100, 0.5, 7, 7)

    shown = compare_entry(replace(made([]), train=train)).to_dict()
    assert shown["seconds"] >= 0.3
    assert 0 < shown["processor_seconds"] < 0.2


def test_processor_time_is_that_of_the_slowest_seed():
    def train(seed, size):
        begun = time.process_time()
        while time.process_time() - begun < (0.02, 0.1, 0.06)[seed]:
            pass
        return Outcome(0.9 + seed / 100, 0.5, 7, 7)

    assert 0.1 <= compare_entry(replace(made([]), train=train)).processor_seconds < 0.15


def test_the_aims_of_the_specification_are_set():
    assert entry("bahdanau").aim == entry("luong").aim == 0.98
    assert entry("memory").aim == 0.95
    assert len(ENTRIES) == 12
