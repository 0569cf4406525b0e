"""What a study's measures say, as one table: a finding for each corpus, model, setting and measure.

Intervals are over seeds, crossed with texts; of one seed over its texts (`study.pooling`). `pivot` lays the
findings out as papers do: models and settings down, corpora and measures across.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from heedful.records import Finding
from heedful.study.cells import Job, Task
from heedful.study.grid import Study
from heedful.study.latex import escaped, tabular
from heedful.study.pooling import mean_over_texts, shown
from heedful.study.text_measures import MEASURES, Asked

BASELINES = ("shuffled", "random")
MOST_ACROSS = 4  # numbers with their intervals that stand side by side on a terminal


@dataclass(frozen=True)
class Entry:
    """One place of the table: its coordinates, and what was found there, or why nothing was."""

    corpus: str
    row: tuple[str, ...]  # the model, and what the grid varies
    measure: str
    finding: Finding | None
    why: str = ""

    def __str__(self) -> str:
        return shown(self.finding)


def study_entries(job: Job, tasks: Sequence[Task]) -> list[Entry]:
    """The entries of all cells that are measured, seeds taken together; in the study's order."""
    found = []
    for (corpus, row), group in groupby(tasks, key=lambda task: (task.cell.corpus, _row(job.study, task))):
        own = list(group)  # the seeds are innermost in a study
        for name in job.study.measures:
            rows = _rows(job, own, MEASURES[name])
            if rows is not None:
                found.append(_entry(corpus, row, name, rows))
    return found


def _row(study: Study, task: Task) -> tuple[str, ...]:
    return (task.cell.model, *(str(task.cell.settings[name]) for name in study.grid))


def _rows(job: Job, tasks: Sequence[Task], asked: Asked) -> pd.DataFrame | None:
    stage = job.stage(asked.measure(job.study.texts))
    missing = set(stage.missing([task.key for task in tasks]))
    parts = [
        stage.rows([task.key]).assign(seed=task.cell.settings["seed"])
        for task in tasks
        if task.key not in missing
    ]
    return pd.concat(parts, ignore_index=True) if parts else None


def _entry(corpus: str, row: tuple[str, ...], name: str, rows: pd.DataFrame) -> Entry:
    asked = MEASURES[name]
    why = next(iter(rows["why"].dropna()), "") if "why" in rows else ""
    rows = rows[rows["instance"] >= 0]
    find = _over_seeds if asked.over_seeds else _over_texts
    finding = find(rows, asked) if len(rows) else None
    if finding is None and not why:
        why = "it needs two seeds or more" if asked.over_seeds else "no text has a value"
    return Entry(corpus, row, name, finding, why)


def _over_texts(rows: pd.DataFrame, asked: Asked) -> Finding | None:
    names = ["value", *(name for name in BASELINES if name in rows)]
    if "over" in rows:
        rows = _linear(rows, names)
    bound = "bound" in rows and (rows["bound"] != "").any()
    return mean_over_texts(
        rows,
        "value",
        name=asked.title,
        measured=asked.how,
        baselines={name: name for name in names[1:]},
        within=asked.within,
        unit=asked.unit,
        better=asked.better,
        kind="lower bound" if bound else "estimate",
    )


