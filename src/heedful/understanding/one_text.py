"""One text as a model reads it: the decision, and each word's attention and polarity.

A word's attention is its weight; in a hierarchical model, its weight in its sentence times the sentence's.
Its polarity is what its state alone would say (Sun & Lu, Eq. 7), as a margin for the decided class against
the strongest other one: above 0 speaks for the decision. In a hierarchical model the head reads sentences, so
a word has the polarity of its sentence.
"""

from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.subject import Subject
from heedful.models.trace import Trace, decisions, probabilities
from heedful.training.run import Run, load_run

if TYPE_CHECKING:
    import pandas

SCHEMA = 1


@dataclass(frozen=True)
class WordReading:
    """One word: where it stands in the text, and what the model made of it."""

    word: str
    start: int
    end: int
    attention: float
    polarity: float | None  # None where the head is not linear
    known: bool  # False: the model reads it as the unknown word


@dataclass(frozen=True)
class Explanation:
    """A decision and the reading behind it; `read_to` is the character after which nothing was read."""

    text: str
    decision: str
    probability: float
    probabilities: dict[str, float]
    words: tuple[WordReading, ...]
    unread: int  # words after `read_to`
    read_to: int

    def to_frame(self) -> "pandas.DataFrame":
        """One row a word."""
        import pandas

        return pandas.DataFrame([asdict(word) for word in self.words])

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the schema's version."""
        return {"schema": SCHEMA, **asdict(self)}

    def _repr_html_(self) -> str:
        most = max((word.attention for word in self.words), default=0.0) or 1.0
        parts, place = [], 0
        for word in self.words:
            parts.append(escape(self.text[place : word.start]))
            shown = escape(self.text[word.start : word.end])
            shade = f"background: rgba(230, 159, 0, {word.attention / most:.2f})"
            parts.append(f'<span style="{shade}" title="attention {word.attention:.3f}">{shown}</span>')
            place = word.end
        rest = escape(self.text[place:])
        tail = f'<span style="opacity: 0.4" title="not read">{rest}</span>' if self.unread else rest
        return f"<p><b>{escape(self.decision)}</b> ({self.probability:.0%})</p><p>{''.join(parts)}{tail}</p>"


def explain(subject: "Subject | Run | str | Path", text: str) -> Explanation:
    """Read one text with a subject, a run, or the run in a folder."""
    if isinstance(subject, str | Path):
        subject = load_run(subject)
    if isinstance(subject, Run):
        subject = subject.model
    if not text.strip():
        raise UserError("The text is empty: give one with at least one word.")
    with torch.inference_mode():
        batch = subject.encode([text])
        logits = subject.logits(batch)
        attention, polarity = read_words(subject, batch, decided=int(decisions(logits)[0]))
    chances = probabilities(logits)[0]
    decided = int(decisions(logits)[0])
    assert batch.words is not None
    words = batch.words[0]
    known = (batch.ids[0] != 1).tolist()
    readings = tuple(
        WordReading(form, int(start), int(end), weight, speaks, known[place])
        for place, (form, start, end, weight, speaks) in enumerate(
            zip(words.forms, words.starts, words.ends, attention, polarity, strict=True)
        )
    )
    return Explanation(
        text=text,
        decision=subject.classes[decided],
        probability=float(chances[decided]),
        probabilities={name: float(chance) for name, chance in zip(subject.classes, chances, strict=True)},
        words=readings,
        unread=words.unread,
        read_to=int(words.ends[-1]) if words.unread else len(text),
    )


def read_words(subject: Subject, batch: Batch, *, decided: int) -> tuple[list[float], list[float | None]]:
    """Attention and polarity of each word of a batch of one text."""
    final = subject.trace(batch)
    count = int(batch.mask.sum())
    margins = _margins(final, decided)
    if batch.sentences is None:
        weights = _by_item(final.weights, final.items, count)
        speaks = [None] * count if margins is None else margins[0, :count].tolist()
        return weights, speaks
    within = subject.trace(batch, "words")
    weights = _by_item(within.weights * final.weights[..., None], within.items, count)
    ranks = _by_item(
        torch.arange(within.items.shape[1])[None, :, None].expand_as(within.items).float(),
        within.items,
        count,
    )
    return weights, [None if margins is None else float(margins[0, int(rank)]) for rank in ranks]


def _margins(trace: Trace, decided: int) -> Tensor | None:
    """What each slot says for the decided class against its strongest rival (B, T), if a linear head."""
    if trace.linear is None:
        return None
    logits = trace.token_logits
    if logits.shape[-1] == 1:
        return logits[..., 0] * (1 if decided == 1 else -1)
    others = logits.clone()
    others[..., decided] = -torch.inf
    return logits[..., decided] - others.max(-1).values


def _by_item(values: Tensor, items: Tensor, count: int) -> list[float]:
    """The sum of each item's slots, of the first instance."""
    flat, slots = values[0].flatten(), items[0].flatten()
    real = slots >= 0
    return torch.zeros(count).index_add(0, slots[real], flat[real]).tolist()
