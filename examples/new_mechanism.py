"""A new attention mechanism in ten lines: train it, and ask whether it means what it attends to.

A score says how much each word counts. This one asks how near a word's state lies to a learned place. A model
made with it is trained again, with uniform weights and from other seeds, for the questions that need it.
"""

import torch
from torch import nn

import heedful


class NearnessScore(nn.Module):
    """−‖h − c‖² for states h (B,T,H) and a learned place c (H,)."""

    mixes_tokens = False  # a word's score does not depend on the others

    def __init__(self, width: int) -> None:
        super().__init__()
        self.place = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return -(states - self.place).square().sum(-1)


corpus = heedful.load_data("data-2")
run = heedful.train(corpus, attention=NearnessScore, epochs=2, embedding=20, rate=0.1)
print(run.summary())
audit = heedful.audit(run, corpus, out="audit-of-nearness", limit=400)
print(audit)
