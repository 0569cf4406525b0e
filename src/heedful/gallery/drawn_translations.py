"""Pictures that the translation entries share: what was read for each word, and scores by length or kind."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.gallery.entry import Outcome
from heedful.gallery.over_seeds import mean_and_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLEU, PERPLEXITY = 0, 1  # in a score of a picture


def draw_reading(axes: "Axes", example: Mapping[str, Any], weights: Any, *, title: str = "") -> None:
    """Weights (N,T): words read along the top, words written down the side."""
    axes.imshow(np.array(weights), cmap="viridis", vmin=0, vmax=1, aspect="auto")
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(example["read"])), example["read"], rotation=60, ha="left", fontsize=8)
    axes.set_yticks(range(len(example["written"])), example["written"], fontsize=8)
    axes.tick_params(length=0)
    axes.set_xlabel(title, fontsize=8.5)


def draw_by_length(
    axes: "Axes", outcomes: Sequence[Outcome], colours: Mapping[str, str], *, which: int = BLEU
) -> None:
    """One line a model over the lengths of sources, the mean over seeds; bars from lowest to highest seed."""
    for name, colour in colours.items():
        seeds = [by_band(outcome, name, which) for outcome in outcomes]
        if not seeds[0]:
            continue
        values = np.array([list(seed.values()) for seed in seeds])
        mean, spread = mean_and_bar(values)
        style = ":" if name == "lexicon" else "o-"
        axes.errorbar(list(seeds[0]), mean, spread, color=colour, fmt=style, capsize=2, label=name)
    axes.set(xlabel="words of the source", ylabel="BLEU" if which == BLEU else "perplexity per word")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8.5)
    axes.spines[["top", "right"]].set_visible(False)


def by_band(outcome: Outcome, name: str, which: int) -> dict[str, float]:
    """A model's score in each band of lengths; the lexicon has BLEU only."""
    if name == "lexicon":
        found = dict(outcome.picture["lexicon"]) if which == BLEU else {}
    else:
        found = {group: score[which] for group, score in outcome.picture["scores"][name].items()}
    return {group.removesuffix(" words"): value for group, value in found.items() if group.endswith(" words")}


def draw_bars(axes: "Axes", values: Mapping[str, Sequence[float]], colours: Mapping[str, str]) -> None:
    """A bar a name, the mean over seeds, with a dot for each seed."""
    names = list(values)
    means = [float(np.mean(values[name])) for name in names]
    axes.barh(names, means, color=[colours[name] for name in names], alpha=0.85)
    for place, name in enumerate(names):
        axes.plot(values[name], [place] * len(values[name]), "o", color="black", ms=2.5)
        end = (max(values[name]), place)
        axes.annotate(
            f"{means[place]:.1f}", end, (5, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
