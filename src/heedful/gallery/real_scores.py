"""Six score functions over widths on bAbI's task 1: find the newest fact about a person, and read its place.

Keys and queries begin with variance 1, as in `score_functions`, so that a dot product of n numbers has
variance n. Axes: B questions, T facts, S sentences, W words, n width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import SCORES, Attended, build_attention
from heedful.gallery.babi import FILE, Babi, Questions, read_babi
from heedful.gallery.entry import Outcome, RealTask, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE, BASELINE = "scaled-dot", "dot"
INNER, VALUE, DEV = 32, 16, 100
TASK = 1


@dataclass(frozen=True)
class Budget:
    """How widely and how long to train; each score has at each width the rate that dev questions favour."""

    widths: tuple[int, ...]
    rates: tuple[float, ...]
    steps: int
    batch: int = 64


BUDGETS: dict[Size, Budget] = {
    "small": Budget(widths=(8, 128), rates=(0.03,), steps=60),
    "quick": Budget(widths=(8, 64, 512), rates=(0.01, 0.03), steps=200),
    "full": Budget(widths=(8, 32, 128, 512), rates=(0.003, 0.01, 0.03, 0.1), steps=600),
}


def by_score(score: str, width: int, *, longest: int) -> nn.Module:
    """Attention by a score of this name over at most so many items."""
    return build_attention(
        score,
        width,
        query=width,
        init="xavier",
        longest=longest if score == "location" else None,
        width=INNER if score == "additive" else None,
    )


class Finder(nn.Module):
    """Sums of word embeddings are keys and queries; a key also has how long ago it was told."""

    def __init__(self, babi: Babi, score: str, width: int) -> None:
        super().__init__()
        words, facts = len(babi.words), babi.train.facts.shape[1]
        self.sentences: Tensor
        self.register_buffer("sentences", babi.sentences)
        self.keys, self.queries = nn.Embedding(words, width), nn.Embedding(words, width)  # N(0, 1)
        self.ages, self.values = nn.Embedding(facts, width), nn.Embedding(words, VALUE)
        self.attention = by_score(score, width, longest=facts)
        self.decide = nn.Linear(VALUE, words)

    def attend(self, asked: Questions) -> Attended:
        """Read the facts (B,T) that match the question."""
        place = torch.arange(asked.facts.shape[1], device=asked.facts.device).flip(0)  # 0 is the newest
        keys = (self.spoken(self.keys)[asked.facts] + self.ages(place)) / 2**0.5
        attended: Attended = self.attention(
            keys,
            asked.mask,
            query=self.spoken(self.queries)[asked.questions],
            values=self.spoken(self.values)[asked.facts],
        )
        return attended

    def spoken(self, table: nn.Embedding) -> Tensor:
        """Each sentence (S,·): the sum of its words, of the same variance however many there are."""
        there = (self.sentences > 0).unsqueeze(-1)
        summed: Tensor = (table(self.sentences) * there).sum(1)
        return summed / there.sum(1).clamp(min=1).sqrt()

    def forward(self, asked: Questions) -> Tensor:
        """Logits (B,V)."""
        logits: Tensor = self.decide(self.attend(asked).context)
        return logits


class Cell(NamedTuple):
    """One score at one width."""

    accuracy: float
    needed: float  # the weight on the needed fact
    begins: float  # the greatest weight before training: 1 where softmax takes one fact
    parameters: int


def train_cell(babi: Babi, score: str, width: int, *, seed: int, budget: Budget, device: str) -> Cell:
    """Train with each rate, keep the best on the dev questions, and ask it the test questions."""
    rows = torch.arange(len(babi.train))
    learnt, dev = babi.train.rows(rows[:-DEV]).to(device), babi.train.rows(rows[-DEV:]).to(device)
    tested, best = babi.test.to(device), list[tuple[float, Finder]]()
    for rate in budget.rates:
        with one_thread(), seeded(seed):
            model = Finder(babi, score, width).to(device)
            fit(model, learnt, steps=budget.steps, batch=budget.batch, rate=rate)
        best.append((right(model, dev), model))
    model = max(best, key=lambda pair: pair[0])[1]
    with seeded(seed), torch.no_grad():
        begins = Finder(babi, score, width).to(device).attend(dev).weights.amax(-1).mean()
        needed = (model.attend(tested).weights * tested.support).sum(-1).mean()
    return Cell(right(model, tested), float(needed), float(begins), parameters_of(model))


def fit(model: Finder, asked: Questions, *, steps: int, batch: int, rate: float) -> None:
    """Learn to answer."""

    def loss() -> Tensor:
        drawn = asked.rows(torch.randint(len(asked), (batch,), device=asked.answers.device))
        return F.cross_entropy(model(drawn), drawn.answers)

    learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def right(model: Finder, asked: Questions) -> float:
    """The share of questions that are answered rightly."""
    return float((model(asked).argmax(-1) == asked.answers).double().mean())


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train every score at every width; the figure is the scaled dot product's at the widest."""
    budget, babi = BUDGETS[size], read_babi(folder, TASK)
    cells = {
        score: {
            str(width): train_cell(babi, score, width, seed=seed, budget=budget, device=device)
            for width in budget.widths
        }
        for score in SCORES
    }
    widest = str(budget.widths[-1])
    figure, baseline = cells[FIGURE][widest], cells[BASELINE][widest]
    commonest = int(babi.train.answers.mode().values)
    named = [(score, width, cell) for score, row in cells.items() for width, cell in row.items()]
    return Outcome(
        figure.accuracy,
        baseline.accuracy,
        figure.parameters,
        baseline.parameters,
        table={
            **{f"{score}, width {width}": cell.accuracy for score, width, cell in named},
            **{
                f"{score}, width {width}: weight on the needed fact": cell.needed
                for score, width, cell in named
            },
            **{
                f"{score}, width {width}: greatest weight at first": cell.begins
                for score, width, cell in named
            },
        },
        picture={
            "widths": list(budget.widths),
            "accuracy": {score: [cell.accuracy for cell in row.values()] for score, row in cells.items()},
            "needed": {score: [cell.needed for cell in row.values()] for score, row in cells.items()},
            "begins": {score: [cell.begins for cell in row.values()] for score, row in cells.items()},
        },
        yardstick=float((babi.test.answers == commonest).double().mean()),
    )


