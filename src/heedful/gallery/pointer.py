"""Gallery: pointer networks (Vinyals et al., 2015) on their own tasks, also with more items than they learnt.

An LSTM reads the items, another goes on from its last state along the path, and the pointer chooses the next
item from both. The paper's other decoder blends the encoder's states instead and must name its choice from a
fixed list of slots. So that it has a fair chance with long puzzles, an item comes with its slot, every slot
occurs in training, and a blend is compared with the slots' own embeddings. Both may choose only what is not
yet on the path. Axes: B puzzles, T items, Q steps, H width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from heedful.attention import Pointer, pointing_loss
from heedful.drawing import BLUE, GREY, ORANGE
from heedful.gallery.entry import Entry, Outcome, Published, RealTask, Size
from heedful.gallery.learning import as_large, learn, parameters_of
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.puzzles import (
    SLOTS,
    TASKS,
    Puzzles,
    Task,
    excess,
    open_items,
    opened,
    plainly,
    solved,
)
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHORTEST, LONGEST = 5, 10  # items, in training
POINTER, BLEND, PLAIN = "pointer", "blend", "plain method"
COLOURS = {POINTER: BLUE, BLEND: ORANGE, PLAIN: GREY}


@dataclass(frozen=True)
class Budget:
    drawn: int  # puzzles of each length to learn from
    steps: int
    tested: int  # puzzles of each length
    width: int = 64
    batch: int = 128
    rate: float = 0.01


BUDGETS: dict[Size, Budget] = {
    "small": Budget(drawn=300, steps=60, tested=20, width=32),
    "quick": Budget(drawn=5000, steps=1000, tested=200),
    "full": Budget(drawn=50_000, steps=12_000, tested=1000, width=128),
}


class Solver(nn.Module):
    """Read items, follow a path over them; choose by pointing, or by naming a slot after a blend of all."""

    def __init__(self, width: int, *, points: bool, score: int | None = None) -> None:
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.start = nn.Parameter(torch.zeros(width))
        self.encoder = nn.LSTM(width, width, batch_first=True)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.pointer = Pointer(width, query=width, width=score)
        self.slots = None if points else nn.Embedding(SLOTS, width)
        self.name = None if points else nn.Linear(2 * width, width)
        if not points:
            # Blending all alike at first, it always learns where to look; from a louder start it may not.
            nn.init.normal_(self.pointer.score.context, std=0.01)

    def read(self, puzzles: Puzzles) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """The items (B,T,H), the encoder's states (B,T,H), and where the decoder begins."""
        items: Tensor = self.embed(puzzles.items)
        if self.slots is not None:
            items = items + self.slots(puzzles.slots)
        states, last = self.encoder(items)
        return items, states, last

    def scores(self, puzzles: Puzzles, read: Tensor, queries: Tensor, allowed: Tensor) -> Tensor:
        """Score each item (B,Q,T): the pointer's own scores, or those of the slots after the blend."""
        attended = self.pointer(read, allowed, query=queries)
        if self.name is None or self.slots is None:
            scores: Tensor = attended.scores
            return scores
        named: Tensor = self.name(torch.cat([attended.context, queries], -1))
        slots: Tensor = self.slots(puzzles.slots)
        return named @ slots.mT

    def forward(self, puzzles: Puzzles, allowed: Tensor) -> Tensor:
        """Score each item (B,Q,T) at each step of the right path, among what is open (B,Q,T)."""
        items, read, last = self.read(puzzles)
        before = torch.cat([self.start.expand(len(items), 1, -1), along(items, puzzles.paths[:, :-1])], 1)
        return self.scores(puzzles, read, self.decoder(before, last)[0], allowed)

    @torch.no_grad()
    def solve(self, puzzles: Puzzles, *, returns: bool) -> Tensor:
        """The path (B,Q) of the likeliest choice at each step, after its own choices."""
        items, read, state = self.read(puzzles)
        path, before = puzzles.slots[:, :0], self.start.expand(len(items), 1, -1)
        for _ in range(puzzles.paths.shape[1]):
            queries, state = self.decoder(before, state)
            allowed = open_items(path, items=items.shape[1], returns=returns).unsqueeze(1)
            scores = self.scores(puzzles, read, queries, allowed).masked_fill(~allowed, -torch.inf)
            path = torch.cat([path, scores.argmax(-1)], 1)
            before = along(items, path[:, -1:])
        return path


def along(items: Tensor, path: Tensor) -> Tensor:
    """Items (B,T,·) in the order of a path (B,Q); beyond its end, any."""
    return items.gather(1, path.clamp(min=0).unsqueeze(-1).expand(-1, -1, items.shape[-1]))


