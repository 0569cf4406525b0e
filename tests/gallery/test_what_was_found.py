"""What the gallery's front page says was found is what the command wrote, rounded."""

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = {path.stem: json.loads(path.read_text()) for path in (DOCS / "results" / "gallery").glob("*.json")}
NUMBER = r"−?\d+(?:\.\d+)?"


@pytest.mark.parametrize("name", [name for name, found in WRITTEN.items() if len(found["by_seed"]) == 3])
def test_the_table_of_what_was_found_has_the_written_numbers(name):
    page = (DOCS / "gallery" / "README.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| [{name}](") and "[" in line[20:])
    found, margin = WRITTEN[name], WRITTEN[name]["margin"]
    _, _, _, figure, baseline, gain, yardstick, said, _ = map(str.strip, row.split("|"))
    low, high = margin["interval"]["low"], margin["interval"]["high"]
    exact = [found["figure"], found["baseline"], margin["value"], low, high, found["yardstick"]["figure"]]
    shown = re.findall(NUMBER, f"{figure} {baseline} {gain} {yardstick.split(',')[0]}")
    assert [_rounded(value, like) for value, like in zip(exact, shown, strict=True)] == shown
    assert ("better" in said, "worse" in said) == (low > 0, high < 0)


def _rounded(value: float, like: str) -> str:
    """The value with as many digits as this one has."""
    digits = len(like.partition(".")[2])
    return f"{value:z.{digits}f}".replace("-", "−")
