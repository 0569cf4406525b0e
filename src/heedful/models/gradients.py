"""The closed-form gradients of Sun & Lu's encoder-free models: dot-product, affine and additive attention.

Texts are ragged: N occurrences of words, each with a row of `rows` and an instance, no padding. Sums run over
occurrences, never over distinct words. Training steps with these gradients; the flow terms read the same
quantities.

One binary score and K classes are one form. With s = hᵀW the scores of an instance, −∂ℓ/∂s is `push`, yβ for
one score (y is −1 or +1, β = σ(−ys)) and I_k − p = −p̂ for K classes. Then c = α·push, dev = s_j − s, and
with the sums over the occurrences of a word π = Σ c and ρ = Σ c·dev, every gradient is a sum over rows (m
instances, scale λ):

    ∂ℓ/∂e = −(ρ(e) V/λ + W π(e)) / m      Eq. 13, 59, 78 (additive: MᵀD V in the place of V, Eq. 66)
    ∂ℓ/∂W = −Σ_e h_e π(e) / m             Eq. 14, 79
    ∂ℓ/∂V = −Σ_e ρ(e) h_e / mλ            Eq. 23, 60, 80 (additive: tanh x_e in the place of h_e, Eq. 67)

so nothing of size N × H is made, unless dropout gives every occurrence a vector of its own.

Axes: N occurrences, R rows of vectors (distinct words), B instances, E width of a word's vector, H width of
the states, K scores, 1 for a binary model.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Occurrences:
    """Where words stand: occurrence n is row `row[n]` of some vectors, in instance `instance[n]`."""

    row: Tensor  # (N,) in 0 … R−1
    instance: Tensor  # (N,) in 0 … B−1
    rows: int  # R
    instances: int  # B

    def per_row(self, values: Tensor) -> Tensor:
        """Sum values (N, ...) over the occurrences of each row: (R, ...)."""
        return values.new_zeros(self.rows, *values.shape[1:]).index_add_(0, self.row, values)

    def per_instance(self, values: Tensor) -> Tensor:
        """Sum values (N, ...) over the occurrences in each instance: (B, ...)."""
        return values.new_zeros(self.instances, *values.shape[1:]).index_add_(0, self.instance, values)

    def one_row_each(self) -> "Occurrences":
        """The same places, but with a row for every occurrence."""
        count = len(self.row)
        return Occurrences(torch.arange(count, device=self.row.device), self.instance, count, self.instances)


@dataclass(frozen=True)
class Quantities:
    """What the paper's analysis is written in, for one batch or a whole split."""

    loss: Tensor  # the mean over instances, without penalty
    scores: Tensor  # s (B, K)
    push: Tensor  # −∂ℓ/∂s of each instance (B, K): yβ, or −p̂
    weights: Tensor  # α (N,)
    dev: Tensor  # s_j − s (N, K)
    c: Tensor  # α · push (N, K)

    @property
    def beta(self) -> Tensor:
        """β of a binary model (B,): how far each instance is from being decided rightly."""
        return self.push.abs().squeeze(1)

    def pi(self, places: Occurrences) -> Tensor:
        """π(e) = Σ c over the occurrences of each row (R, K), Eq. 16."""
        return places.per_row(self.c)

    def rho(self, places: Occurrences) -> Tensor:
        """ρ(e) = Σ c·dev over the occurrences of each row (R,), Eq. 20."""
        return places.per_row((self.c * self.dev).sum(1))


@dataclass(frozen=True)
class Gradients:
    """∂ℓ of the mean loss by each parameter, shaped like it, and the quantities they are made of."""

    rows: Tensor  # (R, E)
    context: Tensor  # (H,)
    head: Tensor  # (H,) or (K, H)
    quantities: Quantities
    matrix: Tensor | None = None  # (H, E), affine and additive
    bias: Tensor | None = None  # (H,), where the model has one


def occurrences(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Occurrences]:
    """The distinct ids (R,) of flat ids (N,), ascending, and where they stand in texts of lengths (B,)."""
    tokens, row = torch.unique(ids, return_inverse=True)
    instance = torch.repeat_interleave(torch.arange(len(lengths), device=ids.device), lengths)
    return tokens, Occurrences(row, instance, len(tokens), len(lengths))


@torch.no_grad()
def dot_gradients(
    rows: Tensor,
    places: Occurrences,
    *,
    labels: Tensor,
    context: Tensor,
    head: Tensor,
    scale: float,
    keep_words: Tensor | None = None,
    keep_attended: Tensor | None = None,
) -> Gradients:
    """Dot-product attention, `dp`: a = eᵀV/λ, h = Σ α e, s = hᵀW (Eq. 13, 14, 23; 78–80).

    `rows` (R, E) are the words' vectors: the whole table, or a batch's distinct words. `labels` (B,) are
    class numbers, `head` is (H,) for one score (class 1 is y = +1) or (K, H). `keep_words` (N, E) and
    `keep_attended` (B, H) are dropout's factors, 0 or 1/(1 − rate), on each occurrence and on each attended
    vector.
    """
    vectors, own = _drop_out(rows, places, keep_words, keep_attended)
    at = _Decision.make(vectors @ context / scale, vectors, own, labels=labels, head=head, keep=keep_attended)
    vectors_gradient = torch.addr(at.states, at.attention, context / scale)
    return Gradients(
        rows=_per_row(vectors_gradient, places, own, keep_words),
        context=at.attention @ vectors / scale,
        head=at.head,
        quantities=at.quantities,
    )