def build(budget: Budget, kind: str) -> Solver:
    """A solver of a kind: the blend's score is narrower, so that both have as many parameters."""
    pointer = Solver(budget.width, points=True, score=2 * budget.width)
    if kind == POINTER:
        return pointer
    target = parameters_of(pointer)
    return as_large(lambda score: Solver(budget.width, points=False, score=score), target, widest=512)


def fit(model: Solver, task: Task, learnt: Sequence[Puzzles], budget: Budget) -> None:
    """Learn each step of the right paths, from puzzles of one length at a time."""
    allowed = [opened(puzzles, returns=task.returns) for puzzles in learnt]

    def loss() -> Tensor:
        length = int(torch.randint(len(learnt), ()))
        rows = torch.randint(len(learnt[length]), (budget.batch,)).to(learnt[length].items.device)
        puzzles, may = learnt[length].rows(rows), allowed[length][rows]
        losses = pointing_loss(model(puzzles, may), may, targets=puzzles.paths)
        return losses.sum() / (puzzles.paths >= 0).sum()

    learn(model, loss, steps=budget.steps, rate=budget.rate)


def learn_task(task: Task, budget: Budget, *, seed: int, device: str) -> dict[str, Solver]:
    """Both solvers of one task, learnt from the same puzzles."""
    chance = np.random.default_rng([seed, 0])
    learnt = [task.puzzles(budget.drawn, items, chance).to(device) for items in range(SHORTEST, LONGEST + 1)]
    solvers = {}
    for kind in (POINTER, BLEND):
        with one_thread(), seeded(seed):
            solvers[kind] = build(budget, kind).to(device)
            fit(solvers[kind], task, learnt, budget)
    return solvers


@dataclass(frozen=True)
class Tested:
    """What came of the test puzzles of a task: by decoder, and by the number of items."""

    shares: dict[str, list[float]]  # solved without a fault
    excesses: dict[str, list[float]]  # of tours: by what share they are longer than the shortest
    shown: dict[
        str, Any
    ]  # the longest puzzle that the pointer solves and the blend does not, if there is one


