"""Attention over a code and its ancestors (GRAM: Choi et al., 2017): what follows from a rare diagnosis.

Each code's vector is a mixture of its own embedding and those of its group, its chapter and the root. The
paper reads a history of visits with a recurrence; here the next visit depends on the present one alone, and
so does the model: the codes of a visit are summed, tanh, and a linear layer scores every code.
Axes: V nodes, D codes, T a code and its ancestors, B patients, H width.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import spearmanr
from torch import Tensor, nn

from heedful.attention import AncestorAttention, Attended, ancestor_table, uniform_weights, weighted_sum
from heedful.gallery.diagnoses import Ontology, Visits, counts_of, draw_visits, grow_ontology
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.real_gram import REAL
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Mix = Literal["attention", "mean", "none"]
WIDTHS: dict[Mix, int] = {"attention": 24, "mean": 25, "none": 27}  # as many parameters each
# All learn at both. The figure is at 0.1, on seed 100 the best of 0.02, 0.05 and 0.1 for rare codes without
# ontology; attention's weights differ more between rare and common codes at 0.04.
RATES = (0.1, 0.04)
FIRST = 20  # a consequence counts as foreseen if it is among so many codes
BANDS = {"1–4": (1, 4), "5–20": (5, 20), "21–100": (21, 100), "over 100": (101, 10**9)}  # times seen
LEVELS = ("itself", "group", "chapter", "root")
LENGTH = 3  # of every embedding that is mixed
EMBEDDED: dict[Mix, float] = {"attention": 0.3, "mean": 0.3, "none": 0.1}  # size at the start
SIZES: dict[Size, dict[str, int]] = {
    "full": {"patients": 50_000, "tested": 20_000, "steps": 800},
    "small": {"patients": 50_000, "tested": 5000, "steps": 400},
}
BATCH = 128


class Foreseer(nn.Module):
    """From the codes of a visit to scores of the codes of the next."""

    def __init__(self, ontology: Ontology, *, mix: Mix) -> None:
        super().__init__()
        width = WIDTHS[mix]
        nodes, mask = ancestor_table(ontology.parents)
        self.mix = mix
        self.nodes, self.mask = nodes[: ontology.codes], mask[: ontology.codes]
        self.embed = nn.Embedding(ontology.codes if mix == "none" else len(ontology.parents), width)
        nn.init.normal_(self.embed.weight, std=EMBEDDED[mix])
        self.attention = AncestorAttention(width) if mix == "attention" else None
        self.decide = nn.Linear(width, ontology.codes)

    def vectors(self) -> Tensor:
        """The vectors (D,H) of all codes."""
        if self.mix == "none":
            return self.embed.weight
        if self.mix == "attention":
            return self.climb().context
        return weighted_sum(uniform_weights(self.mask), self.lineage())

    def lineage(self) -> Tensor:
        """Each code and its ancestors (D,T,H), all as long: only weights can say how much each counts."""
        return LENGTH * F.normalize(self.embed(self.nodes), dim=-1)

    def climb(self) -> Attended:
        """Read every code and its ancestors (D,T)."""
        assert self.attention is not None
        attended: Attended = self.attention(self.lineage(), self.mask)
        return attended

    def forward(self, present: Tensor) -> Tensor:
        """Score all codes (B,D) after visits (B,2)."""
        logits: Tensor = self.decide(self.vectors()[present].sum(1).tanh())
        return logits


def fit(model: Foreseer, visits: Visits, *, steps: int, rate: float) -> None:
    """Learn what stands at the next visit, in few passes.

    In many passes rare codes are learnt by heart, and attention comes to favour them for it.
    """
    rows = torch.cat([torch.randperm(len(visits)) for _ in range(1 + steps * BATCH // len(visits))])
    batches = iter(rows.split(BATCH))

    def loss() -> Tensor:
        batch = next(batches)
        likely = model(visits.present[batch]).log_softmax(-1)
        surprise: Tensor = -likely.gather(1, visits.following[batch]).mean()
        return surprise

    learn(model, loss, steps=steps, rate=rate)


@torch.no_grad()
def foreseen(model: Foreseer, visits: Visits) -> Tensor:
    """Whether what follows from each first code is among the likeliest: (B), 0 or 1."""
    best = model(visits.present).topk(FIRST).indices
    among: Tensor = (best == visits.following[:, :1]).any(-1).float()
    return among


def train(seed: int, size: Size) -> Outcome:
    """Train with attention to ancestors, with their mean, and without them, on the same patients."""
    sizes, ontology = SIZES[size], grow_ontology(seed)
    learnt = draw_visits(ontology, sizes["patients"], seed=seed)
    tested = draw_visits(ontology, sizes["tested"], seed=seed, evenly=True)
    seen = counts_of(learnt, ontology.codes)
    models: dict[tuple[Mix, float], Foreseer] = {}
    shares: dict[tuple[Mix, float], dict[str, float]] = {}
    for mix in WIDTHS:
        for rate in RATES:
            with one_thread(), seeded(seed):
                models[mix, rate] = model = Foreseer(ontology, mix=mix)
                fit(model, learnt, steps=sizes["steps"], rate=rate)
            shares[mix, rate] = by_band(foreseen(model, tested), seen[tested.present[:, 0]])
    first, rare = RATES[0], next(iter(BANDS))
    attending = {rate: models["attention", rate] for rate in RATES}
    looks = {rate: look(model, seen) for rate, model in attending.items()}
    return Outcome(
        figure=shares["attention", first][rare],
        baseline=shares["none", first][rare],
        parameters=parameters_of(models["attention", first]),
        baseline_parameters=parameters_of(models["none", first]),
        table={
            f"rate {rate}: {name}": value
            for rate in RATES
            for name, value in {
                **{f"{band}, {NAMES[mix]}": shares[mix, rate][band] for band in BANDS for mix in WIDTHS},
                **{f"{band}, weight of ancestors": 1 - looks[rate][band][0] for band in BANDS},
                RANKS: correlation(attending[rate], seen),
            }.items()
        },
        picture={"looks": looks, "shares": {mix: shares[mix, first] for mix in WIDTHS}},
    )


def by_band(values: Tensor, seen: Tensor) -> dict[str, float]:
    """The mean of values (B) over each band of how often the code was seen (B)."""
    return {
        band: values[(seen >= least) & (seen <= most)].mean().item() for band, (least, most) in BANDS.items()
    }


@torch.no_grad()
def look(model: Foreseer, seen: Tensor) -> dict[str, list[float]]:
    """The mean weight of a code itself, its group, its chapter and the root, by band."""
    weights = model.climb().weights  # (D,T)
    columns = [by_band(column, seen) for column in weights.unbind(-1)]
    return {band: [column[band] for column in columns] for band in BANDS}


@torch.no_grad()
def correlation(model: Foreseer, seen: Tensor) -> float:
    """Spearman's ρ over codes that were seen."""
    ancestors = 1 - model.climb().weights[:, 0]
    return float(spearmanr(seen[seen > 0], ancestors[seen > 0]).statistic)


