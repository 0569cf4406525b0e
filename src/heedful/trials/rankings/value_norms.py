"""Value norms (Kobayashi et al., 2020): how long the vector is that each word adds, not how heavy its weight.

At the deciding position of the last attention a piece adds weight × value in each head; its score is the
length of that, before the output projection. A small weight on a long value counts, and a large one on a
short value, as models have it on [SEP], does not. One pass.

Axes: B texts, T words, G texts of equal length, R heads, L pieces, D width of a head.
"""

import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.models.subject import Subject
from heedful.models.transformers.memory import within
from heedful.models.transformers.subject import TransformerSubject
from heedful.models.transformers.tapping import Call
from heedful.trials.rankings.by_word import by_word


@torch.no_grad()
def value_norms(subject: Subject, batch: Batch) -> Tensor:
    """The length (B,T) of what each word adds to the last attention at the deciding position."""
    assert isinstance(subject, TransformerSubject)
    assert subject.entry is not None
    last = subject.entry.calls - 1
    found = []
    for group in within(subject, batch):
        kept: list[Tensor] = []

        def keep(call: Call, kept: list[Tensor] = kept) -> None:
            if call.number == last:
                assert call.values is not None
                added = subject.deciding(call.weights)[..., None] * call.values  # (G,R,L,D)
                kept.append(added.square().sum((1, 3)).sqrt())

        with subject.entry.way.tapped(subject.network, keep):
            subject.runner(group.inputs)
        found.append((group, kept[0]))
    return by_word(found, batch)
