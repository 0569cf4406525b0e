"""The ledger: every claim of the published results on one page that needs no network, and as rows.

A claim that rests on one training says so ("in this run"). Beside it stands what its models reached: the
lowest of their accuracies, and the share of the largest class. Above the table stands how many claims were
judged and how many chance alone would let hold: a 95 % interval lies wholly on the claim's side of a
threshold where the truth sits on it in 2.5 of 100 cases.
"""

import math
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import pandas as pd

from heedful.drawing import draw_to
from heedful.files import write_atomically
from heedful.papers import experiment
from heedful.papers.names import corpus_label
from heedful.records import Claim
from heedful.records.interval import OUTCOMES
from heedful.records.wording import decimals, in_percent, number
from heedful.study.latex import to_latex
from heedful.study.learnt import TABLE, those_of
from heedful.study.published import Published, joined, read_published

PAGE, ROWS = "ledger.html", "ledger.csv"
# What can be, by the unit of an effect: an interval by Student's t knows nothing of it.
POSSIBLE = {"of instances": (0.0, 1.0), "of models": (0.0, 1.0), "points": (-100.0, 100.0)}
COLUMNS = (
    "paper",
    "section",
    "statement",
    "corpus",
    "model",
    "accuracy",
    "largest class",
    "outcome",
    "effect",
    "low",
    "high",
    "unit",
    "seeds",
    "count",
    "criterion",
    "experiment",
    "command",
    "version",
)
# The page joins what belongs together, so that it needs no scrolling sideways; the rows have each by itself.
SHOWN = {
    "paper": "section",
    "statement": "command",
    "corpus": "",
    "model": "",
    "accuracy": "",
    "largest class": "",
    "outcome": "",
    "effect": "",
    "seeds": "",
    "count": "",
    "criterion": "",
}


def make_ledger(results: str | Path, out: str | Path, *, latex: bool = False) -> pd.DataFrame:
    """Make everything again from published results: page and rows of the ledger, tables and figures.

    In `out`: ledger.html, ledger.csv, and a folder an experiment with its tables as CSV (and LaTeX) and its
    figures as PNG, SVG and PDF.
    """
    published = read_published(results)
    rows = ledger_rows(published)
    out = Path(out)
    by_name: dict[str, list[Published]] = {}
    for one in published:
        by_name.setdefault(one.name, []).append(one)
    for name, parts in by_name.items():
        tables = joined(parts)
        for title, table in tables.items():
            with write_atomically(out / name / f"{title}.csv") as file:
                table.to_csv(file, index=False, lineterminator="\n")
            if latex:
                with write_atomically(out / name / f"{title}.tex") as file:
                    file.write(to_latex(table))
        for stem, figure in experiment(name).figures.items():
            draw_to(out / name / stem, figure, tables, formats=("png", "svg", "pdf"))
    with write_atomically(out / ROWS) as file:
        rows.to_csv(file, index=False, lineterminator="\n")
    if latex:
        with write_atomically(out / "ledger.tex") as file:
            file.write(to_latex(rows.drop(columns=["command", "version"])))
    with write_atomically(out / PAGE) as file:
        file.write(ledger_page(rows))
    return rows


def ledger_rows(published: Sequence[Published]) -> pd.DataFrame:
    """One row a claim."""
    rows = [_row(one, claim) for one in published for claim in one.claims(experiment(one.name))]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        {"seeds": "Int64"}
    )  # whole, though some have none


def _row(one: Published, claim: Claim) -> dict[str, object]:
    effect = claim.effect
    low, high = (
        (-math.inf, math.inf) if effect.interval is None else (effect.interval.low, effect.interval.high)
    )
    least, most = POSSIBLE.get(effect.unit, (-math.inf, math.inf))
    if "τ" in effect.name and not effect.unit and "lead" not in effect.name and "above" not in effect.name:
        least, most = -1.0, 1.0
    low = max(low, least) if math.isfinite(low) else low  # no interval stays none
    high = min(high, most) if math.isfinite(high) else high
    if effect.kind == "exact" and effect.interval is None:
        low = high = effect.value
    where = {key: _where(one, claim, key) for key in ("corpus", "model")}
    models = one.tables.get(TABLE)
    weakest = None
    if models is not None:
        weakest = those_of(where, models).sort_values("accuracy").iloc[0]
    return {
        "paper": claim.source.partition("),")[0] + ")" * (")," in claim.source),
        "section": re.sub(r"^[^(]*\(\d{4}\),? *", "", claim.source) or claim.source,
        "statement": claim.statement,
        **where,
        "accuracy": None if weakest is None else weakest["accuracy"],
        "largest class": None if weakest is None else weakest["majority"],
        "outcome": claim.told(trained=TABLE in one.tables),
        "effect": effect.value,
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "unit": effect.unit,
        "seeds": effect.seeds if TABLE in one.tables else None,
        "count": effect.count,
        "criterion": f"{effect.name} {claim.criterion}" + (f" {effect.unit}" if effect.unit else ""),
        "experiment": one.name,
        "command": one.command,
        "version": one.about["version"],
    }


