"""`heedful.explain`: one text or several as a model reads them, painted by any ranking of words."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from heedful.data.corpus import Corpus
from heedful.data.named import load_texts
from heedful.data.tables.held import is_data
from heedful.errors import UserError
from heedful.models.subject import Subject, gives
from heedful.training.opening import Asked, open_any
from heedful.trials.rankings.named import text_scores
from heedful.understanding.one_text import Explanation, Explanations, read_text

WITHOUT_ATTENTION = "leave-one-out"  # what paints where a model shows no attention


def explain(
    model: Any,
    text: Any,
    by: str | None = None,
    *,
    tokenizer: Any = None,
    classes: Sequence[Any] | None = None,
    device: str = "cpu",
    asked_of: Asked | None = None,
    seed: int = 0,
) -> Explanation | Explanations:
    """Read a text, or several, with any model that `heedful.audit` takes.

    `by` is the ranking of words that paints them: by default attention, or leave-one-out where a model shows
    none. Texts are strings, or a table in memory with a column of them; for files, and for many, there is
    `heedful.highlight`.

    Example: `heedful.explain("runs/reviews", "a witty film", by="leave-one-out").to_frame()`
    """
    opened = open_any(model, tokenizer=tokenizer, classes=classes, device=device, asked=asked_of)
    if isinstance(text, str):
        return explained(opened.subject, text, by, seed=seed)
    if isinstance(text, Corpus) or (is_data(text) and not isinstance(text, list | tuple)):
        text = load_texts(text)  # a table would be walked by the names of its columns
    if not isinstance(text, Iterable):
        raise UserError(
            f"Texts are taken as a string or a list of them, but this is of the type {type(text).__name__}."
        )
    return Explanations(explained(opened.subject, one, by, seed=seed) for one in text)


def explained(subject: Subject, text: str, by: str | None = None, *, seed: int = 0) -> Explanation:
    """One text, read by a subject and painted by a ranking."""
    reading = read_text(subject, text)
    chosen = by or ("attention" if gives(subject, "attention") else WITHOUT_ATTENTION)
    if chosen == "attention" and gives(subject, "attention"):
        return reading
    # Words after the last one that was read have no place in the reading.
    scores = text_scores(subject, text, chosen, seed=seed)[: len(reading.words)]
    return replace(reading, by=chosen, scores=tuple(scores))
