"""The training loop, to be read from top to bottom.

The dev split chooses the epoch that is kept. The test split is not known here.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import plan_batches
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.training.callbacks import Callback, Training
from heedful.training.checkpoint import Checkpoint
from heedful.training.devices import find_device
from heedful.training.evaluation import evaluate, roc_auc
from heedful.training.learners import Aim, choose_learner
from heedful.training.settings import TrainingSettings

# Nats a text. To know nothing costs log K; a loss of this size is of weights that have run away.
EXPLODED = 1e4


def fit(
    model: Classifier,
    train: EncodedTexts,
    dev: EncodedTexts,
    *,
    settings: TrainingSettings,
    device: str = "cpu",
    callbacks: Sequence[Callback] = (),
    resume: Checkpoint | None = None,
    keep: Callable[[Checkpoint], None] | None = None,
    aim: Aim | None = None,
) -> list[dict[str, Any]]:
    """Train `model` in place, leave it with the weights of its best dev epoch, and return the history.

    `keep` is handed a checkpoint after every epoch, to be written before it returns: training goes on in the
    same tensors. `resume` goes on from one, and ends as if nothing had happened. An `aim` takes the place of
    the labels under the model's own attention.
    """
    where = find_device(device)
    model.to(where).train()
    learner = choose_learner(model, train, settings=settings, device=where, aim=aim)
    training = Training(model, settings, train, dev)
    earliest = min(settings.earliest, settings.epochs)
    best = {"accuracy": -math.inf, "epoch": earliest - 1}
    best_weights: dict[str, Tensor] = {}
    rate = settings.rate
    if resume is not None:
        model.load_state_dict(resume.weights)
        learner.load_state(resume.optimiser)
        training.epoch, training.step, training.history = resume.epoch, resume.step, list(resume.history)
        best, best_weights, rate = dict(resume.best), resume.best_weights, resume.rate
        learner.set_rate(rate)
    for callback in callbacks:
        callback.begin(training)

    while training.epoch < settings.epochs and not _out_of_patience(
        training.epoch, best["epoch"], settings.patience
    ):
        training.epoch += 1
        begun = time.perf_counter()
        # All chance in an epoch follows from the seed and the epoch's number, so a resumed run repeats it
        # exactly.
        epoch_seed = int(np.random.SeedSequence([settings.seed, training.epoch]).generate_state(1)[0])
        plan = plan_batches(
            train.lengths, size=settings.batch, token_budget=settings.token_budget, seed=epoch_seed
        )
        training.steps_per_epoch = len(plan)
        for callback in callbacks:
            callback.epoch_begins(training)

        losses = []
        with _own_chance(where):
            torch.manual_seed(epoch_seed)
            learner.begin_epoch(epoch_seed)
            for rows in plan:
                training.loss = learner.step(rows)
                losses.append(training.loss * len(rows))
                training.step += 1
                for callback in callbacks:
                    callback.step_ends(training)

        refuse_divergence(sum(losses) / len(train), training.epoch)
        reached, judged = _judged(model, dev, settings, aim)
        row = {
            "kind": "epoch",
            "epoch": training.epoch,
            "step": training.step,
            "train_loss": sum(losses) / len(train),
            **judged,
            "rate": rate,
            "seconds": time.perf_counter() - begun,
        }
        training.history.append(row)
        if training.epoch < earliest:
            pass  # neither kept nor compared with
        elif reached > best["accuracy"]:
            best = {"accuracy": reached, "epoch": training.epoch}
            best_weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        elif settings.halve_on_plateau:
            rate /= 2
            learner.set_rate(rate)
        for callback in callbacks:
            callback.epoch_ends(training, row)
        if keep is not None:
            keep(
                Checkpoint(
                    weights={name: value.detach().cpu() for name, value in model.state_dict().items()},
                    optimiser=learner.state(),
                    best_weights=best_weights,
                    best=best,
                    epoch=training.epoch,
                    step=training.step,
                    rate=rate,
                    history=training.history,
                )
            )

    model.load_state_dict(best_weights)
    model.eval()
    for callback in callbacks:
        callback.end(training)
    return training.history


def best_epoch(history: Sequence[dict[str, Any]], settings: TrainingSettings) -> dict[str, Any]:
    """The row of the epoch that was kept: the first of the best, as the loop keeps it."""
    epochs = [row for row in history if row["kind"] == "epoch"]
    column = next(name for name in ("dev", "dev_roc_auc", "dev_accuracy") if name in epochs[0])
    return max(epochs[min(settings.earliest, len(epochs)) - 1 :], key=lambda row: row[column])


def _judged(
    model: Classifier, dev: EncodedTexts, settings: TrainingSettings, aim: Aim | None
) -> tuple[float, dict[str, float]]:
    """How good the model is on dev, and the columns that say so, or what its aim asks."""
    if aim is None:
        judged = evaluate(model, dev)
        columns = {"dev_loss": judged.loss, "dev_accuracy": judged.accuracy}
        if settings.choose == "accuracy":
            return judged.accuracy, columns
        area = roc_auc(judged.logits, judged.labels)
        if math.isnan(area):
            raise UserError("The dev split has one class, so it has no ROC-AUC: choose by accuracy.")
        return area, {**columns, "dev_roc_auc": area}
    model.eval()
    reached = aim.judge(model)
    model.train()
    return reached, {"dev": reached}


def _out_of_patience(epoch: int, best_epoch: float, patience: int | None) -> bool:
    return patience is not None and epoch > 0 and epoch - best_epoch >= patience


def _own_chance(device: torch.device) -> AbstractContextManager[None]:
    """A block whose draws, also on an accelerator, do not move the generators of whoever called us."""
    if device.type == "cpu":
        return torch.random.fork_rng(devices=[])
    return torch.random.fork_rng(devices=[device], device_type=device.type)


def refuse_divergence(mean: float, epoch: int) -> None:
    """Refuse to go on where the mean loss of an epoch is no number, or of weights that have run away."""
    if math.isfinite(mean) and mean < EXPLODED:
        return
    what = f"has grown to {mean:.2g}" if math.isfinite(mean) else "is no longer a number"
    raise UserError(f"The loss {what} in epoch {epoch}: try a smaller rate, or clip the gradient.")
