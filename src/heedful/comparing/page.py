"""The page of a comparison: static, without a script, in the manner of the highlights' page."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from heedful import __version__
from heedful.auditing.names import named
from heedful.files import write_atomically
from heedful.highlights.page import foot_of, head_of
from heedful.highlights.snippet import shown
from heedful.records.wording import signed

if TYPE_CHECKING:
    from heedful.comparing.comparison import Comparison, Difference


def write_comparison(path: str | Path, found: "Comparison") -> None:
    """Write the page, whole or not at all."""
    with write_atomically(path) as file:
        file.write(head_of(f"{found.first.folder} and {found.second.folder}"))
        file.writelines(tables_of(found))
        holds = (
            f"{len(found.moved)} words of the texts" if found.moved else "numbers, and no word of the texts"
        )
        file.write(foot_of(f"This page holds {holds}, and loads nothing. Made by heedful {__version__}."))


def tables_of(found: "Comparison") -> Iterator[str]:
    """The comparison as HTML: the sentence, both readings, the numbers, the words."""
    yield f"<h1>{shown(found.sentence)}</h1>\n"
    for note in found.notes:
        yield f'<p class="notice">{shown(note)}</p>\n'
    yield '<h2>Both readings</h2>\n<div class="scroll"><table>'
    yield "<tr><th></th><th>model</th><th>reading</th><th>to show</th></tr>\n"
    for word, side in (("first", found.first), ("second", found.second)):
        cells = (f"{side.folder}: {side.name}", side.reading, named(side.best))
        rest = "".join(f"<td>{shown(cell)}</td>" for cell in cells)
        yield f'<tr><td class="number">{word}</td>{rest}</tr>\n'
    yield "</table></div>\n<h2>Numbers</h2>\n"
    how = (
        f"Differences are the second minus the first, with 95 % intervals from a bootstrap over texts"
        f"{', paired where both read the same text' if found.paired else ', unpaired'}. ▲ the second is "
        "better, ▼ the first is, · cannot be told."
    )
    yield f'<p class="soft">{how}</p>\n<div class="scroll"><table class="stack">'
    yield "<tr><th></th><th>first</th><th>second</th><th>difference</th><th>texts</th></tr>\n"
    for one in found.differences:
        yield _row(one)
    yield "</table></div>\n<h2>Words that moved</h2>\n"
    if not found.moved:
        yield "<p>No words are compared: left out, not in an audit, or the model has no attention.</p>\n"
        return
    yield (
        '<p class="soft">The average attention to a word where it occurs, in each audit; the largest '
        "differences of words that occur often enough in both. The tables keep averages, so these have no "
        'intervals.</p>\n<div class="scroll"><table>'
        "<tr><th>word</th><th>first</th><th>second</th><th>change</th><th>times, at least</th></tr>\n"
    )
    for moved in found.moved:
        change = f"{'▲' if moved.second > moved.first else '▼'} {signed(moved.second - moved.first, 3)}"
        numbers = (f"{moved.first:.3f}", f"{moved.second:.3f}", change, f"{moved.count:,}")
        written = "".join(f'<td class="number">{cell}</td>' for cell in numbers)
        yield f'<tr><td dir="auto">{shown(moved.word)}</td>{written}</tr>\n'
    yield "</table></div>\n"


def _row(one: "Difference") -> str:
    sign = {"second": "▲", "first": "▼", "": "·"}[one.better]
    cells = (
        f"{one.first.value:.2f}",
        f"{one.second.value:.2f}",
        f"{sign} {one.apart(2)}",
        f"{one.texts[0]:,} and {one.texts[1]:,}, {one.texts[2]:,} in both",
    )
    columns = ("first", "second", "difference", "texts")
    numbers = "".join(
        f'<td class="number" data-name="{column}">{shown(cell)}</td>'
        for column, cell in zip(columns, cells, strict=True)
    )
    name = f'<b>{shown(one.name)}</b><br><span class="soft">{shown(one.measured)}</span>'
    return f"<tr><td>{name}</td>{numbers}</tr>\n"
