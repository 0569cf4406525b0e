"""What other libraries hand out for one text, as scores of its words: SHAP, LIME, Interpreto, Inseq.

Each scores parts of the text: tokens, pieces or words of its own making. Parts are found again in the text by
their characters, and a part that several of our words share is shared out among them. Libraries are known by
what their objects have, so none of them is imported. Where there are scores for every class, those of the
class that the subject decides are taken.

Axes: n parts, T words, K classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.data.words import Words
from heedful.errors import UserError
from heedful.models.transformers.pieces import covered

SPACES = "Ġ▁Ċ"  # signs that tokenizers write for white space before a piece
MARKS = (("[", "]"), ("<", ">"))  # around a sign that stands for no characters


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of one text with their scores."""

    spans: NDArray[np.int64]  # (n,2) where each begins and ends; empty where it stands for no characters
    scores: NDArray[np.float64]  # (n,) or (n,K)

    def on_words(self, words: Words, decided: int) -> NDArray[np.float64]:
        """The scores (T,) of the words: the sum of their parts', or of their shares of them."""
        scores = self.scores
        if scores.ndim == 2:
            scores = scores[:, min(decided, scores.shape[1] - 1)]
        first, last = covered(self.spans, words.starts, words.ends, inside=np.ones(len(scores), dtype=bool))
        found = np.zeros(len(words))
        for begin, end, score in zip(first, last, scores, strict=True):
            if begin >= 0:
                found[begin : end + 1] += score / (end + 1 - begin)
        return found


def is_explanation(one: Any) -> bool:
    """Whether this is an object of a library that is known here, for one text."""
    return any(hasattr(one, name) for name in ("domain_mapper", "elements", "target_attributions")) or (
        hasattr(one, "values") and hasattr(one, "base_values")
    )


def parts_of(one: Any, text: str, decided: int) -> Parts:
    """The scored parts of this text; `decided` is the class asked for where there is one for each."""
    if hasattr(one, "domain_mapper"):
        return _of_lime(one, decided)
    if hasattr(one, "elements"):  # Interpreto: (n,), or a row for each class
        scores = np.asarray(_plain(one.attributions), dtype=np.float64)
        return _aligned([str(part) for part in one.elements], scores.T, text)
    if hasattr(one, "target_attributions"):
        return _of_inseq(one, text)
    return _aligned([str(part) for part in one.data], np.asarray(one.values, dtype=np.float64), text)


def _of_lime(one: Any, decided: int) -> Parts:
    """A word of LIME's counts at every place where it stands."""
    if decided not in one.local_exp:
        raise UserError(
            f"A LIME explanation has labels {sorted(map(int, one.local_exp))}, but the model decides class "
            f"{decided} there: ask LIME for labels=({decided},), or for top_labels=1."
        )
    string = one.domain_mapper.indexed_string
    spans, scores = [], []
    for number, score in one.local_exp[decided]:
        for begin in np.atleast_1d(string.string_position(number)).tolist():
            spans.append((begin, begin + len(string.word(number))))
            scores.append(score)
    return Parts(np.array(spans, dtype=np.int64).reshape(-1, 2), np.array(scores, dtype=np.float64))


def _of_inseq(one: Any, text: str) -> Parts:
    """Of what is generated all steps together; an attribution (n, steps, E) is summed over E."""
    encoder = one.source_attributions is not None
    scores = np.asarray(_plain(one.source_attributions if encoder else one.target_attributions), dtype=float)
    if scores.ndim == 3:
        scores = scores.sum(2)
    tokens = one.source if encoder else one.target
    return _aligned([str(token.token) for token in tokens], np.nansum(scores, axis=1), text)


def _aligned(parts: Sequence[str], scores: NDArray[np.float64], text: str) -> Parts:
    """Find the parts in the text; what stands around it, such as a template, belongs to none of it."""
    if len(parts) != len(scores):
        raise UserError(f"An explanation has {len(parts)} parts and {len(scores)} scores: give one for each.")
    letters = [place for place, sign in enumerate(text) if not sign.isspace()]
    ends = np.array([*letters, len(text)], dtype=np.int64)
    bare = "".join(text[place].lower()[:1] for place in letters)
    plain = [_bare(part) for part in parts]
    shown = [part if not _is_mark(part) else "" for part in plain]
    begin = "".join(shown).find(bare)
    spans = np.zeros((len(parts), 2), dtype=np.int64)
    at = -begin if begin >= 0 else 0
    for number, part in enumerate(shown):
        if begin < 0 and part:  # something was written otherwise: each part where it comes next
            found = bare.find(part, at)
            if found < 0:
                raise UserError(
                    f"An explanation has the part {parts[number]!r}, which is not in: {text[:60]!r}"
                )
            at = found
        if part and 0 <= at < len(letters) and at + len(part) <= len(letters):
            spans[number] = ends[at], ends[at + len(part) - 1] + 1
        at += len(part)
    return Parts(spans, scores)


def _bare(part: str) -> str:
    """A part without white space, signs for it, and what says that it continues a word."""
    inner = part[2:] if part.startswith("##") and len(part) > 2 else part.removesuffix("</w>")
    return "".join(sign.lower()[:1] for sign in inner if not sign.isspace() and sign not in SPACES)


def _is_mark(part: str) -> bool:
    return any(len(part) > 2 and part[0] == opens and part[-1] == ends for opens, ends in MARKS)


def _plain(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else values
