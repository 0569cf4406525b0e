"""Rankings of words by a transformer's attention alone: rollout, flow, and single heads.

Rollout multiplies the layers' head-mean attention with the residual as half of it; flow is the largest flow
from the deciding position at the top to each sub-word at the bottom, with attention as capacities (Abnar &
Zuidema, 2020). A word has the sum of its sub-words. The head mean of the last layer is the ranking
"attention" itself.

One pass of the network gives them all: the rankings of one subject share what was read of the last batch.

Axes: B texts, T words, N layers, R heads, L sub-words.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.transformers.memory import COPIES, heads_of, within
from heedful.models.transformers.pieces import Group
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.trials.rankings.by_word import by_word

UNITS = 10_000  # of one unit of flow: the algorithm counts in whole numbers


@dataclass(frozen=True, eq=False)
class Layers:
    """What these rankings need of one pass over texts of equal length."""

    mixed: Tensor  # (G,N,L,L) the head mean of each layer, half of it the residual
    heads: Tensor  # (G,R,L) each head's attention of the last layer from the deciding position
    group: Group


@torch.no_grad()
def read_layers(subject: Subject, batch: Batch) -> list[Layers]:
    """Read a batch once, and keep of its attention (G,N,R,L,L) what the rankings need."""
    assert isinstance(subject, TransformerSubject)
    assert subject.entry is not None
    found = []
    # Besides one layer's weights, the mean of the heads is held for each.
    held = 1 + subject.entry.calls / (COPIES * heads_of(subject))
    for group in within(subject, batch, layers=held):
        mixed: list[Tensor] = []
        heads: list[Tensor] = []

        def keep(call: Call, mixed: list[Tensor] = mixed, heads: list[Tensor] = heads) -> None:
            mean = call.weights.mean(1)
            mixed.append((mean + torch.eye(mean.shape[-1], device=mean.device)) / 2)
            heads[:] = [subject.deciding(call.weights)]

        with subject.entry.way.tapped(subject.network, keep):
            subject.runner(group.inputs)
        found.append(Layers(torch.stack(mixed, dim=1), heads[0], group))
    return found


class LastRead:
    """Reads a batch once, however often it is asked for in a row; only the last batch is remembered.

    The network is taken not to change meanwhile.
    """

    def __init__(self) -> None:
        self._of: tuple[Subject, Batch] | None = None
        self._layers: list[Layers] | None = None

    def __call__(self, subject: Subject, batch: Batch) -> list[Layers]:
        known = self._of is not None and self._of[0] is subject and self._of[1] is batch
        if self._layers is None or not known:
            self._of = self._layers = None  # the last batch leaves before the next one takes its space
            self._layers = read_layers(subject, batch)
            self._of = subject, batch
        return self._layers


Read = Callable[[Subject, Batch], list[Layers]]


def rollout(subject: Subject, batch: Batch, *, read: Read = read_layers) -> Tensor:
    """How much of each word reaches the deciding position when attention is multiplied through the layers."""
    assert isinstance(subject, TransformerSubject)
    found = []
    for layers in read(subject, batch):
        reached = layers.mixed[:, 0]
        for layer in range(1, layers.mixed.shape[1]):
            reached = layers.mixed[:, layer] @ reached
        found.append((layers.group, subject.deciding(reached)))
    return by_word(found, batch)


def flow(subject: Subject, batch: Batch, *, read: Read = read_layers) -> Tensor:
    """The largest flow through the layers from the deciding position to each word's pieces."""
    assert isinstance(subject, TransformerSubject)
    found = []
    for layers in read(subject, batch):
        mixed = layers.mixed.double().cpu().numpy()
        top = 0 if subject.position == "first" else mixed.shape[-1] - 1
        rows = torch.stack([flows(one, top=top) for one in mixed])
        found.append((layers.group, rows.to(batch.mask.device)))
    return by_word(found, batch)


def one_head(subject: Subject, batch: Batch, *, head: int, read: Read = read_layers) -> Tensor:
    """The attention of one head of the last layer."""
    found = [(layers.group, layers.heads[:, head]) for layers in read(subject, batch)]
    return by_word(found, batch)


def of_layer(subject: Subject, batch: Batch, *, layer: int, head: int | None = None) -> Tensor:
    """The attention of one layer from the deciding position: of one head, or the mean of all."""
    assert isinstance(subject, TransformerSubject)
    assert subject.entry is not None
    found = []
    for group in within(subject, batch):
        kept: list[Tensor] = []

        def keep(call: Call, kept: list[Tensor] = kept) -> None:
            if call.number == layer:
                rows = subject.deciding(call.weights)  # (G,R,L)
                kept.append(rows.mean(1) if head is None else rows[:, head])

        with torch.no_grad(), subject.entry.way.tapped(subject.network, keep):
            subject.runner(group.inputs)
        found.append((group, kept[0]))
    return by_word(found, batch)


def flows(mixed: np.ndarray, *, top: int = 0) -> Tensor:
    """The flow (L,) to each piece through layers (N,L,L) from one position at the top."""
    # Here, because it takes a tenth of a second, and only this needs it.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    layers, count, _ = mixed.shape
    capacity = np.rint(mixed * UNITS).astype(np.int32)
    layer, target, source = np.nonzero(capacity)  # node (layer+1, target) takes from (layer, source)
    begin, end = (layer + 1) * count + target, layer * count + source
    size = (layers + 1) * count
    graph = csr_array((capacity[layer, target, source], (begin, end)), shape=(size, size))
    start = layers * count + top
    return torch.tensor(
        [maximum_flow(graph, start, place).flow_value / UNITS for place in range(count)], dtype=torch.float64
    )