def _linear(rows: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """For ratios of sums: numbers a text whose mean, seed by seed, is the ratio (the delta method)."""

    def of_seed(own: pd.DataFrame) -> pd.DataFrame:
        below = own["over"]
        if not below.sum() > 0:
            return own.assign(**dict.fromkeys(names, np.nan))
        ratios = {name: own[name].sum() / below.sum() for name in names}
        return own.assign(
            **{name: (own[name] - ratio * below) / below.mean() + ratio for name, ratio in ratios.items()}
        )

    rows = rows.dropna(subset=[*names, "over"])
    return pd.concat([of_seed(own) for _, own in rows.groupby("seed")]) if len(rows) else rows


def _over_seeds(rows: pd.DataFrame, asked: Asked) -> Finding | None:
    """How far apart (JSD) the attention of two seeds is, mean over texts and pairs."""
    import torch

    from heedful.study.seeds import compare_weights, pairs_finding

    by_seed = [own.set_index("instance")["weights"] for _, own in rows.groupby("seed")]
    if len(by_seed) < 2:
        return None
    numbers = by_seed[0].index.to_numpy()
    lengths = torch.tensor([len(by_seed[0][number]) for number in numbers])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    weights = []
    for own in by_seed:
        padded = torch.zeros(mask.shape, dtype=torch.float64)
        padded[mask] = torch.from_numpy(np.concatenate([own[number] for number in numbers]).astype(float))
        weights.append(padded)
    table = pd.DataFrame({"instance": numbers, **compare_weights(weights, mask, rows=numbers)})
    return pairs_finding(
        table,
        "divergence",
        seeds=len(by_seed),
        name=asked.title,
        measured="JSD of a text's attention between two seeds, mean over pairs and texts",
        baselines=("shuffled",),
        within=asked.within,
        unit=asked.unit,
        better=asked.better,
    )


# As people read it


@dataclass(frozen=True)
class Pivot:
    """Models and settings down, corpora and measures across."""

    down: tuple[str, ...]  # names of the first columns
    across: tuple[tuple[str, str], ...]  # corpus and measure of the others
    rows: Mapping[tuple[str, ...], Mapping[tuple[str, str], Entry]]

    @property
    def corpora(self) -> list[str]:
        return list(dict.fromkeys(corpus for corpus, _ in self.across))

    def titles(self) -> list[str]:
        """The head of the table, in one line."""
        several = len(self.corpora) > 1
        return [
            *self.down,
            *(
                f"{Path(corpus).stem}: {MEASURES[name].title}" if several else MEASURES[name].title
                for corpus, name in self.across
            ),
        ]

    def narrow(self) -> "Iterator[tuple[str, Pivot]]":
        """As it is, or a table a measure where a terminal has no room for all of them; each with a name."""
        if len(self.across) <= MOST_ACROSS:
            yield "", self
            return
        for measure in dict.fromkeys(name for _, name in self.across):
            own = tuple(place for place in self.across if place[1] == measure)
            yield f", {MEASURES[measure].title}", replace(self, across=own)

    def cells(self) -> list[list[str]]:
        return [
            [*row, *(str(found[place]) if place in found else "–" for place in self.across)]
            for row, found in self.rows.items()
        ]


def pivot(study: Study, entries: Sequence[Entry]) -> Pivot:
    """The entries, laid out as a paper's table."""
    rows: dict[tuple[str, ...], dict[tuple[str, str], Entry]] = {}
    for entry in entries:
        rows.setdefault(entry.row, {})[entry.corpus, entry.measure] = entry
    across = tuple((corpus, name) for corpus in study.corpora for name in study.measures)
    return Pivot(("model", *study.grid), across, rows)


def long_table(study: Study, entries: Sequence[Entry]) -> pd.DataFrame:
    """One row an entry, its number and interval in columns of their own: for further work."""
    rows: list[dict[str, Any]] = []
    for entry in entries:
        where = dict(zip(("model", *study.grid), entry.row, strict=True))
        about = {"study": study.name, "corpus": entry.corpus, **where, "asked": entry.measure}
        found = entry.finding.to_row() if entry.finding is not None else {}
        rows.append({**about, **found, "why": entry.why})
    return pd.DataFrame(rows)


def to_latex(laid: Pivot) -> str:
    """The table for a paper."""
    first = len(laid.down)
    groups = [(corpus, sum(own == corpus for own, _ in laid.across)) for corpus in laid.corpora]
    over = (rf"\multicolumn{{{n}}}{{c}}{{{escaped(Path(corpus).stem)}}}" for corpus, n in groups)
    titles = (*laid.down, *(MEASURES[name].title for _, name in laid.across))
    heads = [[*[""] * first, *over], map(escaped, titles)]
    return tabular("l" * first + "r" * len(laid.across), heads, (map(escaped, row) for row in laid.cells()))
