"""Every mechanism, in one table: a new mechanism gets all promises by adding a row.

Sizes are different primes: B 3, T 7, H 5, Q 2, A 11, C 13, values 17, longest 19.
The rows hold 7, 4 and 0 tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor, nn

from heedful.attention import (
    NORMALISERS,
    SCORES,
    ShuffledAttention,
    build_attention,
    masked_softmax,
)

B, T, H, Q, A, C, W, N = 3, 7, 5, 2, 11, 13, 17, 19
LENGTHS = (7, 4, 0)
SAME_WIDTH = ("dot", "scaled-dot", "cosine")  # their queries are as wide as the states


@dataclass(frozen=True)
class Inputs:
    """What a mechanism is called with; `query` holds weights for the frozen control."""

    states: Tensor
    mask: Tensor
    query: Tensor | None
    values: Tensor

    def to(self, dtype: torch.dtype) -> "Inputs":
        query = None if self.query is None else self.query.to(dtype)
        return replace(self, states=self.states.to(dtype), query=query, values=self.values.to(dtype))


@dataclass(frozen=True)
class Case:
    name: str
    build: Callable[[], nn.Module]
    queries: tuple[int, ...] | None = None  # axes of the query after B
    sums_to_one: bool = True
    equivariant: bool = True  # moving a token moves its weight with it
    query_has_tokens: bool = False  # the query's last axis is T

    def __str__(self) -> str:
        return self.name

    def inputs(self, seed: int = 0, *, lengths: tuple[int, ...] = LENGTHS, tokens: int = T) -> Inputs:
        generator = Generator().manual_seed(seed)
        batch = len(lengths)
        mask = torch.arange(tokens) < torch.tensor(lengths)[:, None]
        states = torch.randn(batch, tokens, H, generator=generator)
        values = torch.randn(batch, tokens, W, generator=generator)
        query = None
        if self.query_has_tokens:
            shape = (batch, *(self.queries or ())[:-1], tokens)
            real = mask[:, None] if len(shape) == 3 else mask
            query = masked_softmax(torch.randn(shape, generator=generator), real)
        elif self.queries is not None:
            query = torch.randn(batch, *self.queries, generator=generator)
        return Inputs(states, mask, query, values)

    def run(self, module: nn.Module, inputs: Inputs):
        query = {} if inputs.query is None else {"query": inputs.query}
        return module(inputs.states, inputs.mask, values=inputs.values, **query)

    def cut(self, inputs: Inputs, row: int, tokens: int) -> Inputs:
        """One row alone, with its first tokens only."""
        query = None if inputs.query is None else inputs.query[row : row + 1]
        if query is not None and self.query_has_tokens:
            query = query[..., :tokens]
        one = slice(row, row + 1)
        return Inputs(
            inputs.states[one, :tokens], inputs.mask[one, :tokens], query, inputs.values[one, :tokens]
        )


def mechanism(score: str, normaliser: str, form: str) -> Case:
    width = H if score in SAME_WIDTH else C
    settings = {} if form == "learned" else {"query": width}
    if score in ("general", "additive") and not (score == "general" and form != "learned"):
        settings["width"] = A
    if score == "location":
        settings["longest"] = N

    def build() -> nn.Module:
        generator = Generator().manual_seed(1)
        return build_attention(score, H, normaliser=normaliser, generator=generator, **settings)

    return Case(
        f"{score}-{normaliser}-{form}",
        build,
        queries={"learned": None, "query": (width,), "queries": (Q, width)}[form],
        sums_to_one=normaliser != "sigmoid",
        equivariant=score != "location",
    )


MECHANISMS = [
    mechanism(score, normaliser, form)
    for score in SCORES
    for normaliser in NORMALISERS
    for form in ("learned", "query", "queries")
]


def shuffled(form: str) -> Case:
    inner = mechanism("dot", "softmax", form)
    return replace(
        inner,
        name=f"shuffled-{form}",
        build=lambda: ShuffledAttention(inner.build(), seed=5),
        equivariant=False,
    )


CONTROLS = [
    Case("uniform-learned", lambda: build_attention("uniform", H)),
    Case("uniform-queries", lambda: build_attention("uniform", H), queries=(Q, C)),
    Case(
        "frozen-query", lambda: build_attention("frozen", H), (T,), equivariant=False, query_has_tokens=True
    ),
    Case(
        "frozen-queries",
        lambda: build_attention("frozen", H),
        (Q, T),
        equivariant=False,
        query_has_tokens=True,
    ),
    shuffled("learned"),
    shuffled("queries"),
]
CATALOGUE = MECHANISMS + CONTROLS
# Score and normaliser do not know of each other, so costly promises take each once instead of all pairs.
SHORT_CATALOGUE = [
    case
    for case in CATALOGUE
    if case in CONTROLS
    or "-softmax-" in case.name
    or (case.name.startswith("dot-") and "learned" in case.name)
]
