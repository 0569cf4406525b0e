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


def test_the_citation_has_the_date_of_the_changelogs_first_release():
    cited = re.search(r"^date-released: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    told = re.search(r"^## [\d.]+ \((.+)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert told is not None
    assert cited[1] == told[1]


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


@pytest.mark.docs
def test_the_workflows_linter_finds_nothing():
    options = ["--offline", "--no-progress", "--config", str(ROOT / ".github" / "zizmor.yml")]
    places = [str(ROOT / ".github" / "workflows"), str(ROOT / "examples" / "audit.yml")]
    done = subprocess.run(
        [Path(sys.executable).with_name("zizmor"), *options, *places],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_call_make_as_a_developer_does():
    targets = set(re.findall(r"^([a-z ]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known = {word for line in targets for word in line.split()}
    called = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        called |= set(re.findall(r"run: make (\w+)", path.read_text(encoding="utf-8")))
    assert {"check", "docs", "wheel"} <= called <= known


def test_workflows_try_the_pythons_that_are_claimed():
    claimed = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tried = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    assert claimed
    assert f"python: {claimed}".replace("'", '"') in tried


def test_the_changelog_begins_with_this_version_and_its_date():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (.+)$", text, re.MULTILINE)
    assert first is not None
    assert re.fullmatch(rf"{re.escape(heedful.__version__)} \(\d{{4}}-\d\d-\d\d\)|Unreleased", first[1])


@pytest.mark.docs
def test_a_package_index_renders_the_readme_of_the_package():
    from readme_renderer import markdown

    text = (ROOT / "PACKAGE.md").read_text(encoding="utf-8")
    shown = markdown.render(text)
    assert shown is not None
    places = re.findall(r'(?:href|src)="([^"]+)"', shown)
    assert [place for place in places if not place.startswith(("https://", "#"))] == []


def test_the_oldest_versions_are_those_that_the_package_allows():
    written = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pinned = re.findall(
        r"^([a-z]+)==(.+)$", (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert pinned
    for name, version in pinned:
        least = re.search(rf'"{name}>=([\d.]+)', written)
        assert least is not None, name
        assert version == least[1] or version.startswith(f"{least[1]}.0"), name


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
