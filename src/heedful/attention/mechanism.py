"""A whole mechanism: a score, a normaliser and the weighted sum; and any of them by name, from settings.

Axes: B instances, T tokens, H hidden width, Q queries, C width of a query.
"""

import inspect
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

from torch import Generator, Tensor, nn

from heedful.attention.attended import Attended, read
from heedful.attention.choices import CONTROLS, NORMALISERS, SCORES
from heedful.attention.initial import INITS
from heedful.attention.normalise import Normaliser, masked_softmax
from heedful.attention.shapes import check_shape
from heedful.errors import UserError, choose_from


class Attention(nn.Module):
    """Score each token, normalise over real tokens, sum the values by the weights."""

    def __init__(self, score: nn.Module, normalise: Normaliser = masked_softmax) -> None:
        super().__init__()
        self.score, self.normalise = score, normalise

    def forward(
        self, states: Tensor, mask: Tensor, *, query: Tensor | None = None, values: Tensor | None = None
    ) -> Attended:
        """Read values (B,T,·), by default the states (B,T,H), where the mask (B,T) or (B,Q,T) is true."""
        takes_mask = getattr(self.score, "takes_mask", None) is not None  # one of the user's own
        scores = self.score(states, mask) if takes_mask else self.score(states, query)
        if values is None:
            values = states
        check_shape("Attention", "values", tensor=values, expected=(*states.shape[:2], "·"))
        return read(scores, values, mask=mask, normalise=self.normalise, where="Attention")

    def extra_repr(self) -> str:
        return f"normalise={getattr(self.normalise, '__name__', self.normalise)}"


def build_attention(
    name: str,
    hidden: int,
    *,
    normaliser: str | None = None,  # by default softmax
    query: int | None = None,
    scale: float | None = None,
    width: int | None = None,
    longest: int | None = None,
    bias: bool | None = None,
    init: str | None = None,  # by default normal
    generator: Generator | None = None,
) -> nn.Module:
    """Make the mechanism called `name` from settings; None leaves a setting to the mechanism.

    A setting that the mechanism does not have is refused. The generator, or torch's own, draws the
    parameters.
    """
    choose_from("attention", name, [*SCORES, *CONTROLS])
    own: dict[str, Any] = {"query": query, "scale": scale, "width": width, "longest": longest, "bias": bias}
    own = {key: value for key, value in own.items() if value is not None}
    if name in CONTROLS:
        rest = {"normaliser": normaliser, "init": init}
        refuse_others(name, [*own, *(key for key in rest if rest[key] is not None)], {"query"})
        return CONTROLS[name]()

    refuse_others(name, own, inspect.signature(SCORES[name]).parameters)
    if name == "location" and longest is None:
        raise UserError("Attention 'location' needs the largest number of tokens: set longest.")
    fill = INITS[choose_from("initialisation", init or "normal", INITS)]
    normalise = NORMALISERS[choose_from("normaliser", normaliser or "softmax", NORMALISERS)]
    return Attention(SCORES[name](hidden, init=partial(fill, generator=generator), **own), normalise)


def refuse_others(name: str, given: Iterable[str], known: Collection[str]) -> None:
    others = sorted(set(given) - set(known))
    if others:
        raise UserError(f"Attention {name!r} has no setting {', '.join(others)}: leave it out.")
