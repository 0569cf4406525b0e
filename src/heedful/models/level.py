"""One level of a model: an encoder and attention over it. A flat model has one, a hierarchical one two.

Axes: B texts (or sentences), T words (or sentences), E width of what comes in, H width of the states.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

from heedful.attention import (
    Attended,
    FrozenAttention,
    ShuffledAttention,
    UniformAttention,
    build_attention,
)
from heedful.errors import UserError, choose_from
from heedful.models.dropout import Dropout
from heedful.models.settings import CONTROLS, ENCODERS, ModelSettings

STARTS = {"sun-lu": "normal", "serrano-smith": "xavier", "pytorch": "usual"}  # of attention's weights


class Level(nn.Module):
    """Dropout on what comes in, an encoder, and attention over its states."""

    def __init__(self, encoder: nn.Module, attention: nn.Module, *, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.encoder = encoder
        self.attention = attention

    def encode(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """Turn vectors (B,T,E) into states (B,T,H), 0 where the mask (B,T) is false."""
        if self.encoder.mixes_tokens and not (mask[:, :-1] | ~mask[:, 1:]).all():
            raise UserError(
                "This encoder needs padding at the end of a text, but a mask has a gap: close it first."
            )
        states: Tensor = self.encoder(self.dropout(vectors), mask)
        if mask.all():
            return states
        return states * mask.to(states.dtype)[..., None]  # far faster than masked_fill on a CPU

    def attend(self, states: Tensor, mask: Tensor, *, weights: Tensor | None = None) -> Attended:
        """Attend to the states (B,T,H); given weights (B,T) are used as they are, and get no gradient."""
        if weights is not None:
            frozen: Attended = FrozenAttention()(states, mask, query=weights)
            return frozen
        if isinstance(self.attention, FrozenAttention):
            raise UserError("This model's attention is frozen: give the weights (B,T) to use, as weights=.")
        attended: Attended = self.attention(states, mask)
        return attended


def build_level(settings: ModelSettings, width: int, *, dropout: float) -> Level:
    """The level of the settings, for vectors of this width."""
    encoder = ENCODERS[choose_from("encoder", settings.encoder, ENCODERS)](settings, width)
    control = CONTROLS[choose_from("control of attention", settings.control, CONTROLS)]
    width = int(encoder.width)  # type: ignore[arg-type]  # a module's attributes have no types
    return Level(encoder, control(partial(_attention, settings, width)), dropout=dropout)


def _attention(settings: ModelSettings, width: int) -> nn.Module:
    """The attention of the settings, over states of this width."""
    name = settings.attention
    return build_attention(
        name,
        width,
        normaliser=settings.normaliser,
        scale=settings.scale,
        width=settings.attention_width if name in ("additive", "general") else None,
        bias=settings.attention_bias if name == "additive" else None,
        longest=settings.max_length if name == "location" else None,
        init=STARTS[settings.initialisation],
    )


def learnt(make: Callable[[], nn.Module]) -> nn.Module:
    """No control: the attention itself."""
    return make()


def uniform(make: Callable[[], nn.Module]) -> nn.Module:
    """The same weight for every word."""
    return UniformAttention()


def frozen(make: Callable[[], nn.Module]) -> nn.Module:
    """Weights that are given."""
    return FrozenAttention()


def shuffled(make: Callable[[], nn.Module]) -> nn.Module:
    """The attention's weights on other words."""
    return ShuffledAttention(make())


def score_of(attention: nn.Module) -> nn.Module | None:
    """The module that scores tokens, of a mechanism or its shuffled form; None where nothing is learnt."""
    if isinstance(attention, ShuffledAttention):
        attention = attention.mechanism
    score = getattr(attention, "score", None)
    return score if isinstance(score, nn.Module) else None


def start_like_sun_lu(modules: Sequence[nn.Module]) -> None:
    """The matrices of recurrent cells orthogonal, their gates stacked, as in the authors' code (UAFTC)."""
    for module in (inner for outer in modules for inner in outer.modules()):
        if isinstance(module, nn.RNNBase):
            for weight in module.parameters():
                if weight.dim() == 2:
                    nn.init.orthogonal_(weight)


def start_like_serrano_smith(modules: Sequence[nn.Module]) -> None:
    """Xavier weights, orthogonal recurrent weights, biases 0 but 1 for the gate that keeps a cell's state."""
    for module in (inner for outer in modules for inner in outer.modules()):
        if isinstance(module, (nn.Linear, nn.Conv1d)):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.RNNBase):
            _start_recurrent(module)


def _start_recurrent(cell: nn.RNNBase) -> None:
    # PyTorch stacks the gates; the second keeps state (the forget gate of an LSTM, the update gate of a GRU).
    keeps = slice(cell.hidden_size, 2 * cell.hidden_size)
    started = dict(cell.named_parameters())
    with torch.no_grad():
        for gate in started["weight_ih_l0"].split(cell.hidden_size):
            nn.init.xavier_uniform_(gate)
        for gate in started["weight_hh_l0"].split(cell.hidden_size):
            nn.init.orthogonal_(gate)
        started["bias_ih_l0"].zero_()
        started["bias_hh_l0"].zero_()
        started["bias_ih_l0"][keeps] = 1  # only one of the two biases, as they are added
