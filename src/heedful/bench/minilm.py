"""The real MiniLM encoder (Wang et al., 2020) with a head that learnt a corpus: the encoder stays as it is.

Only the pooler and the classifier learn, from what the encoder says of some training texts at their first
position. That is read once, so a training takes seconds.

Axes: N training texts, E the encoder's width.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from heedful.bench.transformer import packaged_classifier
from heedful.data.corpus import Corpus
from heedful.models.transformers.subject import TransformerSubject

LEARNT, STEPS, RATE = 3000, 300, 1e-3  # training texts, and steps of Adam on all of them


def learnt_minilm(
    corpus: Corpus, *, seed: int = 0, learnt: int = LEARNT, device: str | torch.device = "cpu"
) -> TransformerSubject:
    """MiniLM with a head that learnt from so many training texts, drawn by the seed."""
    subject = packaged_classifier(corpus.label_names, device=device)
    part = corpus.split("train")
    chosen = np.random.default_rng([seed, 15]).permutation(len(part))[:learnt]
    texts = part.texts
    states = first_states(subject, [texts[row] for row in chosen])
    labels = torch.as_tensor(np.asarray(part.labels)[chosen], device=device)
    network: Any = subject.network
    pooler, classifier = network.bert.pooler.dense, network.classifier
    head = nn.Sequential(pooler, nn.Tanh(), classifier).requires_grad_(True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for layer in (pooler, classifier):
            layer.reset_parameters()
    optimiser = torch.optim.Adam(head.parameters(), lr=RATE)
    for _ in range(STEPS):
        optimiser.zero_grad()
        nn.functional.cross_entropy(head(states), labels).backward()
        optimiser.step()
    head.requires_grad_(False)
    return subject


@torch.no_grad()
def first_states(subject: TransformerSubject, texts: list[str]) -> Tensor:
    """What the encoder says (N,E) at the first position of each text: all that its head sees."""
    network: Any = subject.network
    found = torch.zeros(len(texts), network.config.hidden_size, device=subject.device)
    for group in subject.groups(subject.encode(texts)):
        found[group.rows] = network.bert(**group.inputs).last_hidden_state[:, 0]
    return found
