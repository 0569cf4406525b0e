"""Gallery: a pointer network sorts numbers and finds convex hulls, also of more items than it learnt from.

Items are embedded one by one, a GRU follows the path, and from its state the pointer chooses the next item.
The other decoder of Vinyals et al. (2015) blends the items instead and must name its choice from a fixed list
of slots. So that it has a fair chance, an item comes with its slot, every slot occurs in training, a blend is
compared with the slots' own embeddings, and it too may choose only what is open.
Axes: B puzzles, T items, Q steps, H width of an item, C of the decoder.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.attention import Attended, Pointer, pointing_loss
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.puzzles import (
    SLOTS,
    OpenItems,
    Puzzles,
    area,
    draw_numbers,
    draw_points,
    open_numbers,
    open_points,
)
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ITEM, DECODER = 32, 64  # H and C
POINTER, BLEND = 72, 33  # widths A of the score: the blend has its list of slots besides


class Task(NamedTuple):
    """One of the two puzzles: how to draw it, what may be chosen, and how long to learn it."""

    draw: Callable[..., Puzzles]
    opens: OpenItems
    steps: dict[Size, int]


TASKS = {
    "sort": Task(draw_numbers, open_numbers, {"full": 500, "small": 150}),
    "hull": Task(draw_points, open_points, {"full": 1800, "small": 200}),
}
BATCH, RATE = 64, 0.01  # of the rates 0.005, 0.01 and 0.02 none is better for the blend
LENGTHS = {"5–10": (5, 10), "11–20": (11, 20)}  # in tests: as in training, and longer


class Solver(nn.Module):
    """Follow a path over items; choose each by pointing at it, or by naming its slot after a blend of all."""

    def __init__(self, *, points: bool) -> None:
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(2, 2 * ITEM), nn.ReLU(), nn.Linear(2 * ITEM, ITEM))
        self.start = nn.Parameter(torch.zeros(ITEM))
        self.follow = nn.GRU(ITEM, DECODER, batch_first=True)
        self.pointer = Pointer(ITEM, query=DECODER, width=POINTER if points else BLEND)
        self.slots = None if points else nn.Embedding(SLOTS, ITEM)
        self.name = None if points else nn.Linear(ITEM + DECODER, ITEM)
        if not points:
            # Blending all alike at first, it always learns where to look; from a louder start it may not.
            nn.init.normal_(self.pointer.score.context, std=0.01)

    def forward(self, puzzles: Puzzles) -> Tensor:
        """Score each item (B,Q,T) at each step of the right path."""
        items = self.items(puzzles)
        before = torch.cat(
            [self.start.expand(len(items), 1, -1), chosen(items, puzzles.paths[:, :-1].clamp(min=0))], 1
        )
        states, _ = self.follow(before)
        return self.scores(puzzles, self.pointer(items, puzzles.opened, query=states), states)

    def items(self, puzzles: Puzzles) -> Tensor:
        items: Tensor = self.embed(puzzles.items)
        return items if self.slots is None else items + self.slots(puzzles.slots)

    def scores(self, puzzles: Puzzles, attended: Attended, states: Tensor) -> Tensor:
        """The pointer's own, or those of the items' slots after reading the blend."""
        if self.name is None or self.slots is None:
            return attended.scores
        scores: Tensor = self.name(torch.cat([attended.context, states], -1)) @ self.slots(puzzles.slots).mT
        return scores

    @torch.no_grad()
    def solve(self, puzzles: Puzzles, opens: OpenItems, *, steps: int) -> tuple[Tensor, Tensor]:
        """The likeliest path (B,Q), step by step after its own choices, and its weights (B,Q,T)."""
        items, state = self.items(puzzles), None
        path = puzzles.slots[:, :0]
        before, weights = self.start.expand(len(items), 1, -1), []
        for _ in range(steps):
            states, state = self.follow(before, state)
            allowed = opens(puzzles.items, puzzles.mask, path)[:, None]
            attended = self.pointer(items, allowed, query=states)
            scores = self.scores(puzzles, attended, states).masked_fill(~allowed, -torch.inf)
            weights.append(attended.weights)
            path = torch.cat([path, scores.argmax(-1)], 1)
            before = chosen(items, path[:, -1:])
        return path, torch.cat(weights, 1)


def chosen(items: Tensor, path: Tensor) -> Tensor:
    """Items (B,T,·) in the order of a path (B,Q)."""
    return items.gather(1, path[..., None].expand(-1, -1, items.shape[-1]))


def fit(model: Solver, puzzles: Puzzles, *, steps: int) -> None:
    """Learn each step of the right paths."""

    def loss() -> Tensor:
        rows = puzzles.rows(torch.randint(len(puzzles), (BATCH,)))
        losses = pointing_loss(model(rows), rows.opened, targets=rows.paths)
        return losses.sum() / (rows.paths >= 0).sum()

    learn(model, loss, steps=steps, rate=RATE)


class Trained(NamedTuple):
    """Both decoders of one task, and long puzzles with what they made of them."""

    pointer: Solver
    blend: Solver
    tested: Puzzles
    paths: tuple[Tensor, Tensor]  # (B,Q) of the pointer and of the blend
    weights: Tensor  # (B,Q,T) of the pointer


def train_task(task: Task, *, seed: int, size: Size) -> tuple[Trained, dict[str, float]]:
    """Train both decoders on one task; the share that each solves, by decoder and lengths."""
    count = 20_000 if size == "full" else 4000
    learnt = task.draw(count, seed=2 * seed, shortest=5, longest=10)
    solvers = Solver(points=True), Solver(points=False)
    for solver in solvers:
        fit(solver, learnt, steps=task.steps[size])
    shares: dict[str, float] = {}
    for length, (shortest, longest) in LENGTHS.items():
        tested = task.draw(1000, seed=2 * seed + 1, shortest=shortest, longest=longest)
        (path, weights), (blended, _) = (
            solver.solve(tested, task.opens, steps=tested.paths.shape[1]) for solver in solvers
        )
        shares |= {f"{length}": solved(path, tested), f"{length}, blend": solved(blended, tested)}
    return Trained(*solvers, tested, (path, blended), weights), shares


def solved(path: Tensor, puzzles: Puzzles) -> float:
    """The share of puzzles whose whole path is right."""
    return right(path, puzzles).float().mean().item()


def right(path: Tensor, puzzles: Puzzles) -> Tensor:
    return ((path == puzzles.paths) | (puzzles.paths < 0)).all(-1)


def coverage(path: Tensor, puzzles: Puzzles) -> float:
    """How much of the hulls' area the polygons of a path cover, on average."""
    # Beyond its end the right path stays at its first corner, as a closed path does.
    whole = puzzles.paths.where(puzzles.paths >= 0, puzzles.paths[:, :1])
    return (area(puzzles.items, path) / area(puzzles.items, whole)).mean().item()


