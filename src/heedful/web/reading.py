"""One text as a model reads it, in the form that an audit keeps its texts in."""

import math
from typing import Any

import torch

from heedful.errors import UserError
from heedful.models.word_attention import word_attention
from heedful.study.auditing.browsing import entries_of
from heedful.web.models import ServedModel


def read_text(model: ServedModel, text: str) -> dict[str, Any]:
    """The words with weights, rankings, smallest flip and adversary, as `audit.json` has them."""
    if not text.strip():
        raise UserError("The text is empty: give one with at least one word.")
    subject = model.subject
    with torch.no_grad():
        batch = subject.encode([text])
    words = batch.mask.shape[1]
    if words > model.most_words:
        raise UserError(
            f"This model is asked about at most {model.most_words} words at a time, and the text has "
            f"{words}: shorten it."
        )
    with torch.no_grad():
        _, read = word_attention(subject, batch)
    if not read.any():
        raise UserError("The model reads no word of this text, only signs that it skips: give another.")
    entry = next(iter(entries_of(subject, batch)))
    return _finite({"id": 0, "text_id": "", "gold": None, **entry, "tags": [], "disagreement": 0})


def _finite(value: Any) -> Any:
    """Numbers that JSON cannot say become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
