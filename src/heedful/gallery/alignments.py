"""Alignment matrices of the models that rewrite dates: which characters were read for each one written.

Axes: N characters written, T characters of a text.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from heedful.gallery.dates import FIRST, FORMATS, KEPT, LENGTH, as_text, encode_dates

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

DAY = FIRST + timedelta(days=KEPT * 1606)  # 1998-05-15, a day that no training text speaks of
EXAMPLES = tuple(FORMATS[place](DAY) for place in (2, 8, 12))


@torch.no_grad()
def align_examples(model: nn.Module) -> dict[str, Any]:
    """What the model writes for the examples, the weights (N,T) with which it reads each, and its centres."""
    dates = encode_dates(EXAMPLES, [DAY.isoformat()] * len(EXAMPLES))
    written = model(dates.sources)
    found = {
        "texts": EXAMPLES,
        "written": tuple(as_text(ids) for ids in written.logits.argmax(-1)),
        "weights": tuple(
            rows[:, : len(text)].numpy() for rows, text in zip(written.weights, EXAMPLES, strict=True)
        ),
    }
    return found if written.centres is None else {**found, "centres": written.centres.numpy()}


def draw_alignments(picture: Mapping[str, Any], figure: "FigureBase") -> None:
    """One matrix a text, its characters along the top and those written down the side."""
    texts = picture["texts"]
    every = figure.subplots(1, len(texts), width_ratios=[len(text) for text in texts], squeeze=False)[0]
    for place, (axes, text) in enumerate(zip(every, texts, strict=True)):
        axes.imshow(picture["weights"][place], cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(text)), list(text.replace(" ", "␣")), family="monospace")
        axes.set_yticks(range(LENGTH), list(picture["written"][place]), family="monospace")
        axes.tick_params(length=0)
        if (
            "centres" in picture
        ):  # slots are counted from 1, columns from 0; p_t may lie before the first slot
            across = (picture["centres"][place] - 1).clip(-0.5, len(text) - 0.5)
            axes.plot(across, range(LENGTH), "o-", color="tab:orange", clip_on=False)
    every[0].set_ylabel("written")
    line = ", orange: predicted centre $p_t$" if "centres" in picture else ""
    every[len(texts) // 2].set_title(f"read{line}", fontsize=10)
    figure.colorbar(every[0].images[0], ax=list(every), label="weight", shrink=0.8)
