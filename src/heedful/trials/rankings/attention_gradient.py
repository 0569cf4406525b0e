"""Attention × gradient through the layers (Chefer et al., 2021): attention that the decision depends on.

In each layer a weight counts by its gradient for the log-odds of the decided class, where that is positive,
in the mean of the heads; layers are put together as in rollout, with the residual: R ← R + A R. One forward
and backward pass. All layers' weights are held for that: long texts are read a few at a time, and of texts
too long for the memory nothing is known.

Axes: B texts, T words, G texts of equal length, R heads, L pieces.
"""

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.trace import decisions
from heedful.models.transformers.memory import within
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import log_odds
from heedful.trials.rankings.by_word import by_word


def attention_gradient(subject: Subject, batch: Batch) -> Tensor:
    """How much of each word (B,T) reaches the deciding position through weights that support the decision."""
    assert isinstance(subject, TransformerSubject)
    assert subject.entry is not None
    found = []
    for group in within(subject, batch, layers=subject.entry.calls):
        layers: list[Tensor] = []

        def keep(call: Call, layers: list[Tensor] = layers) -> Tensor:
            weights = call.weights if call.weights.requires_grad else call.weights.requires_grad_()
            layers.append(weights)
            return weights

        with torch.enable_grad(), subject.entry.way.tapped(subject.network, keep):
            logits = two_sided(subject.runner(group.inputs).logits)
            slopes = torch.autograd.grad(log_odds(logits, decisions(logits)).sum(), layers)
        reached = torch.eye(group.length, device=logits.device).expand(len(logits), -1, -1)
        for weights, slope in zip(layers, slopes, strict=True):
            reached = reached + (weights.detach() * slope).clamp(min=0).mean(1) @ reached
        found.append((group, subject.deciding(reached)))
    return by_word(found, batch)
