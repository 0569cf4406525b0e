"""One highlighted text as HTML that any page can embed. No torch.

Everything that comes from a text or a label is escaped. Signs that a browser would act on or cannot show
(control signs, halves of surrogate pairs, marks that turn the writing direction) are written as their codes,
so that a text can neither end its element nor turn its neighbours round. Colour carries nothing alone: the
change is written beside the word, and a dashed line says that the word speaks against the decision.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from heedful.data.pairs import PAIR, both
from heedful.errors import listed
from heedful.highlights.result import LISTED, Highlight, Mark
from heedful.records.wording import in_percent

STEPS = (0.1, 0.2, 0.4)  # changes of probability from which the paint is a step stronger
# Controls but tab and line ends, direction marks and isolates, line separators, surrogates, non-characters.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1d\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def snippet(item: Highlight, roles: Sequence[str] = ()) -> str:
    """The text in an element of the class `heedful-text`; each of a pair under what it is called."""
    head = "no decision"
    if item.decision:
        head = f"<b>{shown(item.decision)}</b> {_percent(item.probability)}"
    parts = [f'<p class="heedful-head">{head} · text {item.number + 1:,}</p>']
    if item.text:
        parts += _paragraphs(item, roles)
    elif item.marks:
        parts.append(f'<p class="heedful-words">{_numbers(item)}</p>')
    if item.said:
        parts.append(f'<p class="heedful-said">{shown(item.said)}</p>')
    if item.flip is not None:
        parts.append(f'<p class="heedful-flip">{_flip(item)}</p>')
    return f'<article class="heedful-text">{"".join(parts)}</article>\n'


@cache
def snippet_style() -> str:
    """The style sheet of snippets: once for a page."""
    return asset("snippet.css")


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return files("heedful.highlights").joinpath("assets", name).read_text(encoding="utf-8")


def shown(text: str) -> str:
    """Any text as HTML that shows it and does nothing else."""
    return escape(_UNSHOWABLE.sub(lambda sign: f"[U+{ord(sign[0]):04X}]", text)).replace("\x1e", " ⁄ ")


def points(mark: Mark) -> str:
    """The change in points of probability, with its standard error if it has one: +31 ± 2."""
    error = f" ± {_points(mark.error)}" if mark.error else ""
    return f"{'+' if mark.effect > 0 else '−'}{_points(abs(mark.effect))}{error}"


def _points(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.00995 else f"{100 * share:.1f}"


def _percent(share: float) -> str:
    return in_percent(share) if share < 0.995 else "over 99 %"


def _paragraphs(item: Highlight, roles: Sequence[str]) -> list[str]:
    """The text, or both of a pair, which are one with a sign between them."""
    first = len(both(item.text)[0])
    spans = [(0, first)] if first == len(item.text) else [(0, first), (first + len(PAIR), len(item.text))]
    parts = []
    for place, (begin, end) in enumerate(spans):
        if len(spans) > 1 and roles:
            parts.append(f'<p class="heedful-role">{shown(roles[place])}</p>')
        parts.append(f'<p class="heedful-words" dir="auto">{_painted(item, begin, end)}</p>')
    return parts


def _painted(item: Highlight, begin: int, end: int) -> str:
    parts, place = [], begin
    for mark in item.marks:
        if begin <= mark.start < end:
            parts.append(shown(item.text[place : mark.start]))
            parts.append(_mark(mark, shown(item.text[mark.start : mark.end])))
            place = mark.end
    return "".join([*parts, shown(item.text[place:end])])


def _mark(mark: Mark, inside: str) -> str:
    step = 1 + sum(abs(mark.effect) >= least for least in STEPS)
    side = "for" if mark.effect > 0 else "against"
    return f'<mark class="{side} step-{step}">{inside}<sub>{points(mark)}</sub></mark>'


def _numbers(item: Highlight) -> str:
    return " ".join(_mark(mark, f"word {mark.place + 1}") for mark in item.marks)


def _flip(item: Highlight) -> str:
    assert item.flip is not None
    count = len(item.flip.places)
    to = f"the decision is “{shown(item.flip.to)}”"
    if not item.flip.words or count > LISTED:
        return f"{count} words at least must go before {to}." if count > 1 else f"Without one word {to}."
    return f"Without {listed(f'“{shown(word)}”' for word in item.flip.words)} {to}: the smallest such set."
