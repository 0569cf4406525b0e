"""The contact sheet: one page that needs nothing besides itself, and says the same as the comparisons."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

from heedful.gallery import Entry, Outcome, compare_entry
from heedful.gallery.sheet import contact_sheet, draw_comparison

PNG = b"\x89PNG\r\n\x1a\n"


def entry(name="first", better="higher", aim=None, gain=0.5):
    def train(seed, size):
        figure = 0.25 + gain + seed / 100
        return Outcome(figure, 0.25, 101, 103, table={"a <b> figure": 0.123}, picture={"line": [1, 2, 3]})

    def draw(outcome, figure):
        figure.subplots().plot(outcome.picture["line"])

    return Entry(
        name=name,
        title="A <script>alert(1)</script> title",
        source="Somebody & others (2020)",
        task='One "task"',
        formula="a < b",
        without="nothing",
        measure="accuracy",
        better=better,
        train=train,
        draw=draw,
        aim=aim,
    )


def sheet(*entries, failures=()):
    compared = [compare_entry(one) for one in entries]
    pictures = {one.entry.name: draw_comparison(one) for one in compared}
    return contact_sheet(compared, pictures, failures=failures), pictures


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def read(page):
    tags = Tags()
    tags.feed(page)
    return tags


def test_pictures_are_in_the_page_itself():
    page, pictures = sheet(entry("first"), entry("second"))
    sources = [attributes["src"] for tag, attributes in read(page).found if tag == "img"]
    stored = [base64.b64decode(source.removeprefix("data:image/png;base64,")) for source in sources]
    assert stored == [pictures["first"], pictures["second"]]
    assert all(picture.startswith(PNG) for picture in stored)


def test_the_page_asks_for_nothing_from_elsewhere():
    page, _ = sheet(entry())
    for tag, attributes in read(page).found:
        assert tag not in ("script", "link", "iframe")
        assert attributes.get("src", "data:").startswith("data:")
        assert attributes.get("href", "#").startswith("#")
    assert "@import" not in page
    assert "url(" not in page


def test_text_is_shown_and_never_run():
    page, _ = sheet(entry())
    assert "<script" not in page
    assert "A <script>alert(1)</script> title" in read(page).text
    assert "a <b> figure" in read(page).text
    assert [attributes["alt"] for tag, attributes in read(page).found if tag == "img"] == [
        'A <script>alert(1)</script> title: One "task"'
    ]


def test_figure_baseline_margin_and_interval_are_said():
    page, _ = sheet(entry())
    margin = compare_entry(entry()).margin
    cells = re.findall(r'<td class="number">([^<]*)', page)
    assert cells[:2] == ["0.760", "0.250"]
    assert cells[2].startswith("0.51")
    assert f"{margin.interval.low:.2f}, {margin.interval.high:.2f}" in cells[2]
    assert "101 parameters" in page
    assert "103 parameters" in page


def test_whether_an_entry_passes_is_said():
    page, _ = sheet(entry("passes"), entry("loses", gain=-0.1), entry("short", aim=0.9))
    assert re.findall(r"<td>(yes|no)</tr>", page) == ["yes", "no", "no"]
    assert "1 of 3 pass" in page
    assert "(less is better)" in sheet(entry(better="lower"))[0]


def test_an_entry_that_could_not_be_trained_is_named_with_its_reason():
    page, _ = sheet(entry(), failures=[(replace(entry("third")), "no <corpus> at hand")])
    assert "third could not be trained: no <corpus> at hand" in read(page).text
    assert "1 of 2 pass" in page


def test_the_time_that_is_shown_is_the_processors():
    compared = replace(compare_entry(entry()), seconds=71.0, processor_seconds=13.0)
    page = contact_sheet([compared], {"first": PNG})
    assert "13 s of processor time" in page
    assert "71 s" not in page
