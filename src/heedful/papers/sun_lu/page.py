"""The results page, docs/sun-lu.md, filled in from folders of experiments (`papers.pages`):

claims NAME     every claim of the experiment sun-lu-NAME with its outcome and effect
counts          how many claims of all experiments hold, do not, or are undecided
accuracies      Table 2, ours beside the printed numbers
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from heedful.errors import UserError, choose_from
from heedful.papers.names import corpus_label
from heedful.papers.pages import fill, table
from heedful.records import Claim
from heedful.records.claim import OUTCOMES


def fill_page(page: str, folders: Sequence[str | Path]) -> str:
    """The page with every block made anew; of an experiment in several folders the first one counts."""
    found = _experiments(folders)

    def made(kind: str, name: str | None) -> list[str]:
        choose_from("kind of block", kind, ("claims", "counts", "accuracies"))
        if kind == "counts":
            return _counts(found)
        key = f"sun-lu-{name or 'table2'}"
        if key not in found:
            raise UserError(f"The page needs {key}, which is in none of the folders: reproduce it first.")
        return _claims(found[key][1]) if kind == "claims" else _accuracies(found[key][0])

    return fill(page, made)


def _experiments(folders: Sequence[str | Path]) -> dict[str, tuple[Path, dict[str, Any]]]:
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for folder in map(Path, folders):
        for path in sorted(folder.glob("sun-lu-*/experiment.json")):
            content = json.loads(path.read_text(encoding="utf-8"))
            found.setdefault(content["name"], (path.parent, content))
    return dict(sorted(found.items(), key=lambda item: _natural(item[0])))


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that puts fig2 before fig10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _read(content: dict[str, Any]) -> list[Claim]:
    return [Claim.from_dict(claim) for claim in content["claims"]]


def _claims(content: dict[str, Any]) -> list[str]:
    heading = f"`heedful reproduce {content['name']} {_asked(content)}`".replace(" `", "`")
    rows = [
        (
            claim.statement,
            claim.told(trained="models" in content["tables"]),
            str(claim.effect),
            claim.criterion,
        )
        for claim in _read(content)
    ]
    lines = table(("claim", "outcome", "measured", "asked"), rows)
    return [f"{heading}: {content['title']}. {content['source']}.", "", *lines]


def _asked(content: dict[str, Any]) -> str:
    """The options it was run with; the first records say only whether it was quick."""
    return content.get("asked") or ("--quick" if content["quick"] else "")


def _counts(found: dict[str, tuple[Path, dict[str, Any]]]) -> list[str]:
    rows = []
    total: Counter[str] = Counter()
    for name, (_, content) in found.items():
        own = Counter(claim.outcome for claim in _read(content))
        total.update(own)
        full = [] if content["quick"] else ["full"]
        how = ", ".join([*full, *_asked(content).replace(" --", "--").split("--")[1:]])
        rows.append((name, how, *(str(own[outcome]) for outcome in OUTCOMES)))
    rows.append(("all", "", *(str(total[outcome]) for outcome in OUTCOMES)))
    return table(("experiment", "how", *OUTCOMES), rows)


def _accuracies(folder: Path) -> list[str]:
    rows = []
    for row in pd.read_parquet(folder / "summary.parquet").to_dict("records"):
        span = "–" if pd.isna(row["low"]) else f"{row['low']:.1f} to {row['high']:.1f}"
        shown = f"{row['accuracy']:.1f}", span, str(row["seeds"]), f"{row['printed']:.1f}"
        where = corpus_label(row["corpus"]), row["model"], f"{row['scale']:g}"
        rows.append((*where, *shown, f"{row['difference']:+.1f}"))
    columns = ("corpus", "model", "λ", "ours, %", "95 % interval", "seeds", "printed, %", "difference")
    return table(columns, rows)
