"""The tables of the truth bench: for people the same in a terminal and, as Markdown, in the docs."""

import math
from dataclasses import asdict
from typing import Any

import pandas as pd

from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, UNKNOWN
from heedful.bench.found import Found, Table, numbers_of
from heedful.bench.truth import tables
from heedful.bench.truth.labels import LABELS
from heedful.records.wording import in_percent

SHORT = {FAITHFUL: "faithful", CARE: "care", NOT_SHOWN: "do not show", UNKNOWN: "cannot say"}
RATES = [
    "rate",
    "models",
    "share",
    "one-sided 95 % bound",
    "aim",
    "share reaches it",
    "bound reaches it",
]
REACHES = {True: "yes", False: "NO", None: "–"}
MEASURES = {"C, skill": "skill", "P, paint": "paint", "F, strongest word": "strongest"}
COSTS = {"models": ",.0f", "seconds_made": ".1f", "seconds_audited": ".1f", "evaluations": ",.0f"}
REGRESSIONS = {"effects": "φ, the effects themselves", "lime": "LIME", "shapley": "Shapley values"}


def found(results: pd.DataFrame) -> Found:
    """What models with known truth say; of the held-out part alone, where there is one."""
    held_out = results[results["part"] == "held-out"]
    results = held_out if len(held_out) else results
    numbers = {
        "models": len(results),
        "left_out": _records(tables.left_out(results)),
        "readings": _records(tables.confusion(results).reset_index()),
        "by_architecture": _records(tables.confusion(results, "architecture").reset_index()),
        "rates": [
            numbers_of(rate, "share", "share_reaches", "end_reaches") for rate in tables.rates(results)
        ],
        "auc": tables.auc(results),
        "coverage_at_95": [asdict(rate) for rate in tables.coverage(results, kind="at_95")],
        "rankings": _records(tables.rankings(results)),
        "regressions": _records(tables.regressions(results)),
        "costs": _records(tables.costs(results).reset_index()),
    }
    return Found(numbers, (headline(results), *published(results), *left_out(results)))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table; what is not known is null."""
    return [
        {str(name): None if cell != cell else cell for name, cell in row.items()}
        for row in table.to_dict("records")
    ]


def headline(results: pd.DataFrame) -> str:
    """How many models there are, and of which kind."""
    made = tables.audited(results)
    counts = made["kind"].value_counts()
    kinds = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return f"{len(made):,} models with known truth ({kinds})."


def left_out(results: pd.DataFrame) -> list[str]:
    """A sentence for each reason why models could not be used."""
    return [f"Left out: {one.models} models, {one.fault}." for one in tables.left_out(results).itertuples()]


def published(results: pd.DataFrame) -> list[Table]:
    """Readings, error rates, ROC, architectures, coverage at 95 %, maps, regressions and costs."""
    found = [
        _readings(tables.confusion(results)),
        Table("Error rates", RATES, [rate_cells(rate) for rate in tables.rates(results)]),
        _roc(results),
        _by_architecture(results),
        _at_95(results),
        _rankings(results),
        _regressions(results),
        _costs(results),
    ]
    return [table for table in found if table.rows]


def as_markdown(shown: Found) -> str:
    """All of it as Markdown."""
    return "\n\n".join(one if isinstance(one, str) else _markdown(one) for one in shown.shown)


def rate_cells(rate: tables.Rate) -> list[str]:
    """An error rate as the cells of a row under `RATES`."""
    sign = "≤" if rate.rare else "≥"
    return [
        rate.name,
        f"{rate.hits} of {rate.of} {rate.counted}".strip(),
        in_percent(rate.share, 1) if rate.of else "–",
        f"{sign} {in_percent(rate.end, 1)}",
        f"{sign} {in_percent(rate.aim)}" if rate.aim else "none",
        *(REACHES[one] for one in (rate.share_reaches, rate.end_reaches)),
    ]


def _readings(table: pd.DataFrame) -> Table:
    counts = [
        [label, *(str(table.loc[label, one]) for one in SHORT)] for label in LABELS if label in table.index
    ]
    return Table("Readings", ["truth", *SHORT.values()], counts)


def _roc(results: pd.DataFrame) -> Table:
    """Some points of the ROC curve of each number that the rule asks for, and the area under it."""
    cuts = (0.2, 0.4, 0.6, 0.8)
    rows = []
    for name, column in MEASURES.items():
        curve = tables.roc(results, column)
        at = [curve[curve["threshold"] >= cut].iloc[-1:] for cut in cuts]
        points = [
            f"{in_percent(one['right'].item())} / {in_percent(one['wrong'].item(), 1)}"
            if len(one)
            else "0 % / 0 %"
            for one in at
        ]
        rows.append([name, f"{tables.auc(results, column):.4f}", *points])
    columns = ["right / wrong models at or above", "AUC", *(f"{cut:g}" for cut in cuts)]
    return Table("ROC", columns, rows)


def _by_architecture(results: pd.DataFrame) -> Table:
    """One row an architecture: of right ones faithful, of wrong ones not shown, and the two grave errors."""
    made = tables.audited(results)
    rows = []
    for (kind, name), part in made.groupby(["kind", "architecture"]):
        said = {label: part.loc[part["label"] == label, "reading"] for label in LABELS}
        cells = [
            _of(said["right"] == FAITHFUL),
            _of(said["right"] == NOT_SHOWN),
            _of(said["part"] == FAITHFUL),
            _of(said["wrong"] == NOT_SHOWN),
            _of(said["wrong"] == FAITHFUL),
        ]
        rows.append([f"{name}, {kind}", *cells])
    head = ["architecture", "right → faithful", "right → do not show", "part → faithful"]
    return Table("By architecture", [*head, "wrong → do not show", "wrong → faithful"], rows)


def _at_95(results: pd.DataFrame) -> Table:
    """Coverage of intervals of 95 %, which no look widens, beside no aim."""
    rows = [rate_cells(rate)[:4] for rate in tables.coverage(results, kind="at_95")]
    return Table("The same intervals at 95 %", ["the same, all at 95 %", "audits", *RATES[2:4]], rows)


def _rankings(results: pd.DataFrame) -> Table:
    found = tables.rankings(results).to_dict("records")
    rows = [
        [
            one["ranking"],
            f"{one['models']:.0f}",
            *(_said(one[name], ".2f") for name in ("precision@1", "precision@k", "skill")),
            *(_said(one[name], ".0f") for name in ("right", "wrong")),
            _said(one["auc"], ".3f"),
        ]
        for one in found
    ]
    columns = ["map", "models", "precision@1", "precision@k", "median skill", "right in", "wrong in", "AUC"]
    return Table("Every map against the planted words", columns, rows)


def _regressions(results: pd.DataFrame) -> Table:
    found = tables.regressions(results).to_dict("records")
    rows = [
        [
            REGRESSIONS.get(one["ranking"], one["ranking"]),
            str(one["models"]),
            *(_said(one[name], ".2f") for name in ("precision@1", "precision@k", "hiding")),
        ]
        for one in found
    ]
    columns = ["map", "models", "precision@1", "precision@k", "median skill, words hidden"]
    return Table("Regressions on an audit's own deletions, beside the other maps", columns, rows)


def _costs(results: pd.DataFrame) -> Table:
    found = tables.costs(results)
    rows = [
        [f"{name}, {kind}", *(f"{row[column]:{form}}" for column, form in COSTS.items())]
        for (kind, name), row in found.iterrows()
    ]
    columns = ["architecture", "models", "s to make", "s to audit", "changed texts read"]
    return Table("Costs, mean of a model", columns, rows)


def _said(number: float, form: str) -> str:
    return "–" if math.isnan(number) else f"{number:{form}}"


def _of(hits: "pd.Series[bool]") -> str:
    return f"{int(hits.sum())} of {len(hits)}"


def _markdown(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
