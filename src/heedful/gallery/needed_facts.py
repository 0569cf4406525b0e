"""May attention to facts be read as the facts that an answer rests on? Beside what bAbI says is needed.

Axes: B questions, T facts, N hops.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from heedful.attention import uniform_weights
from heedful.gallery.babi import Questions
from heedful.trials import kendall_tau


@dataclass(frozen=True)
class Read:
    """How far the attention of a trained memory may be read as the facts that the answer rests on."""

    hops: list[float]  # the weight that each hop gives to needed facts
    uniform: float  # the weight that all facts alike would give them
    found: float  # the share of questions whose needed facts are each the most read one of some hop
    most_read: float  # the share of questions whose most read fact, over all hops, is needed
    leave_one_out: float  # likewise for the fact whose removal lowers the answer's probability most
    tau: float  # Kendall's τ of attention and leave-one-out, mean over questions
    changed: float  # the share of answers that change if the most read fact is removed
    changed_by_any: float  # likewise if any fact, at random


@torch.no_grad()
def read_attention(model: nn.Module, asked: Questions) -> Read:
    """Compare attention with the facts that are needed, and with leaving out each fact in turn."""
    logits, weights = model(asked)
    answer = logits.argmax(-1)
    sure = logits.softmax(-1).gather(1, answer.unsqueeze(1)).squeeze(1)
    drops, changes = torch.zeros(asked.mask.shape), torch.zeros(asked.mask.shape)
    for place in range(asked.mask.shape[1]):
        without = asked.mask.clone()
        without[:, place] = False
        left = model(asked, mask=without)[0]
        drops[:, place] = sure.cpu() - left.softmax(-1).gather(1, answer.unsqueeze(1)).squeeze(1).cpu()
        changes[:, place] = (left.argmax(-1) != answer).float().cpu()
    mask, support, weights = asked.mask.cpu(), asked.support.cpu(), weights.cpu()
    summed = weights.sum(1)
    most = summed.argmax(-1, keepdim=True)
    least_spared = drops.masked_fill(~mask, -torch.inf).argmax(-1, keepdim=True)
    tops = F.one_hot(weights.argmax(-1), mask.shape[1]).any(1)  # (B,T): most read by some hop
    tau = kendall_tau(summed, drops, mask)
    return Read(
        hops=(weights * support.unsqueeze(1)).sum(-1).mean(0).tolist(),
        uniform=float((uniform_weights(mask) * support).sum(-1).mean()),
        found=float((tops | ~support).all(-1).float().mean()),
        most_read=float(support.gather(1, most).float().mean()),
        leave_one_out=float(support.gather(1, least_spared).float().mean()),
        tau=float(tau[tau.isfinite()].mean()),
        changed=float(changes.gather(1, most).mean()),
        changed_by_any=float((changes * uniform_weights(mask)).sum(-1).mean()),
    )


NAMES = {
    "uniform": "weight on needed facts, all facts alike",
    "found": "every needed fact is most read by some hop",
    "most_read": "the most read fact is needed",
    "leave_one_out": "the fact missed most is needed",
    "tau": "Kendall's tau of attention and leave-one-out",
    "changed": "answer changes without the most read fact",
    "changed_by_any": "answer changes without any one fact",
}
"""What each number is called in a table."""
