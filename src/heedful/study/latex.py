"""A table for a paper: LaTeX with the rules of the package booktabs."""

from collections.abc import Iterable, Sequence

import pandas as pd

SIGNS = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "λ": r"$\lambda$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "−": "$-$",
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
}


def to_latex(table: pd.DataFrame) -> str:
    """A tabular of the whole table: words to the left, numbers (to four digits) to the right, missing ones a
    dash."""
    places = "".join("r" if pd.api.types.is_numeric_dtype(table[name]) else "l" for name in table)
    rows = (map(escaped, map(_cell, row)) for row in table.itertuples(index=False))
    return tabular(places, [map(escaped, map(str, table.columns))], rows)


def tabular(places: str, heads: Sequence[Iterable[str]], rows: Iterable[Iterable[str]]) -> str:
    """A tabular of cells that are LaTeX already, with a line below the heads."""
    lines = [
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        *map(_row, heads),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def escaped(words: str) -> str:
    """Words as LaTeX that shows them."""
    return "".join(SIGNS.get(sign, sign) for sign in words)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
