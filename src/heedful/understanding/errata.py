"""The errata of Sun & Lu (2020), each with a number that shows it: printed and corrected form against the
truth.

Each check draws a small model (or data) and compares both forms with automatic differentiation in double
precision on texts with repeated words; a form's error is ‖form − truth‖/‖truth‖. `docs/errata.md` shows
them.
Axes: V words, E width, K classes, m texts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.synthetic import Synthetic, make_synthetic, paired_words
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import split_texts
from heedful.models.gradients import Occurrences, Quantities, quantities
from heedful.training.closed import ClosedForm
from heedful.understanding.forms import PaperForm
from heedful.understanding.sums import collect
from heedful.understanding.table_one import corpus_types
from heedful.understanding.terms import first_order_terms, terms
from heedful.understanding.token_types import TypeRules

VOCABULARY, WIDTH, INNER, TEXTS, CLASSES, SCALE = 19, 5, 7, 23, 3, 1.7


@dataclass(frozen=True)
class Erratum:
    """One correction: both forms in words, what the numbers measure, and the numbers."""

    equation: str
    printed: str
    corrected: str
    measured: str
    printed_value: float
    corrected_value: float


def check_errata(*, seed: int = 0) -> tuple[Erratum, ...]:
    """All errata, their numbers computed on data drawn by the seed."""
    return tuple(check(seed) for check in CHECKS)


@dataclass(frozen=True)
class _Problem:
    """A small model on small texts, and its gradients by automatic differentiation."""

    form: PaperForm
    encoded: EncodedTexts
    places: Occurrences
    found: Quantities
    gradients: dict[str, Tensor]

    @property
    def m(self) -> int:
        return len(self.encoded)

    def own(self, values: Tensor) -> Tensor:
        """Sum values (N, ...) over each word's occurrences (V, ...)."""
        return self.places.per_row(values)


def _problem(family: str, seed: int, *, scores: int = 1) -> _Problem:
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64).requires_grad_()

    parts = {"table": normal(VOCABULARY, WIDTH), "context": normal(WIDTH if family == "dp" else INNER)}
    parts["head"] = normal(scores, INNER if family == "dp-a" else WIDTH)
    if family != "dp":
        parts["matrix"] = normal(INNER, WIDTH)
    lengths = torch.randint(2, 8, (TEXTS,), generator=draw)
    ids = torch.randint(0, VOCABULARY, (int(lengths.sum()),), generator=draw)
    labels = torch.randint(0, max(scores, 2), (TEXTS,), generator=draw)
    instance = torch.repeat_interleave(torch.arange(TEXTS), lengths)
    places = Occurrences(ids, instance, VOCABULARY, TEXTS)

    live = _form(family, parts)
    each = []
    for number in range(TEXTS):  # written out text by text, so that nothing is shared with what is checked
        own = ids[instance == number]
        weights = live.attention[own].softmax(0)
        s = weights @ live.values[own] @ live.head.T
        y = labels[number]
        each.append(F.softplus(-(2 * y - 1) * s[0]) if scores == 1 else F.cross_entropy(s, y))
    gradients = torch.autograd.grad(torch.stack(each).mean(), list(parts.values()))
    form = _form(family, {name: part.detach() for name, part in parts.items()})
    encoded = EncodedTexts(
        ids.numpy().astype(np.int32),
        np.concatenate([[0], lengths.cumsum(0).numpy()]),
        labels.numpy(),
        np.zeros(TEXTS, np.int32),
    )
    found = quantities(form.attention, form.polarity, places, labels=labels)
    return _Problem(form, encoded, places, found, dict(zip(parts, gradients, strict=True)))


def _form(family: str, parts: Mapping[str, Tensor]) -> PaperForm:
    table, context, head = (parts[name] for name in ("table", "context", "head"))
    return PaperForm(family, table, context, head, SCALE, matrix=parts.get("matrix"))


def _error(found: Tensor, truth: Tensor) -> float:
    return float((found - truth).norm() / truth.norm())


_AGAINST = "relative error against automatic differentiation"


def _eq_28(seed: int) -> Erratum:
    corpus = make_synthetic(Synthetic(neutral=23, polar=11, per_class=200, held_out=1, seed=seed))
    polar = [sum(corpus_types(corpus, rules=TypeRules(closed=closed)).polar) / 22 for closed in (False, True)]
    return Erratum(
        "28",
        "a word is positive if γ ∈ (0.5, 1), negative if γ ∈ (−1, −0.5)",
        "γ = ±1 is included; the paper's own counts (412 and 265 on SST) need it",
        "share of the polar words of synthetic data, each seen in one class only, that are called polar",
        *map(float, polar),
    )


