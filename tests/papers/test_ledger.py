"""The ledger of the results that are published here: it is made again, and says what it must."""

import json
import math
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from heedful.cli import app
from heedful.errors import UserError
from heedful.papers import FILES, PAPERS, experiment
from heedful.papers.ledger import COLUMNS, ledger_page, ledger_rows
from heedful.papers.names import corpus_label
from heedful.papers.published_page import BLOCK, PICTURE, _cell, fill_page, shown_pictures
from heedful.records import Claim, Finding, Interval
from heedful.study.published import Published, read_published
from promises import at_most

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    result = CliRunner().invoke(app, ["ledger", str(RESULTS), "--out", str(folder), "--latex", "--json"])
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)["claims"]


def test_every_published_experiment_is_made_again_with_tables_and_figures(made):
    folder, claims = made
    published = read_published(RESULTS)
    # Serrano & Smith's Table 3 is accuracies, of which the paper claims nothing.
    claimed = {one.name for one in published if one.claims(experiment(one.name))}
    assert {claim["experiment"] for claim in claims} == claimed
    assert claimed == {one.name for one in published} - {"serrano-smith-table3"}
    for name in {one.name for one in published}:
        for stem in experiment(name).figures:
            for form in ("png", "svg", "pdf"):
                assert (folder / name / f"{stem}.{form}").stat().st_size > 1000
        tables = {path.stem for path in (folder / name).glob("*.csv")}
        assert tables == {path.stem for path in (folder / name).glob("*.tex")}
        assert tables
    assert len(pd.read_csv(folder / "ledger.csv")) == len(claims)


def test_a_row_says_what_was_asked_with_which_command_and_version(made):
    for claim in made[1]:
        assert list(claim) == list(COLUMNS)
        assert claim["command"].startswith(f"heedful reproduce {claim['experiment']}")
        assert claim["version"]
        assert any(sign in claim["criterion"] for sign in "<>±")


def test_what_one_training_decides_is_said_of_this_run():
    effect = Finding("lead", 0.4, interval=Interval(0.3, 0.5, 0.95, "made"), count=7, measured="made")
    claim = Claim.decided("It holds", "nowhere", effect=effect, comparison=">", threshold=0)
    assert claim.told(trained=True) == "holds in this run"
    assert claim.told(trained=False) == "holds"
    assert replace(claim, effect=replace(effect, seeds=2)).told(trained=True) == "holds"
    assert replace(claim, outcome="undecided").told(trained=True) == "undecided"


def test_intervals_lie_within_what_is_possible(made):
    for claim in made[1]:
        for end in ("low", "high"):
            if claim["unit"] == "points" and claim[end] is not None:
                assert -100 < claim[end] < 100  # and where there is no interval, none is made up


def test_shares_and_leans_have_no_interval_beyond_what_they_can_be(made):
    bounds = {"lean of": (-1, 1), "share of": (-1, 1), "|mean polarity": (0, math.inf)}
    seen = 0
    for claim in made[1]:
        for beginning, (least, most) in bounds.items():
            if claim["criterion"].startswith(beginning) and claim["low"] is not None:
                seen += 1
                assert least <= claim["low"] <= claim["high"] <= most, claim["statement"]
    assert seen > 20


def test_a_claim_stands_beside_what_its_models_reached_and_seeds_are_whole(made):
    folder, claims = made
    scaled = [one for one in claims if one["experiment"] == "sun-lu-fig2" and one["corpus"] == "imdb"]
    models = pd.read_csv(folder / "sun-lu-fig2" / "models.csv").set_index("corpus").loc["imdb"]
    assert scaled
    for one in scaled:
        assert one["accuracy"] == pytest.approx(models["accuracy"])
        assert one["largest class"] == pytest.approx(models["majority"])
        assert type(one["seeds"]) is int
    assert {one["accuracy"] for one in claims if one["experiment"] == "sun-lu-table1"} == {None}
    page = (folder / "ledger.html").read_text(encoding="utf-8")
    assert f"{100 * models['accuracy']:.1f} %</td>" in page
    assert '<td class="number" data-key="5">5</td>' in page
    effect = next(one for one in scaled if one["low"] is not None)
    low, high = (f"{effect[end]:.2f}"[:3] for end in ("low", "high"))  # rounded as the effect's width asks
    assert re.search(rf'data-key="{effect["effect"]}">[\d.]+ \[{low}\d*, {high}\d*\]</td>', page)
    assert "<small>heedful reproduce sun-lu-fig2</small>" in page
    assert not re.search(r">\d\.0</td><td class=\"number\" data-key=\"\d+\">[\d,]+</td><td>", page)


