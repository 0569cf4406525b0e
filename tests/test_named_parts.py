"""A module or name that a docstring, a comment or a page tells of is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heedful"
FOLDERS = "|".join(path.parent.name for path in SOURCE.glob("*/__init__.py"))
NAMED = re.compile(rf"(?<![\w/.\"-])heedful(?:\.[a-z_]\w*)+|(?<=`)(?:{FOLDERS})\.[a-z_]\w*(?:\.\w+)*(?=`)")

NO_PARTS = ("__file__", ".csv", ".json", ".toml", ".md", ".html", ".parquet")


def stands(name: str) -> bool:
    """Whether the folders and the file of a dotted name are there, and what comes after is written in it."""
    place, parts = SOURCE, name.removeprefix("heedful.").split(".")
    for number, part in enumerate(parts):
        if (place / part).is_dir():
            place = place / part
            continue
        file = place / f"{part}.py"
        word = part if not file.is_file() else parts[number + 1] if parts[number + 1 :] else ""
        text = (file if file.is_file() else place / "__init__.py").read_text(encoding="utf-8")
        return re.search(rf"\b{re.escape(word)}\b", text) is not None
    return True


def test_names_in_code_and_pages_stand_for_something():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    missing = []
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "examples").glob("*.py"), *pages]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in NAMED.findall(line):
                if not name.endswith(NO_PARTS) and not stands(name):
                    missing.append(f"{path.relative_to(ROOT)}:{number} {name}")
    assert missing == []


def test_pages_that_the_code_names_are_there():
    named = {
        (path.relative_to(ROOT), page)
        for path in SOURCE.rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert named
    assert [one for one in named if not (ROOT / one[1]).exists()] == []


def test_a_name_that_is_nowhere_is_noticed():
    assert stands("heedful.trials.erasure.smallest.smallest_flips")
    assert not stands("heedful.trials.nowhere")
    assert not stands("heedful.report.page")
