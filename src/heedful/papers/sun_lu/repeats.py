"""How well a word's score repeats from training to training: statistics of tables with one row per word.

Each word has the mean and the standard deviation of a score over seeds, the scores of each run taken from
their mean over words (softmax does not see what is added to all). Columns: `SCORE`, `SCORE sd`, `SCORE above`
and `SCORE top` (in how many runs it is above that mean, and among the top tenth of its group).

The intraclass correlation is the consistency of one training (ICC(3,1) of Shrout & Fleiss, 1979): the share
of the spread of scores that is between words, and not between trainings of one word. Koo & Li (2016) call
it good from 0.75 on, and poor below 0.5. Axes: n words, k runs.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from heedful.records import Estimate, bootstrap, ratio_of_means, seeds_interval

TOP = 0.1  # "the top" are this share of the words
RESAMPLES = 1000
GOOD, POOR = 0.75, 0.5


def repeated(
    scores: np.ndarray, name: str, *, groups: Sequence[str] | None = None, strong: bool = False
) -> pd.DataFrame:
    """The columns of one score from a table (n, k): mean, sd, ends of the interval, sign and top.

    The top is a tenth of each of the `groups` (n,); `strong` takes it by size, for scores with two ends.
    """
    centred = scores - scores.mean(axis=0)
    size = np.abs(centred) if strong else centred
    mean, sd = centred.mean(axis=1), centred.std(axis=1, ddof=1)
    runs = scores.shape[1]
    # Student's t for one standard deviation over so many runs: the same factor for every word.
    one = seeds_interval(_unit(runs))
    half = (one.high - one.low) / 2 * sd
    return pd.DataFrame(
        {
            name: mean,
            f"{name} sd": sd,
            f"{name} low": mean - half,
            f"{name} high": mean + half,
            f"{name} above": (centred > 0).sum(axis=1),
            f"{name} top": _at_the_top(size, np.zeros(len(size)) if groups is None else np.array(groups)),
        }
    )


def _at_the_top(size: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """In how many runs each word is in the top tenth of its group (n,)."""
    found = np.zeros(len(size), np.int64)
    for group in np.unique(groups):
        own = size[groups == group]
        among = max(1, round(TOP * len(own)))
        least = -np.sort(-own, axis=0)[among - 1]
        found[groups == group] = (own >= least).sum(axis=1)
    return found


def consistency(words: pd.DataFrame, name: str, *, seeds: int) -> Estimate:
    """The intraclass correlation of a score, with a bootstrap over words."""
    return bootstrap(_moments(words, name), lambda m: _icc(m, name, seeds), resamples=RESAMPLES)


def consistency_gain(words: pd.DataFrame, first: str, second: str, *, seeds: int) -> Estimate:
    """The first score's intraclass correlation minus the second's, on the same words."""
    moments = {**_moments(words, first), **_moments(words, second)}
    return bootstrap(moments, lambda m: _icc(m, first, seeds) - _icc(m, second, seeds), resamples=RESAMPLES)


def top_again(words: pd.DataFrame, name: str, *, seeds: int) -> Estimate:
    """How often a word that is among the top tenth in one run is so in another; by chance, a tenth."""
    times = words[f"{name} top"].to_numpy(float)
    return ratio_of_means(times * (times - 1) / (seeds - 1), times, resamples=RESAMPLES)


def sign_again(words: pd.DataFrame, name: str, *, seeds: int) -> Estimate:
    """How often two runs put a word on the same side of the average word."""
    above = words[f"{name} above"].to_numpy(float)
    agreeing = above * (above - 1) + (seeds - above) * (seeds - above - 1)
    return bootstrap(
        {"agreeing": agreeing / (seeds * (seeds - 1))}, lambda m: m["agreeing"], resamples=RESAMPLES
    )


def sign_by_chance(words: pd.DataFrame, name: str, *, seeds: int) -> float:
    """The same if runs dealt out their sides at random: not a half where one side has more words."""
    above = float(words[f"{name} above"].mean()) / seeds
    return above**2 + (1 - above) ** 2


def _moments(words: pd.DataFrame, name: str) -> dict[str, np.ndarray]:
    mean = words[name].to_numpy(float)
    within = words[f"{name} sd"].to_numpy(float) ** 2
    return {f"{name} mean": mean, f"{name} square": mean**2, f"{name} within": within}


def _icc(means: dict[str, np.ndarray], name: str, seeds: int) -> np.ndarray:
    between = seeds * (means[f"{name} square"] - means[f"{name} mean"] ** 2)
    within = means[f"{name} within"]
    found: np.ndarray = (between - within) / (between + (seeds - 1) * within)
    return found


def _unit(runs: int) -> np.ndarray:
    """Any numbers with mean 0 and standard deviation 1."""
    numbers = np.arange(runs, dtype=float)
    unit: np.ndarray = (numbers - numbers.mean()) / numbers.std(ddof=1)
    return unit
