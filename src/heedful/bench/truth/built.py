"""Models without training whose attention looks where it is told, and whose decisions are known.

A word's vector has a dimension for its score, one for the score of its sentence, and the rest for its value:
what it says for each class, or for each feature of a joint decision. So attention can be anything at all
while the words that decide stay the same. Values are scaled until these decide under their own weight.

Axes: B texts, T words, R rows of weights, E width, K classes.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.attention import AdditiveScore, LocationScore
from heedful.attention.normalise import masked_softmax
from heedful.bench.truth.labels import attention_maps
from heedful.bench.truth.looks import Look
from heedful.bench.truth.planting import DECIDER, FILLER, SAME_CLASS, Lexicon, Planted, Task
from heedful.data.vocabulary import PADDING_ID, SPECIAL, UNKNOWN_ID, Vocabulary
from heedful.models.adapters import ModuleSubject
from heedful.models.building import build_model
from heedful.models.hierarchical import HierarchicalClassifier
from heedful.models.level import score_of
from heedful.models.settings import ModelSettings
from heedful.models.subject import Subject

ARCHITECTURES = ("dot", "additive", "mlp", "multihead", "hierarchical")
STRETCH = 100.0  # additive attention: scores lie where tanh is straight
GAUGED = 400  # texts on which gains are measured


@dataclass(frozen=True)
class Build:
    """How a hand-built model decides."""

    architecture: str
    margin: float = 4.0  # logits between the class that the words say and the others
    # Logits that ordinary words among themselves give a class by chance; of none, classes would tie exactly.
    background: float = 0.02
    looks: tuple[Look, ...] = (Look(),)  # one, or one per head
    used: tuple[float, ...] = (1.0,)  # how much of each head reaches the decision


@dataclass(frozen=True, eq=False)
class Parts:
    """What each word of a vocabulary has: scores (R,V) for each head, and values (V,F)."""

    task: Task
    vocabulary: Vocabulary
    scores: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(f"class {k}" for k in range(self.task.classes))


def build(how: Build, planted: Planted, *, seed: int) -> Subject:
    """A model of these texts' task; its gains are measured on them."""
    others = sorted({word for words in planted.words for word in words} - set(planted.lexicon.words))
    vocabulary = Vocabulary.build([*planted.lexicon.words, *others])
    scores = np.stack(
        [_column(look.of_words(planted.lexicon, others, seed=seed), vocabulary) for look in how.looks]
    )  # (R,V)
    values = word_values(planted.task, planted.lexicon, vocabulary)  # (V,F)
    parts = Parts(planted.task, vocabulary, scores, values)
    some = planted.take(range(min(GAUGED, len(planted))))
    gain, noise = _gains(how, _used(_make(how, parts), some, how), some)
    draw = np.random.default_rng([seed, 4])
    chatter = draw.normal(0, noise, values.shape) * (values == 0).all(1, keepdims=True)
    chatter[: len(SPECIAL)] = 0
    return _make(how, replace(parts, values=gain * values + chatter))


def _used(subject: Subject, planted: Planted, how: Build) -> NDArray[np.float64]:
    """The weight (N,T) with which each word reaches the decision."""
    if len(how.looks) == 1:
        return attention_maps(subject, planted.texts)
    weights = subject.trace(subject.encode(planted.texts)).weights  # (N,R,T)
    looked: NDArray[np.float64] = np.einsum("nrt,r->nt", weights.double().numpy(), how.used)
    return looked


