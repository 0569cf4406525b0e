"""Attention over a code and its ancestors (GRAM: Choi et al., 2017): a rare code can lean on its kind.

g_i = Σ_{j ∈ A(i)} α_ij e_j, α_i = softmax over A(i) of f(e_i, e_j) = uᵀ tanh(W [e_i; e_j] + b). A(i) holds
the code itself and all its ancestors. f is `additive_scores`, since W [e_i; e_j] = R e_i + P e_j.
Axes: B codes, T places in A(i), the code first, H width of an embedding, A width of the tanh layer, V nodes.
"""

import torch
from torch import Tensor, nn

from heedful.attention.additive import AdditiveScore
from heedful.attention.attended import Attended, read
from heedful.attention.initial import Init, xavier_init
from heedful.attention.normalise import masked_softmax
from heedful.attention.shapes import check_shape
from heedful.errors import UserError


class AncestorAttention(nn.Module):
    """Mix each code's embedding with those of its ancestors."""

    def __init__(self, hidden: int, *, width: int | None = None, init: Init = xavier_init) -> None:
        super().__init__()
        self.score = AdditiveScore(hidden, query=hidden, width=width, init=init)

    def forward(self, states: Tensor, mask: Tensor) -> Attended:
        """Mix states (B,T,H): each row a code, its ancestors after it, real where the mask (B,T) is true."""
        check_shape("AncestorAttention", "states", tensor=states, expected=("B", "T", self.score.hidden))
        check_shape("AncestorAttention", "a mask", tensor=mask, expected=states.shape[:2])
        code = states[:, :1].sum(1)  # 0 where there is no place at all
        scores = self.score(states, code)
        return read(scores, states, mask=mask, normalise=masked_softmax, where="AncestorAttention")


def ancestor_table(parents: Tensor) -> tuple[Tensor, Tensor]:
    """For each node itself and its ancestors, (V,T), and which are real; from parents (V), -1 at a root.

    Beyond the root a row repeats it, so that every entry can be looked up.
    """
    check_shape("ancestor_table", "parents", tensor=parents, expected=("V",))
    if parents.is_floating_point() or parents.dtype == torch.bool:
        raise UserError(f"ancestor_table needs parents in whole numbers, but {parents.dtype} came.")
    if parents.numel() and (int(parents.max()) >= len(parents) or int(parents.min()) < -1):
        raise UserError(
            f"ancestor_table needs parents from -1 to {len(parents) - 1}, "
            f"but {int(parents.min())} to {int(parents.max())} came."
        )
    nodes, real = [torch.arange(len(parents))], [torch.ones(len(parents), dtype=torch.bool)]
    while True:
        above = parents[nodes[-1]]
        here = real[-1] & (above >= 0)
        if not here.any():
            return torch.stack(nodes, 1), torch.stack(real, 1)
        if len(nodes) == len(parents):
            raise UserError("ancestor_table needs a forest, but some node is its own ancestor.")
        nodes.append(above.where(here, nodes[-1]))
        real.append(here)
