"""What both levels of a hierarchical model attend to in one text, and how that is painted.

Axes: S sentences of the text.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from heedful.gallery.painting import Painted
from heedful.models import HierarchicalClassifier, decisions

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Levels:
    """What both levels attended to in a text, and what was decided."""

    words: list[list[Painted]]  # of each sentence, with their weights
    sentences: np.ndarray  # (S,) the weights of the sentences
    decided: int


@torch.no_grad()
def read_levels(model: HierarchicalClassifier, text: str) -> Levels:
    """Read a text, and look at both levels."""
    batch = model.encode([text])
    assert batch.words is not None
    words, sentences = model.trace(batch, "words"), model.trace(batch)
    painted: list[list[Painted]] = []
    for weights, items in zip(words.weights[0], words.items[0], strict=True):
        real = items >= 0
        painted.append(
            [
                (batch.words[0].forms[int(item)], float(weight))
                for item, weight in zip(items[real], weights[real], strict=True)
            ]
        )
    return Levels(painted, sentences.weights[0].cpu().numpy(), int(decisions(sentences.logits())[0]))


def painted_by_both(words: list[list[Painted]], sentences: np.ndarray) -> list[list[Painted]]:
    """The paper's colour √α_i · α_it, the largest 1: words count that count in a sentence that does."""
    both = [
        [(word, float(np.sqrt(outer)) * inner) for word, inner in sentence]
        for sentence, outer in zip(words, sentences, strict=True)
    ]
    largest = max(weight for sentence in both for _, weight in sentence)
    return [[(word, weight / largest) for word, weight in sentence] for sentence in both]


def draw_sentences(axes: "Axes", weights: np.ndarray, *, rows: list[int]) -> None:
    """A bar for each sentence over the lines that it takes."""
    first = 0
    for weight, count in zip(weights, rows, strict=True):
        axes.barh(first + count / 2, weight, height=count - 0.16, color="tab:orange")
        axes.text(weight + 0.01, first + count / 2, f"{weight:.2f}", va="center", fontsize=9)
        first += count
    axes.set_xlim(0, 1.5 * max(weights))
    axes.axis("off")
    axes.set_title("sentences", fontsize=11, loc="left")
