"""Attentive collaborative filtering (Chen et al., 2017) on Last.fm: artists are items, their tags components.

Beside it, of as many parameters: the plain average of the history (attention taken out, nothing else) and
matrix factorisation. All learn by BPR (Rendle et al., 2009); the decay and the epoch with the best NDCG on
dev count.
Axes: U users, I items, L items of a history, M tags of an item, X width of a tag, D of users and items.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import CollaborativeAttention, masked_softmax, uniform_weights
from heedful.drawing import BLUE, GREY, ORANGE
from heedful.gallery.entry import Outcome, RealTask, Size
from heedful.gallery.learning import as_large, parameters_of
from heedful.gallery.listening import ARTISTS, NONE, PLAYS, TAGS, Listening, read_listening
from heedful.gallery.over_seeds import labelled_bars
from heedful.gallery.ranking import gain, hit_rate, ranks
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("attention", "average", "factors")
WIDTH, TAG_WIDTH, INNER = 16, 8, 16
POPULARITY, NEIGHBOURS = "popularity", "item-kNN"


@dataclass(frozen=True)
class Budget:
    epochs: int
    users: int | None = None
    batch: int = 64  # users
    rate: float = 0.01
    decays: tuple[float, ...] = (0.003, 0.02)  # dev chooses, for each model


BUDGETS: dict[Size, Budget] = {
    "small": Budget(epochs=3, users=200, rate=0.03, decays=(0.003,)),
    "quick": Budget(epochs=15),
    "full": Budget(epochs=60, rate=0.005, decays=(0.001, 0.003, 0.01, 0.03)),
}


class Recommender(nn.Module):
    """A user's profile times an item's vector, and a number for each item."""

    def __init__(self, listening: Listening, kind: str, *, width: int = WIDTH) -> None:
        super().__init__()
        users, items = len(listening.history), listening.items
        self.kind = kind
        self.history: Tensor
        self.tags: Tensor
        self.register_buffer("history", listening.history)
        self.register_buffer("tags", listening.tags)
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.popularity = nn.Embedding(items, 1)
        self.played = nn.Embedding(items, width) if kind != "factors" else None
        self.tag_vectors = nn.Embedding(len(listening.tag_names), TAG_WIDTH) if kind == "attention" else None
        self.attention = (
            CollaborativeAttention(width, TAG_WIDTH, width=INNER) if kind == "attention" else None
        )
        for name, table in self.named_children():
            if isinstance(table, nn.Embedding):
                nn.init.normal_(table.weight, std=0.0 if name == "popularity" else 0.1)

    def weights(self, users: Tensor) -> tuple[Tensor, Tensor | None]:
        """Scores of the history (B,L) by which it is weighed, and the weights of tags (B,L,M)."""
        history = self.history[users]
        if self.attention is None:
            return torch.zeros(history.shape, device=history.device), None
        assert self.played is not None
        assert self.tag_vectors is not None
        items = history.clamp(min=0)
        tags = self.tags[items]
        attended = self.attention(
            self.users(users),
            self.items(items),
            history=self.played(items),
            components=self.tag_vectors(tags.clamp(min=0)),
            mask=history != NONE,
            component_mask=tags != NONE,
        )
        return attended.items.scores, attended.components.weights

    def profile(self, users: Tensor) -> Tensor:
        """What stands for each user (B,D)."""
        own: Tensor = self.users(users)
        if self.played is None:
            return own
        history = self.history[users]
        weights = masked_softmax(self.weights(users)[0], history != NONE)
        read: Tensor = weights.unsqueeze(1) @ self.played(history.clamp(min=0))
        return own + read.squeeze(1)

    def profiles_without(self, users: Tensor) -> Tensor:
        """What stands for each user if one item of the history is left out, for every item: (B,L,D)."""
        history = self.history[users]
        own = self.users(users).unsqueeze(1)
        if self.played is None:
            return own.expand(-1, history.shape[1], -1)  # type: ignore[no-any-return]
        others = (history != NONE).unsqueeze(1) & ~torch.eye(
            history.shape[1], dtype=torch.bool, device=own.device
        )
        scores = self.weights(users)[0].unsqueeze(1).expand(others.shape)
        left: Tensor = own + masked_softmax(scores, others) @ self.played(history.clamp(min=0))
        return left

    def scores(self, users: Tensor, candidates: Tensor) -> Tensor:
        """How much each user (B) wants each candidate (B,C)."""
        wanted = (self.items(candidates) @ self.profile(users).unsqueeze(-1)).squeeze(-1)
        return wanted + self.popularity(candidates).squeeze(-1)  # type: ignore[no-any-return]


def loss_of(model: Recommender, users: Tensor, decay: float) -> Tensor:
    """BPR: every item of a history should be preferred to a random one by the profile without it."""
    history = model.history[users]
    there, clicked = history != NONE, history.clamp(min=0)
    other = torch.randint(len(model.items.weight), clicked.shape, device=clicked.device)
    profiles = model.profiles_without(users)
    margin = (profiles * (model.items(clicked) - model.items(other))).sum(-1)
    margin = margin + (model.popularity(clicked) - model.popularity(other)).squeeze(-1)
    used = [model.items(clicked), model.items(other), model.users(users).unsqueeze(1).expand(profiles.shape)]
    if model.played is not None:
        used.append(model.played(clicked))
    squares = torch.stack([vectors.square().sum(-1) for vectors in used]).sum(0)
    return (decay * squares - F.logsigmoid(margin))[there].mean()


def fit(model: Recommender, listening: Listening, budget: Budget, *, decay: float) -> float:
    """Learn, and keep the epoch with the best NDCG on dev, which is given."""
    optimiser = torch.optim.Adam(model.parameters(), lr=budget.rate)
    best, kept = -1.0, model.state_dict()
    everybody = torch.arange(len(listening.history))
    for _ in range(budget.epochs):
        for users in everybody[torch.randperm(len(everybody))].split(budget.batch):
            optimiser.zero_grad()
            loss_of(model, users.to(model.history.device), decay).backward()
            optimiser.step()
        judged = gain(rank(model, listening.dev))
        if judged > best:
            best, kept = judged, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    return best


def learn_kind(listening: Listening, kind: str, budget: Budget, *, seed: int, device: str) -> Recommender:
    """A model of a kind, with the decay that dev favours."""
    tried = []
    for decay in budget.decays:
        with one_thread(), seeded(seed):
            model = build(listening, kind).to(device)
            tried.append((fit(model, listening, budget, decay=decay), model))
    return max(tried, key=lambda pair: pair[0])[1]


@torch.no_grad()
def rank(model: Recommender, candidates: Tensor) -> Tensor:
    """The rank (U) of each user's first candidate."""
    device = model.history.device
    parts = torch.arange(len(candidates)).split(200)
    return ranks(
        torch.cat([model.scores(rows.to(device), candidates[rows].to(device)).cpu() for rows in parts])
    )


