"""The results page, docs/serrano-smith.md, filled in from folders of experiments (`papers.pages`):

accuracies  Table 3        flips   Table 2, Figs. 9, 12, 13        fractions  Figs. 5, 6, 10
wins        section 5.4    gaps    the exact smallest sets         claims     every statement, decided
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from heedful.errors import UserError, choose_from
from heedful.papers.names import corpus_label, model_label
from heedful.papers.pages import fill, table
from heedful.records import Claim

# The experiments over all architectures have every claim of the others.
JUDGED = ("fig7", "fig8", "fig9", "fig10", "fig11", "fig12", "fig13", "exact")
RANKINGS = {"random": "random", "attention": "attention", "gradient": "gradient", "product": "product"}


def fill_page(page: str, folders: Sequence[str | Path]) -> str:
    """The page with every block made anew from these folders of `heedful reproduce`, one after the other."""
    places = [Path(folder) for folder in folders]
    return fill(page, lambda kind, _: BLOCKS[choose_from("kind of block", kind, BLOCKS)](places))


def _accuracies(folders: Sequence[Path]) -> list[str]:
    rows = []
    for row in _tables(folders, "table3", "summary").to_dict("records"):
        paper = "–" if pd.isna(row["paper_%"]) else f"{row['paper_%']:.1f}"
        span = f"{row['low_%']:.1f} to {row['high_%']:.1f}"
        ours = f"{row['accuracy_%']:.1f}"
        rows.append(_names(row) + [ours, span, f"{row['texts']:,}", f"{row['most_frequent_%']:.1f}", paper])
    columns = ["corpus", "model", "test, %", "95 % interval", "texts", "most frequent class, %", "paper, %"]
    return table(columns, rows)


def _flips(folders: Sequence[Path]) -> list[str]:
    parts = [_tables(folders, name, "flips") for name in ("fig9", "fig12", "fig13")]
    rows = []
    for _, found in pd.concat(parts).groupby(["folder", "corpus", "model"], sort=False):
        shares = [
            f"{100 * part / one['tested']:.1f}"
            for one in found.to_dict("records")
            for part in (one["both"] + one["top_only"], one["other_only"])
        ]
        first = found.iloc[0]
        rows.append([*_names(first), f"{first['tested']:,}", f"{first['one_item']:,}", *shares])
    columns = ["corpus", "model", "tested", "one item", "attention", "not, but other"]
    columns += ["gradient", "not, but other", "product", "not, but other"]
    return table(columns, rows)


def _fractions(folders: Sequence[Path]) -> list[str]:
    boxes = _tables(folders, "fig10", "boxes")
    rows = []
    for _, found in boxes.groupby(["folder", "corpus", "model"], sort=False):
        mean = found.set_index("ranking")["mean"]
        first = found.iloc[0]
        counts = [first["instances"], first["excluded_one_item"], first["excluded_never"]]
        shown = [f"{mean[name]:.3f}" for name in (*RANKINGS, "exact")]
        rows.append([*_names(first), *(f"{count:,}" for count in counts), *shown])
    columns = ["corpus", "model", "texts", "one item", "never flips", *RANKINGS.values(), "exact"]
    return table(columns, rows)


def _wins(folders: Sequence[Path]) -> list[str]:
    found = _tables(folders, "fig10", "findings")
    rows = []
    for row in found[found["name"] == "gradient needs fewer items than attention"].to_dict("records"):
        ratio = f"{row['fewer'] / row['more']:.2f}" if row["more"] else "–"
        share = f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        rows.append([*_names(row), share, f"{row['fewer']:,.0f}", f"{row['more']:,.0f}", ratio])
    columns = ["corpus", "model", "gradient needs fewer: share", "gradient fewer", "attention fewer", "ratio"]
    return table(columns, rows)


def _gaps(folders: Sequence[Path]) -> list[str]:
    found = _tables(folders, "exact", "findings")
    found = found[found["name"] == "optimality gap"]
    rows = []
    for _, of_model in found.groupby(["folder", "corpus", "model"], sort=False):
        by_ranking = of_model.set_index("ranking")
        shown = [
            f"{by_ranking.loc[name, 'value']:.2f} [{by_ranking.loc[name, 'low']:.2f}, "
            f"{by_ranking.loc[name, 'high']:.2f}]"
            for name in ("attention", "gradient", "product", "contribution")
        ]
        nulls = [f"{by_ranking.loc['attention', f'baseline_{null}']:.2f}" for null in ("random", "shuffled")]
        rows.append([*_names(of_model.iloc[0]), *shown, *nulls])
    columns = ["corpus", "model", "attention", "gradient", "product", "contribution", "random", "shuffled"]
    return table(columns, rows)


def _claims(folders: Sequence[Path]) -> list[str]:
    """One line for each statement, one column for each folder."""
    found: dict[tuple[str, str, str], dict[int, str]] = {}
    for place, folder in enumerate(folders):
        for name in JUDGED:
            for content in _read(folder, name)["claims"]:
                claim = Claim.from_dict(content)
                key = (claim.statement, claim.source.partition(", ")[2] or claim.source, claim.criterion)
                found.setdefault(key, {})[place] = f"**{claim.outcome}**: {claim.effect}"
    rows = [
        [statement, source, asked, *(outcomes.get(place, "–") for place in range(len(folders)))]
        for (statement, source, asked), outcomes in found.items()
    ]
    return table(["claim", "where", "asked", *(_heading(folder) for folder in folders)], rows)


BLOCKS: dict[str, Callable[[Sequence[Path]], list[str]]] = {
    "accuracies": _accuracies,
    "flips": _flips,
    "fractions": _fractions,
    "wins": _wins,
    "gaps": _gaps,
    "claims": _claims,
}


def _heading(folder: Path) -> str:
    corpora = _tables([folder], "fig10", "boxes")["corpus"].unique()
    return ", ".join(corpus_label(corpus) for corpus in corpora)


def _tables(folders: Sequence[Path], name: str, of: str) -> pd.DataFrame:
    parts = []
    for folder in folders:
        _read(folder, name)
        frame = pd.read_parquet(folder / f"serrano-smith-{name}" / f"{of}.parquet")
        parts.append(frame.assign(folder=str(folder)))
    return pd.concat(parts, ignore_index=True)


def _read(folder: Path, name: str) -> dict:
    path = folder / f"serrano-smith-{name}" / "experiment.json"
    if not path.exists():
        raise UserError(f"The page needs serrano-smith-{name}, and {folder} has it not: reproduce it first.")
    content: dict = json.loads(path.read_text(encoding="utf-8"))
    return content


def _names(row: "pd.Series | dict") -> list[str]:
    return [corpus_label(row["corpus"]), model_label(row["model"])]
