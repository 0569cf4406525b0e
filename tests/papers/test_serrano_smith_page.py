"""The page of results: numbers come from folders of experiments, and a missing one is said."""

import json
from pathlib import Path

import pandas as pd
import pytest

from heedful.errors import UserError
from heedful.papers.pages import BLOCK
from heedful.papers.serrano_smith.page import BLOCKS, JUDGED, fill_page
from heedful.records import Claim, Finding

PAGE = Path(__file__).parents[2] / "docs" / "serrano-smith.md"


def write(folder, name, claims=(), **tables):
    place = folder / f"serrano-smith-{name}"
    place.mkdir(parents=True)
    content = {"claims": [claim.to_dict() for claim in claims]}
    (place / "experiment.json").write_text(json.dumps(content), encoding="utf-8")
    for table, rows in tables.items():
        pd.DataFrame(rows).to_parquet(place / f"{table}.parquet")


def claim(value):
    effect = Finding("share", value, count=7, measured="m", kind="exact")
    return Claim.decided(
        "Most do", "Serrano & Smith (2019), A.3", effect=effect, comparison=">", threshold=0.5
    )


@pytest.fixture
def folder(tmp_path):
    about = {"corpus": "amazon-sample", "model": "han-conv"}
    box = {**about, "instances": 11, "excluded_one_item": 2, "excluded_never": 3}
    boxes = [
        {**box, "ranking": name, "mean": place / 10}
        for place, name in enumerate(("random", "attention", "gradient", "product", "exact"))
    ]
    won = {"name": "gradient needs fewer items than attention", "value": 0.6, "low": 0.5, "high": 0.7}
    for name in JUDGED:
        if name != "fig10":
            write(tmp_path, name, [claim(0.75)] if name == "fig11" else ())
    write(tmp_path, "fig10", boxes=boxes, findings=[{**about, **won, "fewer": 12, "more": 5}])
    return tmp_path


def test_blocks_are_filled_with_what_the_folders_have_and_the_rest_stays(folder):
    page = "before\n<!-- made: fractions -->\nold\n<!-- end -->\nbetween\n"
    page += "<!-- made: wins -->\n<!-- end -->\nafter\n"
    filled = fill_page(page, [folder])
    assert "| Amazon (sample) | HANconv | 11 | 2 | 3 | 0.000 | 0.100 | 0.200 | 0.300 | 0.400 |" in filled
    assert "| Amazon (sample) | HANconv | 0.600 [0.500, 0.700] | 12 | 5 | 2.40 |" in filled
    assert "old" not in filled
    assert [word in filled for word in ("before", "between", "after")] == [True] * 3
    assert fill_page(filled, [folder]) == filled


def test_a_claim_has_one_line_and_a_column_for_each_folder(folder):
    filled = fill_page("<!-- made: claims -->\n<!-- end -->", [folder, folder])
    (line,) = [line for line in filled.splitlines() if "Most do" in line]
    assert line == "| Most do | A.3 | > 0.5 | **holds**: 0.75 (n = 7) | **holds**: 0.75 (n = 7) |"


def test_what_was_not_reproduced_and_what_is_no_block_is_said(folder):
    with pytest.raises(UserError, match="needs serrano-smith-table3"):
        fill_page("<!-- made: accuracies -->\n<!-- end -->", [folder])
    with pytest.raises(UserError, match="nearest is 'gaps'"):
        fill_page("<!-- made: gap -->\n<!-- end -->", [folder])


def test_the_page_has_every_block_and_each_is_filled():
    blocks = {block[2]: block[0] for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}
    assert blocks.keys() == BLOCKS.keys()
    assert all("\n| " in block for block in blocks.values())
