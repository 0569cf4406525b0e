"""Value zeroing (after Mohebbi et al., 2023): what happens when a word is looked at and says nothing.

A word's value vectors are put to 0 in every layer, one word at a time, while all weights stay as they are;
its score is how far the log-odds of the decided class fall. They compare each layer's states instead, and put
the layers together by rollout. As many passes as there are words, under a budget of pieces.

Axes: B texts, T words, G texts of equal length, L pieces.
"""

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.trace import decisions
from heedful.models.transformers.memory import AT_ONCE, bytes_of, within
from heedful.models.transformers.pieces import Group
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import log_odds


@torch.no_grad()
def value_zeroing(subject: Subject, batch: Batch) -> Tensor:
    """How far the log-odds of the decided class fall (B,T) without the values of each word."""
    assert isinstance(subject, TransformerSubject)
    scores = torch.full(batch.mask.shape, torch.nan, dtype=torch.float64, device=batch.mask.device)
    for group in within(subject, batch):
        belongs = group.belongs(batch.mask.shape[1])
        text, word = (belongs.sum(-1) > 0).nonzero(as_tuple=True)
        whole = two_sided(subject.runner.logits(group.inputs)).double()
        decided = decisions(whole)
        lead = log_odds(whole, decided)
        scores[group.rows] = 0
        size = max(1, min(subject.tokens // group.length, AT_ONCE // bytes_of(subject, group.length)))
        for some, words in zip(text.split(size), word.split(size), strict=True):
            left = 1 - belongs[some, words]  # (V,L): a piece of two words keeps a half
            logits = two_sided(_without_values(subject, group, some, left)).double()
            scores[group.rows[some], words] = lead[some] - log_odds(logits, decided[some])
    return scores.masked_fill(~batch.mask, 0)


def _without_values(subject: TransformerSubject, group: Group, texts: Tensor, left: Tensor) -> Tensor:
    """The logits of these texts when the values of their pieces are multiplied with `left` (V,L)."""
    assert subject.entry is not None

    def weaken(call: Call) -> Tensor:
        # A weight on a value of 0 adds nothing, as does a weight of 0 that is not shared out anew.
        return call.weights * left[:, None, None].to(call.weights.dtype)

    inputs = {name: values[texts] for name, values in group.inputs.items()}
    with subject.entry.way.tapped(subject.network, weaken):
        found: Tensor = subject.runner(inputs).logits
    return found
