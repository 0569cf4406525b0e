"""The pages of highlights and of a comparison in a browser: nothing sticks out, hostile words do nothing."""

import sys
from pathlib import Path

import pytest

from heedful.comparing.comparison import Comparison, Difference, Moved, Side
from heedful.highlights.page import page_parts
from heedful.highlights.result import About, Flip, Highlight, Mark
from heedful.records import Estimate, Interval

sys.path.insert(0, str(Path(__file__).parents[1] / "highlights"))
from test_snippet import HOSTILE

pytestmark = pytest.mark.browser

ABOUT = About(
    "dp on texts",
    "attention",
    "attention",
    "Because.",
    "deletions",
    "A unit.",
    None,
    ("a", "b"),
    (),
    0,
    True,
    "1",
)


def item_of(number, word):
    mark = Mark(1, 2, 2 + len(word), word, -0.31, 0.02)
    return Highlight(number, f"a {word} film", "bad", 0.9, 3, (mark,), flip=Flip(word, (1,), (word,)))


@pytest.fixture
def look(browser, size):
    """`look(path)` opens a static page at a size; whatever it writes to the console is an error."""
    context = browser.new_context(viewport=size)
    said = []

    def open_page(path):
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(path.as_uri())
        return page

    yield open_page
    context.close()
    assert said == []


def test_hostile_words_do_nothing_and_fit_the_page(look, size, tmp_path):
    path = tmp_path / "page.html"
    items = [item_of(number, word) for number, word in enumerate(HOSTILE)]
    path.write_text("".join(page_parts(ABOUT, items, len(items))), encoding="utf-8")
    page = look(path)
    assert page.locator("article").count() == len(HOSTILE)
    assert page.locator("article img, article script, article b b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    shade = "getComputedStyle(document.querySelector('mark.against')).backgroundColor"
    assert page.evaluate(shade) != "rgba(0, 0, 0, 0)"  # the policy lets the style in
    line = "getComputedStyle(document.querySelector('mark.against')).borderBottomStyle"
    assert page.evaluate(line) == "dashed"


def test_a_comparison_fits_the_page(look, size, tmp_path):
    ends = Interval(-0.1, 0.3, level=0.95, method="made up")
    number = Difference(
        "skill of attention", "how", Estimate(0.5), Estimate(0.6), Estimate(0.1, ends), (300, 290, 40), ""
    )
    sides = [
        Side(f"dp on {name}", name, "use with care", "With care.", "attention", "integrated", 300)
        for name in ("a-long-name-of-a-folder-of-an-audit", "another-one")
    ]
    moved = tuple(Moved(word[:50], 0.1, 0.7, 7) for word in HOSTILE)
    found = Comparison(sides[0], sides[1], True, 40, (number,), moved, "A sentence.", ("A note.",))
    page = look(found.save(tmp_path / "c.html"))
    assert page.locator("img, script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    cell = page.locator(".stack td").first
    assert cell.bounding_box()["width"] > 150  # a name is not broken letter by letter
