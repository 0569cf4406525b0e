"""One text as a model reads it: the decision, each word's attention and polarity, and a ranking's score.

A word's attention is its weight, averaged over heads where there are several; in a hierarchical model, its
weight in its sentence times the sentence's. Its polarity is what its state alone would say (Sun & Lu, Eq. 7),
as a margin for the decided class against the strongest other one: above 0 speaks for the decision. In a
hierarchical model the head reads sentences, so a word has the polarity of its sentence.
"""

import json
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError, choose_from
from heedful.files import write_atomically
from heedful.models.subject import Subject, gives
from heedful.models.trace import Trace, decisions, probabilities
from heedful.models.word_attention import sum_by_item, word_attention, words_read
from heedful.records.wording import in_percent

if TYPE_CHECKING:
    import pandas
from heedful.models.word_attention import known_words

SCHEMA = 2  # since 2 the ranking that was asked for, and its scores
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>How a model reads</title>
<style>body {{ font: 18px/1.7 sans-serif; max-width: 45em; margin: 2em auto; padding: 0 1em }}</style></head>
<body>{body}
<p style="font-size: 14px">Orange words speak for the decision, blue ones against it; the stronger, the more.
Point at a word for its numbers. This page holds the whole text of {count} texts.</p></body></html>
"""


@dataclass(frozen=True)
class WordReading:
    """One word: where it stands in the text, and what the model made of it."""

    word: str
    start: int
    end: int
    attention: float | None  # None where attention is not seen, as in a black box
    polarity: float | None  # None where the head is not linear
    known: bool  # False: the model reads it as the unknown word
    read: bool  # False: the model's own tokenizer or length leaves it out


@dataclass(frozen=True)
class Explanation:
    """A decision and the reading behind it; `read_to` is the character after which nothing was read.

    `words` have attention and polarity; `scores` are those of the words by the ranking `by`, and what is
    painted.
    """

    text: str
    decision: str
    probability: float
    probabilities: dict[str, float]
    words: tuple[WordReading, ...]
    unread: int  # words after `read_to`
    read_to: int
    by: str
    scores: tuple[float, ...]

    def to_frame(self) -> "pandas.DataFrame":
        """One row per word."""
        import pandas

        words = [asdict(word) for word in self.words]
        return pandas.DataFrame(words).assign(by=self.by, score=list(self.scores))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with the schema's version."""
        return {"schema": SCHEMA, **asdict(self)}

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), a table (.csv) or everything (.json)."""
        return save_readings((self,), path)

    def _repr_html_(self) -> str:
        most = max((abs(score) for score in self.scores), default=0.0) or 1.0
        parts, place = [], 0
        for word, score in zip(self.words, self.scores, strict=True):
            parts.append(escape(self.text[place : word.start]))
            shown = escape(self.text[word.start : word.end])
            parts.append(_span(word, shown, self.by, score, score / most))
            place = word.end
        rest = escape(self.text[place:])
        tail = f'<span style="opacity: 0.4" title="not read">{rest}</span>' if self.unread else rest
        head = (
            f"<b>{escape(self.decision)}</b> ({in_percent(self.probability)}), painted by {escape(self.by)}"
        )
        return f"<p>{head}</p><p>{''.join(parts)}{tail}</p>"


class Explanations(tuple[Explanation, ...]):
    """The readings of several texts, in their order."""

    __slots__ = ()

    def to_frame(self) -> "pandas.DataFrame":
        """One row per word; `text` is the number of its text, from 0."""
        import pandas

        frames = [reading.to_frame().assign(decision=reading.decision) for reading in self]
        return pandas.concat(frames, keys=range(len(frames)), names=["text"]).reset_index("text")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"schema": SCHEMA, "texts": [asdict(reading) for reading in self]}

    def save(self, path: str | Path) -> Path:
        """Write a page (.html), a table (.csv) or everything (.json)."""
        return save_readings(self, path)

    def _repr_html_(self) -> str:
        return "<hr>".join(reading._repr_html_() for reading in self)


def save_readings(readings: tuple[Explanation, ...], path: str | Path) -> Path:
    """Write readings as a page that opens by itself, as a table, or as JSON, by the ending of the name."""
    path = Path(path)
    one = readings[0] if len(readings) == 1 else Explanations(readings)
    choose_from("ending for a reading", path.suffix.lower(), (".html", ".csv", ".json"))
    with write_atomically(path) as file:
        match path.suffix.lower():
            case ".html":
                file.write(PAGE.format(count=len(readings), body=Explanations(readings)._repr_html_()))
            case ".csv":
                file.write(one.to_frame().to_csv(index=False))
            case _:
                json.dump(one.to_dict(), file, ensure_ascii=False, indent=1)
    return path


def read_text(subject: Subject, text: str) -> Explanation:
    """Read one text, painted by attention; by nothing where the subject shows none."""
    if not isinstance(text, str):
        raise UserError(f"A text is taken as a string, but this is of the type {type(text).__name__}.")
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
            known_words(subject, batch)[0].tolist(),
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
        by="attention",
        scores=tuple(word.attention or 0.0 for word in readings),
    )


def read_words(
    subject: Subject, batch: Batch, *, decided: int
) -> tuple[list[float] | list[None], list[float | None], list[bool]]:
    """Attention and polarity of each word of a batch of one text, and whether it was read."""
    if not gives(subject, "attention"):
        seen: list[bool] = words_read(subject, batch)[0].tolist()
        return [None] * len(seen), [None] * len(seen), seen
    if not gives(subject, "trace"):
        attention, read = word_attention(subject, batch)
        return attention[0].tolist(), [None] * attention.shape[1], read[0].tolist()
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


def _span(word: WordReading, shown: str, by: str, score: float, strength: float) -> str:
    hue = "230, 159, 0" if strength >= 0 else "86, 180, 233"
    style = f"background: rgba({hue}, {abs(strength):.2f})"
    parts = [f"{by} {score:+.3f}" if by != "attention" else f"attention {score:.3f}"]
    if word.polarity is not None:
        parts.append(f"polarity {word.polarity:+.3f}")
    if not word.known:
        style = f"{style}; text-decoration: underline dotted"
        parts.append("unknown word")
    title = ", ".join(parts)
    if not word.read:
        style, title = "opacity: 0.4", "not read"
    return f'<span style="{style}" title="{escape(title)}">{shown}</span>'
