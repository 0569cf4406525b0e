"""Rankings of words by a transformer's attention: rollout, flow, and single heads.

Rollout multiplies the layers' head-mean attention with the residual as half of it; flow is the largest flow
from the deciding position at the top to each sub-word at the bottom, with attention as capacities (Abnar &
Zuidema, 2020). A word has the sum of its sub-words. The head mean of the last layer is the ranking
"attention" itself.

Axes: B texts, T words, N layers, R heads, L sub-words.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.huggingface import HuggingFaceSubject
from heedful.models.pretrained import Pieces
from heedful.models.subject import Subject
from heedful.trials.word_rankings import OwnRanking

UNITS = 10_000  # of one unit of flow: the algorithm counts in whole numbers
MOST_HEADS = 16  # heads that are ranked one by one


def transformer_rankings(subject: HuggingFaceSubject) -> Mapping[str, OwnRanking]:
    """Rollout, flow and each head of the last layer, by name."""
    heads = subject.family.heads(subject.network)
    found: dict[str, OwnRanking] = {"rollout": rollout, "flow": flow}
    if heads <= MOST_HEADS:
        found |= {f"head-{number + 1}-only": partial(one_head, head=number) for number in range(heads)}
    return found


def rollout(subject: Subject, batch: Batch) -> Tensor:
    """How much of each word reaches the deciding position when attention is multiplied through the layers."""
    mixed, pieces = _mixed(subject, batch)
    reached = mixed[:, 0]
    for layer in range(1, mixed.shape[1]):
        reached = mixed[:, layer] @ reached
    return _by_word(reached[:, 0], pieces)


def flow(subject: Subject, batch: Batch) -> Tensor:
    """The largest flow through the layers from the deciding position to each word's sub-words."""
    mixed, pieces = _mixed(subject, batch)
    found = torch.zeros(mixed.shape[0], mixed.shape[-1], dtype=torch.float64)
    for row in range(len(mixed)):
        count = int(pieces.mask[row].sum())
        found[row, :count] = flows(mixed[row, :, :count, :count].double().cpu().numpy())
    return _by_word(found.to(pieces.word.device), pieces)


def one_head(subject: Subject, batch: Batch, *, head: int) -> Tensor:
    """The attention of one head of the last layer."""
    trace = subject.trace(batch)
    items = torch.where(trace.items[:, head] < 0, batch.mask.shape[1], trace.items[:, head])
    sums = trace.weights.new_zeros(len(items), batch.mask.shape[1] + 1)
    return sums.scatter_add_(1, items, trace.weights[:, head])[:, :-1].double()


def _mixed(subject: Subject, batch: Batch) -> tuple[Tensor, Pieces]:
    """The head mean of each layer, half of it the residual (B,N,L,L)."""
    assert isinstance(subject, HuggingFaceSubject)
    attention, pieces = subject.attentions(batch)
    mean = attention.mean(2)
    return (mean + torch.eye(mean.shape[-1], device=mean.device)) / 2, pieces


def flows(mixed: np.ndarray) -> Tensor:
    """The flow (L,) to each sub-word through layers (N,L,L) from the first position at the top."""
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
    items = torch.where(pieces.word < 0, pieces.words, pieces.word)
    sums = scores.new_zeros(len(items), pieces.words + 1).double()
    return sums.scatter_add_(1, items, scores.double())[:, :-1]
