"""Location-sensitive attention on real speech: the picture, and what the entry says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.drawing import BLACK, BLUE, GREEN, ORANGE
from heedful.gallery.entry import Outcome, RealTask
from heedful.gallery.listener import KINDS, Kind
from heedful.gallery.long_strings import LEARNT, PLAIN, TESTED, Errors, train
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.spoken_digits import FILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"content": ORANGE, "location": GREEN, "hybrid": BLUE, PLAIN: BLACK}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """What each kind reads of one long string (first seed), and errors by length and of new voices (all)."""
    figure.set_size_inches(12.5, 7.6)
    figure.set_layout_engine("constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.15, 1), squeeze=False)[:, 0]
    picture = outcomes[0].picture
    every = above.subplots(1, len(KINDS))
    for axes, kind in zip(every, KINDS, strict=True):
        draw_reading(axes, kind, picture)
    every[0].set_ylabel("digit written (dotted: longest learnt from)")
    above.colorbar(every[0].images[0], ax=list(every), label="weight (orange: the digit's own frames)")
    known, new = below.subplots(1, 2, sharey=True)
    for axes, which in ((known, "known"), (new, "new")):
        draw_errors(axes, [outcome.picture[which] for outcome in outcomes])
    known.set(title="speakers that were learnt from, other takes", ylabel="digit error rate")
    new.set_title(f"a new voice ({', '.join(outcome.picture['voice'] for outcome in outcomes)})")
    known.set_ylim(bottom=0)  # once both are drawn: they share their scale
    known.legend()


def draw_reading(axes: "Axes", kind: Kind, picture: Mapping[str, Any]) -> None:
    owners, said, written = np.array(picture["owners"]), picture["said"], picture["written"][kind]
    rows = np.zeros((max(len(said), len(written)), len(owners)))
    if written:
        rows[: len(written)] = picture["weights"][kind]
    axes.imshow(rows, cmap="viridis", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for step in range(len(said)):
        own = (owners == step).nonzero()[0]
        axes.plot((own[0] - 0.5, own[-1] + 0.5), (step, step), color=ORANGE, linewidth=1)
    axes.axhline(LEARNT[1] - 0.5, color="white", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(written)), written, fontsize=7)
    axes.set_xlabel("frame read (40 ms each)")
    axes.set_title(f"{kind}\nsaid {''.join(map(str, said))}\nwrote {''.join(map(str, written))}", fontsize=8)
    axes.grid(visible=False)


def draw_errors(axes: "Axes", seeds: Sequence[Errors]) -> None:
    """One line a model, the mean; a bar from the lowest to the highest."""
    for kind, colour in COLOURS.items():
        values = np.array([[by[kind][name] for name in TESTED] for by in seeds])
        axes.errorbar(
            list(TESTED),
            *mean_and_bar(values),
            color=colour,
            fmt="o:" if kind == PLAIN else "o-",
            capsize=2,
            label=kind,
        )


REAL = RealTask(
    files=(FILE,),
    obtain=(
        "The Free Spoken Digit Dataset is public (CC BY-SA 4.0): docs/gallery/location.md says where, and "
        "how its log-mel energies are made."
    ),
    task="Write down strings of 12 to 20 spoken digits, takes never heard, after learning from 3 to 6.",
    without="content alone: the same without filters over the weights before, and a wider tanh layer",
    measure="digit error rate, strings of 12–20",
    better="lower",
    yardstick="the nearest row of warped training takes (dynamic time warping)",
    train=train,
    draw=draw,
)
