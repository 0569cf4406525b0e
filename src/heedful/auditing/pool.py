"""`pool.parquet`: each text of the pool with its label and its decision, so that two audits can be compared.

The same text is known again by a digest of it, which an audit without texts leaves out: a short text could be
guessed from one.
"""

import hashlib
from typing import TYPE_CHECKING, Any

from heedful.auditing.asking import Asking

if TYPE_CHECKING:
    import pandas


def pool_table(asking: Asking) -> "pandas.DataFrame":
    """One row a text of the pool: its number in the split, label, decision and, if texts are kept, digest."""
    import pandas

    plan, settings = asking.plan, asking.settings
    columns: dict[str, Any] = {"row": plan.pool, "label": asking.labels, "decided": asking.decided}
    if settings.keep_texts:
        texts = plan.audited.corpus.split(settings.split).texts
        columns["text"] = [digest_of_text(texts[row]) for row in plan.pool]
    return pandas.DataFrame(columns)


def digest_of_text(text: str) -> str:
    """Sixteen hexadecimal digits; white space does not matter."""
    plain = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(plain, digest_size=8).hexdigest()
