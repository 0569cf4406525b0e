"""`Subject`: anything that can be audited, because it can be run again on changed words.

Every subject has classes, reads texts and gives logits. The rest it may lack: a black box has nothing inside
that could be asked, a transformer may have attention to look at but no layer that can be run by itself. What
a subject lacks stands in its `cannot`, with the reason; ask `gives` before asking for it.

Axes: B texts, T words, E embedding width, K classes (1 for a model with one score).
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.trace import Trace

What = Literal["embed", "trace", "attention"]


@runtime_checkable
class Subject(Protocol):
    """What trials on words ask of a model: ours, a wrapped `nn.Module`, a transformer or a black box.

    Besides these a subject may have `cannot`, a mapping of what it does not give to the reason;
    `word_attention(batch)`, where its attention to words is not that of its trace; and `words_read(batch)`,
    where it reads no further than some word.
    """

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits; two for a model with one score."""

    @property
    def mixes_tokens(self) -> bool:
        """Whether the value that attention sees for a word also carries what other words say."""

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T) for the other methods."""

    def embed(self, batch: Batch) -> Tensor:
        """The words' vectors (B,T,E) before any of them has seen another."""

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logits (B,K), or (B,1) scores, of the words, or of `embedded` (B,T,E) in their place."""

    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """What an attention layer saw and gave: the one next to the head, or one the subject names."""


def why_not(subject: object, what: What) -> str | None:
    """Why a subject does not give its embedded words, its trace or attention to words; None if it does.

    Attention is that of the trace, unless the subject has its own `word_attention`.
    """
    reason = getattr(subject, "cannot", {}).get(what)
    if reason is not None:
        return str(reason)
    if what == "attention":
        return None if hasattr(subject, "word_attention") else why_not(subject, "trace")
    return None if hasattr(subject, what) else f"it has no method {what}"


def gives(subject: object, what: What) -> bool:
    """Whether a subject gives its embedded words, its trace, or attention to words."""
    return why_not(subject, what) is None


def traceable(subject: object, batch: Batch, *, every: bool = False) -> Tensor:
    """The texts (B,) that are not too long for a subject to give their trace and attention.

    With `every` also that of every layer at once, as gradients need it.
    """
    asked = getattr(subject, "fits", None)
    if asked is None:
        return torch.ones(len(batch.mask), dtype=torch.bool)
    found: Tensor = asked(batch, every=every)
    return found


def remembering(subject: object) -> AbstractContextManager[None]:
    """While this lasts a subject that can reads equal texts once; nothing of it may be changed meanwhile."""
    begin = getattr(subject, "remembering", None)
    return nullcontext() if begin is None else begin()


def forgetting(subject: object) -> AbstractContextManager[None]:
    """While this lasts a subject reads what it knows already once more, to see how long that takes."""
    begin = getattr(subject, "forgetting", None)
    return nullcontext() if begin is None else begin()
