"""The public names: one list, in `heedful/__init__`, and one page that tells of each."""

import inspect
import re
from pathlib import Path

import pytest

import heedful

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
TOLD = re.findall(r"\*\*`(\w+)(?:\(([^`]*)\))?`\*\*", PAGE)


def test_the_page_and_the_list_have_the_same_names():
    assert sorted(name for name, _ in TOLD) == sorted(heedful.__all__)
    assert 35 <= len(TOLD) <= 48


def test_each_name_is_there_and_says_what_it_is():
    for name in heedful.__all__:
        if name != "AttentionClassifier":  # of an extra
            assert inspect.getdoc(getattr(heedful, name)), name


def test_the_arguments_on_the_page_are_those_of_the_program():
    for name, arguments in TOLD:
        if not arguments:
            continue
        known = inspect.signature(getattr(heedful, name)).parameters
        free = any(one.kind is one.VAR_KEYWORD for one in known.values())
        for argument in arguments.split(","):
            word = argument.split("=")[0].strip()
            if word not in ("*", "...", "**options"):
                assert word in known or free, f"{name} has no argument {word}"


def test_each_name_is_used_in_an_example_or_made_by_one():
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    shown = [name for name in heedful.__all__ if re.search(rf"heedful\.{name}\b", code)]
    assert len(shown) >= 14


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        _ = heedful.adit
