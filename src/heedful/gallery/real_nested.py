"""Nested attention on real misspellings, children's sentences and learners' English: picture and entry."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from heedful.drawing import BLUE, GREY, ORANGE
from heedful.gallery.entry import Outcome, Published, RealTask
from heedful.gallery.misspelt import CLEAN, HOLBROOK, JFLEG, MISSPELLINGS
from heedful.gallery.over_seeds import mean_and_bar
from heedful.gallery.putting_right import PLAIN, train

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"nested": BLUE, "words alone": ORANGE, PLAIN: GREY}
TEXTS = {"corrupted": "misspellings put into\nclean sentences", "holbrook": "children\n(Holbrook)"}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """What is read for words and letters (first seed); what is put right, what is broken, and GLEU (all)."""
    figure.set_size_inches(13, 8)
    figure.set_layout_engine("constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.1, 1), squeeze=False)[:, 0]
    look = outcomes[0].picture
    words, letters = above.subplots(1, 2, width_ratios=(1.3, 1))
    draw_look(words, look["words"], across=look["given"], down=look["written"], turned=40)
    words.set_title("words: read (across) for each written")
    draw_look(letters, look["letters"], across=[*look["misspelt"], "⏎"], down=[*look["spelt"], "⏎"])
    letters.set_title(f"letters of “{look['misspelt']}”")
    shares, broken, scores = below.subplots(1, 3, width_ratios=(1, 1, 0.8))
    for axes, what in ((shares, "errors put right"), (broken, "good words broken")):
        draw_bars(axes, outcomes, {f"{name}: {what}": label for name, label in TEXTS.items()})
        axes.set_title(what)
    draw_bars(scores, outcomes, {"jfleg: GLEU": "learners (JFLEG)"})
    scores.axhline(look["unchanged"], color="black", linestyle=":")
    scores.text(-0.4, look["unchanged"], "unchanged", va="bottom", fontsize=8)
    scores.set_title("GLEU")
    shares.legend(loc="upper right")


def draw_look(
    axes: "Axes",
    weights: ArrayLike,
    *,
    across: Sequence[str],
    down: Sequence[str],
    turned: float = 0,
) -> None:
    """Weights with what was read across and what was written down."""
    shown = np.asarray(weights)
    if not shown.size:
        return
    axes.imshow(shown, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    rotated: dict[str, Any] = {"rotation": turned, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    axes.set_xticks(range(len(across)), across, **rotated)
    axes.set_yticks(range(len(down)), down)
    axes.grid(visible=False)


def draw_bars(axes: "Axes", outcomes: Sequence[Outcome], asked: Mapping[str, str]) -> None:
    """One bar a corrector, the mean; a line from the lowest seed to the highest."""
    for place, (name, colour) in enumerate(COLOURS.items()):
        values = np.array([[outcome.picture["judged"][name][what] for what in asked] for outcome in outcomes])
        mean, spread = mean_and_bar(values)
        axes.bar(
            np.arange(len(asked)) + 0.27 * (place - 1),
            mean,
            0.25,
            yerr=spread,
            capsize=2,
            color=colour,
            label=name,
        )
    axes.set_xticks(range(len(asked)), list(asked.values()), fontsize=8)


REAL = RealTask(
    files=(CLEAN, MISSPELLINGS, HOLBROOK, JFLEG),
    obtain=(
        "Sentences of Tatoeba, misspellings collected by Mitton and codespell, Holbrook's and JFLEG are "
        "public: docs/gallery/nested.md says where, and how to write the tables."
    ),
    task="Put right real misspellings of words that were never seen misspelt, and break no good word.",
    without="words alone: a misspelt word is unknown, and copied where it writes unknown; a wider decoder",
    measure="errors put right less good words broken, for each error",
    better="higher",
    yardstick="the nearest known word by edit distance, then frequency",
    train=train,
    draw=draw,
    published=Published(
        figure=0.5341,
        source="Ji et al. (2017): GLEU on JFLEG's test",
        difference="Theirs learnt grammar too, from millions of learners' sentences; here only misspellings.",
        ours="jfleg: GLEU, nested",
    ),
)
