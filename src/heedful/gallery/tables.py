"""Reading a table of the data folder: a file that is damaged, or lacks a column, is said in one sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UserError, listed

if TYPE_CHECKING:
    import pandas


def read_table(path: Path, columns: Sequence[str], *, whole: Sequence[str] = ()) -> "pandas.DataFrame":
    """These columns of a file, as text, or as whole numbers those in `whole`.

    Blanks are blanks, and "null" is a word. What ends in .tsv.gz has tabs between columns, others commas.
    """
    import pandas

    separator = "\t" if path.name.endswith(".tsv.gz") else ","
    try:
        table = pandas.read_csv(path, sep=separator, keep_default_na=False, dtype=str)
    except (OSError, EOFError, ValueError) as error:  # what gzip, the decoder and the parser raise
        raise UserError(f"{path} cannot be read as a table ({error}).") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise UserError(f"{path} has no column {listed(missing)}: its columns are {listed(list(table))}.")
    table = table[list(columns)]
    try:
        return table.astype(dict.fromkeys(whole, int))
    except ValueError as error:
        raise UserError(f"{path} needs whole numbers in {listed(list(whole))} ({error}).") from None
