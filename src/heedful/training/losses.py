"""What training minimises: the papers' losses and the penalty on VᵀW.

Axes: B texts, K classes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def classification_loss(logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """The mean loss: logistic (Sun & Lu, Eq. 5) for one score (B, 1), cross entropy for logits (B, K).

    With weights (K,) a text's loss is multiplied by its class's before the mean is taken.
    """
    if logits.shape[1] == 1:
        signs = 2 * labels.to(logits.dtype) - 1
        losses = -F.logsigmoid(signs * logits.squeeze(1))
    else:
        losses = F.cross_entropy(logits, labels, reduction="none")
    return (losses if weights is None else losses * weights[labels]).mean()


def balancing_weights(labels: Tensor, classes: int) -> Tensor:
    """The first class's number of texts over each class's (K,): for two, Jain & Wallace's (2019) weight."""
    counts = torch.bincount(labels, minlength=classes)
    return counts[0].clamp(min=1) / counts.clamp(min=1)


def alignment_penalty(alignment: Tensor) -> Tensor:
    """|VᵀW| of the alignments (K,) of attention with the head's rows, averaged over them (supplement C.3)."""
    return alignment.abs().mean()
