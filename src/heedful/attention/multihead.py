"""Multi-head attention (Vaswani et al., 2017): several scaled dot products side by side.

head_r = softmax(Q_r K_rᵀ / √D) V_r with Q_r = q W_r^Q, K_r = h W_r^K, V_r = h W_r^V;
MultiHead = [head_1; …; head_R] W^O. Without queries the tokens ask each other: self-attention.
(The survey's scan has √d_t for √d_k, and leaves out that every head projects queries, keys and values.)
Axes: B instances, T tokens, Q queries, H width, R heads, D = H/R width of a head.
"""

import math
from typing import Self

import torch
from torch import Tensor, nn

from heedful.attention.attended import Attended, attend
from heedful.attention.dot import dot_scores
from heedful.attention.heads import merge_heads, split_heads
from heedful.attention.initial import Init, xavier_init
from heedful.attention.shapes import check_mask, check_shape, shown
from heedful.errors import UserError


def scaled_dot_attention(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Attended:
    """softmax(Q Kᵀ / √D) V for queries (..., Q, D), keys (..., T, D) and values (..., T, ·)."""
    return attend(
        queries, keys, values, mask, score=lambda q, k: dot_scores(q, k, scale=math.sqrt(k.shape[-1]))
    )


class MultiHead(nn.Module):
    """Ask with R heads, and project what they read together.

    The `Attended` that it gives has context (B,Q,H), and weights and scores with an axis for the heads,
    (B,R,Q,T). A row with no token reads nothing, so its context is the bias of the output.
    """

    def __init__(self, hidden: int, heads: int, *, bias: bool = True, init: Init = xavier_init) -> None:
        super().__init__()
        if heads < 1 or hidden % heads:
            raise UserError(f"MultiHead needs a width divisible by its heads, but {hidden} and {heads} came.")
        self.hidden, self.heads = hidden, heads
        self.queries, self.keys, self.values, self.output = (
            nn.Linear(hidden, hidden, bias=bias) for _ in range(4)
        )
        for layer in (self.queries, self.keys, self.values, self.output):
            init(layer.weight)
            if bias:
                nn.init.zeros_(layer.bias)

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor | None = None, values: Tensor | None = None
    ) -> Attended:
        """Read values (B,T,H) where states (B,T,H) match the queries (B,Q,H); each is by default the states.

        The mask is (B,T), or (B,Q,T) where queries may read different tokens, as in a causal model.
        """
        asking, said = states if query is None else query, states if values is None else values
        check_shape("MultiHead", "states", tensor=states, expected=("B", "T", self.hidden))
        check_shape("MultiHead", "queries", tensor=asking, expected=(states.shape[0], "Q", self.hidden))
        check_shape("MultiHead", "values", tensor=said, expected=(*states.shape[:2], self.hidden))
        attended = scaled_dot_attention(
            split_heads(self.queries(asking), self.heads),
            split_heads(self.keys(states), self.heads),
            split_heads(self.values(said), self.heads),
            self._mask_for_heads(mask, (states.shape[0], asking.shape[1], states.shape[1])),
        )
        return Attended(self.output(merge_heads(attended.context)), attended.weights, attended.scores)

    @classmethod
    def from_torch(cls, theirs: nn.MultiheadAttention) -> Self:
        """A `MultiHead` with a copy of the weights of torch's own module.

        Refused: keys or values of another width, an added bias or zero among the keys, and dropout, which
        this module does not have.
        """
        if (
            theirs.in_proj_weight is None
            or theirs.bias_k is not None
            or theirs.add_zero_attn
            or theirs.dropout
        ):
            raise UserError(
                "MultiHead.from_torch needs a module with one width, no dropout, no added keys, but one with "
                f"kdim={theirs.kdim}, vdim={theirs.vdim}, dropout={theirs.dropout}, "
                f"add_bias_kv={theirs.bias_k is not None}, add_zero_attn={theirs.add_zero_attn} came."
            )
        bias = theirs.in_proj_bias is not None
        ours = cls(theirs.embed_dim, theirs.num_heads, bias=bias)
        ours = ours.to(theirs.in_proj_weight.device, theirs.in_proj_weight.dtype)
        with torch.no_grad():
            ours.output.load_state_dict(theirs.out_proj.state_dict())
            for place, layer in enumerate((ours.queries, ours.keys, ours.values)):
                layer.weight.copy_(theirs.in_proj_weight.chunk(3)[place])
                if bias:
                    layer.bias.copy_(theirs.in_proj_bias.chunk(3)[place])
        return ours

    def extra_repr(self) -> str:
        return f"{self.hidden}, {self.heads}"

    def _mask_for_heads(self, mask: Tensor, needed: tuple[int, int, int]) -> Tensor:
        check_mask("MultiHead", mask)
        batch, queries, tokens = needed
        if mask.shape not in ((batch, tokens), (batch, queries, tokens)):
            raise UserError(
                f"MultiHead needs a mask of shape {shown((batch, tokens))} or {shown(needed)}, "
                f"but {shown(mask.shape)} came."
            )
        return mask.unsqueeze(1)  # (B,1,T) or (B,1,Q,T)