def word_values(task: Task, lexicon: Lexicon, vocabulary: Vocabulary) -> NDArray[np.float64]:
    """What each word says (V,F): 1 for its class, or for its feature of a joint decision."""
    sides = len(lexicon.first)
    found: dict[str, list[float]] = {}
    features = task.classes if task.truth not in ("both", "context") else 2
    for number, group in enumerate(lexicon.first):
        said = [float(number == k) for k in range(features)]
        if task.truth == "pair":
            said = [float(k // sides == number) for k in range(features)]
        elif task.truth == "context":
            said = [1.0 - 2.0 * number, 0.0]
        elif task.truth == "both":
            said = [1.0, 0.0]
        found |= dict.fromkeys(group, said)
    for number, group in enumerate(lexicon.second):
        said = [float(k % sides == number) for k in range(features)]
        if task.truth in ("context", "both"):
            said = [0.0, 3.0 if task.truth == "context" else 1.0]
        found |= dict.fromkeys(group, said)
    table = np.zeros((len(vocabulary), features))
    for word, said in found.items():
        table[vocabulary.ids([word])[0]] = said
    return table


def _gains(how: Build, weights: NDArray[np.float64], planted: Planted) -> tuple[NDArray[np.float64], float]:
    """What the values must be multiplied with, for each class or all alike; and the spread of ordinary ones.

    Nine texts of ten have the margin. Of several words that each suffice one must do; of a pair both are.
    """
    task, width = planted.task, weights.shape[1]
    deciding = planted.grid(DECIDER, width)
    rows = deciding.any(1)
    each = np.where(deciding, weights, np.nan)[rows]
    least = np.nanmin(each, 1) if task.truth == "pair" else np.nanmean(each, 1)
    if task.truth in SAME_CLASS:
        classes = planted.classes[rows]
        parts = [least[classes == k] for k in range(task.classes)]
        typical = np.array([np.quantile(part if len(part) else least, 0.1) for part in parts])
    else:
        typical = np.quantile(least, [0.1])
    ordinary = planted.grid(FILLER, width) * weights
    spread = np.sqrt(np.square(ordinary).sum(1)) / np.maximum(ordinary.sum(1), 1e-12)
    return _reach(task, how.margin) / np.maximum(typical, 1e-6), how.background / max(
        float(spread.mean()), 1e-6
    )


def _make(how: Build, parts: Parts) -> Subject:
    # Words' scores of each head, the sentence's score, then the values.
    columns = [parts.scores.T, parts.scores[:1].T, parts.values]
    table = torch.tensor(np.concatenate(columns, 1), dtype=torch.float32)
    table[PADDING_ID] = 0
    if how.architecture in ("mlp", "multihead"):
        return _module(how, parts, table)
    return _classifier(how, parts, table)


def _module(how: Build, parts: Parts, table: Tensor) -> Subject:
    heads, width = len(parts.scores), table.shape[1]
    known = enumerate(parts.vocabulary.words)
    return ModuleSubject(
        classes=parts.classes,
        words={word: number for number, word in known if number >= len(SPECIAL)},
        embed=nn.Embedding.from_pretrained(table),
        attend=Rows(torch.eye(width)[:heads]),
        head=_rectified_head(how, parts.task, first=heads + 1, width=width),
        unknown=UNKNOWN_ID,
        mixes_tokens=False,
    )


def _classifier(how: Build, parts: Parts, table: Tensor) -> Subject:
    task, look = parts.task, how.looks[0]
    attention = "location" if look.place else "additive" if how.architecture == "additive" else "dot"
    settings = ModelSettings(
        levels="hierarchical" if how.architecture == "hierarchical" else "flat",
        embedding=table.shape[1],
        attention=attention,
        scale=1.0,
        attention_width=1 if attention == "additive" else None,
        max_length=task.length[1] if attention == "location" else None,
        head="logits",
        head_bias=True,
    )
    model = build_model(settings, parts.vocabulary, parts.classes)
    levels = [model.words, model.sentences] if isinstance(model, HierarchicalClassifier) else [model.words]
    with torch.no_grad():
        assert model.embedding is not None
        model.embedding.weight.copy_(table)
        for place, level in enumerate(levels):
            _aim(score_of(level.attention), look, place)
        model.head.weight.zero_()[:, 2:] = torch.eye(task.classes)
        model.head.bias.copy_(_bias(task, how.margin))
    return model


def _aim(score: Any, look: Look, dimension: int) -> None:
    """Let a score read this dimension of a state, or look at the first place."""
    if isinstance(score, LocationScore):
        score.slots.zero_()[0] = look.peak
    elif isinstance(score, AdditiveScore):
        score.projection.zero_()[0, dimension] = 1 / STRETCH
        score.context.fill_(STRETCH)
    else:
        score.context.zero_()[dimension] = 1


class Rows(nn.Module):
    """Attention by fixed or learned directions (R,E) over the words' own vectors."""

    def __init__(self, contexts: Tensor) -> None:
        super().__init__()
        self.contexts = nn.Parameter(contexts)

    def forward(self, vectors: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Weights (B,R,T) and values (B,R,T,E); (B,T) and (B,T,E) for one direction."""
        scores = torch.einsum("bte,re->brt", vectors, self.contexts)
        weights = masked_softmax(scores, mask[:, None].expand(scores.shape))
        if len(self.contexts) == 1:
            return weights[:, 0], vectors
        return weights, vectors[:, None].expand(-1, len(self.contexts), -1, -1)


class Combined(nn.Module):
    """Heads' readings (B,R,E) summed by how much each is used, then decided."""

    def __init__(self, used: tuple[float, ...], rest: nn.Module) -> None:
        super().__init__()
        self.register_buffer("used", torch.tensor(used, dtype=torch.float32))
        self.rest = rest

    def forward(self, attended: Tensor) -> Tensor:
        if attended.dim() == 3:
            attended = torch.einsum("bre,r->be", attended, self.used)
        decided: Tensor = self.rest(attended)
        return decided


def _rectified_head(how: Build, task: Task, *, first: int, width: int) -> nn.Module:
    """From the attended vector, whose values begin at `first`, to logits, through one layer of rectifiers.

    Class by class a value counts until it is enough (twice the margin); `both` takes the smaller of two
    features, and `context` turns the first round where the second is there.
    """
    hidden: list[tuple[dict[int, float], float]] = []  # weights on features, and a bias
    out: list[dict[int, float]] = [{} for _ in range(task.classes)]

    def add(parts: dict[int, float], shift: float, said: dict[int, float]) -> None:
        hidden.append((parts, shift))
        for k, weight in said.items():
            out[k][len(hidden) - 1] = weight

    if task.truth == "both":
        add({0: 1.0}, 0.0, {1: 2.0})
        add({0: 1.0, 1: -1.0}, 0.0, {1: -2.0})
    elif task.truth == "context":
        # 3P − 2(relu(F+P) − relu(F−P)): P where F is 0, −P where F is at least |P|.
        add({0: 1.0}, 0.0, {0: 3.0})
        add({0: -1.0}, 0.0, {0: -3.0})
        add({0: 1.0, 1: 1.0}, 0.0, {0: -2.0})
        add({0: -1.0, 1: 1.0}, 0.0, {0: 2.0})
    else:
        for k in range(task.classes):
            add({k: 1.0}, 0.0, {k: 1.0})
            if task.truth in SAME_CLASS:  # elsewhere it counts how much is said
                add({k: 1.0}, -2 * _reach(task, how.margin), {k: -1.0})
    below, above = nn.Linear(width, len(hidden)), nn.Linear(len(hidden), task.classes)
    with torch.no_grad():
        below.weight.zero_()
        above.weight.zero_()
        above.bias.copy_(_bias(task, how.margin))
        for row, (parts, shift) in enumerate(hidden):
            below.bias[row] = shift
            for feature, weight in parts.items():
                below.weight[row, first + feature] = weight
        for k, said in enumerate(out):
            for row, weight in said.items():
                above.weight[k, row] = weight
    rest = nn.Sequential(below, nn.ReLU(), above)
    return rest if len(how.looks) == 1 else Combined(how.used, rest)


def _bias(task: Task, margin: float) -> Tensor:
    """Where nothing is said the default class wins by half of the margin, over all others together."""
    bias = torch.zeros(task.classes)
    if task.default is not None:
        bias[task.default] = _reach(task, margin) - margin / 2
    return bias


def _reach(task: Task, margin: float) -> float:
    """The logit that a deciding word gives its class: half of the margin above a default class."""
    return margin + (0.0 if task.default is None else math.log(task.classes - 1))


def _column(of_words: dict[str, float], vocabulary: Vocabulary) -> NDArray[np.float64]:
    return np.array([of_words.get(word, 0.0) for word in vocabulary.words])
