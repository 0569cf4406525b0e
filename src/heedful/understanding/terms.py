"""How each word's scores move under gradient flow, in terms that can be read one by one (Sun & Lu, 2020).

ds_e/dτ and da_e/dτ are sums of terms, and the terms have the same letters in every family:

    letter  what it is                             dp          dp-a           ad
    A       attention's look, seen by the head     Eq. 19 A    Eq. 63, 4th    Eq. 69 through Eq. 66
    B       the word's own texts, by the head      Eq. 19 B    Eq. 63, 1st    the same
    C       all texts, by likeness of vectors      Eq. 19 C    Eq. 63, 2nd    the same
    B'      C, through the layer M                             Eq. 63, 3rd
    A'      the same with deviations, through M                Eq. 63, 5th
    D       the head's direction, seen by V        Eq. 27 D    Eq. 64, 2nd    Eq. 71, 2nd, exact
    E       deviations in the word's own texts     Eq. 27 E    Eq. 64, 1st    Eq. 71, 1st, exact
    F       deviations in all texts, by likeness   Eq. 27 F    Eq. 64, 5th    Eq. 71, 4th, exact
    D'      C, through M, seen by V                            Eq. 64, 3rd
    F'      F, through M                                       Eq. 64, 4th    Eq. 71, 3rd, exact
    F''     F, through the bias inside the tanh                               where there is one

A, B, D and E move with the word's own vector; C with W, F with V, and the primed ones with M (and b). K
classes are the same terms with one column per class (Eq. 82 and 83, corrected).
Axes: V words, K scores, E and H widths.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.understanding.forms import PaperForm
from heedful.understanding.sums import Sums

OWN = ("A", "B", "D", "E")  # the terms that come through the word's own vector


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of ds_e/dτ (V, K) and of da_e/dτ (V,), by letter."""

    polarity: dict[str, Tensor]
    attention: dict[str, Tensor]

    @property
    def polarity_change(self) -> Tensor:
        """ds_e/dτ (V, K)."""
        return torch.stack(list(self.polarity.values())).sum(0)

    @property
    def attention_change(self) -> Tensor:
        """da_e/dτ (V,)."""
        return torch.stack(list(self.attention.values())).sum(0)


@torch.no_grad()
def terms(form: PaperForm, sums: Sums) -> Terms:
    """The exact decomposition for the model's family, for every word at once."""
    found = FAMILIES[form.family](form, sums)
    if not form.words_move:
        for part in (found.polarity, found.attention):
            part |= {letter: torch.zeros_like(part[letter]) for letter in OWN if letter in part}
    return found


def dot_terms(form: PaperForm, sums: Sums) -> Terms:
    """A + B + C and D + E + F of dot-product attention (Eq. 19, 27; 82, 83)."""
    m, scale = sums.instances, form.scale
    by_values, by_keys = form.likened(sums.pulls.sum(0), sums.leans.sum(0))
    return Terms(
        polarity={
            "A": torch.outer(sums.rho, form.alignment) / (m * scale),
            "B": sums.pi @ (form.head @ form.head.T) / m,
            "C": by_values / m,
        },
        attention={
            "D": sums.pi @ form.alignment / (m * scale),
            "E": sums.rho * form.context.square().sum() / (m * scale**2),
            "F": by_keys / (m * scale**2),
        },
    )


def affine_terms(form: PaperForm, sums: Sums) -> Terms:
    """The five and the five of a model with an affine layer (Eq. 63, 64)."""
    m, scale = sums.instances, form.scale
    by_values, by_keys = form.likened(sums.pulls.sum(0), sums.leans.sum(0))
    by_words = form.table @ (sums.pi.T @ form.table).T  # Σ c eᵀe_j (V, K)
    by_deviations = form.table @ (sums.rho @ form.table)  # Σ c·dev eᵀe_j (V,)
    inner = form.head @ form.context  # VᵀW, without the layer (K,)
    return Terms(
        polarity={
            "A": torch.outer(sums.rho, form.alignment) / (m * scale),
            "B": sums.pi @ (form.directions @ form.directions.T) / m,
            "C": by_values / m,
            "B'": by_words @ (form.head @ form.head.T) / m,
            "A'": torch.outer(by_deviations, inner) / (m * scale),
        },
        attention={
            "D": sums.pi @ form.alignment / (m * scale),
            "E": sums.rho * form.look.square().sum() / (m * scale**2),
            "F": by_keys / (m * scale**2),
            "D'": by_words @ inner / (m * scale),
            "F'": by_deviations * form.context.square().sum() / (m * scale**2),
        },
    )


def additive_terms(form: PaperForm, sums: Sums) -> Terms:
    """The exact form of additive attention, in place of Eq. 71: D_e = Diag(1 − tanh² x_e) stays in it."""
    m, scale = sums.instances, form.scale
    by_values, by_keys = form.likened(sums.pulls.sum(0), sums.leans.sum(0))
    bent, slopes = form.bent, form.slopes  # D_e V (V, H) and MᵀD_eV (V, E)
    seen = slopes @ form.head.T  # VᵀD_eMW (V, K)
    layer = (sums.rho[:, None] * bent).T @ form.table  # Σ c·dev D_jV e_jᵀ (H, E)
    attention = {
        "D": (sums.pi * seen).sum(1) / (m * scale),
        "E": sums.rho * slopes.square().sum(1) / (m * scale**2),
        "F": by_keys / (m * scale**2),
        "F'": ((bent @ layer) * form.table).sum(1) / (m * scale**2),
    }
    if form.bias is not None:
        attention["F''"] = bent @ (sums.rho @ bent) / (m * scale**2)
    return Terms(
        polarity={
            "A": sums.rho[:, None] * seen / (m * scale),
            "B": sums.pi @ (form.head @ form.head.T) / m,
            "C": by_values / m,
        },
        attention=attention,
    )


@torch.no_grad()
def first_order_terms(form: PaperForm, sums: Sums) -> dict[str, Tensor]:
    """Eq. 71 as the paper has it, tanh(x) ≈ x: terms of da_e/dτ (V,) by the letters of the exact form."""
    assert form.family == "ad"
    assert form.matrix is not None
    m, scale = sums.instances, form.scale
    flat = form.table @ form.matrix.T  # x_e (V, H)
    return {
        "D": sums.pi @ form.alignment / (m * scale),
        "E": sums.rho * form.look.square().sum() / (m * scale**2),
        "F": flat @ (sums.rho @ flat) / (m * scale**2),
        "F'": form.table @ (sums.rho @ form.table) * form.context.square().sum() / (m * scale**2),
    }


FAMILIES: dict[str, Callable[[PaperForm, Sums], Terms]] = {
    "dp": dot_terms,
    "dp-a": affine_terms,
    "ad": additive_terms,
}
