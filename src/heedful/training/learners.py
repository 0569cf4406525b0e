"""How one batch changes a model: as autograd and a dense optimiser would, sometimes much faster.

Axes: B texts of a batch, T words, U distinct words of the batch.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from heedful.attention import AdditiveScore, DotScore, UniformAttention
from heedful.data.batches import Batch, make_batch
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier, softmax_score
from heedful.models.encoders import AffineEncoder, NoEncoder
from heedful.training import compiled
from heedful.training.losses import alignment_penalty, balancing_weights, classification_loss
from heedful.training.optimisers import optimiser_of, rows_adagrad, rows_sgd
from heedful.training.settings import TrainingSettings


class Learner(Protocol):
    """What the loop asks: learn from some rows, and be able to stop and go on."""

    def begin_epoch(self, seed: int) -> None: ...

    def step(self, rows: np.ndarray) -> float:
        """Learn from the texts with these row numbers (B,) and return their mean loss."""

    def set_rate(self, rate: float) -> None: ...

    def state(self) -> dict[str, Tensor]: ...

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


@dataclass(frozen=True)
class Aim:
    """Something else to learn than the labels under a model's own attention, as to agree with another model.

    What to minimise on a batch of training texts, and how good a model is on dev: higher is better.
    """

    loss: Callable[[Classifier, Batch], Tensor]
    judge: Callable[[Classifier], float]


def choose_learner(
    model: Classifier,
    train: EncodedTexts,
    *,
    settings: TrainingSettings,
    device: torch.device,
    aim: Aim | None = None,
) -> Learner:
    """The fastest learner that fits the model, the settings, the device and the aim."""
    if aim is not None:
        return AimLearner(model, train, settings, aim)
    form = kernel_form(model, settings)
    if form is not None and settings.compiled and compiled.available() and device.type == "cpu":
        return CompiledLearner(model, form, train, settings)
    return AutogradLearner(model, train, settings, device)


@dataclass(frozen=True, eq=False)
class KernelForm:
    """What a compiled step learns besides embedding and head, and λ.

    With λ = ∞ all scores are 0: uniform weights, and V stays.
    """

    family: str  # dp, dp-a or ad
    parameters: Mapping[str, Tensor]  # context, and of dp-a and ad matrix and bias
    scale: float  # λ


def kernel_form(model: Classifier, settings: TrainingSettings) -> KernelForm | None:
    """How a compiled step sees a model: `dp`, also with uniform weights, `dp-a` or `ad`, under plain SGD or
    Adagrad; None for anything else."""
    if not isinstance(model, FlatClassifier):
        return None
    plain = (
        model.head.bias is None
        and all(parameter.requires_grad for parameter in model.parameters())
        and settings.clip is None
        and not settings.l2_embedding
        and not settings.balance
        and settings.optimiser in ("sgd", "adagrad")
    )
    if not plain:
        return None
    unencoded = isinstance(model.words.encoder, NoEncoder)
    if unencoded and isinstance(model.words.attention, UniformAttention) and not settings.penalty:
        return KernelForm("dp", {"context": torch.zeros_like(model.head.weight[0])}, math.inf)
    score = softmax_score(model)
    if not isinstance(score, DotScore | AdditiveScore) or score.context is None:
        return None  # a score of the user's has no context
    if isinstance(score, DotScore) and unencoded:
        return KernelForm("dp", {"context": score.context}, score.scale)
    if settings.penalty:
        return None
    if isinstance(score, DotScore) and isinstance(model.words.encoder, AffineEncoder):
        matrix = model.words.encoder.project.weight
        return KernelForm("dp-a", {"context": score.context, "matrix": matrix}, score.scale)
    if isinstance(score, AdditiveScore) and unencoded:
        layer = {"matrix": score.projection} | ({} if score.bias is None else {"bias": score.bias})
        return KernelForm("ad", {"context": score.context, **layer}, score.scale)
    return None


class CompiledLearner:
    """`dp`, `dp-a` or `ad` in one compiled function a batch, in place on the model's own parameters."""

    def __init__(
        self, model: Classifier, form: KernelForm, train: EncodedTexts, settings: TrainingSettings
    ) -> None:
        assert model.embedding is not None
        self.texts = (train.ids, train.offsets, np.asarray(train.labels))
        parts = {"embedding": model.embedding.weight, "head": model.head.weight, **form.parameters}
        on_layer = settings.l2_encoder if form.family == "dp-a" else settings.l2_attention
        self.kernel = compiled.CompiledForm(
            form.family,
            {name: part.detach().numpy() for name, part in parts.items()},
            scale=form.scale,
            optimiser=settings.optimiser,
            rate=settings.rate,
            rate_decay=settings.rate_decay,
            dropout_words=model.settings.dropout_words,
            dropout_head=model.settings.dropout_head,
            penalty=settings.penalty,
            l2=(settings.l2_attention, settings.l2_head, on_layer),
            seed=settings.seed,
        )

    def begin_epoch(self, seed: int) -> None:
        """Nothing to do: the kernel's noise follows from the seed and the step."""

    def step(self, rows: np.ndarray) -> float:
        return self.kernel.step(*self.texts, rows)

    def set_rate(self, rate: float) -> None:
        self.kernel.set_rate(rate)

    def state(self) -> dict[str, Tensor]:
        return {name: torch.from_numpy(value) for name, value in self.kernel.state().items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.kernel.load_state({name: value.numpy() for name, value in state.items()})


class AutogradLearner:
    """Any model, by automatic differentiation.

    Under SGD and Adagrad only the embedding rows of the batch's own words take part, which changes nothing
    (see `optimisers`): a row without a gradient would not move.
    """

    def __init__(
        self, model: Classifier, train: EncodedTexts, settings: TrainingSettings, device: torch.device
    ) -> None:
        self.model, self.train, self.settings, self.device = model, train, settings, device
        self.rate, self.steps = settings.rate, 0
        self.weights: Tensor | None = None
        if settings.balance:
            labels = torch.from_numpy(np.asarray(train.labels, dtype=np.int64))
            self.weights = balancing_weights(labels, len(model.classes)).to(device)
        parts = {
            name: [p for p in parameters if p.requires_grad] for name, parameters in model.parts().items()
        }
        self.table: nn.Parameter | None = None
        by_rows = settings.optimiser in ("sgd", "adagrad") and not settings.l2_embedding
        if by_rows and len(parts["embedding"]) == 1:
            self.table = parts.pop("embedding")[0]
        self.sums = (
            torch.zeros_like(self.table)
            if self.table is not None and settings.optimiser == "adagrad"
            else None
        )
        # One group where neighbours have one L2: each costs the optimiser a tenth of a millisecond a step.
        groups: list[dict[str, Any]] = [
            {"params": [p for name in names for p in parts[name]], "weight_decay": l2}
            for l2, names in groupby((name for name in parts if parts[name]), key=settings.l2)
        ]
        self.parameters = [parameter for group in groups for parameter in group["params"]]
        self.optimiser = optimiser_of(groups, settings) if groups else None

    def begin_epoch(self, seed: int) -> None:
        """Nothing to do: dropout draws from torch's own generator, which the loop has seeded."""

    def step(self, rows: np.ndarray) -> float:
        batch = make_batch(self.train, rows).to(self.device)
        self.steps += 1
        rows_of: tuple[Tensor, Tensor] | None = None
        embedded = None
        if self.table is not None:
            tokens, inverse = torch.unique(batch.ids, return_inverse=True)
            rows_of = tokens, self.table.detach().index_select(0, tokens).requires_grad_()  # (U,), (U, E)
            # As F.embedding, whose gradient takes longer than that of a plain selection of rows.
            embedded = rows_of[1].index_select(0, inverse.flatten()).unflatten(0, inverse.shape)  # (B, T, E)
        assert batch.labels is not None
        loss = classification_loss(self.model.logits(batch, embedded), batch.labels, self.weights)
        total = loss + self._penalty() if self.settings.penalty else loss
        for parameter in self.parameters:
            parameter.grad = None
        total.backward()
        if self.settings.clip is not None:
            moved = [*self.parameters, *(rows_of[1:] if rows_of is not None else ())]
            nn.utils.clip_grad_norm_(moved, self.settings.clip)
        if self.optimiser is not None:
            self.optimiser.step()
        if rows_of is not None:
            self._move_rows(*rows_of)
        return float(total.detach())

    def set_rate(self, rate: float) -> None:
        self.rate = rate
        for group in self.optimiser.param_groups if self.optimiser is not None else []:
            group["lr"] = rate

    def state(self) -> dict[str, Tensor]:
        state = {"steps": torch.tensor(self.steps)}
        if self.sums is not None:
            state["sums"] = self.sums.cpu()
        for number, entries in self._optimiser_state().items():
            state |= {f"{number}.{name}": torch.as_tensor(value).cpu() for name, value in entries.items()}
        return state

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.steps = int(state["steps"])
        if self.sums is not None:
            self.sums.copy_(state["sums"])
        if self.optimiser is None:
            return
        entries: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            if "." in key:
                number, name = key.split(".", 1)
                entries.setdefault(int(number), {})[name] = value
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": entries})

    def _optimiser_state(self) -> Mapping[int, Mapping[str, Tensor]]:
        return self.optimiser.state_dict()["state"] if self.optimiser is not None else {}

    def _penalty(self) -> Tensor:
        if not isinstance(self.model, FlatClassifier):
            raise UserError(
                "The penalty on VᵀW is for flat models, but this one has two levels: leave penalty out."
            )
        return self.settings.penalty * alignment_penalty(self.model.alignment())

    def _move_rows(self, tokens: Tensor, leaf: Tensor) -> None:
        assert self.table is not None
        assert leaf.grad is not None
        if self.sums is None:
            rows_sgd(self.table, leaf.grad, rate=self.rate, tokens=tokens)
            return
        rows_adagrad(
            self.table,
            leaf.grad,
            sums=self.sums,
            step=self.steps,
            rate=self.rate,
            rate_decay=self.settings.rate_decay,
            tokens=tokens,
            rows=leaf.detach(),
        )


class AimLearner:
    """Any model, for an aim of its own: the whole of it learns, by automatic differentiation.

    Such trainings belong to a run that is there already, so they are short and not resumed.
    """

    def __init__(self, model: Classifier, train: EncodedTexts, settings: TrainingSettings, aim: Aim) -> None:
        self.model, self.train, self.settings, self.aim = model, train, settings, aim
        groups = [
            {"params": [p for p in parameters if p.requires_grad], "weight_decay": settings.l2(name)}
            for name, parameters in model.parts().items()
        ]
        self.optimiser = optimiser_of([group for group in groups if group["params"]], settings)
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def begin_epoch(self, seed: int) -> None:
        """Nothing to do: dropout draws from torch's own generator, which the loop has seeded."""

    def step(self, rows: np.ndarray) -> float:
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.aim.loss(self.model, make_batch(self.train, rows))
        loss.backward()
        if self.settings.clip is not None:
            nn.utils.clip_grad_norm_(self.parameters, self.settings.clip)
        self.optimiser.step()
        return float(loss.detach())

    def set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        raise NotImplementedError("a training for an aim is not resumed")
