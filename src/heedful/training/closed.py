"""A learner that steps by the closed-form gradients of `heedful.models.gradients`, in torch, on any device.

For the models without an encoder or with an affine one: `dp`, `dp-a`, `ad`. No padding, no autograd graph,
and only the rows of the words in a batch are touched. `compiled.CompiledForm` takes the same steps, faster.
Axes: V vocabulary, B texts of a batch, N occurrences in it.
"""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from heedful.errors import UserError, choose_from
from heedful.models.dropout import check_rate, keep_factors
from heedful.models.gradients import (
    Gradients,
    Occurrences,
    additive_gradients,
    affine_gradients,
    dot_gradients,
    occurrences,
)
from heedful.training.losses import alignment_penalty
from heedful.training.optimisers import rows_adagrad, rows_sgd

FAMILIES: dict[str, Callable[..., Gradients]] = {
    "dp": dot_gradients,
    "dp-a": affine_gradients,
    "ad": additive_gradients,
}


class ClosedForm:
    """Trains in place: embedding (V, E), context (H,), head (H,) or (K, H), and matrix (H, E), bias (H,)."""

    def __init__(
        self,
        family: str,
        parameters: Mapping[str, Tensor],
        *,
        scale: float,
        optimiser: str = "adagrad",
        rate: float = 0.02,
        rate_decay: float = 0.0,
        dropout_words: float = 0.0,
        dropout_head: float = 0.0,
        penalty: float = 0.0,
        seed: int = 0,
    ) -> None:
        check_rate(dropout_words)
        check_rate(dropout_head)
        self.family = choose_from("model with closed-form gradients", family, FAMILIES)
        self._adagrad = (
            choose_from("optimiser of the closed form", optimiser, ("sgd", "adagrad")) == "adagrad"
        )
        self._parameters = {name: value.detach() for name, value in parameters.items()}
        self._sums = {
            name: torch.zeros_like(value) for name, value in self._parameters.items() if self._adagrad
        }
        self._scale, self._penalty = scale, penalty
        self._rate, self._rate_decay = rate, rate_decay
        self._dropout_words, self._dropout_head = dropout_words, dropout_head
        self._seed, self._steps = seed, 0

    def step(self, ids: np.ndarray, offsets: np.ndarray, labels: np.ndarray, rows: np.ndarray) -> float:
        """Learn from the texts with these rows (B,), and return their mean loss, the penalty included."""
        table = self._parameters["embedding"]
        flat, lengths = flat_texts(ids, offsets, rows)
        given = [torch.from_numpy(part).to(table.device) for part in (flat, lengths, labels[rows])]
        tokens, places = occurrences(given[0], given[1])
        found = self.gradients(tokens, places, labels=given[2])
        self._steps += 1
        gradients = {"context": found.context, "head": found.head, "matrix": found.matrix, "bias": found.bias}
        loss = found.quantities.loss
        if self._penalty:
            loss = loss + self._add_penalty(gradients)
        self._move("embedding", found.rows, tokens)
        for name, gradient in gradients.items():
            if gradient is not None:
                self._move(name, gradient, None)
        return float(loss)

    def gradients(self, tokens: Tensor, places: Occurrences, *, labels: Tensor) -> Gradients:
        """The gradients of the coming step, with its dropout, without the penalty."""
        rest = dict(self._parameters)
        table = rest.pop("embedding")
        key = [self._seed, self._steps]
        sizes = (len(places.row), table.shape[1]), (places.instances, rest["head"].shape[-1])
        return FAMILIES[self.family](
            table.index_select(0, tokens),
            places,
            labels=labels,
            scale=self._scale,
            keep_words=keep_factors(sizes[0], self._dropout_words, key=[*key, 0], like=table),
            keep_attended=keep_factors(sizes[1], self._dropout_head, key=[*key, 1], like=table),
            **rest,
        )

    def set_rate(self, rate: float) -> None:
        """Go on with another learning rate."""
        self._rate = rate

    def state(self) -> dict[str, np.ndarray]:
        """What a run needs to go on, besides the parameters: copies of Adagrad's sums, the count of steps."""
        sums = {name: value.cpu().numpy().copy() for name, value in self._sums.items()}
        return {"steps": np.array(self._steps), **sums}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a `state()` of a learner with the same settings."""
        for name, sums in self._sums.items():
            given = torch.as_tensor(np.asarray(state[name]))
            if given.shape != sums.shape:
                raise UserError(
                    f"The optimiser's state for {name} is shaped {tuple(given.shape)} and the model needs "
                    f"{tuple(sums.shape)}: it belongs to another model or optimiser."
                )
            sums.copy_(given)
        self._steps = int(state["steps"])

    def _move(self, name: str, gradient: Tensor, tokens: Tensor | None) -> None:
        parameter = self._parameters[name]
        if not self._adagrad:
            rows_sgd(parameter, gradient, rate=self._rate, tokens=tokens)
            return
        rows_adagrad(
            parameter,
            gradient,
            sums=self._sums[name],
            step=self._steps,
            rate=self._rate,
            rate_decay=self._rate_decay,
            tokens=tokens,
        )

    def _add_penalty(self, gradients: dict[str, Tensor | None]) -> Tensor:
        """Add the gradients of weight × |VᵀW|, and return it.

        That is |(MᵀV)ᵀ(MᵀW)| for `dp-a` (Eq. 63) and |(MᵀV)ᵀW| for `ad` (Eq. 71).
        """
        names = ["context", "head"] + ["matrix"] * (self.family != "dp")
        leaves = [self._parameters[name].clone().requires_grad_() for name in names]
        context, head, *matrix = leaves
        if matrix:
            context = context @ matrix[0]
        if self.family == "dp-a":
            head = head @ matrix[0]
        value = self._penalty * alignment_penalty(head @ context)
        for name, extra in zip(names, torch.autograd.grad(value, leaves), strict=True):
            own = gradients[name]
            gradients[name] = extra if own is None else own + extra
        return value.detach()


def flat_texts(ids: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ids (N,) of the texts with these rows, one after another, and the texts' lengths (B,)."""
    starts, lengths = offsets[rows], offsets[rows + 1] - offsets[rows]
    shifts = starts - np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return ids[np.repeat(shifts, lengths) + np.arange(lengths.sum())].astype(np.int64), lengths