@torch.no_grad()
def affine_gradients(
    rows: Tensor,
    places: Occurrences,
    *,
    labels: Tensor,
    context: Tensor,
    head: Tensor,
    matrix: Tensor,
    bias: Tensor | None = None,
    scale: float,
    keep_words: Tensor | None = None,
    keep_attended: Tensor | None = None,
) -> Gradients:
    """Dot-product attention over an affine layer, `dp-a`: h_j = M e_j (+ b), then as `dp` (Eq. 59–61)."""
    vectors, own = _drop_out(rows, places, keep_words, keep_attended)
    states = F.linear(vectors, matrix, bias)  # (R, H)
    at = _Decision.make(states @ context / scale, states, own, labels=labels, head=head, keep=keep_attended)
    states_gradient = torch.addr(at.states, at.attention, context / scale)
    return Gradients(
        rows=_per_row(states_gradient @ matrix, places, own, keep_words),
        context=at.attention @ states / scale,
        head=at.head,
        quantities=at.quantities,
        matrix=states_gradient.T @ vectors,
        bias=None if bias is None else states_gradient.sum(0),
    )


@torch.no_grad()
def additive_gradients(
    rows: Tensor,
    places: Occurrences,
    *,
    labels: Tensor,
    context: Tensor,
    head: Tensor,
    matrix: Tensor,
    bias: Tensor | None = None,
    scale: float,
    keep_words: Tensor | None = None,
    keep_attended: Tensor | None = None,
) -> Gradients:
    """Additive attention, `ad`: a = tanh(M e (+ b))ᵀV/λ over values e, then as `dp`; exact (Eq. 66–68)."""
    vectors, own = _drop_out(rows, places, keep_words, keep_attended)
    squashed = F.linear(vectors, matrix, bias).tanh()  # (R, H)
    at = _Decision.make(
        squashed @ context / scale, vectors, own, labels=labels, head=head, keep=keep_attended
    )
    inner_gradient = torch.outer(at.attention, context / scale) * (1 - squashed.square())
    return Gradients(
        rows=_per_row(at.states + inner_gradient @ matrix, places, own, keep_words),
        context=at.attention @ squashed / scale,
        head=at.head,
        quantities=at.quantities,
        matrix=inner_gradient.T @ vectors,
        bias=None if bias is None else inner_gradient.sum(0),
    )


def quantities(
    attention: Tensor,
    polarity: Tensor,
    places: Occurrences,
    *,
    labels: Tensor,
    head_bias: Tensor | None = None,
) -> Quantities:
    """Attend, decide and differentiate, from the rows' attention scores a (R,) and polarity scores (R, K).

    The whole training set is one call: only vectors of N or N × K are made. An instance without words has
    scores 0. A bias of the head (K,) moves the decision, and so the push, but is in no score and no `dev`.
    """
    scores_each = attention.index_select(0, places.row)
    largest = scores_each.new_full((places.instances,), -torch.inf)
    largest.scatter_reduce_(0, places.instance, scores_each, "amax")
    raised = (scores_each - largest.index_select(0, places.instance)).exp()
    weights = raised / places.per_instance(raised).index_select(0, places.instance)
    polarity_each = polarity.index_select(0, places.row)  # (N, K)
    scores = places.per_instance(weights[:, None] * polarity_each)
    loss, push = _loss_and_push(scores if head_bias is None else scores + head_bias, labels)
    dev = polarity_each - scores.index_select(0, places.instance)
    c = weights[:, None] * push.index_select(0, places.instance)
    return Quantities(loss, scores, push, weights, dev, c)


def _loss_and_push(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    if scores.shape[1] == 1:
        y = 2 * labels.to(scores.dtype)[:, None] - 1
        return F.softplus(-y * scores).mean(), y * torch.sigmoid(-y * scores)
    return F.cross_entropy(scores, labels), F.one_hot(labels, scores.shape[1]) - scores.softmax(1)


@dataclass(frozen=True)
class _Decision:
    """The gradients at the place where all families meet: attention scores and states in, loss out."""

    attention: Tensor  # ∂ℓ/∂a (R,) = −ρ/m
    states: Tensor  # ∂ℓ/∂h_j through the weighted sum alone (R, H) = −Wπ/m
    head: Tensor  # ∂ℓ/∂W, shaped like the head
    quantities: Quantities

    @staticmethod
    def make(
        attention: Tensor,
        states: Tensor,
        places: Occurrences,
        *,
        labels: Tensor,
        head: Tensor,
        keep: Tensor | None,
    ) -> "_Decision":
        heads = head.reshape(-1, head.shape[-1])  # (K, H)
        # Dropping parts of h = Σ α h_j is dropping the same parts of every h_j of the instance.
        kept = None if keep is None else keep.index_select(0, places.instance)
        seen = states if kept is None else states * kept
        found = quantities(attention, seen @ heads.T, places, labels=labels)
        share = -1 / places.instances
        pi, rho = found.pi(places) * share, found.rho(places) * share
        through = pi @ heads
        return _Decision(
            attention=rho,
            states=through if kept is None else through.mul_(kept),
            head=(pi.T @ seen).reshape(head.shape),
            quantities=found,
        )


def _drop_out(
    rows: Tensor, places: Occurrences, keep_words: Tensor | None, keep_attended: Tensor | None
) -> tuple[Tensor, Occurrences]:
    """The vectors the model sees, and where they stand: with dropout every occurrence has its own."""
    if keep_words is None and keep_attended is None:
        return rows, places
    each = rows.index_select(0, places.row)  # (N, E)
    return each if keep_words is None else each * keep_words, places.one_row_each()


def _per_row(gradient: Tensor, places: Occurrences, own: Occurrences, keep_words: Tensor | None) -> Tensor:
    """Bring the gradient of the vectors that the model saw back to the rows (R, E)."""
    if own is places:
        return gradient
    return places.per_row(gradient if keep_words is None else gradient * keep_words)
