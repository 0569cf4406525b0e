"""`Subject`: anything that can be audited, because it can be run again on changed words.

Axes: B texts, T words, E embedding width, K classes (1 for a model with one score).
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.trace import Trace


@runtime_checkable
class Subject(Protocol):
    """What trials on words ask of a model: ours, a wrapped `nn.Module` or a Hugging Face classifier."""

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
