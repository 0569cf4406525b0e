"""One text as a model reads it: the decision, and each word's attention and polarity.

A word's attention is its weight, averaged over heads where there are several; in a hierarchical model, its
weight in its sentence times the sentence's. Its polarity is what its state alone would say (Sun & Lu, Eq. 7),
as a margin for the decided class against the strongest other one: above 0 speaks for the decision. In a
hierarchical model the head reads sentences, so a word has the polarity of its sentence.
"""

from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.data.vocabulary import UNKNOWN_ID
from heedful.errors import UserError
from heedful.models.classifier import FlatClassifier
from heedful.models.subject import Subject
from heedful.models.trace import Trace, decisions, probabilities
from heedful.models.word_attention import sum_by_item, word_attention
from heedful.training.model_by_name import open_model
from heedful.training.run import Run

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
    read: bool  # False: the model's own tokenizer or length leaves it out


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
            parts.append(_span(word, escape(self.text[word.start : word.end]), word.attention / most))
            place = word.end
        rest = escape(self.text[place:])
        tail = f'<span style="opacity: 0.4" title="not read">{rest}</span>' if self.unread else rest
        return f"<p><b>{escape(self.decision)}</b> ({self.probability:.0%})</p><p>{''.join(parts)}{tail}</p>"


def explain(subject: "Subject | Run | str | Path", text: str) -> Explanation:
    """Read one text with a subject, a run, the run in a folder, or hf:PATH_OR_NAME."""
    if isinstance(subject, str | Path):
        subject = open_model(subject)
    if isinstance(subject, Run):
        subject = subject.model
    if not text.strip():
        raise UserError("The text is empty: give one with at least one word.")
    with torch.inference_mode():
        batch = subject.encode([text])
        logits = subject.logits(batch)
        decided = int(decisions(logits)[0])
        attention, polarity, read = read_words(subject, batch, decided=decided)
    chances = probabilities(logits)[0]
    assert batch.words is not None
    words = batch.words[0]
    readings = tuple(
        WordReading(form, int(start), int(end), *values)
        for form, start, end, *values in zip(
            words.forms,
            words.starts,
            words.ends,
            attention,
            polarity,
            _known(subject, batch),
            read,
            strict=True,
        )
    )
    while readings and not readings[-1].read:  # the end that the model did not reach is told as one piece
        readings = readings[:-1]
    unread = words.unread + len(words) - len(readings)
    return Explanation(
        text=text,
        decision=subject.classes[decided],
        probability=float(chances[decided]),
        probabilities={name: float(chance) for name, chance in zip(subject.classes, chances, strict=True)},
        words=readings,
        unread=unread,
        read_to=readings[-1].end if unread else len(text),
    )


def read_words(
    subject: Subject, batch: Batch, *, decided: int
) -> tuple[list[float], list[float | None], list[bool]]:
    """Attention and polarity of each word of a batch of one text, and whether it was read."""
    final = subject.trace(batch)
    attention, read = word_attention(subject, batch, final=final)
    margins, count = _margins(final, decided), attention.shape[1]
    speaks: list[float | None] = [None] * count
    if margins is not None:
        items = final.items
        if batch.sentences is not None:  # the head reads sentences: a word has the margin of its own
            items = subject.trace(batch, "words").items
            margins = margins[..., None].expand(items.shape)
        pieces = sum_by_item(torch.ones_like(margins), items, count).clamp(min=1)
        speaks = [*(sum_by_item(margins, items, count) / pieces)[0].tolist()]  # the mean of a word's pieces
    return attention[0].tolist(), speaks, read[0].tolist()


def _known(subject: Subject, batch: Batch) -> list[bool]:
    if isinstance(subject, FlatClassifier) and subject.settings.encoder == "pretrained":
        return [True] * len(batch.ids[0])  # it cuts any word into pieces that it knows
    return (batch.ids[0] != UNKNOWN_ID).tolist()


def _margins(trace: Trace, decided: int) -> Tensor | None:
    """What each slot says for the decided class against its rival (B, T); None without a linear head."""
    if trace.linear is None:
        return None
    logits = trace.token_logits
    if logits.shape[-1] == 1:
        return logits[..., 0] * (1 if decided == 1 else -1)
    others = logits.clone()
    others[..., decided] = -torch.inf
    return logits[..., decided] - others.max(-1).values


def _span(word: WordReading, shown: str, strength: float) -> str:
    style = f"background: rgba(230, 159, 0, {strength:.2f})"
    title = f"attention {word.attention:.3f}"
    if word.polarity is not None:
        title += f", polarity {word.polarity:+.3f}"
    if not word.known:
        style, title = f"{style}; text-decoration: underline dotted", f"{title}, unknown word"
    if not word.read:
        style, title = "opacity: 0.4", "not read"
    return f'<span style="{style}" title="{title}">{shown}</span>'
