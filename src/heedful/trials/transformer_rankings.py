"""Rankings of words by a transformer's attention: rollout, flow, and single heads.

Rollout multiplies the layers' head-mean attention with the residual as half of it; flow is the largest flow
from the deciding position at the top to each sub-word at the bottom, with attention as capacities (Abnar &
Zuidema, 2020). A word has the sum of its sub-words. The head mean of the last layer is the ranking
"attention" itself.

One pass of the network gives them all: the rankings of one subject share what was read of the last batch.

Axes: B texts, T words, N layers, R heads, L sub-words.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.huggingface import HuggingFaceSubject
from heedful.models.pretrained import Pieces
from heedful.models.subject import Subject
from heedful.models.word_attention import sum_by_item
from heedful.trials.word_rankings import OwnRanking

UNITS = 10_000  # of one unit of flow: the algorithm counts in whole numbers
MOST_HEADS = 16  # heads that are ranked one by one
HEAD = re.compile(r"head-\d+-only")  # what they are called, counted from 1


@dataclass(frozen=True, eq=False)
class Layers:
    """What these rankings need of one pass over a batch."""

    mixed: Tensor  # (B,N,L,L) the head mean of each layer, half of it the residual
    heads: Tensor  # (B,R,L) each head's attention of the last layer from the deciding position
    pieces: Pieces


def read_layers(subject: Subject, batch: Batch) -> Layers:
    """Read a batch once, and keep of its attention (B,N,R,L,L) what the rankings need."""
    assert isinstance(subject, HuggingFaceSubject)
    attention, pieces = subject.attentions(batch)
    mean = attention.mean(2)
    mixed = (mean + torch.eye(mean.shape[-1], device=mean.device)) / 2
    heads = attention[:, -1, :, 0].masked_fill(~pieces.mask[:, None], 0)
    return Layers(mixed, heads / heads.sum(-1, keepdim=True), pieces)


class LastRead:
    """Reads a batch once, however often it is asked for in a row; only the last batch is remembered.

    The network is taken not to change meanwhile.
    """

    def __init__(self) -> None:
        self._of: tuple[Subject, Batch] | None = None
        self._layers: Layers | None = None

    def __call__(self, subject: Subject, batch: Batch) -> Layers:
        known = self._of is not None and self._of[0] is subject and self._of[1] is batch
        if self._layers is None or not known:
            self._of = self._layers = None  # the last batch leaves before the next one takes its space
            self._layers = read_layers(subject, batch)
            self._of = subject, batch
        return self._layers


Read = Callable[[Subject, Batch], Layers]


def transformer_rankings(subject: HuggingFaceSubject) -> Mapping[str, OwnRanking]:
    """Rollout, flow and each head of the last layer, by name: together they read a batch once."""
    heads, read = subject.family.heads(subject.network), LastRead()
    found: dict[str, OwnRanking] = {"rollout": partial(rollout, read=read), "flow": partial(flow, read=read)}
    if heads <= MOST_HEADS:
        for number in range(heads):
            found[f"head-{number + 1}-only"] = partial(one_head, head=number, read=read)
    return found


def rollout(subject: Subject, batch: Batch, *, read: Read = read_layers) -> Tensor:
    """How much of each word reaches the deciding position when attention is multiplied through the layers."""
    layers = read(subject, batch)
    reached = layers.mixed[:, 0]
    for layer in range(1, layers.mixed.shape[1]):
        reached = layers.mixed[:, layer] @ reached
    return _by_word(reached[:, 0], layers.pieces)


def flow(subject: Subject, batch: Batch, *, read: Read = read_layers) -> Tensor:
    """The largest flow through the layers from the deciding position to each word's sub-words."""
    layers = read(subject, batch)
    mixed, pieces = layers.mixed, layers.pieces
    found = torch.zeros(mixed.shape[0], mixed.shape[-1], dtype=torch.float64)
    for row in range(len(mixed)):
        count = int(pieces.mask[row].sum())
        found[row, :count] = flows(mixed[row, :, :count, :count].double().cpu().numpy())
    return _by_word(found.to(pieces.word.device), pieces)


def one_head(subject: Subject, batch: Batch, *, head: int, read: Read = read_layers) -> Tensor:
    """The attention of one head of the last layer."""
    layers = read(subject, batch)
    return _by_word(layers.heads[:, head], layers.pieces)


def flows(mixed: np.ndarray) -> Tensor:
    """The flow (L,) to each sub-word through layers (N,L,L) from the first position at the top."""
    # Here, because it takes a tenth of a second, and only this needs it.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    layers, count, _ = mixed.shape
    capacity = np.rint(mixed * UNITS).astype(np.int32)
    layer, target, source = np.nonzero(capacity)  # node (layer+1, target) takes from (layer, source)
    begin, end = (layer + 1) * count + target, layer * count + source
    size = (layers + 1) * count
    graph = csr_array((capacity[layer, target, source], (begin, end)), shape=(size, size))
    top = layers * count
    return torch.tensor(
        [maximum_flow(graph, top, place).flow_value / UNITS for place in range(count)], dtype=torch.float64
    )


def _by_word(scores: Tensor, pieces: Pieces) -> Tensor:
    """Sum scores of sub-words (B,L) over the sub-words of each word (B,T)."""
    return sum_by_item(scores.double(), pieces.word, pieces.words)
