"""How much memory a text's attention takes where its weights are seen, and which texts it is too much for.

Torch's fused attention never holds the weights of L × L positions; whoever looks at them does, for every
head, and gradients hold those of all layers. So texts are looked at a few at a time, and a text that by
itself takes more than its subject's `memory` is not looked at: what is asked of its attention is unknown.

Axes: B texts, G texts of equal length, L pieces.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heedful.models.transformers.softmax import HEADS

if TYPE_CHECKING:
    from heedful.data.batches import Batch
    from heedful.models.transformers.pieces import Group
    from heedful.models.transformers.subject import TransformerSubject

AT_ONCE = 2**28  # bytes of texts that are looked at together
MOST = 2**32  # bytes of one text, unless its subject says otherwise
COPIES = 3  # of a layer's weights: before and after the softmax, and changed or with their gradient
MOST_HEADS = 32  # where a family does not say how many it has


def heads_of(subject: "TransformerSubject") -> int:
    """How many heads a layer has."""
    config = subject.network.config
    return next((int(getattr(config, name)) for name in HEADS if hasattr(config, name)), MOST_HEADS)


def bytes_of(subject: "TransformerSubject", length: int, *, layers: float = 1) -> int:
    """What the weights of a text of so many pieces take, of so many layers held at once."""
    return int(COPIES * 4 * layers * heads_of(subject) * length**2)


def longest_seen(subject: "TransformerSubject", *, layers: float = 1) -> int | None:
    """The most pieces of a text whose weights fit; None where the model reads no more anyway."""
    found = int((subject.memory / bytes_of(subject, 1, layers=layers)) ** 0.5)
    return None if subject.longest is not None and subject.longest <= found else found


def fits(subject: "TransformerSubject", batch: "Batch", *, layers: float = 1) -> Tensor:
    """The texts (B,) whose weights fit the subject's memory."""
    longest = longest_seen(subject, layers=layers)
    if longest is None:
        return torch.ones(len(batch.mask), dtype=torch.bool)
    return torch.tensor([len(cut) <= longest for cut in subject.cut(batch)])


def within(subject: "TransformerSubject", batch: "Batch", *, layers: float = 1) -> "Iterator[Group]":
    """The texts that fit, in groups of equal length, so few at a time that each group is small."""
    for group in subject.groups(batch):
        one = bytes_of(subject, group.length, layers=layers)
        if one <= subject.memory:
            yield from group.parts(max(1, AT_ONCE // one))
