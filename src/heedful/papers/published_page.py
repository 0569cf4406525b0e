"""Pages whose numbers are filled in from published results, never typed.

A page has blocks `<!-- made: KIND NAME -->` … `<!-- end -->`, and what is between is written anew:

summary NAME    the experiment's own summary, all parts that are published
claims NAME     the accuracies of its models, and its claims: outcome, effect and what was asked
counts PAPER    how many claims of each of the paper's experiments hold, and over how many seeds
parts all       every experiment that is published, its parts and their seeds

Until an experiment is published, its block keeps what stands there, of a run whose folder is not kept.

A page shows the figure sun-lu-fig2 as `![…](FOLDER/sun-lu-fig2.png)`, or in a folder of its paper's name as
`![…](sun-lu/fig2.png)`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from heedful.errors import choose_from
from heedful.papers import PAPERS, experiment
from heedful.papers.names import corpus_label, model_label
from heedful.records.interval import OUTCOMES
from heedful.records.wording import in_percent
from heedful.study.learnt import TABLE
from heedful.study.published import Published, joined

BLOCK = re.compile(r"(<!-- made: (\w+) (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((\S+\.png)\)")


def fill_page(page: str, published: Sequence[Published]) -> str:
    """The page with the block of every published experiment made anew; an empty one says how to get it."""

    def made(block: re.Match[str]) -> str:
        head, kind, name, before, end = block.groups()
        choose_from("kind of block", kind, ("summary", "claims", "counts", "parts"))
        if kind in ("counts", "parts"):
            made = _parts(published) if kind == "parts" else _counts(name, published)
            return "\n".join([head.rstrip(), "", *made, "", end])
        parts = [one for one in published if one.name == name]
        if before.strip() and not parts:
            return block[0]
        lines = [f"Not run yet: `heedful reproduce {name} --publish docs/results`."]
        if parts:
            made = _summary(joined(parts)["summary"]) if kind == "summary" else _claims(parts)
            lines = [", ".join(f"`{one.command}`" for one in parts) + ":", "", *made]
        return "\n".join([head.rstrip(), "", *lines, "", end])

    return BLOCK.sub(made, page)


def shown_pictures(page: str, published: Sequence[Published]) -> dict[str, Path]:
    """The published figures that a page shows: the place as the page names it, and the file in the ledger."""
    names = {one.name for one in published}
    made = {stem: Path(name) / f"{stem}.png" for name in names for stem in experiment(name).figures}
    shown = {}
    for place in PICTURE.findall(page):
        path = PurePosixPath(place)
        for stem in (path.stem, f"{path.parent.name}-{path.stem}"):
            if stem in made:
                shown[place] = made[stem]
    return shown


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [_row(columns), "|---" * len(columns) + "|", *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    """A line of a table; bars inside would end a cell."""
    return "| " + " | ".join(cell.replace("|", "∣") for cell in cells) + " |"


def _summary(rows: pd.DataFrame) -> list[str]:
    named = {"corpus": corpus_label, "model": model_label}
    cells = [[named.get(name, _cell)(value) for value in rows[name]] for name in rows]
    return table(list(rows), zip(*cells, strict=True))


def _cell(value: object) -> str:
    if isinstance(value, float):
        if value != value or value.is_integer():
            return "–" if value != value else f"{value:,.0f}"
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)


def _counts(paper: str, published: Sequence[Published]) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for name in PAPERS[paper]:
        parts = [one for one in published if one.name == name]
        claims = [claim for one in parts for claim in one.claims(experiment(name))]
        if claims:
            outcomes = Counter(claim.outcome for claim in claims)
            seeds = max(claim.effect.seeds for claim in claims) if TABLE in parts[0].tables else "none"
            rows.append((f"`{name}`", str(seeds), *(str(outcomes[outcome]) for outcome in OUTCOMES)))
    total = [str(sum(int(row[place]) for row in rows)) for place in (2, 3, 4)]
    return table(("experiment", "seeds", *OUTCOMES), [*rows, ("all", "", *total)])


def _parts(published: Sequence[Published]) -> list[str]:
    rows = []
    for name in (name for own in PAPERS.values() for name in own):
        parts: dict[str, list[str]] = {}
        for one in published:
            if one.name == name:
                models = one.tables.get(TABLE)
                seeds = "no training" if models is None else str(models["seeds"].max())
                parts.setdefault(seeds, []).append(f"`{one.part}`")
        rows += [(f"`{name}`", ", ".join(those), seeds) for seeds, those in parts.items()]
    return table(("experiment", "parts", "seeds"), rows)


def _claims(parts: Sequence[Published]) -> list[str]:
    rows = [
        (
            claim.statement.replace("*", r"\*"),  # of Ω*+, which would begin an emphasis
            claim.told(trained=TABLE in one.tables),
            str(claim.effect),
            claim.criterion,
        )
        for one in parts
        for claim in one.claims(experiment(one.name))
    ]
    models = joined(list(parts)).get(TABLE)
    reached = [] if models is None else [accuracies(models), ""]
    return [*reached, *table(("claim", "outcome", "measured", "asked"), rows)]


def accuracies(models: pd.DataFrame) -> str:
    """What the models reached, a corpus and a model at a time, beside the share of the largest class."""
    told = []
    for (corpus, model), own in models.groupby(["corpus", "model"], sort=False):
        ends = dict.fromkeys(in_percent(share, 1) for share in (own["accuracy"].min(), own["accuracy"].max()))
        few = int((~own["learnt"]).sum())
        nothing = f"; {few} of {len(own)} have learnt nothing" if few else ""
        told.append(
            f"{corpus_label(corpus)}, {model_label(model)} {' to '.join(ends)} "
            f"(largest class {in_percent(own['majority'].iloc[0], 1)}{nothing})"
        )
    return f"Accuracies of the models: {'; '.join(told)}."
