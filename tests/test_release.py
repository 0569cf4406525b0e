"""One version in one place, workflows that are well formed, and a map of folders that is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import heedful

ROOT = Path(__file__).parents[1]


def test_the_citation_has_the_version_of_the_package():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == heedful.__version__


def test_the_package_takes_its_version_from_the_code():
    written = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'version = { attr = "heedful.__version__" }' in written
    assert not re.search(r'^version = "', written, re.MULTILINE)


@pytest.mark.docs
def test_workflows_and_templates_are_well_formed():
    checker = [sys.executable, "-m", "check_jsonschema"]
    for schema, files in (
        ("vendor.github-workflows", "workflows/*.yml"),
        ("vendor.github-issue-forms", "ISSUE_TEMPLATE/*.yml"),
    ):
        paths = sorted(str(path) for path in (ROOT / ".github").glob(files))
        if "workflows" in files:
            paths.append(str(ROOT / "examples" / "audit.yml"))
        assert paths
        done = subprocess.run(
            [*checker, "--builtin-schema", schema, *paths], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_contributing_names_every_folder_of_the_package():
    told = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = re.findall(r"```\n(errors,.*?)```", told, re.DOTALL)
    assert drawn
    named = set(re.findall(r"[a-z_]+", drawn[0]))
    folders = {path.parent.name for path in (ROOT / "src" / "heedful").glob("*/__init__.py")}
    assert folders - named == set()
    assert {name for name in named if not (ROOT / "src" / "heedful" / name).exists()} - {
        path.stem for path in (ROOT / "src" / "heedful").glob("*.py")
    } == set()
