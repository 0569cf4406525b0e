"""A linear head over one row of weights, as votes that add up: this is what makes erasure exact.

With token logits z and bias b, erasing a set S and renormalising gives the logits Σ_{i∉S} α_i z_i / Σ_{i∉S}
α_i + b. The normaliser is positive, so the decision is the largest of Σ_{i∉S} α_i (z_i + b): every item casts
a vote α(z + b), and erasing it takes the vote away. Where no weight is left the layer gives the zero vector,
and b decides.

One score s is read as the two logits (0, s): the first of equals is then the negative class, as it should be.
The arithmetic that decides: token logits in the trace's own precision, all votes and their sums in double
precision.

Axes: B instances, T slots, N items, K classes (2 for one score).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.trace import Trace
from heedful.trials.compiled import kernel

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

CHUNK = 2**17  # votes held at once: 1 MB, which stays in the cache of one core


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes of some instances, in double precision."""

    mass: Floats  # (B,N) the weight of each item
    votes: Floats  # (B,N,K) Σ α(z + b) over the slots of each item
    kept_mass: Floats  # (B,) the weight of the slots that are never erased
    kept_votes: Floats  # (B,K) and their votes
    bias: Floats  # (K,)

    @cached_property
    def total(self) -> Floats:
        """The sum of all votes (B,K)."""
        return added(self.votes) + self.kept_votes

    @cached_property
    def decided(self) -> Longs:
        """The decided class (B,), the first of equals."""
        first: Longs = self.total.argmax(1)
        return first

    @property
    def unattended(self) -> int:
        """The class that the zero vector decides."""
        return int(self.bias.argmax())

    def winner(self, left: Floats, mass: Floats) -> Longs:
        """The class (...) that decides with the votes (...,K) and the mass (...) that are left."""
        return np.where(mass > 0, left.argmax(-1), self.unattended)

    def logits(self, left: Floats, mass: Floats) -> Floats:
        """The logits (...,K) of the votes (...,K) and the mass (...) that are left."""
        attended = mass > 0
        logits = left / np.where(attended, mass, 1)[..., None]
        logits[~attended] = self.bias
        return logits


def added(votes: Floats) -> Floats:
    """The sum over axis 1 of (B,N,K), in one order for all classes, so that equal classes stay equal."""
    total: Floats = np.add.reduce(votes, axis=1)
    return total


def votes_of(trace: Trace, rows: slice = slice(None)) -> Votes:
    """The votes of these instances of a trace with a linear head over one row of weights."""
    bias, count = bias_of(trace), trace.present.shape[1]
    weights = in_numpy(trace.weights[rows]).astype(np.float64)
    cast = in_numpy(token_logits(trace)[rows]).astype(np.float64)  # (B,T,K)
    cast += bias
    cast *= weights[..., None]
    if trace.slots_are_items:
        nothing = np.zeros((len(cast), cast.shape[2]))
        return Votes(weights[:, :count], cast[:, :count], nothing[:, 0], nothing, bias)
    # One more column collects what belongs to no item: padding, which has no weight, and slots that are never
    # erased.
    items = in_numpy(trace.items[rows])
    place = np.arange(len(items))[:, None], np.where(items < 0, count, items)
    mass, votes = np.zeros((len(items), count + 1)), np.zeros((len(items), count + 1, cast.shape[2]))
    np.add.at(mass, place, weights)
    np.add.at(votes, place, cast)
    return Votes(mass[:, :count], votes[:, :count], mass[:, count], votes[:, count], bias)


def chunks(trace: Trace) -> Iterator[tuple[slice, Votes]]:
    """The votes of a whole trace, some instances at a time: memory does not grow with their number.

    A trace without instances gives one empty part, so that results of parts can always be joined.
    """
    size = max(1, CHUNK // max(1, trace.present.shape[1] * len(bias_of(trace))))
    for start in range(0, max(1, len(trace)), size):
        rows = slice(start, start + size)
        yield rows, votes_of(trace, rows)


def bias_of(trace: Trace) -> Floats:
    """The bias (K,) of a linear head: 0 where it has none, (0, b) for one score."""
    head = trace.linear
    assert head is not None
    bias = np.zeros(len(head.weight)) if head.bias is None else in_numpy(head.bias).astype(np.float64)
    return np.concatenate([[0.0], bias]) if len(bias) == 1 else bias


def token_logits(trace: Trace) -> Tensor:
    """What each slot says by itself (B,T,K), without the bias, computed once; (0, z) for one score."""
    if "token_logits" not in vars(trace):
        compiled = _compiled_product(trace)
        if compiled is not None:
            # A cached property lives in the instance's own dictionary: the trace now finds it computed.
            vars(trace)["token_logits"] = compiled
    logits = trace.token_logits.detach()
    return torch.cat([torch.zeros_like(logits), logits], -1) if logits.shape[-1] == 1 else logits


def in_numpy(tensor: Tensor) -> NDArray[Any]:
    """The tensor as an array: half precision widened, which NumPy lacks in part; else a view."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor).numpy()


def _compiled_product(trace: Trace) -> Tensor | None:
    head, values = trace.linear, trace.values.detach()
    assert head is not None
    weight = head.weight.detach()
    loops = kernel(values.shape[0] * values.shape[1] * len(weight))
    fits = (
        values.device.type == "cpu"
        and values.dtype == weight.dtype
        and values.dtype in (torch.float32, torch.float64)
    )
    if loops is None or not fits or 0 in values.shape:
        return None
    mask = trace.mask.numpy()
    ends = mask.shape[1] - mask[:, ::-1].argmax(1)
    products = np.empty((*values.shape[:2], len(weight)), dtype=values.numpy().dtype)
    loops.multiply(values.contiguous().numpy(), weight.contiguous().numpy(), ends, products)
    return torch.from_numpy(products)