def _where(one: Published, claim: Claim, key: str) -> str:
    """The corpus or model of a claim: its effect's own, or the one of its tables that it names; else none."""
    if claim.effect.coordinates.get(key):
        return str(claim.effect.coordinates[key])
    seen = {str(name) for table in one.tables.values() if key in table for name in table[key].unique()}
    if len(seen) != 1:  # which of them the statement names, the longest first: 20News II is no 20News I
        said = {corpus_label(name) if key == "corpus" else name: name for name in seen}
        found = re.search(
            rf"\b({'|'.join(map(re.escape, sorted(said, key=len, reverse=True)))})\b", claim.statement
        )
        return said[found[1]] if seen and found else ""
    return seen.pop()


def ledger_page(rows: pd.DataFrame) -> str:
    """The page: a search field, columns that sort, and nothing that is loaded from elsewhere."""
    decided = [name for name in OUTCOMES if name != "undecided"]
    counts = {name: int(rows["outcome"].str.startswith(name).sum()) for name in OUTCOMES}
    told = f"{counts['holds']} hold, {counts['does not hold']} do not, {counts['undecided']} are undecided"
    settled, by_chance = sum(counts[one] for one in decided), 0.025 * len(rows)
    one_seed = int(rows["outcome"].str.endswith("in this run").sum())
    intro = (
        f"{len(rows)} claims were judged at 95 %: {told}. If the truth sat on every threshold, chance alone "
        f"would let about {by_chance:.1f} of them hold, and as many fail; {settled} "
        f"were decided. {one_seed} of those rest on one training each, and say “in this run”. "
        "Accuracy is the lowest of the models that a claim is about, on test texts."
    )
    head = "".join(f"<th><button>{escape(name)}</button></th>" for name in SHOWN)
    body = "\n".join(
        f"<tr>{''.join(_cell(name, row) for name in SHOWN)}</tr>" for row in rows.to_dict("records")
    )
    page = (files("heedful.papers") / "assets" / "ledger.html").read_text(encoding="utf-8")
    parts = {"intro": escape(intro), "head": head, "body": body, "count": str(len(rows))}
    return re.sub(r"@(intro|head|body|count)@", lambda place: parts[place[1]], page)


def _cell(name: str, row: dict[str, object]) -> str:
    value = row[name]
    if pd.isna(value):
        return '<td class="none">–</td>'
    if name in ("accuracy", "largest class"):
        return f'<td class="number" data-key="{value}">{in_percent(float(str(value)), 1)}</td>'
    if name == "effect":
        return f'<td data-key="{value}">{_effect(row)}</td>'
    if isinstance(value, int):
        return f'<td class="number" data-key="{value}">{value:,}</td>'
    words = escape(str(value))
    if name == "outcome":
        kind = "undecided" if words.startswith("undecided") else "no" if words.startswith("does") else "yes"
        return f'<td class="{kind}">{words}</td>'
    below = escape(str(row[SHOWN[name]])) if SHOWN[name] else ""
    below = re.sub(r"--\S+( \w\S*)?", r"<span>\g<0></span>", below)  # an option is not broken
    return f"<td>{words}{f'<small>{below}</small>' if below else ''}</td>"


def _effect(row: dict[str, object]) -> str:
    """The effect with its interval and unit."""
    values = [float(str(row[name])) for name in ("effect", "low", "high") if not pd.isna(row[name])]
    shown = [number(value, decimals(values[0], None)) for value in values]
    interval = f" [{shown[1]}, {shown[2]}]" if len(shown) == 3 else ""
    return f"{shown[0]}{interval} {escape(str(row['unit']))}".rstrip()
