"""Highlighted texts as HTML: nothing in a text can do anything but be shown."""

import html
import re
from html.parser import HTMLParser

import pytest

from heedful.highlights.page import page_parts
from heedful.highlights.result import About, Flip, Highlight, Mark
from heedful.highlights.snippet import points, shown, snippet

HOSTILE = [
    "<script>alert('one')</script>",
    "</article></body><img src=x onerror=alert(2)>",
    "\u202eevil\u202d",
    "x" * 10_000,
    "😀",
    '"><b>bold</b>',
    "' onmouseover='alert(1)",
    "&lt;&amp;",
    "\u2028\u0000\x1b[31m",
    "\ud800",
    "</style><style>*{display:none}",
    "{{script}}",
    "javascript:alert(1)",
]
ALLOWED = {"article": {"class"}, "p": {"class", "dir"}, "mark": {"class"}, "sub": set(), "b": set()}


class Elements(HTMLParser):
    """Refuses every element and attribute that a snippet does not have."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.text, self.open = [], []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        assert {name for name, _ in attrs} <= ALLOWED[tag], attrs
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def item_of(word, label="good"):
    text = f"a {word} film {word}"
    start = 2
    mark = Mark(1, start, start + len(word), word, 0.31, 0.02)
    return Highlight(0, text, label, 0.97, 4, (mark,), said=f"said {word}", flip=Flip(label, (1,), (word,)))


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_word_is_shown_and_does_nothing(word):
    parser = Elements()
    parser.feed(snippet(item_of(word, label=word)))
    parser.close()
    assert parser.open == []
    told = "".join(parser.text)
    assert told.count(html.unescape(shown(word))) >= 4
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\x00\x1b\ud800-\udfff]", told)


def test_a_page_is_valid_utf_8_and_has_no_script():
    about = About(
        "<m>",
        "attention",
        "attention",
        "why </p>",
        "deletions",
        "unit",
        None,
        ("a", "b"),
        ("<d>",),
        0,
        True,
        "1",
    )
    page = "".join(page_parts(about, [item_of(word) for word in HOSTILE], len(HOSTILE)))
    page.encode("utf-8")
    assert "<script" not in page
    assert "<m>" not in page
    assert "<d>" not in page
    assert page.count("<style>") == 1
    assert "script-src" in page


def test_the_change_is_written_beside_the_word_with_its_sign_and_error():
    assert points(Mark(0, 0, 1, "a", 0.314, 0.021)) == "+31 ± 2"
    assert points(Mark(0, 0, 1, "a", -0.052, 0.0)) == "−5"
    made = snippet(
        Highlight(
            0, "not good", "bad", 0.7, 2, (Mark(0, 0, 3, "not", 0.5, 0), Mark(1, 4, 8, "good", -0.25, 0))
        )
    )
    assert '<mark class="for step-4">not<sub>+50</sub></mark>' in made
    assert '<mark class="against step-3">good<sub>−25</sub></mark>' in made


def test_a_long_flipping_set_is_counted_and_a_short_one_named():
    one = Highlight(0, "a b", "bad", 0.7, 2, flip=Flip("good", (0,), ("a",)))
    many = Highlight(0, "a b", "bad", 0.7, 20, flip=Flip("good", tuple(range(12)), ("a",) * 12))
    assert "Without “a” the decision is “good”: the smallest such set." in snippet(one)
    assert "12 words at least must go" in snippet(many)


def test_a_snippet_brings_its_style_once_or_not_at_all():
    item = item_of("fine")
    assert item.to_html().count("<style>") == 1
    assert "<style" not in item.to_html(style=False)
