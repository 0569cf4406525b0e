"""Dual local and global attention (Seo et al., 2017) on Amazon's Musical Instruments: a rating from reviews.

Both gates are the paper's: the global one has a kernel as long as a page to either side of a word, which is a
local gate with a window over the whole page. To the product of both pages come a bias for the user and one
for the item, since the plain yardstick has them. Axes: N ratings, T words of a page, H width of a word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from heedful.attention.gates import ConvolutionMaxima, LocalGate
from heedful.data.vocabulary import PADDING_ID
from heedful.drawing import BLUE, GREY, ORANGE
from heedful.gallery.entry import Outcome, RealTask, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.over_seeds import labelled_bars
from heedful.gallery.painting import paint_lines, wrap
from heedful.gallery.rated_reviews import FILE, REVIEWS, WORDS, Ratings, Reviews, read_reviews
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIDDEN, FILTERS, WIDTH = 16, 8, 8
NEAR, LENGTHS = 5, (2, 3)
SHRINK = 5.0  # ratings of the mean that a bias of the plain yardstick counts besides its own


@dataclass(frozen=True)
class Budget:
    epochs: int
    rates: tuple[float, ...]  # dev chooses, for each model
    most: int | None = None  # reviews
    batch: int = 128


BUDGETS: dict[Size, Budget] = {
    "small": Budget(epochs=1, rates=(0.01,), most=1500),
    "quick": Budget(epochs=4, rates=(0.003,)),
    "full": Budget(epochs=12, rates=(0.001, 0.003, 0.01)),
}


class Reader(nn.Module):
    """From a page to its vector: convolutions behind a local gate, behind a global one, or of all words."""

    def __init__(self, words: int, *, gated: bool, filters: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, HIDDEN, padding_idx=PADDING_ID)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        windows = (NEAR, 2 * REVIEWS * WORDS - 1) if gated else ()
        self.gates = nn.ModuleList(LocalGate(HIDDEN, window=window) for window in windows)
        heads = (
            ((1,), LENGTHS)  # the paper: single words behind the local gate, phrases behind the global one
            if gated
            else ((1, *LENGTHS),)
        )
        self.maxima = nn.ModuleList(ConvolutionMaxima(HIDDEN, filters, lengths=lengths) for lengths in heads)
        self.out = nn.Linear(filters * (1 + len(LENGTHS)), WIDTH)

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The vectors (N,D) of pages (N,T), and the gates (N,T): local, global."""
        mask, states = ids != PADDING_ID, self.words(ids)
        gated = [gate(states, mask) for gate in self.gates]
        read = (
            [maxima(passed.states, mask) for maxima, passed in zip(self.maxima, gated, strict=True)]
            if gated
            else [self.maxima[0](states, mask)]
        )
        return self.out(torch.cat(read, -1)), [passed.weights for passed in gated]


class Rater(nn.Module):
    """mean + bias of the user + bias of the item + product of both pages."""

    def __init__(self, reviews: Reviews, *, gated: bool, filters: int = FILTERS) -> None:
        super().__init__()
        words = len(reviews.vocabulary)
        self.user_reader, self.item_reader = (Reader(words, gated=gated, filters=filters) for _ in range(2))
        self.user_bias, self.item_bias = nn.Embedding(reviews.users, 1), nn.Embedding(reviews.items, 1)
        self.mean = nn.Parameter(reviews.splits["train"].ratings.mean())
        for biases in (self.user_bias, self.item_bias):
            nn.init.zeros_(biases.weight)

    def forward(self, asked: Ratings) -> Tensor:
        """Ratings (N)."""
        pages = self.user_reader(asked.user_pages)[0] * self.item_reader(asked.item_pages)[0]
        biases = self.user_bias(asked.users) + self.item_bias(asked.items)
        rated: Tensor = self.mean + biases.squeeze(-1) + pages.sum(-1)
        return rated


def fit(model: Rater, reviews: Reviews, budget: Budget, *, rate: float, device: str) -> float:
    """Lower the square error with Adam, and keep the epoch that is best on dev, whose RMSE is given."""
    learnt, dev = reviews.splits["train"].to(device), reviews.splits["dev"].to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    # Shrinks biases as the plain yardstick does; pages are kept in check by stopping early.
    decay, best, kept = 0.01, float("inf"), model.state_dict()
    for _ in range(budget.epochs):
        model.train()
        for rows in torch.randperm(len(learnt)).split(budget.batch):
            batch = learnt.rows(rows.to(device))
            biases = (
                model.user_bias(batch.users).square().mean() + model.item_bias(batch.items).square().mean()
            )
            loss = (model(batch) - batch.ratings).square().mean() + SHRINK * decay * biases
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        judged = rmse(model, dev)
        if judged < best:
            best, kept = judged, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    model.eval()
    return best


@torch.no_grad()
def rmse(model: Rater, asked: Ratings) -> float:
    """The root of the mean square error."""
    told = torch.cat([model(asked.rows(rows)) for rows in torch.arange(len(asked)).split(500)])
    return float((told - asked.ratings).square().mean().sqrt())