def plain_ranks(listening: Listening) -> dict[str, Tensor]:
    """Plain yardsticks: how many play an artist, and how like those of the history it is (cosine)."""
    played = listening.played()
    popular = played.sum(0)
    unit = played / popular.clamp(min=1).sqrt()
    near = played @ (unit.mT @ unit).fill_diagonal_(0)  # (U,I)
    return {
        POPULARITY: ranks(popular[listening.test]),
        NEIGHBOURS: ranks(near.gather(1, listening.test)),
    }


def train(seed: int, size: Size, folder: Path, device: str) -> Outcome:
    """Train the three recommenders and rank each user's test artist."""
    budget = BUDGETS[size]
    listening = read_listening(folder, users=budget.users)
    models: dict[str, Recommender] = {}
    found = {}
    for kind in KINDS:
        models[kind] = learn_kind(listening, kind, budget, seed=seed, device=device)
        found[kind] = rank(models[kind], listening.test)
    found |= plain_ranks(listening)
    attention = models["attention"].cpu()
    return Outcome(
        figure=hit_rate(found["attention"]),
        baseline=hit_rate(found["average"]),
        parameters=parameters_of(attention),
        baseline_parameters=parameters_of(models["average"]),
        table={
            **{f"HR@10, {kind}": hit_rate(ranked) for kind, ranked in found.items()},
            **{f"NDCG@10, {kind}": gain(ranked) for kind, ranked in found.items()},
            **spread(attention),
        },
        picture=shown(attention, listening, found),
        yardstick=hit_rate(found[NEIGHBOURS]),
    )


def build(listening: Listening, kind: str) -> Recommender:
    """A model of a kind; all have as many parameters as the one with attention."""
    if kind == "attention":
        return Recommender(listening, kind)
    target = parameters_of(Recommender(listening, "attention"))
    return as_large(lambda width: Recommender(listening, kind, width=width), target, widest=128)


