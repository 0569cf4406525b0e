"""A new attention mechanism in twenty lines: train it, and ask whether it means what it attends to.

A score says how much each word counts. This one asks how near a word's state lies to a learned place.
"""

import torch
from torch import nn

import heedful
from heedful.attention import Attention
from heedful.data.words import WordRules
from heedful.models import build_model
from heedful.training import fit, prepare
from heedful.training.from_corpus import encode_splits
from heedful.training.run import Recipe


class NearnessScore(nn.Module):
    """−‖h − c‖² for states h (B,T,H) and a learned place c (H,)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.place = nn.Parameter(0.1 * torch.randn(width))

    def forward(self, states: torch.Tensor, query: torch.Tensor | None = None) -> torch.Tensor:
        return -(states - self.place).square().sum(-1)


corpus = heedful.load_data("data-2")
settings, training = prepare("dp", {"epochs": 2, "embedding": 20, "rate": 0.1})
recipe = Recipe(settings, training, WordRules(), {"name": corpus.name}, corpus.label_names)
vocabulary, sets = encode_splits(corpus, recipe)
model = build_model(settings, vocabulary, corpus.label_names)
model.words.attention = Attention(NearnessScore(settings.embedding))  # the new mechanism
fit(model, sets["train"], sets["dev"], settings=training)

audit = heedful.audit(model.eval(), corpus, out="audit-of-nearness", limit=400)
print(audit)
