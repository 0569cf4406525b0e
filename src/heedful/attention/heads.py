"""Between one wide vector and several heads.

With heads as a leading axis, every score function and `attend` work as they are.
Axes: B instances, T tokens, R heads, D width of a head, H = R·D. A mask (B,T) becomes mask[:, None], (B,1,T).
"""

from torch import Tensor

from heedful.attention.shapes import check_shape, shown
from heedful.errors import UserError


def split_heads(states: Tensor, heads: int) -> Tensor:
    """Turn (B,T,H) into (B,R,T,D)."""
    check_shape("split_heads", "states", tensor=states, expected=("B", "T", "H"))
    if states.shape[-1] % heads:
        raise UserError(
            f"split_heads needs a width divisible by {heads} heads, but {shown(states.shape)} came."
        )
    return states.reshape(*states.shape[:-1], heads, states.shape[-1] // heads).transpose(1, 2)


def merge_heads(states: Tensor) -> Tensor:
    """Turn (B,R,T,D) back into (B,T,H)."""
    check_shape("merge_heads", "states", tensor=states, expected=("B", "R", "T", "D"))
    return states.transpose(1, 2).flatten(-2)