def test_the_page_escapes_what_it_shows_and_needs_no_network():
    rows = ledger_rows(read_published(RESULTS)).head(2)
    rows.loc[rows.index[0], "statement"] = "<script>alert(1)</script> @body@"
    page = ledger_page(rows)
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("<tr>") == 3
    assert "@body@" in page
    assert "http" not in page


def test_nothing_published_is_one_sentence(tmp_path):
    result = CliRunner().invoke(app, ["ledger", str(tmp_path)])
    assert result.exit_code == 2
    assert "has no published results" in result.output


def test_the_page_in_the_docs_is_that_of_the_published_results():
    """After publishing: `heedful ledger`, and copy ledger.html to docs/claims.html, ledger.csv beside it."""
    rows = ledger_rows(read_published(RESULTS))
    docs = RESULTS.parent
    assert (docs / "claims.html").read_text(encoding="utf-8") == ledger_page(rows)
    assert (docs / "claims.csv").read_text(encoding="utf-8") == rows.to_csv(index=False, lineterminator="\n")


PAGE = """# Words
<!-- made: summary sun-lu-table2 -->
what was here
<!-- end -->
<!-- made: claims sun-lu-table1 -->
<!-- end -->
<!-- made: counts sun-lu -->
<!-- end -->
<!-- made: summary sun-lu-fig99 -->
<!-- end -->
<!-- made: claims sun-lu-fig98 -->
of an earlier run
<!-- end -->
"""


def test_a_pages_blocks_are_filled_from_published_rows_and_what_is_missing_is_said():
    published = read_published(RESULTS)
    filled = fill_page(PAGE, published)
    assert "what was here" not in filled
    part = next(one for one in published if one.name == "sun-lu-table2")
    first = part.tables["summary"].iloc[0]
    assert f"`{part.command}`" in filled
    cells = (corpus_label(first["corpus"]), first["model"], _cell(first["scale"]), f"{first['accuracy']:.1f}")
    assert f"| {' | '.join(cells)} |" in filled
    assert "SST is balanced" in filled
    claims = [
        claim for one in published if one.name == "sun-lu-terms" for claim in one.claims(experiment(one.name))
    ]
    held = sum(claim.outcome == "holds" for claim in claims)
    reached = fill_page("<!-- made: claims sun-lu-fig2 -->\n<!-- end -->\n", published)
    assert re.search(
        r"Accuracies of the models: SST, dp 8\d\.\d % \(largest class 50\.1 %\); IMDB, dp [^;]+; "
        r"20News I, dp [^;]+\)\.\n\n\| claim \| outcome",
        reached,
    )
    assert f"| `sun-lu-terms` | 5 | {held} | " in filled
    assert "| `sun-lu-table1` | none | 4 | 0 | 0 |" in filled
    assert "Not run yet: `heedful reproduce sun-lu-fig99 --publish docs/results`." in filled
    assert "<!-- made: claims sun-lu-fig98 -->\nof an earlier run\n<!-- end -->" in filled
    assert fill_page(filled, published) == filled
    pairs = fill_page("<!-- made: claims sun-lu-inequalities -->\n<!-- end -->\n", published)
    assert r"dΩ\*+/dτ > −dΩ\*−/dτ for most" in pairs  # a bare asterisk would begin an emphasis
    with pytest.raises(UserError, match="nearest is 'summary'"):
        fill_page("<!-- made: sumary sun-lu-table2 -->\n<!-- end -->", published)


