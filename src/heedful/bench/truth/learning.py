"""Training that leads attention where it is told while the labels are learnt: one loop for every subject.

Beside the classification loss stands one of
- `led`: KL(target ‖ α), the target being the weights of a look;
- `free`: nothing;
- `penalised`: −log(1 − Σ α over the deciding words) (Pruthi et al., 2020, Learning to deceive);
- `opposed`: a free model is trained first, and then another that decides as it does and attends elsewhere
  (Wiegreffe & Pinter, 2019; the loss is that of `training.adversarial`).

Axes: B texts, T words, K classes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from heedful.bench.truth.looks import Look
from heedful.bench.truth.planting import DECIDER, Planted
from heedful.data.batches import Batch
from heedful.models.adapters import ModuleSubject
from heedful.models.classifier import FlatClassifier
from heedful.models.hierarchical import HierarchicalClassifier
from heedful.models.trace import probabilities
from heedful.models.word_attention import sum_by_item
from heedful.training.adversarial import adversarial_loss
from heedful.trials.erasure.deletion import take_rows

FLOOR = 1e-8  # of weights inside a logarithm
SMALL = 0.02  # a loss that is small enough to stop at

Lessons = Callable[[int], tuple[Batch, Planted]]  # the texts of an epoch
Attending = Callable[[Batch], tuple[Tensor, Tensor]]  # logits (B,K) and weights (B,T), with gradients


@dataclass(frozen=True)
class Lesson:
    """How a model is trained."""

    aim: str = "led"
    look: Look = field(default_factory=Look)
    strength: float = 1.0  # of the term beside the labels
    epochs: int = 30
    rate: float = 5e-3
    batch: int = 64


def learn(model: nn.Module, attending: Attending, lessons: Lessons, lesson: Lesson, *, seed: int) -> None:
    """Train a model, and leave it in evaluation. `lessons` gives the texts of an epoch by its number."""
    led, hidden = lesson.aim == "led", lesson.aim == "penalised"

    def loss(batch: Batch, planted: Planted) -> tuple[Tensor, Tensor]:
        logits, weights = attending(batch)
        own = nn.functional.cross_entropy(logits, torch.from_numpy(planted.labels))
        width = weights.shape[1]
        if led:
            target = torch.from_numpy(lesson.look.targets(planted, width, seed=seed)).to(weights)
            apart = target.clamp(min=FLOOR).log() - weights.clamp(min=FLOOR).log()
            return own, lesson.strength * (target * apart).sum(1).mean()
        if hidden:
            mass = (weights * torch.from_numpy(planted.grid(DECIDER, width))).sum(1)
            return own, -lesson.strength * (1 - mass).clamp(min=FLOOR).log().mean()
        return own, torch.zeros(())

    _fit(model, lessons, lesson, loss, seed=seed)


def oppose(
    model: nn.Module, attending: Attending, base: Attending, lessons: Lessons, lesson: Lesson, *, seed: int
) -> None:
    """Train a model to decide as `base` does and to attend elsewhere."""

    def loss(batch: Batch, planted: Planted) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            known, looked = base(batch)
        logits, weights = attending(batch)
        both = (probabilities(logits), weights, probabilities(known), looked)
        return adversarial_loss(*both, strength=lesson.strength).mean(), torch.ones(())  # there is no floor

    _fit(model, lessons, lesson, loss, seed=seed)


def attending_of(model: nn.Module) -> Attending:
    """How logits and word weights come from one of our models, with gradients."""
    if isinstance(model, FlatClassifier):
        return lambda batch: _flat(model, batch)
    if isinstance(model, HierarchicalClassifier):
        return lambda batch: _hierarchical(model, batch)
    assert isinstance(model, ModuleSubject)
    return lambda batch: _module(model, batch)


def _flat(model: FlatClassifier, batch: Batch) -> tuple[Tensor, Tensor]:
    states, mask = model.states(model.embed(batch), batch)
    attended = model.attend(states, mask)
    return model.decide(attended.context), attended.weights


def _hierarchical(model: HierarchicalClassifier, batch: Batch) -> tuple[Tensor, Tensor]:
    states, sentences = model.states(model.embed(batch), batch)
    within = model.attend(states, sentences)
    _, over = model.attend_sentences(sentences.spread(within.context), sentences.present)
    weights = sentences.spread(within.weights) * over.weights[..., None]
    items = sentences.spread(torch.where(sentences.mask, sentences.word, -1), fill=-1)
    return model.decide(over.context), sum_by_item(weights, items, batch.mask.shape[1])


def _module(model: ModuleSubject, batch: Batch) -> tuple[Tensor, Tensor]:
    weights, values = model.attention(model.embed(batch), batch.mask)
    logits: Tensor = model.head((weights[..., None, :] @ values)[..., 0, :])
    return logits, weights if weights.dim() == 2 else weights.mean(1)


def _fit(
    model: nn.Module,
    lessons: Lessons,
    lesson: Lesson,
    loss: Callable[[Batch, Planted], tuple[Tensor, Tensor]],
    *,
    seed: int,
) -> None:
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lesson.rate)
    draw = np.random.default_rng([seed, 5])
    model.train()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for epoch in range(lesson.epochs):
            batch, planted = lessons(epoch)
            seen = []
            for rows in torch.from_numpy(draw.permutation(len(batch))).split(lesson.batch):
                optimiser.zero_grad(set_to_none=True)
                own, beside = loss(take_rows(batch, rows), planted.take(rows.numpy()))
                (own + beside).backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
                seen.append((float(own.detach()), float(beside.detach())))
            if (np.mean(seen, axis=0) < SMALL).all():
                break
    model.eval()
