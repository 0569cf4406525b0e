"""Pages whose numbers are filled in from published results (`papers.pages`):

summary NAME    the experiment's own summary, all parts that are published
claims NAME     its claims, with outcome, effect and what was asked
"""

from collections.abc import Sequence

import pandas as pd

from heedful.errors import choose_from
from heedful.papers import experiment
from heedful.papers.pages import fill, table
from heedful.study.learnt import TABLE
from heedful.study.published import Published, joined


def fill_page(page: str, published: Sequence[Published]) -> str:
    """The page with every block made anew; what is not published yet says how to get it."""

    def made(kind: str, name: str | None) -> list[str]:
        choose_from("kind of block", kind, ("summary", "claims"))
        parts = [one for one in published if one.name == name]
        if not parts:
            return [f"Not run yet: `heedful reproduce {name} --publish docs/results`."]
        commands = ", ".join(f"`{one.command}`" for one in parts)
        lines = _summary(joined(parts)["summary"]) if kind == "summary" else _claims(parts)
        return [f"{commands}:", "", *lines]

    return fill(page, made)


def _summary(rows: pd.DataFrame) -> list[str]:
    return table(list(rows), [[_cell(value) for value in row] for row in rows.itertuples(index=False)])


def _cell(value: object) -> str:
    if isinstance(value, float):
        if value != value or value.is_integer():
            return "–" if value != value else f"{value:,.0f}"
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return str(value)


def _claims(parts: Sequence[Published]) -> list[str]:
    rows = [
        (claim.statement, claim.told(trained=TABLE in one.tables), str(claim.effect), claim.criterion)
        for one in parts
        for claim in one.claims(experiment(one.name))
    ]
    return table(("claim", "outcome", "measured", "asked"), rows)
