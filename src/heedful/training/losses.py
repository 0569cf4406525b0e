"""What training minimises: the papers' losses and the penalty on VᵀW.

Axes: B texts, K classes.
"""

import torch.nn.functional as F
from torch import Tensor


def classification_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean loss: logistic (Sun & Lu, Eq. 5) for one score (B, 1), cross entropy for logits (B, K)."""
    if logits.shape[1] == 1:
        signs = 2 * labels.to(logits.dtype) - 1
        return -F.logsigmoid(signs * logits.squeeze(1)).mean()
    return F.cross_entropy(logits, labels)


def alignment_penalty(alignment: Tensor) -> Tensor:
    """|VᵀW| of the alignments (K,) of attention with the head's rows, averaged over them (supplement C.3)."""
    return alignment.abs().mean()
