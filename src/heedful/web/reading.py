"""Texts as a model reads them, in the form that an audit keeps its texts in."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from heedful.auditing.browsing import entries_of
from heedful.errors import UserError
from heedful.models.word_attention import words_read
from heedful.web.models import ServedModel


def read_texts(model: ServedModel, texts: Sequence[str]) -> list[dict[str, Any] | UserError]:
    """Of each text the words with weights, rankings, smallest flip and adversary, as `audit.json` has them.

    A text that cannot be read gets the error that says why; the others are read as one batch.
    """
    faults = {row: fault for row, text in enumerate(texts) if (fault := _fault(model, text)) is not None}
    good = [text for row, text in enumerate(texts) if row not in faults]
    entries = iter(_entries(model, good) if good else ())
    return [faults[row] if row in faults else next(entries) for row in range(len(texts))]


def _fault(model: ServedModel, text: str) -> UserError | None:
    """Why a text cannot be read, if so."""
    if not text.strip():
        return UserError("The text is empty: give one with at least one word.")
    try:
        with torch.no_grad():
            batch = model.subject.encode([text])
    except UserError as error:
        return error
    words = batch.mask.shape[1]
    if words > model.most_words:
        return UserError(
            f"This model is asked about at most {model.most_words} words at a time, and the text has "
            f"{words}: shorten it."
        )
    with torch.no_grad():
        read = words_read(model.subject, batch)
    if not read.any():
        return UserError("The model reads no word of this text, only signs that it skips: give another.")
    return None


def _entries(model: ServedModel, texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    with torch.no_grad():
        batch = model.subject.encode(list(texts))
    for entry in entries_of(model.subject, batch):
        yield _finite({"id": 0, "text_id": "", "gold": None, **entry, "tags": [], "disagreement": 0})


def _finite(value: Any) -> Any:
    """Numbers that JSON cannot say become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
