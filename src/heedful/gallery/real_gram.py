"""GRAM (Choi et al., 2017) on hospital stays: the next stay's diagnoses, with a recurrence over stays.

Four models of as many parameters: attention to a code's ancestors, the same with the tree's leaves shuffled
(the paper's random tree), the plain mean of a code and its ancestors, and no tree with wider embeddings.
Axes: D codes, B next stays, S stays, C codes of a stay, T places in a code's lineage, H width, R recurrence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from heedful.attention import AncestorAttention, ancestor_table, uniform_weights, weighted_sum
from heedful.drawing import BLUE, GREY, ORANGE, PURPLE
from heedful.gallery.entry import Outcome, RealTask, Size
from heedful.gallery.hospital import CODES, NONE, STAYS, Hospital, NextStays, read_hospital
from heedful.gallery.learning import as_large, learn, parameters_of
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {"attention": BLUE, "shuffled tree": PURPLE, "mean": GREY, "no tree": ORANGE}
FIRST = 20
WIDTH, RECURRENCE, DROPOUT = 32, 64, 0.3
BANDS = {
    "under 10": (0, 9),
    "10–49": (10, 49),
    "50–199": (50, 199),
    "200–999": (200, 999),
    "1000+": (1000, 10**9),
}


@dataclass(frozen=True)
class Budget:
    epochs: int
    shares: tuple[float, ...]  # of the training stays that are learnt from; the figure is that of the last
    rates: tuple[float, ...] = (0.01, 0.03)  # dev chooses, for each model
    batch: int = 256
    fewest: int = 100  # steps, however few stays there are


BUDGETS: dict[Size, Budget] = {
    "small": Budget(epochs=1, shares=(1.0,), rates=(0.03,)),
    "quick": Budget(epochs=4, shares=(0.1, 1.0)),
    "full": Budget(epochs=12, shares=(0.01, 0.03, 0.1, 0.3, 1.0), rates=(0.003, 0.01, 0.03)),
}


class Foreseer(nn.Module):
    """Embed codes, sum those of a stay, run over the stays, and score the codes of the next."""

    def __init__(self, parents: Tensor, codes: int, kind: str, *, width: int = WIDTH) -> None:
        super().__init__()
        nodes, mask = ancestor_table(parents)
        self.kind = kind
        self.nodes: Tensor
        self.mask: Tensor
        self.register_buffer("nodes", nodes[:codes])
        self.register_buffer("mask", mask[:codes])
        self.embed = nn.Embedding(codes if kind == "no tree" else len(parents), width)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.attention = AncestorAttention(width) if kind in ("attention", "shuffled tree") else None
        self.recurrence = nn.GRU(width, RECURRENCE, batch_first=True)
        self.drop = nn.Dropout(DROPOUT)
        self.decide = nn.Linear(RECURRENCE, codes)

    def vectors(self) -> Tensor:
        """The vectors (D,H) of all codes."""
        if self.kind == "no tree":
            return self.embed.weight
        lineage = self.embed(self.nodes)  # (D,T,H)
        if self.attention is not None:
            context: Tensor = self.attention(lineage, self.mask).context
            return context
        return weighted_sum(uniform_weights(self.mask), lineage)

    def forward(self, before: Tensor) -> Tensor:
        """Score all codes (B,D) after stays (B,S,C)."""
        there = (before != NONE).unsqueeze(-1)
        stays = (self.vectors()[before.clamp(min=0)] * there).sum(-2).tanh()  # (B,S,H)
        logits: Tensor = self.decide(self.drop(self.recurrence(stays)[0][:, -1]))
        return logits


def build(hospital: Hospital, kind: str, *, seed: int) -> Foreseer:
    """A model of a kind; all have as many parameters as the one with attention."""
    codes, parents = len(hospital.codes), hospital.parents
    if kind == "shuffled tree":
        order = torch.from_numpy(np.random.default_rng(seed).permutation(codes))
        parents = torch.cat([parents[:codes][order], parents[codes:]])
    if kind in ("attention", "shuffled tree"):
        return Foreseer(parents, codes, kind)
    target = parameters_of(Foreseer(hospital.parents, codes, "attention"))
    return as_large(lambda width: Foreseer(parents, codes, kind, width=width), target, widest=256)


def fit(model: Foreseer, stays: NextStays, budget: Budget, *, rate: float) -> None:
    """Learn the next stay's codes, all as likely as any other of the stay."""
    steps = max(budget.fewest, budget.epochs * len(stays) // budget.batch)
    rows = torch.cat([torch.randperm(len(stays)) for _ in range(1 + steps * budget.batch // len(stays))])
    batches = iter(rows.split(budget.batch))

    def loss() -> Tensor:
        batch = stays.rows(next(batches))
        likely = model(batch.before).log_softmax(-1)
        there = batch.following != NONE
        surprise: Tensor = -likely.gather(1, batch.following.clamp(min=0)) * there
        return surprise.sum() / there.sum()

    learn(model, loss, steps=steps, rate=rate)


def learn_kind(
    hospital: Hospital, kind: str, stays: NextStays, budget: Budget, *, seed: int, device: str
) -> Foreseer:
    """A model of a kind, with the rate that dev favours."""
    tried, dev = [], hospital.splits["dev"]
    learnt = NextStays(stays.before.to(device), stays.following.to(device))
    for rate in budget.rates:
        with one_thread(), seeded(seed):
            model = build(hospital, kind, seed=seed).to(device)
            fit(model, learnt, budget, rate=rate)
        tried.append((recall(foreseen(scores_of(model, dev), dev), dev), model))
    return max(tried, key=lambda pair: pair[0])[1]


@torch.no_grad()
def scores_of(model: Foreseer, stays: NextStays) -> Tensor:
    """Scores of all codes (B,D), on the processor."""
    device = model.nodes.device
    return torch.cat([model(rows.to(device)).cpu() for rows in stays.before.split(1000)])


@torch.no_grad()
def foreseen(scores: Tensor, stays: NextStays) -> Tensor:
    """Which codes of the next stay (B,C) are among the likeliest."""
    best = scores.topk(FIRST).indices
    found: Tensor = (stays.following.unsqueeze(-1) == best.unsqueeze(1)).any(-1)
    return found


def recall(found: Tensor, stays: NextStays, chosen: Tensor | None = None) -> float:
    """The share of all codes of next stays that were found; `chosen` (D) are the codes that count."""
    there = stays.following != NONE
    if chosen is not None:
        there = there & chosen[stays.following.clamp(min=0)]
    return float(found[there].double().mean())


def count_scores(learnt: NextStays, stays: NextStays, codes: int) -> Tensor:
    """The plain yardstick: how often a code followed each code of the newest stay; then how often at all."""
    followed = torch.zeros(codes, codes)
    for now in learnt.before[:, -1].unbind(1):
        for then in learnt.following.unbind(1):
            both = (now != NONE) & (then != NONE)
            followed.index_put_((now[both], then[both]), torch.ones(int(both.sum())), accumulate=True)
    seen = counted(learnt.before[:, -1], codes)
    chances = followed / seen.clamp(min=1).unsqueeze(1)
    newest = stays.before[:, -1]
    scores = (chances[newest.clamp(min=0)] * (newest != NONE).unsqueeze(-1)).sum(1)
    return scores + 1e-6 * counted(learnt.following, codes)


def counted(found: Tensor, codes: int) -> Tensor:
    """How often each code (D) stands there."""
    return found[found != NONE].bincount(minlength=codes)


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train the four models on growing shares of the stays; recall by how common a code is, too."""
    budget, hospital = BUDGETS[size], read_hospital(folder)
    learnt, tested = hospital.splits["train"], hospital.splits["test"]
    codes = len(hospital.codes)
    by_share: dict[str, dict[str, float]] = {kind: {} for kind in (*KINDS, "counts")}
    order = torch.from_numpy(np.random.default_rng([seed, 1]).permutation(len(learnt)))
    for share in budget.shares:
        part = learnt.rows(order[: max(budget.batch, round(share * len(learnt)))])
        models, found = {}, {}
        for kind in KINDS:
            models[kind] = learn_kind(hospital, kind, part, budget, seed=seed, device=device)
            found[kind] = foreseen(scores_of(models[kind], tested), tested)
        found["counts"] = foreseen(count_scores(part, tested, codes), tested)
        for kind, which in found.items():
            by_share[kind][f"{share:.0%}"] = recall(which, tested)
    seen = counted(learnt.following, codes)
    bands = {band: (seen >= least) & (seen <= most) for band, (least, most) in BANDS.items()}
    asked = counted(tested.following, codes) > 0
    bands = {band: chosen for band, chosen in bands.items() if (chosen & asked).any()}
    by_band = {
        kind: {band: recall(which, tested, bands[band]) for band in bands} for kind, which in found.items()
    }
    last = f"{budget.shares[-1]:.0%}"
    return Outcome(
        figure=by_share["attention"][last],
        baseline=by_share["no tree"][last],
        parameters=parameters_of(models["attention"]),
        baseline_parameters=parameters_of(models["no tree"]),
        table={
            **{
                f"{share} of the stays, {kind}": value
                for kind, by in by_share.items()
                for share, value in by.items()
            },
            **{
                f"codes seen {band}, {kind}": value
                for kind, by in by_band.items()
                for band, value in by.items()
            },
            **{
                f"weight of ancestors, codes seen {band}": 1 - weights[0]
                for band, weights in leaning(models["attention"], bands).items()
            },
        },
        picture={"shares": by_share, "bands": by_band, "leaning": leaning(models["attention"], bands)},
        yardstick=by_share["counts"][last],
    )


@torch.no_grad()
def leaning(model: Foreseer, bands: dict[str, Tensor]) -> dict[str, list[float]]:
    """The mean weight of a code itself, of the groups between, and of the root, by how common the code is."""
    assert model.attention is not None
    weights = model.attention(model.embed(model.nodes), model.mask).weights  # (D,T)
    deepest = model.mask.sum(1) - 1
    root = weights.gather(1, deepest.unsqueeze(1)).squeeze(1)
    parts = torch.stack([weights[:, 0], 1 - weights[:, 0] - root, root], 1)
    return {band: parts[chosen.to(parts.device)].mean(0).tolist() for band, chosen in bands.items()}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """Recall by how common a code is and by how much was learnt from, and what a code leans on."""
    figure.set_size_inches(13, 4.2)
    figure.set_layout_engine("constrained")
    bands, shares, weights = figure.subplots(1, 3)
    for axes, name, label in (
        (bands, "bands", "times that a code was seen in training"),
        (shares, "shares", "share of the training stays learnt from"),
    ):
        draw_lines(axes, [outcome.picture[name] for outcome in outcomes])
        axes.set(xlabel=label, ylabel=f"recall@{FIRST}")
    bands.legend(frameon=False, fontsize=8.5)
    draw_leaning(weights, [outcome.picture["leaning"] for outcome in outcomes])
    for axes in (bands, shares, weights):
        axes.spines[["top", "right"]].set_visible(False)


def draw_lines(axes: "Axes", seeds: Sequence[dict[str, dict[str, float]]]) -> None:
    """One line a model, the mean over seeds; a bar from the lowest seed to the highest."""
    for kind in (*KINDS, "counts"):
        mean, bar = mean_and_bar([list(by[kind].values()) for by in seeds])
        axes.errorbar(
            list(seeds[0][kind]),
            mean,
            bar,
            color=KINDS.get(kind, "black"),
            fmt=":" if kind == "counts" else "o-",
            capsize=2,
            label="code-to-code counts" if kind == "counts" else kind,
        )


def draw_leaning(axes: "Axes", seeds: Sequence[dict[str, list[float]]]) -> None:
    heights = np.mean([list(by.values()) for by in seeds], axis=0)  # (bands, parts)
    bottom = np.zeros(len(heights))
    for column, label, colour in zip(
        heights.T, ("the code itself", "its groups", "the root"), (ORANGE, BLUE, "0.8"), strict=True
    ):
        axes.bar(list(seeds[0]), column, bottom=bottom, label=label, color=colour)
        bottom += column
    axes.set_ylim(0, 1.15)
    axes.set_yticks(np.arange(6) / 5)
    axes.set_ylabel("mean weight")
    axes.set_xlabel("times that a code was seen in training")
    axes.legend(loc="upper center", ncols=3, frameon=False, fontsize=8.5)


REAL = RealTask(
    files=(STAYS, CODES),
    obtain=(
        "The stays are UCI's Diabetes 130-US hospitals 1999–2008, the tree is HCUP's multi-level CCS: "
        "docs/gallery/gram.md says how to prepare them."
    ),
    task="Foresee the diagnoses of a patient's next stay in hospital from up to six stays before it.",
    without="no tree: an embedding of each code alone, wider",
    measure=f"recall@{FIRST}",
    better="higher",
    yardstick="code-to-code counts of the newest stay",
    train=train,
    draw=draw,
)
