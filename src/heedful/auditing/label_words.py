"""Which words go with one class, by how they occur in the training texts (Sun & Lu's token types)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from heedful.auditing.audited import Audited
from heedful.data.batches import Batch
from heedful.data.encoded import encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import split_texts
from heedful.training.texts_of_run import encode_for
from heedful.understanding.token_types import TokenTypes, find_types


@dataclass(frozen=True)
class LabelWords:
    """The types of words; `by_id` where a batch's ids are those of the types."""

    types: TokenTypes
    by_id: bool

    def __call__(self, batch: Batch) -> Tensor:
        """Which words (B,T) of a batch go with one class."""
        if self.by_id:
            return torch.from_numpy(self.types.polar).to(batch.ids.device)[batch.ids]
        assert batch.words is not None
        polar = {self.types.words[place] for place in np.flatnonzero(self.types.polar)}
        found = torch.zeros_like(batch.mask)
        for row, words in enumerate(batch.words):
            hits = [form.lower() in polar for form in words.forms]
            found[row, : len(hits)] = torch.tensor(hits, dtype=torch.bool, device=found.device)
        return found

    @cached_property
    def by_form(self) -> dict[str, str]:
        """The type of each word form that has one."""
        labels, typed = self.types.labels, np.flatnonzero(self.types.codes >= 0)
        return {self.types.words[place]: labels[place] for place in typed}


def label_words(audited: Audited) -> LabelWords | None:
    """The types of words of the training split; None where there is none."""
    train = audited.corpus.split("train")
    if not len(train) or len(set(train.labels.tolist())) < 2:
        return None
    classes = audited.corpus.label_names
    if audited.run is not None:
        model = audited.run.model
        types = find_types(encode_for(model, train), model.vocabulary, classes=classes)
        return LabelWords(types, by_id=model.settings.encoder != "pretrained")
    words = split_texts(train.texts)
    vocabulary = Vocabulary.build(words)
    encoded = encode_texts(train.texts, train.labels, vocabulary)
    return LabelWords(find_types(encoded, vocabulary, classes=classes), by_id=False)
