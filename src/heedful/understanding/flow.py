"""The flow terms of a model on some texts, at any moment of training, for every word at once.

`flow_terms(model, texts)` is one pass over the texts (`sums`) and a few products (`terms`). The terms sum
to the movement of the scores under gradient flow, dz/dτ = −∂ℓ/∂z: that of plain gradient descent with a
small rate, with dropout off and without penalty or regularisation. Adagrad and Adam scale each parameter's
part differently.
Axes: V words, K scores, L labels.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.models.building import Classifier
from heedful.understanding.forms import PaperForm, paper_form
from heedful.understanding.groups import grouped
from heedful.understanding.sums import Sums, collect
from heedful.understanding.terms import Terms, first_order_terms, terms
from heedful.understanding.token_types import TokenTypes

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Flow:
    """The terms, and what they are made of."""

    words: tuple[str, ...]
    classes: tuple[str, ...]
    form: PaperForm
    sums: Sums
    terms: Terms

    @property
    def pi(self) -> Tensor:
        """π(e) (V, K): above 0 for words of a class, about 0 for neutral ones (Eq. 16)."""
        return self.sums.pi

    @property
    def rho(self) -> Tensor:
        """ρ(e) (V,): above 0 for words that speak for their texts' classes (Eq. 20)."""
        return self.sums.rho

    @cached_property
    def by_label(self) -> tuple[Tensor, Tensor]:
        """Terms C (L, V, K) and F (L, V), the texts of each label apart; they sum to C and F (Eq. 18, 26)."""
        m, scale = self.sums.instances, self.form.scale
        c = torch.einsum("vh,lkh->lvk", self.form.values, self.sums.pulls) / m
        f = torch.einsum("vh,lh->lv", self.form.keys, self.sums.leans) / (m * scale**2)
        return c, f

    @property
    def scores(self) -> tuple[str, ...]:
        """What the K scores are called: one binary score has no name."""
        return ("",) if self.pi.shape[1] == 1 else self.classes

    def columns(self) -> dict[str, Tensor]:
        """Every per-word quantity (V,) by name: the scores, π, ρ, each term, and the sums of the terms."""
        found: dict[str, Tensor] = {}
        for k, name in enumerate(self.scores):
            of = f" {name}" if name else ""
            found[f"polarity{of}"] = self.form.polarity[:, k]
            found[f"pi{of}"] = self.pi[:, k]
            found |= {f"{letter}{of}": term[:, k] for letter, term in self.terms.polarity.items()}
            found[f"polarity change{of}"] = self.terms.polarity_change[:, k]
        found |= {"attention": self.form.attention, "rho": self.rho, **self.terms.attention}
        found["attention change"] = self.terms.attention_change
        return found

    def to_frame(self, types: TokenTypes | None = None) -> "pandas.DataFrame":
        """One row per word, padding left out."""
        import pandas

        frame = pandas.DataFrame(
            {"word": list(self.words), **{name: part.cpu().numpy() for name, part in self.columns().items()}}
        )
        if types is not None:
            frame["type"] = types.labels
        return frame.iloc[1:].reset_index(names="id")

    def by_type(self, types: TokenTypes) -> "pandas.DataFrame":
        """Mean, size (mean of absolute values), quartiles and count of every column, for each type."""
        import pandas

        rows = []
        for name, part in self.columns().items():
            values = part.cpu().numpy()
            rows += [
                {"quantity": name, "type": kind, **grouped(values[ids])}
                for kind, ids in types.members.items()
            ]
        return pandas.DataFrame(rows)


def flow_terms(model: Classifier, encoded: EncodedTexts) -> Flow:
    """The terms of ds_e/dτ and da_e/dτ for every word, over these texts, in the model's own precision."""
    form = paper_form(model).copy()
    sums = collect(form, encoded)
    return Flow(model.vocabulary.words, model.classes, form, sums, terms(form, sums))


@dataclass(frozen=True, eq=False)
class FirstOrder:
    """Eq. 71 beside the exact form it approximates."""

    terms: dict[str, Tensor]
    exact: Tensor  # da_e/dτ (V,)
    error: float  # ‖approximation − exact‖ / ‖exact‖ over the words
    by_term: dict[str, float]  # the same for each term


def first_order(flow: Flow) -> FirstOrder:
    """How far tanh(x) ≈ x leads, for a model with additive attention."""
    if flow.form.family != "ad":
        raise UserError(f"Eq. 71 is of additive attention, but this model is {flow.form.family}.")
    found = first_order_terms(flow.form, flow.sums)
    exact = flow.terms.attention_change
    return FirstOrder(
        found,
        exact,
        error=_relative(torch.stack(list(found.values())).sum(0), exact),
        by_term={letter: _relative(term, flow.terms.attention[letter]) for letter, term in found.items()},
    )


def _relative(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())
