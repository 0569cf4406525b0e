"""The figures of an audit, from its evidence and its rows: one for each question that has something to draw.

Each is a function of the evidence (fields of `verdict.Evidence` by name) and the table of rows, one a text.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.records import Finding
from heedful.report.style import BLACK, BLUE, GREY, ORANGE, PURPLE, new_figure, save_figure, styled
from heedful.verdict import Evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Draw = Callable[[Evidence, "DataFrame"], "Figure | None"]


def draw_all(evidence: Evidence, rows: "DataFrame", folder: str | Path) -> tuple[str, ...]:
    """Draw every figure that there is something for into `folder`, as PNG and SVG; returns their stems."""
    drawn = []
    for stem, draw in FIGURES.items():
        with styled():
            figure = draw(evidence, rows)
        if figure is not None:
            save_figure(figure, Path(folder) / stem)
            drawn.append(stem)
    return tuple(drawn)


def skill(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """Word skill of every ranking, with intervals, beside random and shuffled weights."""
    found = sorted(evidence.rankings, key=lambda finding: finding.value)
    if not found or evidence.skill is None:
        return None
    figure = new_figure(6.4, 1.1 + 0.32 * len(found))
    axes = figure.subplots()
    for place, finding in enumerate(found):
        own = finding.coordinates.get("ranking") == "attention"
        _point(axes, finding, place, colour=BLUE if own else BLACK, marker="o" if own else "s")
    axes.axvline(0, color=GREY, linestyle=":", label="random")
    shuffled = evidence.skill.baselines.get("shuffled")
    if shuffled is not None:
        axes.axvline(shuffled.value, color=PURPLE, linestyle="--", label="shuffled weights")
    yardstick = str(evidence.skill.coordinates.get("yardstick", "yardstick"))
    axes.axvline(1, color=GREY, linestyle="-.", label=f"{yardstick} (the yardstick)")
    axes.set_yticks(range(len(found)), [str(finding.coordinates.get("ranking")) for finding in found])
    axes.set_ylim(-0.6, len(found) - 0.4)
    axes.set_xlabel(f"word skill (95 % interval, n = {evidence.skill.count:,} texts)")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def gap(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """How many times the smallest set's size attention and shuffled weights need: the share of texts."""
    if evidence.gap is None or "smallest" not in rows:
        return None
    table = rows[(rows["items"] > 1) & (rows["smallest"] > 0)]
    figure = new_figure()
    axes = figure.subplots()
    kinds = {"attention": ("smallest", BLUE, "-"), "shuffled": ("smallest_shuffled", PURPLE, "--")}
    for name, (least, colour, line) in kinds.items():
        if least not in table:
            continue
        part = table[table[least] > 0]
        sizes = part[f"size_{name}"].where(part[f"size_{name}"] > 0, part["items"])
        _steps(axes, (sizes / part[least]).to_numpy(), colour, line, name)
    axes.set_xscale("log", base=2)
    axes.set_xlim(left=1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"items needed ÷ items of the smallest set (n = {len(table):,} texts)")
    axes.set_ylabel("share of texts up to here")
    axes.legend(loc="lower right")
    return figure


