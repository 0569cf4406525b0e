"""Bad input by the thousand: read, or refused in a sentence; and the hunter of faults finds faults."""

import time

import numpy as np
import pytest
from typer.testing import CliRunner

from heedful.bench import fuzz as fuzzing
from heedful.bench.fuzz import damage, fuzz
from heedful.cli import app
from heedful.errors import UserError


@pytest.mark.slow
def test_thousands_of_damaged_inputs_leave_no_fault():
    found = fuzz(3000, seed=20)
    assert found.faults == []
    assert sum(found.counts.values()) == 3000
    for kind in {kind for kind, _ in found.counts}:
        assert found.of(kind, "refused") > 0, f"no {kind} was ever refused: what is damaged there?"
    assert sum(found.of(kind, "read") for kind, _ in found.counts) > 150


def test_a_case_is_the_same_whatever_was_tried_before():
    kinds = ("csv file", "study")
    whole = fuzz(300, seed=3, kinds=kinds)
    parts = [fuzz(100, seed=3, kinds=kinds, first=first) for first in (0, 100, 200)]
    assert sum((part.counts for part in parts), start=type(whole.counts)()) == whole.counts
    assert damage(b"abc" * 9, np.random.default_rng([1, 2])) == damage(
        b"abc" * 9, np.random.default_rng([1, 2])
    )


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (KeyError("gone"), "KeyError: 'gone'"),
        (AssertionError("another number"), "another number"),
        (UserError("first line\nsecond"), "more than a sentence"),
    ],
)
def test_a_fault_is_found_and_told_with_its_case(monkeypatch, raised, said):
    def fail(chance, folder):
        raise raised

    monkeypatch.setattr(fuzzing, "_study", fail)
    found = fuzz(2, seed=5, kinds=("study",))
    assert [
        f"study, seed 5, case {n}: " in fault and said in fault for n, fault in enumerate(found.faults)
    ] == [True] * 2
    result = CliRunner().invoke(app, ["bench", "fuzz", "--cases", "2", "--kinds", "study", "--seed", "5"])
    assert result.exit_code == 1
    assert "study, seed 5, case 1" in result.output


def test_what_takes_too_long_is_a_fault_and_what_waits_is_none(monkeypatch):
    def busy(chance, folder):
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        return "read"

    monkeypatch.setattr(fuzzing, "SLOW", 0.1)
    monkeypatch.setattr(fuzzing, "_study", busy)
    assert "took" in fuzz(1, kinds=("study",)).faults[0]
    monkeypatch.setattr(fuzzing, "_study", lambda *_: time.sleep(0.3) or "read")
    assert fuzz(1, kinds=("study",)).faults == []


def test_an_unknown_kind_is_refused():
    result = CliRunner().invoke(app, ["bench", "fuzz", "--cases", "2", "--kinds", "csv"])
    assert result.exit_code == 2
    assert "There is no kind of input 'csv'" in result.output
