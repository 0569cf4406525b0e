"""What a network gave is kept for a while: an audit asks about many texts more than once.

A random deletion may leave what leaving one word out leaves, a word stands in several texts, and every
question begins with the whole text.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from heedful.models.transformers.last_layer import Seen
from heedful.models.transformers.pieces import Cut, Group

MOST = 2**18  # texts whose logits are kept, some two hundred bytes each
BYTES = 2**27  # of what the last layer saw


class Remembered:
    """The logits of texts and what the last layer saw of them, by everything that the network is given."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}  # where a text's logits stand
        self.table = torch.empty(0, 0)  # with room for more
        self.layers: dict[bytes, Seen] = {}

    def logits(self, cuts: Sequence[Cut], compute: Callable[[Sequence[Cut]], Tensor]) -> Tensor:
        """The logits (B,K) of these texts; those that are not known are computed, equal ones once."""
        if len(self.known) > MOST:
            self.known.clear()
        keys = [key_of(cut) for cut in cuts]
        new = {key: cut for key, cut in zip(keys, cuts, strict=True) if key not in self.known}
        if new:
            found = compute(list(new.values()))
            begin, end = len(self.known), len(self.known) + len(new)
            if end > len(self.table):
                table = found.new_empty(2 * end, found.shape[1])
                table[:begin] = self.table[:begin] if begin else found[:0]
                self.table = table
            self.table[begin:end] = found
            self.known |= zip(new, range(begin, end), strict=True)
        return self.table[[self.known[key] for key in keys]]

    def seen(self, group: Group, see: Callable[[Mapping[str, Tensor]], Seen]) -> Seen:
        """What the last layer saw of texts of equal length."""
        if sum(one.bytes for one in self.layers.values()) > BYTES:
            self.layers.clear()
        keys = [key_of(cut) for cut in group.cuts]
        new = {key: place for place, key in enumerate(keys) if key not in self.layers}
        if new:
            places = torch.tensor(list(new.values()), device=group.rows.device)
            found = see({name: values[places] for name, values in group.inputs.items()})
            self.layers |= zip(new, found.each(), strict=True)
        return Seen.together([self.layers[key] for key in keys])


def key_of(cut: Cut) -> bytes:
    """Stands for all pieces of a text, and what else the network is told of them."""
    found = hashlib.blake2b(digest_size=16)
    for name, values in sorted(cut.inputs.items()):
        found.update(name.encode())
        found.update(np.asarray(values, dtype=np.int64).tobytes())
    return found.digest()