def agreement(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """Kendall's τ with the yardstick, of attention, the gradient and shuffled weights: the share of texts."""
    if evidence.agreement is None:
        return None
    figure = new_figure()
    axes = figure.subplots()
    yardstick = str(evidence.agreement.coordinates.get("yardstick", "leave-one-out"))
    end = "" if yardstick == "leave-one-out" else f"_{yardstick}"
    lines = {"attention": (BLUE, "-"), "gradient": (ORANGE, "--"), "shuffled": (PURPLE, ":")}
    for name, (colour, line) in lines.items():
        if f"tau_{name}{end}" in rows:
            _steps(axes, rows[f"tau_{name}{end}"].dropna().to_numpy(), colour, line, name)
    axes.set_xlim(-1, 1)
    axes.set_xlabel(f"Kendall's τ with {yardstick} (n = {evidence.agreement.count:,} texts)")
    axes.set_ylabel("share of texts up to here")
    axes.legend(loc="upper left")
    return figure


def adversary(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """How far other weights with the same output are: the share of texts."""
    if evidence.adversary is None or "divergence" not in rows:
        return None
    values = rows["divergence"].dropna().to_numpy()
    figure = new_figure(height=3.0)
    axes = figure.subplots()
    axes.hist(
        values, bins=np.linspace(0, np.log(2), 24).tolist(), color=BLUE, edgecolor="white", linewidth=0.4
    )
    axes.axvline(np.log(2), color=GREY, linestyle="-.", label="nothing in common (log 2)")
    for name, colour, line in (("shuffled", PURPLE, "--"), ("random", BLACK, ":")):
        if name in evidence.adversary.baselines:
            mean = evidence.adversary.baselines[name].value
            axes.axvline(mean, color=colour, linestyle=line, label=f"mean, {name} weights")
    axes.set_xlabel(f"divergence of the adversary's weights, nats (n = {len(values):,} texts)")
    axes.set_ylabel("texts")
    axes.legend(loc="upper left")
    return figure


def top(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """Decisions that the top item alone flips, beside its baselines and the best there can be."""
    if evidence.top is None:
        return None
    best = evidence.top.coordinates.get("possible")
    more = {"best single item": float(best)} if isinstance(best, int | float) else {}
    return _bars(evidence.top, "share of decisions flipped", more)


def stable(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """How often models of other seeds have the same top word."""
    return (
        None if evidence.stable is None else _bars(evidence.stable, "share of texts with the same top word")
    )


def labels(evidence: Evidence, rows: "DataFrame") -> "Figure | None":
    """The attention on words that go with one class."""
    return (
        None
        if evidence.labels is None
        else _bars(evidence.labels, "share of the weight on words of one class")
    )


FIGURES: dict[str, Draw] = {
    "skill": skill,
    "gap": gap,
    "top": top,
    "agreement": agreement,
    "adversary": adversary,
    "stable": stable,
    "labels": labels,
}


TITLES = {
    "skill": "word skill of every ranking, with random and shuffled weights",
    "gap": "items needed, as a multiple of the smallest set",
    "top": "decisions that the top item alone flips",
    "agreement": "Kendall's τ with the yardstick of words, text by text",
    "adversary": "how far other weights with the same output are",
    "stable": "how often models of other seeds have the same top word",
    "labels": "attention on words that go with one class",
}


def about_figures(evidence: Evidence, drawn: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What each figure shows, of how many texts, and how that was measured: of the finding it draws."""
    found = {stem: getattr(evidence, stem) for stem in drawn}
    return {
        stem: {"title": TITLES[stem], "count": finding.count, "measured": finding.measured}
        for stem, finding in found.items()
    }


def _bars(finding: Finding, label: str, more: Mapping[str, float] | None = None) -> "Figure":
    named = {"attention": finding.value}
    named |= {name: baseline.value for name, baseline in finding.baselines.items()}
    named |= dict(more or {})
    colours = {"attention": BLUE, "random": GREY, "shuffled": PURPLE}
    figure = new_figure(6.4, 0.9 + 0.36 * len(named))
    axes = figure.subplots()
    names = list(named)[::-1]
    axes.barh(
        names, [named[name] for name in names], color=[colours.get(name, BLACK) for name in names], height=0.6
    )
    if finding.interval is not None and finding.interval.bounded:
        place = names.index("attention")
        ends = [[finding.value - finding.interval.low], [finding.interval.high - finding.value]]
        axes.errorbar([finding.value], [place], xerr=np.maximum(ends, 0), color=BLACK, capsize=3)
    axes.set_xlim(0, max(1e-3, min(1.0, 1.15 * max(named.values()))))
    axes.set_xlabel(f"{label} (n = {finding.count:,} texts)")
    axes.grid(axis="y", visible=False)
    return figure


def _point(axes: Any, finding: Finding, place: int, *, colour: str, marker: str) -> None:
    ends = None
    if finding.interval is not None and finding.interval.bounded:
        ends = np.maximum(
            [[finding.value - finding.interval.low], [finding.interval.high - finding.value]], 0
        )
    axes.errorbar([finding.value], [place], xerr=ends, color=colour, marker=marker, markersize=4, capsize=3)


def _steps(axes: Any, values: "np.ndarray", colour: str, line: str, name: str) -> None:
    ordered = np.sort(values)
    shares = np.arange(1, len(ordered) + 1) / max(1, len(ordered))
    axes.step(ordered, shares, where="post", color=colour, linestyle=line, label=name)
