"""Scores, normalisers and controls by name; known without torch, imported when one is chosen."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from heedful.lazy import Choices

if TYPE_CHECKING:
    from torch import nn

    from heedful.attention.normalise import Normaliser

SCORES: "Choices[Callable[..., nn.Module]]" = Choices(
    {
        "dot": "heedful.attention.dot:DotScore",
        "scaled-dot": "heedful.attention.dot:scaled_dot",
        "general": "heedful.attention.general:GeneralScore",
        "additive": "heedful.attention.additive:AdditiveScore",
        "cosine": "heedful.attention.cosine:CosineScore",
        "location": "heedful.attention.location:LocationScore",
    }
)
NORMALISERS: "Choices[Normaliser]" = Choices(
    {
        "softmax": "heedful.attention.normalise:masked_softmax",
        "sparsemax": "heedful.attention.sparse:sparsemax",
        "entmax15": "heedful.attention.sparse:entmax15",
        "sigmoid": "heedful.attention.normalise:sigmoid_weights",
    }
)
CONTROLS: "Choices[Callable[[], nn.Module]]" = Choices(
    {
        "uniform": "heedful.attention.controls:UniformAttention",
        "frozen": "heedful.attention.controls:FrozenAttention",
    }
)
