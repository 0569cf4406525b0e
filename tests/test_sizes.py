"""Whatever says how many or how large has a bound: beyond it, it is refused before anything is made."""

import inspect
import itertools
import math
import re
from dataclasses import fields, replace
from typing import get_args, get_origin

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typer.models import OptionInfo
from typer.testing import CliRunner

from heedful.auditing.plan import AuditSettings
from heedful.cli import app
from heedful.cli.app import Commands
from heedful.errors import UserError
from heedful.models.settings import ModelSettings
from heedful.settings import MOST, choices
from heedful.study.engines import Engine
from heedful.study.grid import Study
from heedful.training.settings import TrainingSettings
from heedful.understanding.watch import WatchSettings

SETTINGS = (TrainingSettings(), ModelSettings(), AuditSettings(), WatchSettings(), Study("s", ("sst",)))
SIZES = [
    (settings, item.name, item.metadata.get("most", MOST), get_origin(choice.kind) is tuple)
    for settings in SETTINGS
    for item, choice in zip(fields(settings), choices(type(settings)), strict=True)
    if choice.kind in (int, int | None, tuple[int, ...])
]


def test_there_are_sizes_to_try():
    assert {
        "batch",
        "epochs",
        "embedding",
        "widths",
        "limit",
        "deletions",
        "folds",
        "pair_words",
        "texts",
    } <= {name for _, name, _, _ in SIZES}


@pytest.mark.parametrize(("settings", "name", "most", "several"), SIZES, ids=lambda value: str(value)[:30])
@given(data=st.data())
def test_a_size_beyond_its_bound_is_refused_by_name(settings, name, most, several, data):
    size = data.draw(st.one_of(st.integers(most + 1, 2 * most), st.integers(most + 1, 10**4000)))
    with pytest.raises(UserError, match=r"must be at most|from 0 to 2\*\*63") as refused:
        replace(settings, **{name: (size,) if several else size})
    assert name.rstrip("s") in str(refused.value)


@pytest.mark.parametrize("value", [math.inf, math.nan, -math.inf])
def test_a_number_that_is_not_finite_is_refused_by_name(value):
    for settings in SETTINGS:
        for choice in choices(type(settings)):
            if choice.kind in (float, float | None):
                with pytest.raises(UserError, match=choice.name):
                    replace(settings, **{choice.name: value})


def test_a_grid_of_too_many_cells_is_refused_before_they_are_listed():
    grid = {f"setting_{n}": list(range(100)) for n in range(10)}
    with pytest.raises(
        UserError, match="at most 1,000,000 cells, but this grid has 100,000,000,000,000,000,000"
    ):
        Study("s", ("sst",), grid=grid)


@pytest.mark.parametrize("workers", [0, 1025, 10**9])
def test_so_many_workers_are_refused_before_any_is_started(workers):
    with pytest.raises(UserError, match=f"1 to 1,024 workers, but workers is {workers}"):
        Engine(workers=workers)


def options():
    """Every whole number that any command takes."""
    groups = [app, *(group.typer_instance for group in app.registered_groups)]
    commands = itertools.chain.from_iterable(group.registered_commands for group in groups)
    of_settings = {choice.name for cls in (TrainingSettings, ModelSettings) for choice in choices(cls)}
    for command in commands:
        for name, parameter in inspect.signature(command.callback).parameters.items():
            kind, *about = get_args(parameter.annotation) or (None,)
            info = next((one for one in about if isinstance(one, OptionInfo)), None)
            if info is not None and kind in (int, int | None, list[int], list[int] | None):
                yield command.callback.__name__, name, info, name in of_settings


def test_every_number_on_the_command_line_has_a_bound():
    found = list(options())
    assert len(found) > 40
    assert [
        (command, name) for command, name, info, bounded in found if info.max is None and not bounded
    ] == []


def test_too_many_is_one_sentence_before_any_work():
    for words in (["sweep", "study.toml", "--workers", "1000000"], ["reproduce", "--seeds", "1000000000000"]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2
        assert "less than or equal to 10" in done.stderr


def of_a_device():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")


@pytest.mark.parametrize(
    ("greedy", "said"),
    [
        (lambda: np.empty(2**57), r"\(Unable to allocate 1.00 EiB"),
        (
            lambda: torch.empty(2**57, dtype=torch.float64),
            r"\(can't allocate memory: you tried to allocate 1152",
        ),
        (of_a_device, r"\(CUDA out of memory. Tried to allocate 20.00 GiB"),
    ],
)
def test_want_of_memory_is_one_sentence(monkeypatch, greedy, said):
    monkeypatch.setattr(Commands, "resolve_command", lambda *_: greedy())
    done = CliRunner().invoke(app, ["data", "list"])
    assert done.exit_code == 2
    assert re.match(f"heedful: There is not enough memory for this {said}", done.stderr)
    assert done.stderr.endswith("ask for less at a time.\n")


def test_another_error_at_runtime_is_not_called_want_of_memory(monkeypatch):
    def wrong(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Commands, "resolve_command", wrong)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        CliRunner().invoke(app, ["data", "list"], catch_exceptions=False)
