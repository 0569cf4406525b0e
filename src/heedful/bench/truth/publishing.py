"""The tables of the truth bench as Markdown, for the docs."""

import pandas as pd

from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN, UNKNOWN
from heedful.bench.truth import tables
from heedful.bench.truth.labels import LABELS

SHORT = {FAITHFUL: "faithful", CARE: "care", NOT_SHOWN: "do not show", UNKNOWN: "cannot say"}
RATES = [
    "rate",
    "models",
    "share",
    "one-sided 95 % end",
    "aim",
    "share reaches it",
    "end reaches it",
]
REACHES = {True: "yes", False: "NO", None: "–"}
MEASURES = {"C, skill": "skill", "P, paint": "paint", "F, strongest word": "strongest"}
COSTS = {"models": ",.0f", "seconds_made": ".1f", "seconds_audited": ".1f", "evaluations": ",.0f"}


def as_markdown(results: pd.DataFrame) -> str:
    """Readings, error rates, ROC, architectures, maps and costs, each a table."""
    made = tables.audited(results)
    parts = [
        f"{len(made):,} models with known truth ({_kinds(made)}).",
        _readings(tables.confusion(results)),
        _rates(results),
        _roc(results),
        _by_architecture(results),
        _rankings(results),
        _costs(results),
        *(f"Left out: {one.models} models, {one.fault}." for one in tables.left_out(results).itertuples()),
    ]
    return "\n\n".join(parts)


def _kinds(made: pd.DataFrame) -> str:
    counts = made["kind"].value_counts()
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _readings(table: pd.DataFrame) -> str:
    counts = [
        [label, *(str(table.loc[label, one]) for one in SHORT)] for label in LABELS if label in table.index
    ]
    return _table(["truth", *SHORT.values()], counts)


def rate_cells(rate: tables.Rate) -> list[str]:
    """An error rate as the cells of a row under `RATES`."""
    sign = "≤" if rate.rare else "≥"
    return [
        rate.name,
        f"{rate.hits} of {rate.of}",
        f"{rate.share:.1%}" if rate.of else "–",
        f"{sign} {rate.end:.1%}",
        f"{sign} {rate.aim:.0%}" if rate.aim else "none",
        *(REACHES[one] for one in (rate.share_reaches, rate.end_reaches)),
    ]


def _rates(results: pd.DataFrame) -> str:
    return _table(RATES, [rate_cells(rate) for rate in tables.rates(results)])


def _roc(results: pd.DataFrame) -> str:
    """Some points of the ROC curve of each number that the rule asks for, and the area under it."""
    cuts = (0.2, 0.4, 0.6, 0.8)
    rows = []
    for name, column in MEASURES.items():
        curve = tables.roc(results, column)
        at = [curve[curve["threshold"] >= cut].iloc[-1:] for cut in cuts]
        points = [
            f"{one['right'].item():.0%} / {one['wrong'].item():.1%}" if len(one) else "0% / 0%" for one in at
        ]
        rows.append([name, f"{tables.auc(results, column):.4f}", *points])
    return _table(["right / wrong models at or above", "AUC", *(f"{cut:g}" for cut in cuts)], rows)


def _by_architecture(results: pd.DataFrame) -> str:
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
    return _table([*head, "wrong → do not show", "wrong → faithful"], rows)


def _rankings(results: pd.DataFrame) -> str:
    found = tables.rankings(results)
    rows = [
        [
            one["ranking"],
            str(one["models"]),
            *(f"{one[name]:.2f}" for name in ("precision@1", "precision@k", "skill")),
        ]
        for one in found.to_dict("records")
    ]
    return _table(["map", "models", "precision@1", "precision@k", "median skill"], rows)


def _costs(results: pd.DataFrame) -> str:
    found = tables.costs(results)
    rows = [
        [f"{name}, {kind}", *(f"{row[column]:{form}}" for column, form in COSTS.items())]
        for (kind, name), row in found.iterrows()
    ]
    return _table(["architecture", "models", "s to make", "s to audit", "changed texts read"], rows)


def _of(hits: "pd.Series[bool]") -> str:
    return f"{int(hits.sum())} of {len(hits)}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