@pytest.mark.parametrize(
    "name", ["ledger", "exactness", "debate", "settings", "sun-lu", "beyond-sun-lu", "serrano-smith"]
)
def test_the_pages_in_docs_have_the_published_numbers(name):
    page = (RESULTS.parent / f"{name}.md").read_text(encoding="utf-8")
    assert "<!-- made:" in page
    assert fill_page(page, read_published(RESULTS)) == page


@pytest.mark.parametrize("name", ["sun-lu", "serrano-smith"])
def test_the_pages_of_the_papers_have_a_block_for_experiments_that_there_are(name):
    page = (RESULTS.parent / f"{name}.md").read_text(encoding="utf-8")
    named = {block[3] for block in BLOCK.finditer(page) if block[2] != "counts"}
    assert len(named) > 8
    assert page.count("<!-- made:") == len(BLOCK.findall(page))
    assert named <= PAPERS[name].keys()


def test_the_list_of_parts_has_each_once_with_its_seeds():
    published = read_published(RESULTS)
    filled = fill_page("<!-- made: parts all -->\n<!-- end -->\n", published)
    assert "| `sun-lu-table1` | `all` | no training |" in filled
    assert "| `exactness-sets` | `sst` | 3 |" in filled
    for one in published:
        row = [line for line in filled.splitlines() if line.startswith(f"| `{one.name}` | ")]
        assert sum(line.count(f"`{one.part}`") for line in row) == 1


def test_a_page_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    asked = ["ledger", str(RESULTS), "--out", str(tmp_path / "out"), "--page", str(tmp_path / "none.md")]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 2
    assert "cannot be read" in result.output
    assert not (tmp_path / "out").exists()


def test_a_page_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "page.md")
    asked = ["ledger", str(RESULTS), "--out", str(tmp_path / "out"), "--page", str(tmp_path / "page.md")]
    with at_most(60):
        result = CliRunner().invoke(app, asked)
    assert result.exit_code == 2
    assert "no regular file" in result.stderr


def test_pictures_of_published_figures_are_put_where_a_page_shows_them_and_no_others(tmp_path):
    results = tmp_path / "results"
    for name in ("sun-lu-table1", "sun-lu-terms"):
        shutil.copytree(RESULTS / name, results / name)
    shown = ("sun-lu/table1.png", "any/sun-lu-terms.png", "sun-lu/fig2.png", "serrano-smith/table1.png")
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("\n".join(f"![A figure]({place})" for place in shown))
    for place in shown:
        (page.parent / place).parent.mkdir(exist_ok=True)
        (page.parent / place).write_text("as it was")
    asked = ["ledger", str(results), "--out", str(tmp_path / "out"), "--page", str(page)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert {(page.parent / place).read_text() for place in shown} == {"as it was"}
    assert CliRunner().invoke(app, [*asked, "--pictures"]).exit_code == 0
    for place, name in zip(shown, ("sun-lu-table1", "sun-lu-terms"), strict=False):
        made = tmp_path / "out" / name / f"{name}.png"
        assert (page.parent / place).read_bytes() == made.read_bytes()
    for place in shown[2:]:
        assert (page.parent / place).read_text() == "as it was"
    refused = CliRunner().invoke(app, [*asked[:4], "--pictures"])
    assert refused.exit_code == 2
    assert "--page" in refused.output


@pytest.mark.parametrize("name", ["sun-lu", "serrano-smith", "debate", "trials", "beyond-sun-lu"])
def test_the_pictures_of_experiments_have_names_that_the_ledger_knows(name):
    """So that `--pictures` finds each of them once its experiment is published."""
    page = (RESULTS.parent / f"{name}.md").read_text(encoding="utf-8")
    every = [Published(known, "all", {}, {}) for known in FILES]
    places = {place for place in PICTURE.findall(page) if not place.startswith("screenshots/")}
    assert places - {"debate/debate-sanity.png"} == shown_pictures(page, every).keys()