def try_task(task: Task, solvers: dict[str, Solver], budget: Budget, *, seed: int, device: str) -> Tested:
    """Solve puzzles of every length, those of training first."""
    chance = np.random.default_rng([seed, 1])
    tested = Tested({kind: [] for kind in COLOURS}, {kind: [] for kind in COLOURS}, {})
    for items in range(SHORTEST, task.longest + 1):
        puzzles = task.puzzles(budget.tested, items, chance)
        there = puzzles.to(device)
        paths = {
            **{kind: solver.solve(there, returns=task.returns).cpu() for kind, solver in solvers.items()},
            PLAIN: plainly(task, puzzles),
        }
        right = {kind: solved(task, puzzles, path) for kind, path in paths.items()}
        for kind, path in paths.items():
            tested.shares[kind].append(float(right[kind].double().mean()))
            if task.name == "tour":
                tested.excesses[kind].append(float(excess(puzzles, path).mean()))
        telling = right[POINTER] & ~right[BLEND]
        if telling.any() or not tested.shown:
            row = int(telling.int().argmax())
            tested.shown.update(points=puzzles.items[row].tolist())
            tested.shown.update({kind: path[row].tolist() for kind, path in paths.items()})
    return tested


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train both decoders on the three tasks, each for itself; what counts is puzzles that are longer."""
    budget = BUDGETS[size]
    table: dict[str, float] = {}
    shares, shown, longer = {}, {}, {kind: list[float]() for kind in COLOURS}
    known = LONGEST - SHORTEST + 1
    for task in TASKS:
        solvers = learn_task(task, budget, seed=seed, device=device)
        tested = try_task(task, solvers, budget, seed=seed, device=device)
        shares[task.name], shown[task.name] = tested.shares, tested.shown
        for kind, by_length in tested.shares.items():
            longer[kind].append(float(np.mean(by_length[known:])))
            table[f"{task.name} {SHORTEST}–{LONGEST}, {kind}"] = float(np.mean(by_length[:known]))
            table[f"{task.name} {LONGEST + 1}–{task.longest}, {kind}"] = longer[kind][-1]
        for kind, by_length in tested.excesses.items():
            if by_length:
                table[f"tour {SHORTEST}–{LONGEST}, longer by, {kind}"] = float(np.mean(by_length[:known]))
                table[f"tour {LONGEST + 1}–{task.longest}, longer by, {kind}"] = float(
                    np.mean(by_length[known:])
                )
    return Outcome(
        figure=float(np.mean(longer[POINTER])),
        baseline=float(np.mean(longer[BLEND])),
        parameters=parameters_of(solvers[POINTER]),
        baseline_parameters=parameters_of(solvers[BLEND]),
        table=table,
        picture={"shares": shares, "excesses": tested.excesses, "shown": shown},  # tours are the last task
        yardstick=float(np.mean(longer[PLAIN])),
    )


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """What is solved by the number of items (all seeds); a hull and a tour with both answers (first seed)."""
    figure.set_size_inches(14, 6.6)
    figure.set_layout_engine("constrained")
    above, below = figure.subplots(2, 3)
    for axes, task in zip(above, TASKS, strict=True):
        draw_lines(axes, [outcome.picture["shares"][task.name] for outcome in outcomes])
        axes.set(title=f"{task.name}: solved (grey: longer than learnt)", xlabel="items", ylim=(0, 1.05))
    above[0].legend(frameon=False, fontsize=9, loc="lower left")
    draw_excess(below[0], [outcome.picture["excesses"] for outcome in outcomes])
    shown = outcomes[0].picture["shown"]
    for axes, name in zip(below[1:], ("hull", "tour"), strict=True):
        draw_answers(axes, shown[name])
    below[1].set_title("a hull, where the blend errs")
    below[2].set_title("a tour, where the blend errs")


def draw_excess(axes: "Axes", seeds: Sequence[dict[str, list[float]]]) -> None:
    """By how much tours are longer than the shortest."""
    draw_lines(axes, seeds)
    axes.set(title="tour: longer than the shortest by", xlabel="cities", ylabel="share of the length")


def draw_lines(axes: "Axes", seeds: Sequence[dict[str, list[float]]]) -> None:
    """One line a decoder over the number of items."""
    lengths = range(SHORTEST, SHORTEST + len(seeds[0][POINTER]))
    for kind, colour in COLOURS.items():
        mean, bar = mean_and_bar([by[kind] for by in seeds])
        style = ":" if kind == PLAIN else "o-"
        axes.errorbar(lengths, mean, bar, color=colour, fmt=style, capsize=2, markersize=4, label=kind)
    axes.axvspan(LONGEST + 0.5, lengths[-1] + 0.5, color="0.94", zorder=0)
    axes.set_xticks(range(SHORTEST, lengths[-1] + 1, 5))
    axes.spines[["top", "right"]].set_visible(False)


def draw_answers(axes: "Axes", shown: dict[str, Any]) -> None:
    points = np.array(shown["points"])
    axes.scatter(points[:, 0], points[:, 1], s=18, color="0.35", zorder=3)
    for kind, style, width in ((POINTER, "-", 4.0), (BLEND, "--", 2.0)):
        path = [*shown[kind], shown[kind][0]]
        axes.plot(*points[path].T, style, color=COLOURS[kind], linewidth=width, alpha=0.9)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")


TASK = (
    f"Sort numbers, find convex hulls (of {LONGEST + 1} to {SLOTS} items) and shortest tours (of up to 15 "
    f"cities) after training on {SHORTEST} to {LONGEST}."
)
WITHOUT = (
    "a decoder that blends the encoder's states (d'_i = Σ a_j e_j) and names its choice from a fixed list"
)
MEASURE = "share solved exactly, mean of the tasks"
REAL = RealTask(
    files=(),
    obtain="The paper's tasks are defined by how they are drawn: docs/gallery/pointer.md.",
    task=TASK,
    without=WITHOUT,
    measure=MEASURE,
    better="higher",
    yardstick="plain algorithms (sorting and gift wrapping, which never err; always to the nearest city)",
    train=train,
    draw=draw,
    published=Published(
        figure=0.87,
        source="Vinyals et al. (2015): hulls of 10 points, learnt from 5 to 50; of 100 points 0.503",
        difference=(
            "Ours is the mean over 5 to 10 points, as it learnt; they have 512 units, a million puzzles and "
            "a beam search."
        ),
        ours="hull 5–10, pointer",
    ),
)


def train_alone(seed: int, size: Size) -> Outcome:
    """The same where nobody asks for a folder: there is no other task."""
    return train(seed, size, Path(), "cpu")


ENTRY = Entry(
    name="pointer",
    title="Pointing at the input",
    source="Vinyals et al. (2015), Pointer Networks",
    task=TASK,
    formula="u_j = vᵀ tanh(W₁ e_j + W₂ d_i),  p(next = j) = softmax(u)_j over the items still open",
    without=WITHOUT,
    measure=MEASURE,
    better="higher",
    train=train_alone,
    draw=lambda outcome, figure: draw([outcome], figure),
    real=REAL,
)
