"""What the gallery's pages say was found is what the command wrote, rounded."""

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.errors import UserError
from heedful.gallery import ENTRIES, entry
from heedful.gallery.pages import BLOCK, fill_gallery, read_written

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results" / "gallery"
WRITTEN = {path.stem: json.loads(path.read_text()) for path in RESULTS.glob("*.json")}
FULL = {path.stem: json.loads(path.read_text()) for path in (RESULTS / "full").glob("*.json")}
NUMBER = r"−?\d+(?:\.\d+)?"


@pytest.mark.parametrize(
    "found", [*WRITTEN.values(), *FULL.values()], ids=lambda one: one["size"] + one["name"]
)
def test_the_tables_of_what_was_found_have_the_written_numbers(found):
    page = (DOCS / "gallery" / "README.md").read_text(encoding="utf-8")
    table = page.partition(f"With `--size {found['size']}`")[2].partition("\n\n|")[2].partition("\n\n")[0]
    row = next(line for line in table.splitlines() if line.startswith(f"| [{found['name']}]("))
    margin = found["margin"]
    _, _, _, figure, baseline, gain, yardstick, said, _ = map(str.strip, row.split("|"))
    low, high = margin["interval"]["low"], margin["interval"]["high"]
    exact = [found["figure"], found["baseline"], margin["value"], low, high, found["yardstick"]["figure"]]
    shown = re.findall(NUMBER, f"{figure} {baseline} {gain} {yardstick.split(',')[0]}")
    assert [_rounded(value, like) for value, like in zip(exact, shown, strict=True)] == shown
    assert ("better" in said, "worse" in said) == (low > 0, high < 0)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_stands_beside_a_published_figure_is_measured(name):
    published = entry(name).real.published
    assert published is None or published.ours in {"figure", *WRITTEN[name]["table"]}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_tables_of_each_page_are_made_of_the_written_numbers(name):
    """After another run: `heedful ledger --page docs/gallery/NAME.md`."""
    page = (DOCS / "gallery" / f"{name}.md").read_text(encoding="utf-8")
    assert {block[2] for block in BLOCK.finditer(page)} == {name}
    assert page.count("<!-- made:") == len(BLOCK.findall(page))
    assert fill_gallery(page, read_written(RESULTS)) == page


PAGE = """Before
<!-- made: gallery acf
| | parameters | hits |
| attention | {, parameters} | {.2f hits, attention ±} ({+.1f figure by seed}) |
| plain | | {.1% yardstick} |
-->
of an earlier run
<!-- end -->
After
"""


def written(size="quick", **table):
    return {
        "name": "acf",
        "size": size,
        "figure": 0.5,
        "baseline": 0.25,
        "parameters": 1234,
        "baseline_parameters": 1230,
        "yardstick": {"figure": 0.125},
        "table": table,
        "intervals": {name: [-0.25, 0.75] for name in table},
        "by_seed": [{"figure": 0.4, "table": table}, {"figure": -0.6, "table": table}],
    }


def test_a_table_is_filled_for_each_size_and_says_which():
    quick, full = written(**{"hits, attention": 0.5}), written("full")
    filled = fill_gallery(PAGE, [quick, full])
    assert "of an earlier run" not in filled
    assert "`--size quick`, 2 seeds:\n\n| | parameters | hits |\n|---|---|---|\n" in filled
    assert "| attention | 1,234 | 0.50 [−0.25, 0.75] (+0.4, −0.6) |\n| plain | | 12.5 % |\n" in filled
    assert "`--size full`, 2 seeds:" in filled
    assert "| attention | 1,234 | – (+0.4, −0.6) |" in filled
    assert fill_gallery(filled, [quick, full]) == filled
    assert fill_gallery(PAGE, []) == PAGE
    with pytest.raises(UserError, match="nearest is 'hits, attention'"):
        fill_gallery(PAGE.replace("{.2f hits,", "{.2f hit,"), [quick])
    with pytest.raises(UserError, match="no gallery entry"):
        fill_gallery(PAGE.replace("gallery acf", "gallery act"), [quick])


def test_a_row_or_column_of_which_a_size_measures_nothing_is_left_out_of_its_table():
    page = """<!-- made: gallery acf
| score | 8 | 64 | 512 |
| dot | {.1f dot, 8} | {.1f dot, 64} | {.1f dot, 512} |
| cosine | {.1f cosine, 8} | {.1f cosine, 64} | |
| all | {, parameters} | | |
-->
<!-- end -->
"""
    quick = written(**{"dot, 8": 0.1, "dot, 64": 0.2, "cosine, 8": 0.3, "cosine, 64": 0.4})
    full = written("full", **{"dot, 8": 0.5, "dot, 512": 0.6})
    filled = fill_gallery(page, [quick, full])
    assert "| score | 8 | 64 |\n|---|---|---|\n| dot | 0.1 | 0.2 |\n| cosine | 0.3 | 0.4 |\n| all" in filled
    assert "| score | 8 | 512 |\n|---|---|---|\n| dot | 0.5 | 0.6 |\n| all | 1,234 | |\n" in filled


def test_the_ledger_fills_a_page_of_the_gallery_from_files_of_any_size(tmp_path):
    results = tmp_path / "results"
    shutil.copytree(DOCS / "results" / "sun-lu-table1", results / "sun-lu-table1")
    (results / "gallery" / "full").mkdir(parents=True)
    for place, size in (("full/acf", "full"), ("acf", "quick")):
        content = json.dumps(written(size, **{"hits, attention": 0.5}))
        (results / "gallery" / f"{place}.json").write_text(content)
    page = tmp_path / "acf.md"
    page.write_text(PAGE)
    asked = ["ledger", str(results), "--out", str(tmp_path / "out"), "--page", str(page)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert re.findall("--size (.+?)`", page.read_text()) == ["quick", "full"]


def _rounded(value: float, like: str) -> str:
    """The value with as many digits as this one has."""
    digits = len(like.partition(".")[2])
    return f"{value:z.{digits}f}".replace("-", "−")
