"""Which words of a source a translator reads for each word that it writes.

Axes: B pairs, T words of a source, N words of a target, R heads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heedful.gallery.lexicon import Links
from heedful.gallery.translating import AT_ONCE, Translator, known, translate
from heedful.gallery.word_pairs import END, SIGNS, Corpus, Pairs

EXAMPLES = 3


@torch.no_grad()
def linked_share(model: Translator, pairs: Pairs, links: Sequence[Links]) -> float:
    """Of the words that are linked, how many read the word most that they are linked to (mean over heads)."""
    device, right = next(model.parameters()).device, []
    for rows in pairs.in_turn(AT_ONCE):
        weights = known(model, *pairs.batch(rows, device)).weights
        assert weights is not None  # it attends
        most = weights.argmax(-1).reshape(len(rows), -1, weights.shape[-2]).cpu()  # (B,R,N)
        right += [
            float((most[place, :, j] == i).double().mean())
            for place, row in enumerate(rows.tolist())
            for i, j in links[row]
        ]
    return float(np.mean(right)) if right else 0.0


@torch.no_grad()
def align_examples(model: Translator, corpus: Corpus) -> list[dict[str, Any]]:
    """The longest test sources of known words, what is written for each, and the weights of reading it."""
    pairs, device = corpus.test, next(model.parameters()).device
    known_words = set(corpus.source.words)
    rows = [row for row in range(len(pairs)) if set(pairs.source[row]) <= known_words]
    rows = sorted(rows, key=lambda row: -min(len(pairs.source[row]), 12))[:EXAMPLES]
    chosen = Pairs(
        [pairs.source[row] for row in rows],
        [pairs.target[row] for row in rows],
        pairs.sources[rows],
        pairs.targets[rows],
    )
    written = translate(model, chosen)
    found = []
    for place, numbers in enumerate(written):
        ended = numbers.index(END) + 1 if END in numbers else len(numbers)
        sources, _ = chosen.batch(torch.tensor([place]), device)
        weights = known(model, sources, torch.tensor([numbers[:ended]], device=device)).weights
        assert weights is not None
        found.append(
            {
                "read": [*chosen.source[place], SIGNS[END]],
                "written": [corpus.target.words[number] for number in numbers[:ended]],
                "right": chosen.target[place],
                "weights": rounded(weights[0]),
            }
        )
    return found


def rounded(weights: Tensor) -> Any:
    """Weights (N,T) or (R,N,T) as lists, to four places: they are drawn."""
    return np.round(weights.cpu().double().numpy(), 4).tolist()
