"""GLEU (Napoles et al., 2015 and 2016): n-grams that a correction shares with its reference, less those that
it kept of the source though the reference changed them.

Of several references one is drawn for each sentence, 500 times, with the draws of the authors' script, and
the figures of the corpus are averaged. Tokens are separated by spaces; case counts.
"""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

ORDER = 4  # the longest n-grams


def gleu(
    sources: Sequence[str],
    written: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    draws: int = 500,
) -> float:
    """Corpus GLEU from 0 to 1; `references` holds the references of each sentence."""
    counts = np.array(
        [
            [statistics(source.split(), came.split(), wanted.split()) for wanted in several]
            for source, came, several in zip(sources, written, references, strict=True)
        ]
    )  # (sentences, references, 2 + 2·ORDER)
    if not len(counts):
        return 0.0
    every = np.arange(len(counts))
    figures = []
    for draw in range(draws):
        chance = random.Random(101 * draw)
        chosen = [int(chance.random() * counts.shape[1]) for _ in every]
        figures.append(from_sums(counts[every, chosen].sum(0)))
    return float(np.mean(figures))


def statistics(source: Sequence[str], came: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Lengths of correction and reference; then for each n the n-grams that count, and how many there are."""
    found = [len(came), len(wanted)]
    for order in range(1, ORDER + 1):
        given, written, right = (ngrams(words, order) for words in (source, came, wanted))
        missed = Counter({gram: count for gram, count in given.items() if gram not in right})
        counted = (written & right).total() - (written & missed).total()
        found += [max(counted, 0), max(len(came) + 1 - order, 0)]
    return found


def ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """How often each n-gram stands in a sentence."""
    return Counter(tuple(words[place : place + order]) for place in range(len(words) + 1 - order))


def from_sums(sums: np.ndarray) -> float:
    """The figure of a corpus, by the sums of its statistics: geometric mean, and short corrections pay."""
    if (sums == 0).any():
        return 0.0
    precision = np.log(sums[2::2] / sums[3::2]).mean()
    return float(np.exp(min(0.0, 1 - sums[1] / sums[0]) + precision))