def _eq_44(seed: int) -> Erratum:
    problem = _problem("dp", seed)
    form, m = problem.form, problem.m
    rho, pi = problem.found.rho(problem.places), problem.found.pi(problem.places)[:, 0]
    b = torch.outer(pi, form.polarity[:, 0])
    truth = -problem.gradients["table"] @ form.table.T  # −(∂ℓ/∂e_i)ᵀe_k
    printed = (torch.outer(rho, form.attention) / form.scale + b) / m
    corrected = (torch.outer(rho, form.attention) + b) / m
    return Erratum(
        "44",
        "A_ik = (1/m) Σ yβα (s_i − s) a_k/λ",
        "A_ik = ρ(e_i) a_k/m: a_k has its 1/λ already",
        f"{_AGAINST} of −(∂ℓ/∂e_i)ᵀe_k, all pairs",
        _error(printed, truth),
        _error(corrected, truth),
    )


def _eq_45(seed: int) -> Erratum:
    problem = _problem("dp", seed)
    form, m = problem.form, problem.m
    pi, s = problem.found.pi(problem.places)[:, 0], form.polarity[:, 0]
    rho = problem.found.rho(problem.places)
    # What stays when A is dropped, as the equation does: −(∂ℓ/∂e)ᵀe_k less its part through attention.
    through_head = -problem.gradients["table"] - torch.outer(rho, form.context) / (form.scale * m)
    truth = through_head @ form.table.T
    printed = torch.outer(pi, s)
    return Erratum(
        "45, 46",
        "−(∂ℓ/∂e_i)ᵀe_k ≈ π(e_i) s_k",
        "≈ π(e_i) s_k/m",
        f"{_AGAINST} of the part that stays when A_ik is dropped; it is m − 1 for m texts",
        _error(printed, truth),
        _error(printed / m, truth),
    )


def _eq_54(seed: int) -> Erratum:
    settings = Synthetic(neutral=41, polar=11, per_class=300, held_out=1, symmetric=True, seed=seed)
    corpus = make_synthetic(settings).split("train")
    vocabulary = Vocabulary.build(split_texts(corpus.texts))
    encoded = encode_texts(corpus.texts, corpus.labels, vocabulary)
    draw = torch.Generator().manual_seed(seed)
    parts = {
        "embedding": torch.rand(len(vocabulary), 16, generator=draw, dtype=torch.float64) * 0.2 - 0.1,
        "context": torch.randn(16, generator=draw, dtype=torch.float64),
        "head": torch.rand(16, generator=draw, dtype=torch.float64) * 2 - 1,
    }
    # The section assumes that VᵀW is small; the penalty sees to it.
    learner = ClosedForm("dp", parts, scale=4.0, optimiser="sgd", rate=0.5, penalty=0.1)
    order = np.random.default_rng(seed)
    for _ in range(400):
        rows = order.choice(len(encoded), 60, replace=False)
        learner.step(encoded.ids, encoded.offsets, np.asarray(encoded.labels), rows)
    form = PaperForm("dp", parts["embedding"], parts["context"], parts["head"][None], 4.0)
    pairs = [(a, b) for a, b in paired_words(settings).items() if a.startswith("pos")]
    first, second = (vocabulary.ids([pair[k] for pair in pairs]) for k in (0, 1))

    def opposite(values: Tensor) -> float:
        return float((values[first] * values[second] < 0).double().mean())

    return Erratum(
        "before 54",
        "e₊ and e₋ have attention scores and polarity scores with opposite signs",
        "their polarity scores have opposite signs; their attention scores are both positive",
        "share of mirrored pairs with opposite signs, trained on symmetric data: attention, then polarity",
        opposite(form.attention),
        opposite(form.polarity[:, 0]),
    )


def _eq_64(seed: int) -> Erratum:
    problem = _problem("dp-a", seed)
    form, found, m = problem.form, problem.found, problem.m
    exact = terms(form, collect(form, problem.encoded))
    truth = _attention_movement(problem)
    one = found.scores.mean()  # s without (t) can only be one number for all texts
    first = problem.own(found.c[:, 0] * (form.polarity[problem.places.row, 0] - one))
    printed = exact.attention_change - exact.attention["E"]
    printed = printed + first * form.look.square().sum() / (m * form.scale**2)
    return Erratum(
        "64",
        "the first term has (s_e − s)",
        "(s_e − s^(t)), the score of each text",
        f"{_AGAINST} of da_e/dτ, with s the mean over texts where it has no (t)",
        _error(printed, truth),
        _error(exact.attention_change, truth),
    )


