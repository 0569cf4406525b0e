"""A table for a paper: LaTeX with booktabs rules, numbers to four digits."""

import pandas as pd

SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
GREEK = {
    "λ": r"$\lambda$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "−": "$-$",
    "±": r"$\pm$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
}


def to_latex(table: pd.DataFrame) -> str:
    """A tabular of the whole table: words to the left, numbers to the right, missing ones a dash."""
    places = "".join("r" if pd.api.types.is_numeric_dtype(table[name]) else "l" for name in table)
    lines = [
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        _row(list(map(str, table.columns))),
        r"\midrule",
        *(_row([_cell(value) for value in row]) for row in table.itertuples(index=False)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row(cells: list[str]) -> str:
    escaped = ["".join(SPECIAL.get(sign, GREEK.get(sign, sign)) for sign in cell) for cell in cells]
    return " & ".join(escaped) + r" \\"