# Colours that a colour-blind reader tells apart (Okabe & Ito), and marks that anybody does.
LINES = {
    "dot": ("#D55E00", "o"),
    "scaled-dot": ("#0072B2", "s"),
    "general": ("#E69F00", "^"),
    "additive": ("#009E73", "D"),
    "cosine": ("#56B4E9", "v"),
    "location": ("#777777", "x"),
}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """Over widths: right answers, the weight on the needed fact, and how sharp the weights were at first."""
    figure.set_size_inches(12, 3.8)
    figure.set_layout_engine("constrained")
    every = figure.subplots(1, 3)
    titles = {
        "accuracy": ("after training", "right answers"),
        "needed": ("after training", "weight on the needed fact"),
        "begins": ("before training", "greatest weight of a story, mean"),
    }
    for axes, (field, (title, label)) in zip(every, titles.items(), strict=True):
        draw_lines(axes, outcomes, field)
        axes.set(title=title, ylabel=label)
    figure.legend(*every[0].get_legend_handles_labels(), loc="outside right center")


def draw_lines(axes: "Axes", outcomes: Sequence[Outcome], field: str) -> None:
    """One line a score over the widths, the mean of the seeds; a bar from the lowest seed to the highest."""
    widths = outcomes[0].picture["widths"]
    for score, (colour, mark) in LINES.items():
        mean, bar = mean_and_bar([outcome.picture[field][score] for outcome in outcomes])
        axes.errorbar(widths, mean, bar, color=colour, marker=mark, capsize=2, label=score)
    over_widths(axes, widths)


def over_widths(axes: "Axes", widths: Sequence[int]) -> None:
    """Axes for shares over widths."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.minorticks_off()
    axes.set(xlabel="width n", ylim=(0, 1.05))
    axes.spines[["top", "right"]].set_visible(False)


REAL = RealTask(
    files=(FILE,),
    obtain=(
        "bAbI's tasks_1-20_v1-2 (Weston et al., 2015) is public: docs/gallery/scores.md says where, and how "
        "to write the table."
    ),
    task="Answer where a person is from the facts of a bAbI story (task 1), at widths from 8 to 512.",
    without="the same dot product, not divided by √n",
    measure="accuracy at the greatest width",
    better="higher",
    yardstick="the commonest answer",
    train=train,
    draw=draw,
)
