"""A black box as a `Subject`: texts go in, probabilities come out, and nothing inside can be asked.

    subject = BlackBox(lambda texts: pipeline.predict_proba(texts), classes=("negative", "positive"))

Any function serves: a scikit-learn pipeline, an ONNX session, a service. Deletions ask it again on written
texts.

Axes: B texts, K classes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.data.batches import Batch
from heedful.errors import UserError, listed
from heedful.models.trace import Trace
from heedful.models.written import batch_of_words, written

Predict = Callable[[list[str]], Any]
LEAST = 1e-12  # a probability of 0 would have no logarithm
TOLERANCE = 1e-3  # how far the probabilities of a text may be from a sum of 1
_CLOSED = "it is a black box: only its probabilities can be asked"


class BlackBox:
    """A function from texts to probabilities (B,K), or (B,) of the second of two classes."""

    mixes_tokens = True
    way = "black box"
    cannot: Mapping[str, str] = {"embed": _CLOSED, "trace": _CLOSED, "attention": _CLOSED}

    def __init__(
        self, predict: Predict, *, classes: Sequence[str], unknown: str = "…", name: str = "black box"
    ) -> None:
        """`unknown` is written where a word is replaced, and in the place of a text that has lost all."""
        if len(classes) < 2:
            raise UserError(f"A black box needs two classes to decide between, and has {listed(classes)}.")
        self.predict, self.classes, self.unknown, self.name = predict, tuple(classes), unknown, name
        self.notes = (f"{name} was read as a black box: only words can be deleted, and the answer seen.",)

    def encode(self, texts: Sequence[str]) -> Batch:
        """The words of these texts as a batch (B,T)."""
        return batch_of_words(texts)

    def logits(self, batch: Batch, embedded: Tensor | None = None) -> Tensor:
        """The logarithms (B,K) of the probabilities, in double precision; equal texts are asked once."""
        if embedded is not None:
            self.embed(batch)
        if batch.words is None:
            raise UserError("A black box reads words, but this batch has only ids: encode the texts.")
        texts = [written(words, self.unknown).text for words in batch.words]
        once = list(dict.fromkeys(texts))
        shares = dict(zip(once, self._probabilities(once), strict=True))
        found = torch.stack([shares[text] for text in texts])
        return found.clamp(min=LEAST).log().to(batch.mask.device)

    def embed(self, batch: Batch) -> Tensor:
        """Refused: a black box has no vectors of words."""
        raise UserError(f"This subject has no vectors of words: {_CLOSED}.")

    def trace(self, batch: Batch, level: str = "final") -> Trace:
        """Refused: a black box has no attention layer."""
        raise UserError(f"This subject has no attention layer: {_CLOSED}.")

    def _probabilities(self, texts: list[str]) -> Tensor:
        answer = self.predict(texts)
        try:
            given = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise UserError(
                f"A black box must give probabilities ({len(texts)}, {len(self.classes)}), one for each text "
                f"and class, but {self.name} gave what is no table of numbers."
            ) from None
        if len(self.classes) == 2 and given.size == len(texts) and given.ndim <= 2:
            given = np.stack([1 - given.ravel(), given.ravel()], axis=1)
        if given.shape != (len(texts), len(self.classes)):
            raise UserError(
                f"A black box must give probabilities ({len(texts)}, {len(self.classes)}), one for each text "
                f"and class, but {self.name} gave {given.shape}."
            )
        bad = ~np.isfinite(given).all(1) | (given < 0).any(1) | (np.abs(given.sum(1) - 1) > TOLERANCE)
        if bad.any():
            text = texts[int(bad.argmax())]
            raise UserError(
                f"A black box must give probabilities that add up to 1, but {self.name} gave "
                f"{given[bad.argmax()].round(4).tolist()} for {text[:40]!r}."
            )
        return torch.from_numpy(given)