def train(seed: int, size: Size) -> Outcome:
    """Train both decoders on both tasks, each task for itself."""
    table: dict[str, float] = {}
    with one_thread(), seeded(seed):
        trained = {}
        for name, task in TASKS.items():
            trained[name], shares = train_task(task, seed=seed, size=size)
            table |= {f"{name} {of}": share for of, share in shares.items()}
    hull = trained["hull"]
    table["area 11–20"], table["area 11–20, blend"] = (coverage(path, hull.tested) for path in hull.paths)
    return Outcome(
        figure=(table["sort 11–20"] + table["hull 11–20"]) / 2,
        baseline=(table["sort 11–20, blend"] + table["hull 11–20, blend"]) / 2,
        parameters=parameters_of(hull.pointer),
        baseline_parameters=parameters_of(hull.blend),
        table=table,
        picture={"numbers": sorting(trained["sort"]), "points": wrapping(hull)},
    )


def sorting(trained: Trained) -> dict[str, Any]:
    """A list of twelve numbers, and where the pointer points at each step."""
    row = int((trained.tested.mask.sum(-1) == 12).nonzero()[0])
    return {
        "numbers": trained.tested.items[row, :12, 0].numpy(),
        "weights": trained.weights[row, :12, :12].numpy(),
    }


def wrapping(trained: Trained) -> dict[str, Any]:
    """A cloud of twenty points on which only the pointer is right, if there is one, with both polygons."""
    tested, (pointed, blended) = trained.tested, trained.paths
    large = tested.mask.sum(-1) == 20
    telling = large & right(pointed, tested) & ~right(blended, tested)
    row = int((telling if telling.any() else large).nonzero()[0])
    return {
        "points": tested.items[row].numpy(),
        "pointer": pointed[row].numpy(),
        "blend": blended[row].numpy(),
    }


def draw(outcome: Outcome, figure: "Figure") -> None:
    """Where the pointer points while it sorts; both polygons around a cloud; how much each decoder solves."""
    figure.set_size_inches(13, 4.5)
    figure.set_layout_engine("constrained")
    order, cloud, shares = figure.subplots(1, 3, width_ratios=(1.1, 1, 0.9))
    draw_order(order, outcome.picture["numbers"])
    draw_cloud(cloud, outcome.picture["points"])
    names = [f"{task} {length}" for task in TASKS for length in LENGTHS]
    for place, (ending, label, colour) in enumerate(DECODERS):
        heights = [outcome.table[name + ending] for name in names]
        shares.barh(
            [row + 0.4 * place for row in range(len(names))], heights, 0.38, label=label, color=colour
        )
    shares.set_yticks([row + 0.2 for row in range(len(names))], [name.replace(" ", "\n") for name in names])
    shares.invert_yaxis()
    shares.set_xlim(0, 1)
    shares.set_title("solved without a fault\n(trained on 5–10 items)")


DECODERS = (("", "pointer", "tab:blue"), (", blend", "blend", "tab:orange"))


def draw_order(axes: "Axes", sorting: dict[str, Any]) -> None:
    numbers, weights = sorting["numbers"], sorting["weights"]
    axes.imshow(weights, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(numbers)), [f"{number:.2f}" for number in numbers], rotation=90)
    axes.set_yticks(range(0, len(numbers), 2), [str(step + 1) for step in range(0, len(numbers), 2)])
    axes.set_xlabel("number, as given")
    axes.set_ylabel("step")
    axes.set_title("sorting: where it points")


def draw_cloud(axes: "Axes", wrapping: dict[str, Any]) -> None:
    points = wrapping["points"]
    axes.scatter(points[:, 0], points[:, 1], s=18, color="0.35", zorder=3)
    for (_, label, colour), style, width in zip(DECODERS, ("-", "--"), (4.0, 2.0), strict=True):
        axes.plot(*points[wrapping[label]].T, style, color=colour, linewidth=width, label=label, alpha=0.9)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.set_title("the hull of 20 points")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)


ENTRY = Entry(
    name="pointer",
    title="Pointing at the input",
    source="Vinyals et al. (2015), Pointer Networks",
    task="Put numbers in order and find convex hulls, of 11 to 20 items after training on 5 to 10.",
    formula="u_j = vᵀ tanh(W₁ e_j + W₂ d_i),  p(next = j) = softmax(u)_j over the items still open",
    without="a decoder that blends the items (d'_i = Σ a_j e_j) and names its choice from a fixed list",
    measure="share solved exactly",
    better="higher",
    train=train,
    draw=draw,
)