def biases_alone(reviews: Reviews) -> float:
    """The plain yardstick's RMSE on test: the mean and two shrunk biases, fitted in turns."""
    learnt, tested = reviews.splits["train"], reviews.splits["test"]
    mean = learnt.ratings.mean()
    of_user, of_item = torch.zeros(reviews.users), torch.zeros(reviews.items)
    for _ in range(30):
        of_user = shrunk(learnt.ratings - mean - of_item[learnt.items], learnt.users, reviews.users)
        of_item = shrunk(learnt.ratings - mean - of_user[learnt.users], learnt.items, reviews.items)
    told = mean + of_user[tested.users] + of_item[tested.items]
    return float((told - tested.ratings).square().mean().sqrt())


def shrunk(rest: Tensor, by: Tensor, count: int) -> Tensor:
    """The mean of what rests (N) for each user, or item, pulled towards 0 where there are few."""
    sums = torch.zeros(count).index_add_(0, by, rest)
    return sums / (by.bincount(minlength=count) + SHRINK)


def learn_kind(reviews: Reviews, budget: Budget, *, gated: bool, seed: int, device: str) -> Rater:
    """A rater with gates or without, of as many parameters, with the rate that dev favours."""
    tried = []
    for rate in budget.rates:
        with one_thread(), seeded(seed):
            model = build(reviews, gated=gated).to(device)
            tried.append((fit(model, reviews, budget, rate=rate, device=device), model))
    return min(tried, key=lambda pair: pair[0])[1]


def build(reviews: Reviews, *, gated: bool) -> Rater:
    """With gates, or of as many parameters without them: with more filters."""
    if gated:
        return Rater(reviews, gated=True)
    target = parameters_of(Rater(reviews, gated=True))
    return as_large(lambda filters: Rater(reviews, gated=False, filters=filters), target, widest=256)


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train with gates and without; the test is judged once."""
    budget = BUDGETS[size]
    reviews = read_reviews(folder, seed=seed, most=budget.most)
    tested = reviews.splits["test"]
    gated, plain = (
        learn_kind(reviews, budget, gated=gates, seed=seed, device=device) for gates in (True, False)
    )
    mean = float((reviews.splits["train"].ratings.mean() - tested.ratings).square().mean().sqrt())
    figure, baseline, biases = (
        rmse(gated, tested.to(device)),
        rmse(plain, tested.to(device)),
        biases_alone(reviews),
    )
    gates, page = look(gated.cpu(), reviews)
    return Outcome(
        figure=figure,
        baseline=baseline,
        parameters=parameters_of(gated),
        baseline_parameters=parameters_of(plain),
        table={"RMSE of the mean alone": mean, "RMSE of user and item biases": biases, **gates},
        picture={
            "errors": {"mean": mean, "biases": biases, "no gates": baseline, "gates": figure},
            "page": page,
        },
        yardstick=biases,
    )


@torch.no_grad()
def look(model: Rater, reviews: Reviews) -> tuple[dict[str, float], list[tuple[str, float]]]:
    """How open gates are, how much they differ within a page, and an item's page with its local gates."""
    asked = reviews.splits["test"].rows(torch.arange(min(200, len(reviews.splits["test"]))))
    pages = asked.item_pages
    mask = pages != PADDING_ID
    table = {}
    _, (near, whole) = model.item_reader(pages)
    for name, gates in (("local", near), ("global", whole)):
        table[f"{name} gate on items' pages, mean"] = float(gates[mask].mean())
        table[f"{name} gate on items' pages, spread"] = float(gates[mask].std())
    row = int(mask.sum(1).argmax())
    forms = [reviews.vocabulary.words[word] for word in pages[row][mask[row]].tolist()]
    return table, list(zip(forms, near[row][mask[row]].tolist(), strict=True))


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """An item's page painted by its local gates (first seed), beside the errors (all seeds)."""
    figure.set_size_inches(11, 4.2)
    page = figure.add_axes((0.02, 0.02, 0.62, 0.86))
    page.set_title("an item's page by its local gates (darkest: widest open)", fontsize=10, loc="left")
    words = outcomes[0].picture["page"]
    gates = np.array([gate for _, gate in words])
    scaled = (gates - gates.min()) / max(float(np.ptp(gates)), 1e-9)
    painted = [(word, float(gate)) for (word, _), gate in zip(words, scaled, strict=True)]
    paint_lines(page, wrap(painted, 70), columns=70)
    errors: Any = figure.add_axes((0.72, 0.13, 0.26, 0.75))
    kinds = ("mean", "biases", "no gates", "gates")
    seeds = [[outcome.picture["errors"][kind] for kind in kinds] for outcome in outcomes]
    labelled_bars(errors, kinds, seeds, colours=[GREY, GREY, ORANGE, BLUE], digits=3)
    errors.set_ylim(0, 1.15 * np.mean(seeds, axis=0).max())
    errors.set_title("RMSE of ratings", fontsize=10)


REAL = RealTask(
    files=(FILE,),
    obtain=(
        "It is made from Amazon's Musical Instruments, 5-core (McAuley et al.): docs/gallery/dual.md says "
        "where it is, and how to write the table."
    ),
    task="Tell a rating from the user's and the item's other reviews, never from the review it came with.",
    without="the same convolutions over the words as they are, and more filters",
    measure="RMSE",
    better="lower",
    yardstick="user and item biases",
    train=train,
    draw=draw,
)
