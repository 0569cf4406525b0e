"""Training for another aim than the labels under a model's own attention: one small loop.

The adversary (`adversarial`) and models under given weights (`guided`) are trained by it. As in `loop`, the
dev split alone chooses the epoch that is kept and halves the rate, all chance follows from the seed, and the
test split is not known here. These trainings belong to a run that is there already, so they are short and
not resumed.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from heedful.data.batches import Batch, make_batch, plan_batches
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.training.settings import TrainingSettings


@dataclass(frozen=True)
class Aim:
    """What to minimise on a batch of training texts, and how good a model is on dev: higher is better."""

    loss: Callable[[Classifier, Batch], Tensor]
    judge: Callable[[Classifier], float]


def fit_aim(
    model: Classifier, train: EncodedTexts, *, aim: Aim, settings: TrainingSettings
) -> list[dict[str, Any]]:
    """Train `model` in place, leave it in evaluation with the weights of its best epoch; one row an epoch."""
    groups = [
        {"params": [p for p in parameters if p.requires_grad], "weight_decay": settings.l2(name)}
        for name, parameters in model.parts().items()
    ]
    optimiser = _optimiser([group for group in groups if group["params"]], settings)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    history: list[dict[str, Any]] = []
    best, kept, since, rate = -float("inf"), copy.deepcopy(model.state_dict()), 0, settings.rate
    for epoch in range(1, settings.epochs + 1):
        seed = int(np.random.SeedSequence([settings.seed, epoch]).generate_state(1)[0])
        plan = plan_batches(train.lengths, size=settings.batch, token_budget=settings.token_budget, seed=seed)
        losses = 0.0
        model.train()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for rows in plan:
                optimiser.zero_grad(set_to_none=True)
                loss = aim.loss(model, make_batch(train, rows))
                loss.backward()
                if settings.clip is not None:
                    nn.utils.clip_grad_norm_(parameters, settings.clip)
                optimiser.step()
                losses += float(loss.detach()) * len(rows)
        if not np.isfinite(losses):
            raise UserError(f"The loss is no longer a number in epoch {epoch}: try a smaller rate, or clip.")
        model.eval()
        judged = aim.judge(model)
        row = {"kind": "epoch", "epoch": epoch, "train_loss": losses / len(train), "dev": judged}
        history.append({**row, "rate": rate})
        since += 1
        if judged > best:
            best, kept, since = judged, copy.deepcopy(model.state_dict()), 0
        elif settings.halve_on_plateau:
            rate /= 2
            for group in optimiser.param_groups:
                group["lr"] = rate
        if settings.patience is not None and since >= settings.patience:
            break
    model.load_state_dict(kept)
    model.eval()
    return history


def _optimiser(groups: list[dict[str, Any]], settings: TrainingSettings) -> torch.optim.Optimizer:
    if settings.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=settings.rate)
    if settings.optimiser == "adagrad":
        return torch.optim.Adagrad(groups, lr=settings.rate, lr_decay=settings.rate_decay)
    adam = torch.optim.Adam if settings.optimiser == "adam" else torch.optim.AdamW
    return adam(groups, lr=settings.rate, amsgrad=settings.amsgrad, fused=True)
