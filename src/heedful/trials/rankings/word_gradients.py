"""Gradients at the embedded words: gradient × input, and integrated gradients (Sundararajan et al., 2017).

What is differentiated is the log-odds of the decided class: for two classes the score itself, and it does not
flatten out where the subject is sure, as a probability does. A word's score is the sum over its embedding of
gradient × input, so it has a sign: above 0 speaks for the decision.

Axes: B texts, T words, E embedding width, M steps.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heedful.attention import DotScore
from heedful.data.batches import Batch
from heedful.errors import UserError, choose_from
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.hierarchical import HierarchicalClassifier
from heedful.models.subject import Subject
from heedful.models.trace import Trace, decisions
from heedful.trials.erasure.deletion import replace_words, take_rows
from heedful.trials.erasure.forwards import two_sided
from heedful.trials.erasure.rereading import PLACES, log_odds

BASELINES = ("zero", "unknown")


@dataclass(frozen=True, eq=False)
class Doubted:
    """Scores (B,T) of words, and how far the method missed its own rule on each text (B,)."""

    scores: Tensor
    doubt: Tensor
    rule: str  # what the doubt measures, in a sentence


def gradient_times_input(subject: Subject, batch: Batch, *, held: bool = False) -> Tensor:
    """The gradient × input (B,T) of each word; with `held` the attention is held constant.

    Jain & Wallace (2019) hold it constant, and take the magnitude of what comes.
    """
    logits = held_logits if held else None
    embedded, slopes = _slopes(subject, batch, subject.embed(batch), logits=logits)
    return ((embedded * slopes).sum(-1) * batch.mask).double()


@torch.no_grad()
def dot_gradient_times_input(score: DotScore, trace: Trace) -> Tensor:
    """As `gradient_times_input` for `dp`, without a backward pass: α (z + a (z − Σ α z)).

    a is a word's score, z what it says for the log-odds of the decided class by itself.
    """
    with torch.enable_grad():
        logits = trace.logits().detach().requires_grad_()
        sides = two_sided(logits)
        (slopes,) = torch.autograd.grad(log_odds(sides, decisions(sides)).sum(), logits)  # (B,K)
    said = torch.einsum("btk,bk->bt", trace.token_logits, slopes)
    mean = (trace.weights * said).sum(1, keepdim=True)
    scores: Tensor = (trace.weights * (said + score(trace.values) * (said - mean))).double()
    return scores


def integrated_gradients(
    subject: Subject, batch: Batch, *, steps: int = 16, baseline: str = "zero", places: int = PLACES
) -> Doubted:
    """The gradient along the straight way from a baseline to the words, × (input − baseline).

    The baseline is the zero vector, or the unknown word, at every place. The way is walked at the nodes of
    the Gauss–Legendre rule. Scores should add up to the log-odds of the text minus those of its baseline: the
    doubt is how far they miss that, relative to it.
    """
    choose_from("baseline", baseline, BASELINES)
    if steps < 1:
        raise UserError(f"Integrated gradients need at least one step, better 16, and got {steps}.")
    end = subject.embed(batch).detach()
    start = torch.zeros_like(end)
    if baseline == "unknown":
        start = subject.embed(replace_words(batch, batch.mask)).detach()
    with torch.no_grad():
        whole = two_sided(subject.logits(batch))
        decided = decisions(whole)
        begun = log_odds(two_sided(subject.logits(batch, start)).double(), decided)
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    shares = torch.from_numpy((nodes + 1) / 2).to(end)
    scores = torch.zeros(batch.mask.shape, dtype=torch.float64, device=end.device)
    at_once = max(1, places // max(1, batch.mask.numel()))
    for chunk in torch.arange(steps).split(at_once):
        many = take_rows(batch, torch.arange(len(batch), device=end.device).repeat(len(chunk)))
        points = (start + shares[chunk, None, None, None] * (end - start)).flatten(0, 1)
        _, slopes = _slopes(subject, many, points, decided=decided.repeat(len(chunk)))
        along = torch.einsum("mbte,bte->mbt", slopes.unflatten(0, (len(chunk), -1)), end - start)
        scores += torch.einsum("m,mbt->bt", torch.from_numpy(weights / 2).to(scores)[chunk], along.double())
    scores = scores.masked_fill(~batch.mask, 0)
    change = log_odds(whole.double(), decided) - begun
    missed = (scores.sum(1) - change).abs() / change.abs().clamp(min=torch.finfo(end.dtype).eps)
    return Doubted(
        scores, missed, "how far the scores miss the change of the log-odds from the baseline, relative to it"
    )


def can_hold(subject: Subject) -> bool:
    """Whether `held_logits` can be had of this subject."""
    return isinstance(subject, Classifier) or hasattr(subject, "held_logits")


def held_logits(subject: Subject, batch: Batch, embedded: Tensor) -> Tensor:
    """The logits (B,K) of `embedded` (B,T,E) through which no gradient reaches the attention weights.

    A subject of your own can offer the same as a method `held_logits(batch, embedded)`.
    """
    if isinstance(subject, FlatClassifier):
        with torch.no_grad():
            states, mask = subject.states(embedded, batch)
            weights = subject.attend(states, mask).weights
        return subject.logits(batch, embedded, weights=weights)
    if isinstance(subject, HierarchicalClassifier):
        states, sentences = subject.states(embedded, batch)
        weights = subject.attend(states, sentences).weights  # given weights get no gradient
        vectors = sentences.spread(subject.words.attend(states, sentences.mask, weights=weights).context)
        documents, attended = subject.attend_sentences(vectors, sentences.present)
        held = subject.sentences.attend(documents, sentences.present, weights=attended.weights)
        return subject.decide(held.context)
    own = getattr(subject, "held_logits", None)
    if own is None:
        raise UserError(
            "This subject cannot hold its attention constant: give it a method held_logits(batch, embedded), "
            "or take the ranking 'gradient'."
        )
    logits: Tensor = own(batch, embedded)
    return logits


def _slopes(
    subject: Subject,
    batch: Batch,
    embedded: Tensor,
    *,
    logits: Callable[..., Tensor] | None = None,
    decided: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The embedded words and the gradient (B,T,E) there of the log-odds of the decided class."""
    # A recurrent network on CUDA has a gradient in evaluation only without cuDNN.
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        embedded = embedded.detach().requires_grad_()
        found = subject.logits(batch, embedded) if logits is None else logits(subject, batch, embedded)
        found = two_sided(found)
        decided = decisions(found) if decided is None else decided
        (slopes,) = torch.autograd.grad(log_odds(found, decided).sum(), embedded)
    return embedded.detach(), slopes
