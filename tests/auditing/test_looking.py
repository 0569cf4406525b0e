"""Looking part after part until the reading is settled: what is read, and what the reading rests on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hand_made import CLASSES, LIMITS, of_map, rows_of

from heedful.auditing.maps import Maps
from heedful.auditing.reading import ReadSettings, look, read_groups
from heedful.auditing.rule import CARE, FAITHFUL, NOT_SHOWN
from heedful.auditing.sampling import Draw

TEXTS = 400


def looked(hidden=None, **numbers):
    """What is found of a map with these numbers, and the rows of each stage that was measured."""
    stages = {}

    def measure(stage, maps, rows):
        stages[stage] = rows
        own = numbers if hidden is None or maps.how == "delete" else hidden
        return rows_of(len(rows), decided=rows % 2, **of_map(**own)).assign(instance=rows)

    maps = Maps(("attention",), hidden=30, hidden_beside=10)
    draw = Draw(np.arange(TEXTS) % 2, 200)
    settings = ReadSettings(thresholds=LIMITS)
    return look(measure, maps, draw, np.arange(TEXTS), CLASSES, settings), stages


@pytest.mark.parametrize(
    ("told", "reading", "texts"), [(1.0, FAITHFUL, 30), (0.0, NOT_SHOWN, 30), (0.5, CARE, 10)]
)
def test_fewer_texts_have_words_hidden_where_the_reading_does_not_rest_on_it(told, reading, texts):
    # A map that surely paints live words would not be called wrong for its proportions.
    found, stages = looked(told=told, paint=1.0 if told else 0.5)
    assert found.reading == reading
    assert len(stages["hidden"]) == len(found.operator_rows) == texts
    assert set(stages["hidden"].tolist()) <= set(stages["deletions-1"].tolist())


def test_hiding_that_says_otherwise_caps_the_reading_of_all_texts_and_of_each_group():
    groups = np.where(np.arange(TEXTS) % 4 < 2, "old", "new")
    found, _ = looked(hidden={"told": 0.0})
    assert found.reading == CARE
    assert "depends on how words are taken out" in found.verdict.reasons[0]
    alike, _ = looked()
    assert alike.reading == FAITHFUL
    for one, reading in ((found, CARE), (alike, FAITHFUL)):
        whole = replace(one, rows=pd.concat([one.rows] * 2).assign(cluster=np.arange(2 * len(one.rows))))
        assert [(group.name, group.reading) for group in read_groups(whole, groups)] == [
            ("new", reading),
            ("old", reading),
        ]
