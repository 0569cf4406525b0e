"""An encoder of one layer of multi-head self-attention (Vaswani et al., 2017), and its trace.

h = M e, and each state is h + MultiHead(h): four scaled dot products side by side, by which every word reads
all words. So a model has a lower layer of attention with several heads and several attended vectors under
the one that decides: what Serrano & Smith (2019, §6) leave open.
Axes: B texts, T words, E embedding width, H state width, R heads, D = H/R.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heedful.attention.heads import merge_heads, split_heads
from heedful.attention.multihead import MultiHead
from heedful.models.trace import Trace

if TYPE_CHECKING:
    from heedful.models.settings import ModelSettings

Rest = Callable[[Tensor, Tensor], Tensor]  # from states (B,T,H) and their mask (B,T) to logits (B,K)


class SelfAttentionEncoder(nn.Module):
    """Each word's projection, and what its heads read of all words. Words have no places."""

    mixes_tokens = True

    def __init__(self, embedding: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.width = hidden
        self.project = nn.Linear(embedding, hidden)
        self.attention = MultiHead(hidden, heads)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        words: Tensor = self.project(embedded)
        states: Tensor = words + self.attention(words, mask).context
        return states

    def trace(self, embedded: Tensor, mask: Tensor, rest: Rest) -> Trace:
        """What this layer saw and gave: a row of weights for each head and reading word (B,R·T,T).

        An item is a word that is read, by all heads and words at once; `rest` is the network above.
        """
        words = self.project(embedded)
        heads, tokens = self.attention.heads, mask.shape[1]
        real = (mask[:, :, None] & mask[:, None, :]).repeat(1, heads, 1)  # (B,R·T,T)
        weights = self.attention(words, mask).weights.flatten(1, 2)
        said = split_heads(self.attention.values(words), heads)  # (B,R,T,D)
        values = said[:, :, None].expand(-1, -1, tokens, -1, -1).flatten(1, 2)

        def above(read: Tensor, state: Tensor) -> Tensor:
            words, present = state[..., :-1], state[..., -1] > 0
            joined = merge_heads(read.unflatten(1, (heads, tokens)))
            states = (words + self.attention.output(joined)) * present[..., None]
            return rest(states, present)

        places = torch.arange(tokens, device=mask.device)
        return Trace(
            weights * real,
            values * real[..., None],
            real,
            head=above,
            items=torch.where(real, places, -1),
            state=torch.cat([words, mask[..., None].to(words.dtype)], dim=-1),
        )


def self_attention(settings: "ModelSettings", width: int) -> SelfAttentionEncoder:
    """The encoder self-attention, of the width that is set."""
    from heedful.models.settings import SELF_HEADS

    return SelfAttentionEncoder(width, settings.hidden, SELF_HEADS)
