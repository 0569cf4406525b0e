"""What an audit kept of each text, under a key by which the same text is found in another audit.

    pool.parquet    one row per text of the pool: its number in the split, label, decision, and a digest of it
    rows.parquet    one row per text that was read many times

The digest is left out of an audit without texts, since a short text could be guessed from it: such an audit
is matched by the texts' numbers, if both were made of the same data.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from heedful.auditing.result import Audit
from heedful.auditing.skill import judged
from heedful.errors import UserError

POOL, ROWS, WORDS = "pool.parquet", "rows.parquet", "words.parquet"


@dataclass(frozen=True, eq=False)
class Kept:
    """The tables of one audit; `pool` and `rows` have a column `key`."""

    pool: pd.DataFrame  # key, label, decided
    rows: pd.DataFrame  # of texts that have deletions, and that words decide
    words: pd.DataFrame  # empty where texts were left out
    numbered: bool  # whether keys are numbers in the split, and not digests


def kept_by(audit: Audit, *, numbered: bool) -> Kept:
    """Read an audit's tables, keyed by digests of the texts, or by their numbers."""
    pool = _table(audit, POOL)
    key = pool["row"].astype(str) if numbered else pool["text"]
    rows = _table(audit, ROWS)
    rows = rows.assign(key=key.to_numpy()[rows["instance"].to_numpy()])
    names = list(audit.content["subject"]["classes"])
    defaults = [names.index(one.name) for one in audit.verdict.classes if one.default]
    scored = judged(rows[~rows["decided"].isin(defaults)])
    words = pd.DataFrame(columns=["word", "count", "weight"])
    if (audit.folder / WORDS).exists():
        words = _table(audit, WORDS)
    return Kept(pool.assign(key=key), scored, words, numbered)


def matched(first: Audit, second: Audit) -> tuple[Kept, Kept, bool]:
    """The tables of two audits, and whether they have texts in common."""
    digests = all("text" in _table(audit, POOL) for audit in (first, second))
    same = first.content["data"].get("fingerprint") == second.content["data"].get("fingerprint")
    split = first.content["data"]["split"] == second.content["data"]["split"]
    found = [kept_by(audit, numbered=not digests) for audit in (first, second)]
    shared = bool(np.intersect1d(found[0].pool["key"], found[1].pool["key"]).size)
    return found[0], found[1], shared and (digests or (same and split))


def _table(audit: Audit, name: str) -> pd.DataFrame:
    path = audit.folder / name
    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise UserError(
            f"{audit.folder} has no {name}: it was made before audits could be compared."
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is damaged ({error}): audit again.") from None
