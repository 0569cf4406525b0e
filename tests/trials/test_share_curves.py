"""The picture of words taken out shows the means of the rows, a line a ranking."""

import numpy as np
import pytest

from heedful.trials.erasure.share_curves import share_curves
from heedful.trials.erasure.word_erasures import WordErasures

SHARES = (0.1, 0.5)


def test_each_line_is_a_rankings_mean_at_each_share_with_its_interval():
    chance = np.random.default_rng(0)
    tables = [{name: chance.random((30, 2)) for name in ("attention", "mine", "random")} for _ in range(3)]
    for table in tables:
        for values in table.values():
            values[0] = np.nan  # a text of one word, of which nothing is measured
    words = np.full(30, 9)
    words[0] = 1
    plain = np.arange(30)
    erasures = WordErasures(plain, words, plain % 2, plain / 30, SHARES, *tables)

    figure = share_curves(erasures)

    assert len(figure.axes) == 3
    for axes, table in zip(figure.axes, tables, strict=True):
        drawn = {container.get_label(): container for container in axes.containers}
        assert list(drawn) == ["attention", "mine", "random"]
        for name, container in drawn.items():
            line, _, (bars,) = container
            means = table[name][1:].mean(0)
            assert line.get_ydata() == pytest.approx(means)
            assert line.get_linestyle() == ("--" if name == "random" else "-")
            for ((_, low), (_, high)), mean in zip(bars.get_segments(), means, strict=True):
                assert low < mean < high
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["10", "50"]
