"""`multihead` on Multi30k, German to English: what it is held against, and its picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedful.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from heedful.gallery.drawn_translations import BLEU, draw_bars, draw_by_length, draw_reading
from heedful.gallery.entry import Outcome, Published, RealTask
from heedful.gallery.real_bahdanau import REAL as BAHDANAU
from heedful.gallery.translating import EVERY
from heedful.gallery.translating_multihead import BASELINE, FIGURE, GRU, HEADS, named, train
from heedful.gallery.word_pairs import FILE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {
    **dict(zip(map(named, HEADS), (ORANGE, SKY, BLUE, GREEN), strict=True)),
    GRU: PURPLE,
    "lexicon": GREY,
}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """What each head of the last layer reads (first seed); BLEU by number of heads, and by length (all)."""
    figure.set_size_inches(13, 7.6)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(1.2, 1))
    above, below = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    example = outcomes[0].picture["alignments"][0]
    every = above.subplots(1, len(example["weights"]), sharey=True)
    for place, (axes, weights) in enumerate(zip(every, example["weights"], strict=True), start=1):
        draw_reading(axes, example, weights, title=f"head {place} of {len(every)}")
    above.colorbar(every[0].images[0], ax=list(every), label="weight", shrink=0.8)
    heads, lengths = below.subplots(1, 2)
    scores = [outcome.picture["scores"] for outcome in outcomes]
    draw_bars(heads, {name: [seed[name][EVERY][BLEU] for seed in scores] for name in scores[0]}, COLOURS)
    heads.set_xlabel("BLEU")
    lines = (named(BASELINE), named(FIGURE), GRU, "lexicon")
    draw_by_length(lengths, outcomes, {name: COLOURS[name] for name in lines})


REAL = RealTask(
    files=(FILE,),
    obtain="Multi30k (Elliott et al., 2016) is public: docs/gallery/multihead.md says how to get the table.",
    task="Translate captions from German to English (Multi30k, test2016) with a small transformer.",
    without="one head as wide as all heads together",
    measure="BLEU",
    better="higher",
    yardstick=BAHDANAU.yardstick,
    train=train,
    draw=draw,
    published=Published(
        figure=36.5,
        source="Trevett's tutorial pytorch-seq2seq, no. 6: a small transformer, all of test2016",
        difference=(
            "Theirs has 9.0 M parameters and 10 epochs on all 29,000 pairs; the quick size has 0.9 M, 4,000 "
            "short pairs and test sources of at most 10 words, the full size all pairs and 2.7 M."
        ),
    ),
)
