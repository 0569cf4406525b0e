"""The contact sheet: all entries on one page that opens from disk and needs nothing besides itself."""

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal

from heedful.gallery.comparing import Comparison
from heedful.gallery.entry import Entry, Published
from heedful.records import Finding
from heedful.records.wording import decimals, in_brackets, number, plain

SHARPNESS = 110  # dots an inch

STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #ddd; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
article { border-top: 2px solid #1a1a1a; margin-top: 3rem; }
img { max-width: 100%; height: auto; }
pre { white-space: pre-wrap; background: #f5f5f5; padding: .6rem; }
.source { color: #555; }
"""


def draw_comparison(comparison: Comparison, form: Literal["png", "svg"] = "png") -> bytes:
    """The picture of an entry."""
    import matplotlib
    from matplotlib.figure import Figure

    figure, file = Figure(), io.BytesIO()
    comparison.draw(figure)
    # Text of an SVG stays text, and the same figure gives the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "heedful"}):
        figure.savefig(file, format=form, dpi=SHARPNESS, metadata={"Date": None} if form == "svg" else None)
    return file.getvalue()


def contact_sheet(
    comparisons: Sequence[Comparison],
    pictures: Mapping[str, bytes],
    *,
    failures: Sequence[tuple[Entry, str]] = (),
) -> str:
    """One HTML page: a table of all entries, then each with its picture (PNG, by the entry's name).

    `failures` are entries that could not be trained, each with the reason.
    """
    passing = sum(comparison.passes for comparison in comparisons)
    tried = len(comparisons) + len(failures)
    real = sum(comparison.is_real for comparison in comparisons)
    rows = "".join(_row(comparison) for comparison in comparisons)
    parts = "".join(_part(comparison, pictures[comparison.entry.name]) for comparison in comparisons)
    missing = "".join(
        f"<p><b>{escape(entry.name)}</b> could not be trained: {escape(why)}</p>" for entry, why in failures
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heedful gallery</title>
<style>{STYLE}</style>
<h1>The attention gallery</h1>
<p>Each mechanism on the task it was made for, beside a model without it of equal parameters, trained in the
same run with the same budget. An entry passes if the 95 % interval of its gain over the seeds excludes no
gain, and its figure reaches the aim where there is one. {passing} of {tried} pass.
{real} of {tried} have their real task here.</p>
{missing}
<table>
<tr><th>entry<th>measure<th>with<th>without<th>gain and interval<th>plain method<th>published<th>aim<th>passes
</tr>
{rows}
</table>
{parts}
</html>
"""


def shown_margin(comparison: Comparison) -> str:
    """The gain over the baseline and its interval over seeds."""
    margin = comparison.margin
    places = decimals(margin.value, margin.interval)
    ends = in_brackets(margin.interval, places) if margin.interval is not None else ""
    return f"{number(margin.value, places)} {ends}"


def found(comparison: Comparison) -> str:
    """What was found, in sentences that the numbers decide."""
    entry, margin, over = comparison.entry, comparison.margin, comparison.over_yardstick
    said = [f"The mechanism is {_verdict(margin)} an equal model without it."]
    real = entry.real if comparison.is_real else None
    if real is not None and over is not None:
        plainly = f"{real.yardstick} ({comparison.mean('yardstick'):.3f})"
        said.append(f"It is {_verdict(over)} the plain yardstick, {plainly}.")
    if real is not None and real.published is not None:
        known = real.published
        here = f"{shown_figure(comparison.mean(known.ours))} here"
        said.append(f"Published: {plain(known.figure)}, {here} ({known.source}). {known.difference}")
    return " ".join(said)


def _verdict(gain: Finding) -> str:
    low, high = (gain.interval.low, gain.interval.high) if gain.interval is not None else (0.0, 0.0)
    if low > 0:
        return "better than"
    return "worse than" if high < 0 else "not shown to differ from"


def shown_measure(entry: Entry) -> str:
    """What is measured, with a word where less is better."""
    return entry.measure if entry.better == "higher" else f"{entry.measure} (less is better)"


def _row(comparison: Comparison) -> str:
    entry = comparison.entry
    real = entry.real if comparison.is_real else None
    plainly = "" if comparison.over_yardstick is None else f"{comparison.mean('yardstick'):.3f}"
    published = "" if real is None or real.published is None else _published(comparison, real.published)
    aim = "" if entry.aim is None else plain(entry.aim)
    return (
        f'<tr><td><a href="#{escape(entry.name)}">{escape(entry.name)}</a>'
        f"<td>{escape(shown_measure(entry))}"
        f'<td class="number">{comparison.mean("figure"):.3f}'
        f'<td class="number">{comparison.mean("baseline"):.3f}'
        f'<td class="number">{escape(shown_margin(comparison))}'
        f'<td class="number">{plainly}<td class="number">{published}'
        f'<td class="number">{aim}<td>{"yes" if comparison.passes else "no"}</tr>\n'
    )


def _published(comparison: Comparison, known: Published) -> str:
    """The published figure; with ours where that is not the figure of the row."""
    beside = f" (here {shown_figure(comparison.mean(known.ours))})" if known.ours != "figure" else ""
    return plain(known.figure) + beside


def shown_figure(value: float) -> str:
    """A figure of a table: counts are whole, anything else has three decimals."""
    return plain(value) if abs(value) >= 1000 else f"{value:.3f}"


def _ends(comparison: Comparison, name: str) -> str:
    ends = comparison.interval(name)
    return "" if ends is None else " to ".join(map(shown_figure, ends))


def _part(comparison: Comparison, picture: bytes) -> str:
    entry, first = comparison.entry, comparison.outcomes[0]
    image = base64.b64encode(picture).decode("ascii")
    further = "".join(
        f'<tr><td>{escape(name)}<td class="number">{shown_figure(comparison.mean(name))}'
        f'<td class="number">{_ends(comparison, name)}</tr>'
        for name in first.table
    )
    return f"""<article id="{escape(entry.name)}">
<h2>{escape(entry.title)}</h2>
<p class="source">{escape(entry.source)}</p>
<p>{escape(entry.task)}</p>
<p class="source">{escape(comparison.data)}</p>
<pre>{escape(entry.formula)}</pre>
<img alt="{escape(f"{entry.title}: {entry.task}")}" src="data:image/png;base64,{image}">
<p>{escape(shown_measure(entry))}: <b>{comparison.mean("figure"):.3f}</b>
({first.parameters:,} parameters); without: {comparison.mean("baseline"):.3f}
({first.baseline_parameters:,} parameters). Gain {escape(shown_margin(comparison))} over
{len(comparison.outcomes)} seeds. The model without it: {escape(entry.without)}.
{comparison.processor_seconds:.0f} s of processor time for the slowest seed.</p>
<p>{escape(found(comparison))}</p>
<table><tr><th>further figures<th>mean<th>95 % interval over seeds</tr>{further}</table>
</article>
"""
