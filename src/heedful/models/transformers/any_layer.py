"""Any layer of a network, or one head of it, as a level of its `Trace`: `layer-2`, `layer-2-head-5`.

The weights are those that the deciding position gives in that layer, and the head of the trace is the rest of
the network: a full pass with other weights put into this row. Other positions attend as they do, so below the
last layer a word that is erased here may still be seen through them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError
from heedful.models.trace import Trace
from heedful.models.transformers.last_layer import Seen
from heedful.models.transformers.network import Runner
from heedful.models.transformers.probing import Entry, Inputs
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.models.transformers.traced import trace_of
from heedful.models.word_attention import sum_by_item

LEVEL = re.compile(r"layer-(\d+)(?:-head-(\d+))?")  # any layer, or head of it, counted from 1


@dataclass(frozen=True)
class Place:
    """A layer, and a head of it or None for all, both from 0."""

    layer: int
    head: int | None


def place_of(subject: TransformerSubject, name: str) -> Place | None:
    """The place that layer-N or layer-N-head-M names; None for another name. One that is not there, and a
    network whose attention does not go from a text to itself, are refused."""
    asked = LEVEL.fullmatch(name)
    if asked is None:
        return None
    single = getattr(subject.network, "single", True)
    if subject.entry is None or not single or getattr(subject.network.config, "is_encoder_decoder", False):
        raise UserError(f"There is no {name}: the layers of this model are not seen one by one.")
    heads: list[int] = []

    def count(call: Call) -> None:
        heads.append(call.weights.shape[1])

    group = subject.groups(subject.encode(["Heads"]))[0]
    with torch.no_grad(), subject.entry.way.tapped(subject.network, count):
        subject.runner(group.inputs)
    layer, head = int(asked[1]), None if asked[2] is None else int(asked[2])
    if not 1 <= layer <= len(heads) or (head is not None and not 1 <= head <= heads[layer - 1]):
        raise UserError(
            f"There is no {name}: this model has {len(heads)} layers of {max(heads)} heads, counted from 1."
        )
    return Place(layer - 1, None if head is None else head - 1)


@dataclass(frozen=True, eq=False)
class AnyLayer:
    """Reads and runs a network at one of its attentions, by full passes."""

    runner: Runner
    entry: Entry
    place: Place
    one_row = False

    @property
    def row(self) -> int:
        return 0 if self.entry.position == "first" else -1

    @property
    def heads(self) -> slice:
        head = self.place.head
        return slice(None) if head is None else slice(head, head + 1)

    @torch.no_grad()
    def see(self, inputs: Inputs) -> Seen:
        """One pass over texts of equal length."""
        kept: list[Tensor] = []

        def look(call: Call) -> None:
            if call.number == self.place.layer:
                kept.append(call.weights[:, self.heads, self.row])

        with self.entry.way.tapped(self.runner.network, look):
            self.runner(inputs)
        return Seen(kept[0], None, kept[0].new_zeros(len(kept[0]), 0))

    def from_weights(self, weights: Tensor, states: Tensor, inputs: Inputs) -> Tensor:
        """The logits (N,K) of weights (N,R,L) at the deciding position; there are no states to put in."""

        def put(call: Call) -> Tensor | None:
            if call.number != self.place.layer:
                return None
            changed = call.weights.clone()
            changed[:, self.heads, self.row] = weights.to(changed.dtype)
            return changed

        with self.entry.way.tapped(self.runner.network, put):
            logits: Tensor = self.runner(inputs).logits
            return logits


def layer_trace(subject: TransformerSubject, batch: Batch, level: str) -> Trace:
    """The trace of a batch at a layer or head by its name."""
    place = place_of(subject, level)
    if place is None:
        raise UserError(
            f"There is no attention level {level!r} of a transformer: final, layer-2, layer-2-head-5 …"
        )
    assert subject.entry is not None
    subject.refuse_too_long(batch)
    if subject.position not in ("first", "last"):
        raise UserError(f"There is no trace of {level}: more than one position decides.")
    return trace_of(AnyLayer(subject.runner, subject.entry, place), list(subject.groups(batch)), len(batch))


class AtLevel:
    """A transformer looked at in one layer or head: whoever asks for its trace or attention gets that one."""

    def __init__(self, inner: TransformerSubject, level: str) -> None:
        layer_trace(inner, inner.encode(["A text."]), level)  # refuses what is not there
        self.inner, self.level = inner, level
        self.asked = f"{inner.asked} {level}"
        self.cannot = {what: why for what, why in inner.cannot.items() if what not in ("trace", "attention")}
        self.notes = (*inner.notes, f"What is asked of attention is asked of {level}.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.inner.classes

    @property
    def mixes_tokens(self) -> bool:
        return self.inner.mixes_tokens

    def encode(self, texts: Sequence[str]) -> Batch:
        """As the transformer does."""
        return self.inner.encode(texts)

    def embed(self, batch: Batch) -> Tensor:
        """As the transformer does."""
        return self.inner.embed(batch)

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """As the transformer does."""
        return self.inner.logits(batch, embedded)

    @torch.no_grad()
    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """That of the level."""
        return layer_trace(self.inner, batch, self.level if level == "final" else level)

    def word_attention(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The attention (B,T) to words at the level, mean of its heads; and which are read."""
        trace = self.trace(batch)
        count = batch.mask.shape[1]
        mean = trace.weights / trace.weights.shape[1]
        return sum_by_item(mean, trace.items, count), self.inner.words_read(batch)
