"""The picture of words taken out in order: what each ranking's top words do, by the share that goes."""

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from heedful.drawing import COLOURS, RANKINGS, new_figure
from heedful.records.resampling import bootstrap_interval
from heedful.trials.erasure.faithfulness import MEASURES, NULLS
from heedful.trials.erasure.word_erasures import WordErasures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {
    "comprehensiveness": "fall of p without the top words",
    "sufficiency": "fall of p with the top words alone",
    "decision flips": "texts decided otherwise without them",
}


def share_curves(erasures: WordErasures, seed: int = 0) -> "Figure":
    """A panel a measure, a line a ranking with its mean and 95 % interval at each share; chance is dashed."""
    names = list(erasures.without)
    taken = {RANKINGS.get(name) for name in names}
    spare = cycle([colour for colour in COLOURS if colour not in taken])
    colours = {name: RANKINGS.get(name) or next(spare) for name in names}
    markers = dict(zip(names, cycle("os^Dv"), strict=False))
    # Lines stand a little aside of each other, so that their intervals can be told apart.
    aside = np.linspace(-0.2, 0.2, len(names))
    figure = new_figure(10, 3.6)
    for axes, (measure, (table, better, _)) in zip(
        figure.subplots(1, len(MEASURES)), MEASURES.items(), strict=True
    ):
        for name, shift in zip(names, aside, strict=True):
            many = getattr(erasures, table)[name][erasures.words > 1]
            means = many.mean(0)
            intervals = [bootstrap_interval(column, seed=seed) for column in many.T]
            ends = np.array([(interval.low, interval.high) for interval in intervals]).T
            axes.errorbar(
                np.arange(len(means)) + shift,
                means,
                yerr=np.abs(ends - means),
                label=name,
                color=colours[name],
                fmt=f"{markers[name]}{'--' if name in NULLS else '-'}",
                markersize=3.5,
                linewidth=1,
                elinewidth=0.8,
            )
        axes.set_xticks(range(len(erasures.shares)), [f"{100 * share:g}" for share in erasures.shares])
        axes.set_xlabel("% of the words")
        axes.set_ylabel(AXES[measure])
        axes.set_title(f"{measure} ({better} is better)")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    return figure