def _eq_71(seed: int) -> Erratum:
    problem = _problem("ad", seed)
    sums = collect(problem.form, problem.encoded)
    truth = _attention_movement(problem)
    approximate = torch.stack(list(first_order_terms(problem.form, sums).values())).sum(0)
    return Erratum(
        "71",
        "tanh(x) ≈ x throughout (announced as an approximation)",
        "D_x = Diag(1 − tanh² x) stays: da_e/dτ = (1/mλ²) [ρ(e)‖MᵀD_eV‖² + λπ(e) VᵀD_eMW + "
        "VᵀD_e(Σ c·dev D_jVe_jᵀ)e + tanh(x_e)ᵀ Σ c·dev tanh(x_j)]",
        f"{_AGAINST} of da_e/dτ, at weights ~ N(0, 1)",
        _error(approximate, truth),
        _error(terms(problem.form, sums).attention_change, truth),
    )


def _eq_82(seed: int) -> Erratum:
    problem = _problem("dp", seed, scores=CLASSES)
    form, found, m = problem.form, problem.found, problem.m
    truth = -problem.gradients["table"] @ form.head.T - form.table @ problem.gradients["head"].T
    push = found.push[problem.places.instance]  # −p̂ of each occurrence's text
    third = terms(form, collect(form, problem.encoded)).polarity["C"]

    def with_weights(weights: Tensor) -> Tensor:
        deviation = problem.own(weights * (push * found.dev).sum(1))
        own = problem.own(weights[:, None] * push)
        return (
            torch.outer(deviation, form.alignment) / (m * form.scale)
            + own @ (form.head @ form.head.T) / m
            + third
        )

    return Erratum(
        "82",
        "the first two sums have no α",
        "each summand has its α_j^(t)",
        f"{_AGAINST} of ds_e/dτ, three classes",
        _error(with_weights(torch.ones_like(found.weights)), truth),
        _error(with_weights(found.weights), truth),
    )


def _eq_82_words(seed: int) -> Erratum:
    head = _problem("dp", seed, scores=CLASSES).form.head.T  # Wʰ (d, K)
    product = head.T @ head
    columns, rows = head.square().sum(0), head.square().sum(1)
    return Erratum(
        "after 82",
        "(Wʰ)ᵀWʰ has products of row weight vectors beside its diagonal",
        "products of columns",
        "relative error of its diagonal against the squared norms of the first K rows, and of the columns",
        _error(rows[:CLASSES], product.diagonal()),
        _error(columns, product.diagonal()),
    )


def _eq_83(seed: int) -> Erratum:
    problem = _problem("dp", seed, scores=CLASSES)
    form, m = problem.form, problem.m
    exact = terms(form, collect(form, problem.encoded))
    truth = _attention_movement(problem)
    # Σ α eᵀe_j (s_j − s)ᵀp̂ is −mλ² F.
    summed = -exact.attention["F"] * m * form.scale**2
    rest = exact.attention["D"] + exact.attention["E"]
    return Erratum(
        "83",
        "the first term is +(1/mλ) Σ_t Σ_j α eᵀe_j (s_j − s)ᵀp̂",
        "−(1/mλ²) Σ_t Σ_j α eᵀe_j (s_j − s)ᵀp̂",
        f"{_AGAINST} of da_e/dτ, three classes",
        _error(rest + summed / (m * form.scale), truth),
        _error(rest - summed / (m * form.scale**2), truth),
    )


def _attention_movement(problem: _Problem) -> Tensor:
    """da_e/dτ by automatic differentiation: a(z) along −∂ℓ/∂z."""
    form = problem.form
    names = [name for name in ("table", "context", "matrix") if getattr(form, name) is not None]
    values = tuple(getattr(form, name) for name in names)
    moves = tuple(-problem.gradients[name] for name in names)

    def attention(*given: Tensor) -> Tensor:
        return _form(form.family, {"head": form.head, **dict(zip(names, given, strict=True))}).attention

    moved: Tensor = torch.autograd.functional.jvp(attention, values, moves)[1]
    return moved


CHECKS: tuple[Callable[[int], Erratum], ...] = (
    _eq_28,
    _eq_44,
    _eq_45,
    _eq_54,
    _eq_64,
    _eq_71,
    _eq_82,
    _eq_82_words,
    _eq_83,
)
