"""The public names: one list, in `heedful/__init__`, and one page that tells of each."""

import ast
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


FUNCTIONS = [name for name in heedful.__all__ if name.islower()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_functions_docstring_has_an_example_that_the_function_could_be_called_with(name):
    told = inspect.getdoc(getattr(heedful, name)) or ""
    found = re.findall(rf"^Example: `(heedful\.{name}\(.+)`$", told, re.MULTILINE)
    assert len(found) == 1
    calls = [node for node in ast.walk(ast.parse(found[0])) if isinstance(node, ast.Call)]
    call = next(node for node in calls if ast.unparse(node.func) == f"heedful.{name}")
    given = {one.arg: None for one in call.keywords}
    inspect.signature(getattr(heedful, name)).bind(*call.args, **given)


def test_each_name_is_used_in_an_example_or_made_by_one():
    code = "".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    code += "\n".join(re.findall(r"`([^`\n]*heedful\.[^`\n]+)`", PAGE))
    assert [name for name in heedful.__all__ if not re.search(rf"heedful\.{name}\b", code)] == []


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'adit'"):
        _ = heedful.adit
