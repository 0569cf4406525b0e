"""One text as a model reads it, in the form that an audit keeps its texts in."""

import math
from typing import Any

import torch

from heedful.errors import UserError
from heedful.study.auditing.browsing import entries_of
from heedful.web.models import ServedModel

MOST_WORDS = 2000
MOST_REREAD = 300  # of a model whose words read each other: leaving each out reads the whole text again


def read_text(model: ServedModel, text: str) -> dict[str, Any]:
    """The words with weights, rankings, smallest flip and adversary, as `audit.json` has them."""
    if not text.strip():
        raise UserError("The text is empty: give one with at least one word.")
    subject = model.subject
    with torch.no_grad():
        batch = subject.encode([text])
    words, most = batch.mask.shape[1], MOST_REREAD if subject.mixes_tokens else MOST_WORDS
    if words > most:
        raise UserError(
            f"This model is asked about at most {most} words at a time, and the text has {words}: shorten it."
        )
    entry = next(iter(entries_of(subject, batch)))
    return _finite({"id": 0, "text_id": "", "gold": None, **entry, "tags": [], "disagreement": 0})


def _finite(value: Any) -> Any:
    """Numbers that JSON cannot say become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
