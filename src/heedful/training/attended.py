"""The attention of a model over a set of texts, flat like their word ids: with dropout off, no gradients.

`weights[offsets[i] : offsets[i + 1]]` are those of text i, as in `EncodedTexts`; so the attention of several
models, or of one that is gone, can be compared and given to another model text by text.
Axes: N texts, W words of all texts together, B texts of a batch, T words.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import batches
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.models.word_attention import word_attention
from heedful.training.evaluation import EVALUATION_TOKENS

Flat = NDArray[np.float32]


def attention_over(model: Classifier, encoded: EncodedTexts) -> Flat:
    """The weight (W,) of every word of all texts; of a hierarchical model the word's × its sentence's."""
    was_training, device = model.training, model.head.weight.device
    model.eval()
    flat = np.zeros(int(encoded.offsets[-1]), np.float32)
    try:
        with torch.inference_mode():
            for batch in batches(encoded, token_budget=EVALUATION_TOKENS):
                weights, _ = word_attention(model, batch.to(device))
                flat[places_of(encoded, batch.rows)] = weights.cpu()[batch.mask].numpy()
    finally:
        model.train(was_training)
    return flat


def places_of(encoded: EncodedTexts, rows: np.ndarray) -> NDArray[np.int64]:
    """Where the words of these texts are in the flat arrays, text after text."""
    starts, ends = encoded.offsets[rows], encoded.offsets[rows + 1]
    return np.concatenate([np.arange(start, end) for start, end in zip(starts, ends, strict=True)])


def padded(flat: np.ndarray, encoded: EncodedTexts, rows: np.ndarray) -> Tensor:
    """The flat weights of these texts as rows (B,T), 0 on padding, as `make_batch` pads their words."""
    if len(flat) != int(encoded.offsets[-1]):
        raise UserError(
            f"There are {int(encoded.offsets[-1]):,} words, but weights for {len(flat):,}: "
            "weights belong to the texts, words and vocabulary that they were made with."
        )
    lengths = np.asarray(encoded.lengths)[rows]
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    weights = np.zeros(mask.shape, np.float32)
    weights[mask] = flat[places_of(encoded, rows)]
    return torch.from_numpy(weights)
