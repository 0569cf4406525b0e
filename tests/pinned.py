"""Numbers that must not drift: kept in a file, compared digit for digit, and written anew where it is meant.

A file of tests that pins something is called by itself to write it: `python tests/papers/test_….py`.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Cases = Mapping[str, Callable[[], Any]]


def same(found: Any, expected: Any) -> bool:
    """Whether texts and counts are the same, and numbers up to rounding."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-7, abs=1e-12)
    return type(found) is type(expected) and found == expected


def kept(path: Path) -> dict[str, Any]:
    """What is pinned, by the name of the case."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {line["case"]: line["found"] for line in lines}


def keep(path: Path, cases: Cases) -> None:
    with path.open("w", encoding="utf-8") as file:
        for name, make in cases.items():
            file.write(json.dumps({"case": name, "found": make()}, ensure_ascii=False) + "\n")


def check(path: Path, case: str, found: Any) -> None:
    expected = kept(path)[case]
    plain = json.loads(json.dumps(found))
    assert same(plain, expected), f"{plain}\nwas\n{expected}"