@torch.no_grad()
def spread(model: Recommender) -> dict[str, float]:
    """How far from even attention is: so many items, and tags, it amounts to (exp of its entropy)."""
    users = torch.arange(len(model.history))
    there = model.history != NONE
    scores, inside = model.weights(users)
    assert inside is not None
    tagged = (model.tags != NONE).sum(-1)[model.history.clamp(min=0)][there]
    return {
        "items in a history": float(there.sum(1).double().mean()),
        "items that attention amounts to": float(perplexity(masked_softmax(scores, there)).mean()),
        "tags of an artist": float(tagged.double().mean()),
        "tags that attention amounts to": float(perplexity(inside[there]).mean()),
    }


def perplexity(weights: Tensor) -> Tensor:
    amounts: Tensor = torch.special.entr(weights).sum(-1).exp()
    return amounts


@torch.no_grad()
def shown(model: Recommender, listening: Listening, found: dict[str, Tensor]) -> dict[str, Any]:
    """The first user whose test artist is found: the ten artists most attended to, with their tags."""
    user = int((found["attention"] < 1).nonzero()[0]) if bool((found["attention"] < 1).any()) else 0
    history = listening.history[user]
    scores, inside = model.weights(torch.tensor([user]))
    assert inside is not None
    weights = masked_softmax(scores, (history != NONE).unsqueeze(0))[0]
    artists = []
    for place in weights.topk(min(10, int((history != NONE).sum()))).indices.tolist():
        item = int(history[place])
        tags = listening.tags[item]
        pairs = [
            (listening.tag_names[int(tag)], float(weight))
            for tag, weight in zip(tags, inside[0, place], strict=True)
            if tag != NONE
        ]
        artists.append(
            {
                "name": listening.names[item],
                "weight": float(weights[place]),
                "tags": sorted(pairs, key=lambda pair: -pair[1])[:4],
            }
        )
    return {
        "artists": artists,
        "even": float(uniform_weights(history != NONE).max()),
        "wanted": listening.names[int(listening.test[user, 0])],
        "rates": {kind: hit_rate(ranked) for kind, ranked in found.items()},
    }


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """One user's artists by their weights with the tags most read (first seed), and hit rates (all seeds)."""
    figure.set_size_inches(11, 4.4)
    figure.set_layout_engine("constrained")
    artists, rates = figure.subplots(1, 2, width_ratios=(6, 4))
    draw_artists(artists, outcomes[0].picture)
    kinds = (POPULARITY, "factors", "average", "attention", NEIGHBOURS)
    seeds = [[outcome.picture["rates"][kind] for kind in kinds] for outcome in outcomes]
    labelled_bars(rates, kinds, seeds, colours=[GREY, GREY, ORANGE, BLUE, GREY], digits=3)
    rates.tick_params(axis="x", labelsize=8.5)
    rates.set_ylim(0, 1.05)
    rates.set_ylabel("HR@10 among 99 others")


def draw_artists(axes: "Axes", picture: Mapping[str, Any]) -> None:
    artists = picture["artists"]
    places = range(len(artists))
    axes.barh(places, [artist["weight"] for artist in artists], color=BLUE)
    widest = max(artist["weight"] for artist in artists)
    for place, artist in zip(places, artists, strict=True):
        said = ", ".join(f"{tag} {weight:.2f}" for tag, weight in artist["tags"])
        axes.text(artist["weight"] + 0.02 * widest, place, said, va="center", fontsize=7.5)
    axes.axvline(picture["even"], color=GREY, ls="--", lw=1)
    axes.set_xlim(0, 2.4 * widest)  # room for the tags
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= widest])
    axes.set_yticks(places, [artist["name"] for artist in artists], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("weight of an artist (dashed: all alike), and its four most read tags")
    axes.set_title(f"a history from which {picture['wanted']} is found", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


REAL = RealTask(
    files=(PLAYS, TAGS, ARTISTS),
    obtain=(
        "They are made from HetRec 2011's Last.fm-2K (GroupLens): docs/gallery/acf.md says where it is, and "
        "how to write the tables."
    ),
    task="Among 100 artists find the one that a user plays too, from their other artists and the tags.",
    without="the plain average of the history, with wider vectors",
    measure="hit rate@10",
    better="higher",
    yardstick=NEIGHBOURS,
    train=train,
    draw=draw,
)
