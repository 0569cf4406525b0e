"""Gallery: several heads (Vaswani et al., 2017) copy from two places at once, which one head cannot.

Each place of a sequence must say which symbols stand `NEAR` and `FAR` places before it, round the end: one
layer of self-attention, then a linear decision for each of the two.

Why one head cannot: it hands on w e_a + (1 − w) e_b, a blend of the two symbols' values, the same w for all
symbols if it looks at places. Let M(k, a) be how much a full look at symbol a speaks for answer k. To say a,
the one with more weight, is easy. To say b against a, for (a, b) and for (b, a), needs
M(b,a) + M(a,b) > M(a,a) + M(b,b); to say b against a third symbol c after the same a, for (a, b, c) and for
(a, c, b), needs M(b,b) + M(c,c) > M(b,c) + M(c,b). For the pair b, c these contradict each other.
Axes: B sequences, T places, H width, R heads, K symbols.
"""

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from heedful.attention import Attended, MultiHead
from heedful.gallery.entry import Entry, Outcome, Size
from heedful.gallery.learning import learn, parameters_of
from heedful.gallery.real_multihead import REAL
from heedful.gallery.seeded import seeded
from heedful.training.devices import one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMBOLS, PLACES = 11, 13
NEAR, FAR = 2, 5
WIDTH = 32
HEADS = (1, 2, 4, 8)
FIGURE = 2
RATE = 0.01


def draw_sequences(count: int) -> tuple[Tensor, Tensor]:
    """Symbols (B,T) from torch's generator, and for each place the two that it must name (B,T,2)."""
    symbols = torch.randint(SYMBOLS, (count, PLACES))
    return symbols, torch.stack([symbols.roll(offset, 1) for offset in (NEAR, FAR)], -1)


class Copier(nn.Module):
    """One layer of self-attention over symbols and places, and a linear decision for each answer."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.symbols, self.places = nn.Embedding(SYMBOLS, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.attention = MultiHead(WIDTH, heads)
        self.decide = nn.Linear(WIDTH, 2 * SYMBOLS)

    def attend(self, symbols: Tensor) -> Attended:
        """Read the sequence (B,T) from each of its places."""
        states = self.symbols(symbols) + self.places.weight
        attended: Attended = self.attention(states, torch.ones_like(symbols, dtype=torch.bool))
        return attended

    def forward(self, symbols: Tensor) -> Tensor:
        """Turn symbols (B,T) into logits (B,T,2,K)."""
        logits: Tensor = self.decide(self.attend(symbols).context).unflatten(-1, (2, SYMBOLS))
        return logits


def learn_to_copy(heads: int, *, seed: int, steps: int) -> Copier:
    """A model with so many heads, trained on sequences that are drawn anew for each step."""
    with one_thread(), seeded(seed):
        model = Copier(heads)

        def loss() -> Tensor:
            symbols, answers = draw_sequences(64)
            return F.cross_entropy(model(symbols).flatten(0, 2), answers.flatten())

        learn(model, loss, steps=steps, rate=RATE)
    return model


@torch.no_grad()
def both_right(model: Copier, *, seed: int) -> float:
    """The share of places that name both symbols, over 1000 sequences."""
    with seeded(seed):
        symbols, answers = draw_sequences(1000)
    return float((model(symbols).argmax(-1) == answers).all(-1).double().mean())


def train(seed: int, size: Size) -> Outcome:
    """Train one head and several, on the same sequences."""
    steps, every = (600, HEADS) if size == "full" else (200, (1, FIGURE))
    models = {heads: learn_to_copy(heads, seed=seed, steps=steps) for heads in every}
    right = {heads: both_right(model, seed=seed + 1_000_000) for heads, model in models.items()}
    return Outcome(
        right[FIGURE],
        right[1],
        parameters_of(models[FIGURE]),
        parameters_of(models[1]),
        table={f"{heads} head{'s' * (heads > 1)}": share for heads, share in right.items()},
        picture={"one": mean_weights(models[1])[0], "several": mean_weights(models[FIGURE]), "right": right},
    )


@torch.no_grad()
def mean_weights(model: Copier) -> Any:
    """The weights (R,T,T) of each head, on average over sequences."""
    with seeded(0):
        symbols, _ = draw_sequences(100)
    return model.attend(symbols).weights.mean(0).numpy()


def draw(outcome: Outcome, figure: "Figure") -> None:
    """Where each place looks, with two heads and with one, and how often both symbols are right."""
    figure.set_size_inches(12, 3.6)
    figure.set_layout_engine("constrained")
    several, right = outcome.picture["several"], outcome.picture["right"]
    panels = [(f"head {place} of {len(several)}", head) for place, head in enumerate(several, start=1)]
    panels.append(("the only head", outcome.picture["one"]))
    every = figure.subplots(1, len(panels) + 1)
    for axes, (title, weights) in zip(every, panels, strict=False):
        image = axes.imshow(weights, cmap="viridis", vmin=0, vmax=1)
        axes.set(title=title, xlabel="place read", xticks=(0, 6, 12), yticks=(0, 6, 12))
    every[0].set_ylabel("place that asks")
    figure.colorbar(image, ax=every[len(panels) - 1], label="mean weight", shrink=0.7)
    colours = ["tab:orange" if heads == 1 else "tab:blue" for heads in right]
    bars = every[-1].bar([str(heads) for heads in right], list(right.values()), color=colours)
    every[-1].bar_label(bars, [f"{share:.0%}" for share in right.values()])
    every[-1].set(xlabel="heads", ylabel="both right", ylim=(0, 1.1))
    every[-1].spines[["top", "right"]].set_visible(False)


ENTRY = Entry(
    name="multihead",
    title="Multi-head self-attention",
    source="Vaswani et al. (2017), Attention is all you need",
    task=f"At each place of a sequence, name the symbols {NEAR} and {FAR} places before it, both at once.",
    formula="head_r = softmax(Q_r K_rᵀ / √D) V_r,  MultiHead(Q, K, V) = [head_1; …; head_R] W^O",
    without="one head as wide as all heads together",
    measure="both symbols right",
    better="higher",
    train=train,
    draw=draw,
    aim=0.98,
    real=REAL,
)
