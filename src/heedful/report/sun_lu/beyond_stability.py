"""Which words' scores repeat over seeds: by frequency, and the words at the ends (`sun-lu-stability`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

PAINT = {"polarity": (ORANGE, "s"), "attention": (BLUE, "o")}
EACH = 12  # words shown of the most stable, and of the luckiest
LEAST = 20  # occurrences of a word that is shown


def draw_stability(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Intraclass correlation and the top tenth by frequency; then words with their intervals."""
    bands, words = tables["bands"], tables["words"]
    figure = new_figure(10.2, 4.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.35))
    upper, lower = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    _by_band(upper, bands, "icc", "intraclass correlation")
    _by_band(lower, bands, "top again", "in the top tenth again")
    lower.axhline(float(bands["top again by chance"].iloc[0]), color=GREY, linestyle="--", linewidth=1)
    upper.legend(loc="lower right")
    lower.set_xlabel("occurrences in the training split")
    _words(figure.add_subplot(grid[:, 1]), words)
    return figure


def _by_band(axes: "Axes", table: "DataFrame", column: str, label: str) -> None:
    bands = list(dict.fromkeys(table["occurrences"]))
    for shift, (score, (colour, marker)) in zip((-0.1, 0.1), PAINT.items(), strict=True):
        rows = table[table["score"] == score].set_index("occurrences").loc[bands]
        down, up = rows[column] - rows[f"{column} low"], rows[f"{column} high"] - rows[column]
        places = [place + shift for place in range(len(bands))]
        axes.errorbar(
            places, rows[column], [down, up], fmt=marker, color=colour, markersize=5, capsize=2, label=score
        )
    axes.set_xticks(range(len(bands)), [band.replace(" or more", "+") for band in bands])
    axes.set_ylim(min(-0.02, axes.get_ylim()[0]), 1.02)
    axes.set_ylabel(label)


def _words(axes: "Axes", words: "DataFrame") -> None:
    """The words with the highest stable attention, and those whose side the seed decides."""
    often = words[words["count"] >= LEAST]
    stable = often[often["reading"] == "stable high"].nlargest(EACH, "attention low")
    unsure = often[often["reading"] == "unsure"].nlargest(EACH, "attention sd")
    rows = [
        *(("stable", BLUE, row) for _, row in stable.iterrows()),
        *(("unsure", GREY, row) for _, row in unsure.iterrows()),
    ]
    labelled = set()
    for place, (kind, colour, row) in enumerate(rows):
        name = {"stable": "stable: above average", "unsure": "the seed decides which side"}[kind]
        axes.errorbar(
            row["attention"],
            place,
            xerr=[
                [row["attention"] - row["attention low"]],
                [row["attention high"] - row["attention"]],
            ],
            fmt="o",
            color=colour,
            markersize=4,
            capsize=2,
            label=None if kind in labelled else name,
        )
        labelled.add(kind)
    axes.set_yticks(range(len(rows)), [str(row["word"]) for _, _, row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(0, color=GREY, linewidth=0.8)
    first = words.iloc[0]
    axes.set_xlabel(
        f"attention score above the average word (mean and 95 % interval, {first['seeds']} seeds)"
    )
    axes.set_title(f"Words that occur {LEAST} times or more")
    axes.legend(loc="lower right")
    axes.grid(axis="y", visible=False)