RANKS = "rank correlation of times seen and weight of ancestors"
NAMES: dict[Mix, str] = {"attention": "attention", "mean": "mean", "none": "no ontology"}


def draw(outcome: Outcome, figure: "Figure") -> None:
    """What a code leans on, and how often its consequence is foreseen, both by how often it was seen."""
    figure.set_size_inches(12.5, 4.2)
    figure.set_layout_engine("constrained")
    looks = outcome.picture["looks"]
    shares, *weights = figure.subplots(1, 1 + len(looks))
    draw_shares(shares, outcome.picture["shares"])
    shares.set_title(f"foreseen, rate {RATES[0]}", fontsize=11)
    for axes, (rate, by) in zip(weights, looks.items(), strict=True):
        draw_looks(axes, by)
        axes.set_title(f"attention, rate {rate}", fontsize=11)
    for axes in (shares, *weights):
        axes.set_xlabel("times that a code was seen in training")
        axes.spines[["top", "right"]].set_visible(False)


def draw_looks(axes: "Axes", looks: dict[str, list[float]]) -> None:
    bottom = np.zeros(len(looks))
    for level, colour in zip(range(len(LEVELS)), ("tab:orange", "tab:blue", "#8fb8de", "0.8"), strict=True):
        heights = np.array([weights[level] for weights in looks.values()])
        axes.bar(list(looks), heights, bottom=bottom, label=LEVELS[level], color=colour)
        bottom += heights
    axes.set_ylim(0, 1.2)
    axes.set_yticks(np.arange(6) / 5)
    axes.set_ylabel("weight of a code and its ancestors")
    axes.legend(loc="upper center", ncols=4, frameon=False, fontsize=8.5, columnspacing=1, handlelength=1)


def draw_shares(axes: "Axes", shares: "dict[Mix, dict[str, float]]") -> None:
    styles = {"attention": ("tab:blue", "o-"), "mean": ("0.45", "s:"), "none": ("tab:orange", "^--")}
    for mix, by in shares.items():
        colour, style = styles[mix]
        axes.plot(list(by), list(by.values()), style, color=colour, label=NAMES[mix])
    axes.set_ylim(0, 1)
    axes.set_ylabel(f"consequence among the {FIRST} likeliest, share")
    axes.legend(loc="lower right", frameon=False)


ENTRY = Entry(
    name="gram",
    title="Attention to a code and its ancestors",
    source="Choi et al. (2017), GRAM: Graph-based Attention Model for Healthcare Representation Learning",
    task="Foresee the diagnoses of the next visit from those of this one, also where they are rare.",
    formula=(
        "g_i = Σ_{j ∈ A(i)} α_ij e_j,  α_i = softmax over A(i) of uᵀ tanh(W [e_i; e_j] + b)\n"
        "A(i): the code and all its ancestors"
    ),
    without="an embedding of each code alone, somewhat wider",
    measure=f"consequences of rare codes among the {FIRST} likeliest",
    better="higher",
    train=train,
    draw=draw,
    real=REAL,
)
