"""`luong` on Multi30k, German to English: what it is held against, and its picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedful.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, YELLOW
from heedful.gallery.drawn_translations import BLEU, draw_bars, draw_by_length, draw_reading
from heedful.gallery.entry import Outcome, RealTask
from heedful.gallery.real_bahdanau import REAL as BAHDANAU
from heedful.gallery.translating import EVERY
from heedful.gallery.translating_luong import BASELINE, FEEDING, FIGURE, OTHER, SAME, train
from heedful.gallery.word_pairs import FILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    FIGURE: BLUE,
    "general": BLUE,
    "concat": BLUE,
    "location": SKY,
    "local-m": GREEN,
    "local-p": GREEN,
    FEEDING: PURPLE,
    BASELINE: ORANGE,
    "lexicon": GREY,
}
LINES = {FIGURE: BLUE, "local-m": YELLOW, "local-p": GREEN, BASELINE: ORANGE, "lexicon": GREY}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """One sentence as three kinds read it (first seed); BLEU of every kind, by order of words, by length."""
    figure.set_size_inches(13, 8.4)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(1.1, 1))
    above, below = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    found = outcomes[0].picture["alignments"]
    shown = [kind for kind in (FIGURE, "local-m", "local-p") if kind in found]
    every = above.subplots(1, len(shown), squeeze=False)[0]
    for axes, kind in zip(every, shown, strict=True):
        example = found[kind][0]
        draw_reading(axes, example, example["weights"], title=kind)
    above.colorbar(every[0].images[0], ax=list(every), label="weight", shrink=0.8)
    kinds, orders, lengths = below.subplots(1, 3, width_ratios=(1, 1, 0.9))
    trained = list(outcomes[0].picture["scores"])
    draw_bars(kinds, {kind: bleu(outcomes, kind, EVERY) for kind in trained}, COLOURS)
    kinds.set_xlabel("BLEU")
    draw_over(orders, outcomes, [kind for kind in trained if kind not in (FIGURE, BASELINE)])
    draw_by_length(lengths, outcomes, {name: LINES[name] for name in LINES if name in (*trained, "lexicon")})


def bleu(outcomes: Sequence[Outcome], kind: str, group: str) -> list[float]:
    """BLEU of a kind in a group of sentences, by seed."""
    return [outcome.picture["scores"][kind].get(group, [0.0])[BLEU] for outcome in outcomes]


def draw_over(axes: "Axes", outcomes: Sequence[Outcome], kinds: Sequence[str]) -> None:
    """What each kind gains over the dot product, where words stand in the same order and where not."""
    for shift, group, colour in ((-0.2, SAME, GREY), (0.2, OTHER, PURPLE)):
        for place, kind in enumerate(kinds):
            ours, dot = (bleu(outcomes, name, group) for name in (kind, FIGURE))
            gains = [one - other for one, other in zip(ours, dot, strict=True)]
            mean = sum(gains) / len(gains)
            axes.barh(place + shift, mean, 0.38, color=colour, label="" if place else group)
            axes.plot(gains, [place + shift] * len(gains), "o", color="black", ms=2.5)
    axes.axvline(0, color="black", lw=0.8)
    axes.set_yticks(range(len(kinds)), kinds)
    axes.invert_yaxis()
    axes.set_xlabel(f"BLEU over {FIGURE}")
    axes.legend(frameon=False, fontsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


REAL = RealTask(
    files=(FILE,),
    obtain="Multi30k (Elliott et al., 2016) is public: docs/gallery/luong.md says how to write the table.",
    task="Translate captions from German to English (Multi30k, test2016) with each kind of attention.",
    without="the same encoder–decoder reading only the encoder's last states",
    measure="BLEU",
    better="higher",
    yardstick=BAHDANAU.yardstick,
    train=train,
    draw=draw,
    published=BAHDANAU.published,
)
