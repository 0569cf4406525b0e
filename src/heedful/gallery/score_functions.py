"""Gallery: six score functions on one task of retrieval, over widths: why the dot product is scaled.

A sequence holds items, each a key and a value; the query names one of the keys, and the answer is its value.
Keys and queries are embedded with variance 1, as in Vaswani et al. (2017), so that a dot product of n numbers
has variance n: the wider, the nearer softmax comes to choosing one item by chance from the start, where its
gradient is next to nothing. Dividing by √n keeps the variance at 1 in every width.
Axes: B sequences, T items, K keys, V values, n width.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import SCORES, Attended
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.real_scores import BASELINE, FIGURE, LINES, REAL, VALUE, by_score, over_widths
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS, VALUES, ITEMS = 32, 16, 12


class Questions(NamedTuple):
    """Keys (B,T), all different in a sequence, values (B,T), the key asked for (B) and its value (B)."""

    keys: Tensor
    values: Tensor
    asked: Tensor
    answers: Tensor


def draw_questions(count: int) -> Questions:
    """Questions from torch's generator."""
    keys = torch.rand(count, KEYS).argsort(-1)[:, :ITEMS]
    values = torch.randint(VALUES, (count, ITEMS))
    place = torch.randint(ITEMS, (count, 1))
    return Questions(keys, values, keys.gather(1, place).squeeze(1), values.gather(1, place).squeeze(1))


class Retriever(nn.Module):
    """Embedded keys are asked by an embedded query; what is read of the values decides."""

    def __init__(self, score: str, width: int) -> None:
        super().__init__()
        self.keys, self.queries = nn.Embedding(KEYS, width), nn.Embedding(KEYS, width)  # N(0, 1)
        self.values = nn.Embedding(VALUES, VALUE)
        self.attention = by_score(score, width, longest=ITEMS)
        self.decide = nn.Linear(VALUE, VALUES)

    def attend(self, questions: Questions) -> Attended:
        """Read the values (B,T) whose keys match the one asked for."""
        attended: Attended = self.attention(
            self.keys(questions.keys),
            torch.ones_like(questions.keys, dtype=torch.bool),
            query=self.queries(questions.asked),
            values=self.values(questions.values),
        )
        return attended

    def forward(self, questions: Questions) -> Tensor:
        """Logits (B,V)."""
        logits: Tensor = self.decide(self.attend(questions).context)
        return logits


@dataclass(frozen=True)
class Budget:
    """How widely and how long to train. Each score has at each width the rate that dev questions favour."""

    widths: tuple[int, ...]
    rates: tuple[float, ...]
    steps: int


BUDGETS: dict[Size, Budget] = {
    "full": Budget(widths=(8, 32, 128, 512), rates=(0.01, 0.03, 0.1), steps=300),
    "small": Budget(widths=(8, 128), rates=(0.03,), steps=150),
}


def learn_to_retrieve(score: str, width: int, *, rate: float, steps: int) -> Retriever:
    """A model, trained on questions that are drawn anew for each step."""
    model = Retriever(score, width)

    def loss() -> Tensor:
        questions = draw_questions(64)
        return F.cross_entropy(model(questions), questions.answers)

    learn(model, loss, steps=steps, rate=rate)
    return model


@torch.no_grad()
def right(model: Retriever, questions: Questions) -> float:
    """The share of questions that are answered rightly."""
    return float((model(questions).argmax(-1) == questions.answers).double().mean())


@torch.no_grad()
def greatest_weight(model: Retriever, questions: Questions) -> float:
    """The greatest weight of a sequence, on average: 1 where softmax takes one item, 1/T if all are equal."""
    return float(model.attend(questions).weights.amax(-1).double().mean())


class Cell(NamedTuple):
    """One score at one width."""

    accuracy: float
    begins: float  # the greatest weight before training
    parameters: int


def train_cell(score: str, width: int, *, seed: int, budget: Budget) -> Cell:
    """Train with each rate, keep the best on the dev questions, and ask it the test questions."""
    with one_thread(), seeded(seed + 1_000_000):
        dev, test = draw_questions(1000), draw_questions(2000)
    best: tuple[float, Retriever] | None = None
    for rate in budget.rates:
        with one_thread(), seeded(seed):
            model = learn_to_retrieve(score, width, rate=rate, steps=budget.steps)
            if best is None or right(model, dev) > best[0]:
                best = right(model, dev), model
    assert best is not None  # there is a rate
    with seeded(seed):
        begins = greatest_weight(Retriever(score, width), dev)
    return Cell(right(best[1], test), begins, parameters_of(best[1]))


def train(seed: int, size: Size) -> Outcome:
    """Train every score at every width; the figure is the scaled dot product's at the widest."""
    budget = BUDGETS[size]
    cells = {
        score: {width: train_cell(score, width, seed=seed, budget=budget) for width in budget.widths}
        for score in SCORES
    }
    widest = budget.widths[-1]
    figure, baseline = cells[FIGURE][widest], cells[BASELINE][widest]
    return Outcome(
        figure.accuracy,
        baseline.accuracy,
        figure.parameters,
        baseline.parameters,
        table={
            f"{score}, width {width}": cell.accuracy
            for score, row in cells.items()
            for width, cell in row.items()
        },
        picture={"widths": budget.widths, "cells": cells},
    )


def draw(outcome: Outcome, figure: "Figure") -> None:
    """Right answers after training over widths, and beside them how sharp the weights were before it."""
    figure.set_size_inches(10, 4)
    figure.set_layout_engine("constrained")
    left, other = figure.subplots(1, 2)
    draw_lines(left, outcome, field="accuracy")
    left.set(title="after training", ylabel="right answers")
    draw_lines(other, outcome, field="begins")
    other.axhline(1 / ITEMS, color="black", linewidth=0.8, linestyle=":")
    other.annotate("all items equal", (outcome.picture["widths"][0], 1 / ITEMS), (0, -11),
                   textcoords="offset points", fontsize=8)  # fmt: skip
    other.set(title="before training", ylabel="greatest weight of a sequence, mean")
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center")


def draw_lines(axes: "Axes", outcome: Outcome, *, field: str) -> None:
    """One line a score over the widths."""
    widths = outcome.picture["widths"]
    for score, row in outcome.picture["cells"].items():
        colour, mark = LINES[score]
        heights = [getattr(row[width], field) for width in widths]
        axes.plot(widths, heights, color=colour, marker=mark, label=score)
    over_widths(axes, widths)


ENTRY = Entry(
    name="scores",
    title="Six score functions, and why the dot product is scaled",
    source="Vaswani et al. (2017), Attention is all you need, section 3.2.1",
    task="Among 12 items find the one whose key is asked for and say its value, at widths from 8 to 512.",
    formula=(
        "cosine cos(q, h), additive vᵀ tanh(W[q; h]), location W q, general qᵀW h, dot qᵀh, "
        "scaled dot qᵀh / √n"
    ),
    without="the same dot product, not divided by √n",
    measure="accuracy at the greatest width",
    better="higher",
    train=train,
    draw=draw,
    aim=0.98,
    real=REAL,
)
