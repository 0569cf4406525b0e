"""`bahdanau` on Multi30k, German to English: what it is held against, and its picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedful.drawing import BLUE, GREY, ORANGE
from heedful.gallery.drawn_translations import PERPLEXITY, draw_by_length, draw_reading
from heedful.gallery.entry import Outcome, Published, RealTask
from heedful.gallery.translating_bahdanau import train
from heedful.gallery.word_pairs import FILE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"attention": BLUE, "last states": ORANGE, "lexicon": GREY}


def draw(outcomes: Sequence[Outcome], figure: "Figure") -> None:
    """Three sentences with what was read for each word (first seed), and both measures by length (all)."""
    figure.set_size_inches(13, 8)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(1.3, 1))
    above, below = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    examples = outcomes[0].picture["alignments"]
    every = above.subplots(1, len(examples), squeeze=False)[0]
    for axes, example in zip(every, examples, strict=True):
        draw_reading(axes, example, example["weights"], title=f"reference: {' '.join(example['right'])}")
    above.colorbar(every[0].images[0], ax=list(every), label="weight", shrink=0.8)
    bleu, perplexity = below.subplots(1, 2)
    draw_by_length(bleu, outcomes, COLOURS)
    draw_by_length(perplexity, outcomes, COLOURS, which=PERPLEXITY)


REAL = RealTask(
    files=(FILE,),
    obtain="Multi30k (Elliott et al., 2016) is public: docs/gallery/bahdanau.md says how to write the table.",
    task="Translate captions of pictures from German to English (Multi30k, test2016).",
    without="the same encoder–decoder reading only the encoder's last states, with a wider decoder",
    measure="BLEU",
    better="higher",
    yardstick="word-by-word translation by a lexicon (IBM's model 1)",
    train=train,
    draw=draw,
    published=Published(
        figure=28.1,
        source="Trevett's tutorial pytorch-seq2seq, no. 4: a GRU with additive attention, all of test2016",
        difference=(
            "Theirs has 20.5 M parameters and 10 epochs on all 29,000 pairs; the quick size has 0.6 M, 4,000 "
            "short pairs and test sources of at most 10 words, the full size all pairs and 2.7 M."
        ),
    ),
)
