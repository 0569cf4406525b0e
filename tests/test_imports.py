"""Imports point one way: a part may import only from parts before it (CONTRIBUTING.md draws the line)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "heedful"

# What each part may import from, besides itself. `data` and `attention` do not know of each other.
LEAVES = ["errors", "lazy", "settings", "files", "records", "store", "drawing"]
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "lazy": set(),
    "settings": {"errors", "files"},
    "files": {"errors"},
    "records": {"errors", "files"},
    "store": {"errors", "files", "records"},
    "drawing": {"errors", "files"},
    "data": {*LEAVES},
    "attention": {"errors", "lazy"},
}
LINE = [
    "models",
    "training",
    "understanding",
    "trials",
    "study",
    "auditing",
    "highlights",
    "comparing",
    "papers",
    "gallery",
    "bench",
    "web",
    "cli",
]
for place, part in enumerate(LINE):
    MAY_IMPORT[part] = {*LEAVES, "data", "attention", *LINE[:place]}


def imported_parts(tree: ast.Module, package: list[str]) -> list[tuple[int, str]]:
    """Line and part of every import of heedful in a file, also inside functions, also relative ones."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            base = package[: len(package) - node.level + 1] + module if node.level else module
            names = [base] if len(base) > 1 else [[*base, alias.name] for alias in node.names]
        else:
            continue
        found += [(node.lineno, name[1]) for name in names if name[0] == "heedful" and len(name) > 1]
    return found


def violations(path: Path, source: str) -> list[str]:
    relative = path.relative_to(SOURCE)
    part = relative.parts[0].removesuffix(".py")
    if part in ("__init__", "__main__"):  # the lazy public face, and the door to cli
        return []
    package = ["heedful", *relative.parts[:-1]]
    allowed = MAY_IMPORT[part] | {part}
    return [
        f"{path.name}:{line}: {part} imports {other}"
        for line, other in imported_parts(ast.parse(source), package)
        if other in MAY_IMPORT and other not in allowed
    ]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    assert violations(path, path.read_text(encoding="utf-8")) == []


def test_every_part_has_a_place_in_the_line():
    parts = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix in {"", ".py"}}
    assert parts - {"__init__", "__main__", "__pycache__"} <= MAY_IMPORT.keys()


@pytest.mark.parametrize(
    "line",
    [
        "import heedful.cli",
        "from heedful.models.trace import Trace",
        "from heedful import models",
        "from .. import models",
        "from ..models import trace",
        "def later():\n    from heedful import training",
    ],
)
def test_an_import_against_the_direction_is_named_with_its_line(line):
    found = violations(SOURCE / "data" / "words.py", f"import re\n\n{line}\n")
    expected = 4 if "def" in line else 3
    assert len(found) == 1
    assert found[0].startswith(f"words.py:{expected}: data imports ")


@pytest.mark.parametrize(
    "line", ["from heedful.errors import UserError", "from . import corpus", "import torch"]
)
def test_an_import_along_the_direction_passes(line):
    assert violations(SOURCE / "data" / "words.py", line) == []


@pytest.mark.parametrize(
    "command",
    [
        "import heedful",
        "import heedful.data",
        "import heedful.records",
        "import heedful.drawing",
        "import heedful.store",
        "import heedful.study.workbench",
        "from heedful.cli import app",
    ],
)
def test_light_imports_do_not_load_torch(command):
    probe = f"{command}\nimport sys\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_help_does_not_load_torch():
    probe = (
        "import sys, heedful.cli as cli\ntry:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert result.stdout.strip().endswith("False")


def test_no_two_test_files_have_one_name():
    # pytest imports them by name alone: two of one name pass folder by folder, and together they stop it.
    names = [
        path.name
        for path in Path(__file__).parent.rglob("*.py")
        if path.name not in ("__init__.py", "conftest.py")
    ]
    assert sorted(names) == sorted(set(names))
