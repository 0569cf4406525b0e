"""Texts are averaged over seeds before they are resampled, and what is undefined is left out."""

import numpy as np
import pandas as pd
import pytest
from debated import instances

from heedful.study.pooling import (
    cells,
    findings_table,
    headed,
    mean_over_seeds,
    mean_over_texts,
    over_seeds,
    share_of_texts,
    shown,
)


def test_a_text_is_one_number_however_many_seeds_tried_it():
    table = pd.concat([instances([1, 2, 3]), instances([3, 2, np.nan], seed=1)])
    assert over_seeds(table, ["value"])["value"].tolist() == [2, 2, 3]
    finding = mean_over_texts(table, "value", name="x", measured="made up")
    assert (finding.value, finding.count, finding.seeds) == (pytest.approx(7 / 3), 3, 2)


def test_columns_of_a_text_are_averaged_over_the_same_seeds_so_pairs_stay_pairs():
    first, second = instances([1, 2, 3]), instances([3, 4, np.nan], seed=1)
    first["other"], second["other"] = [1, np.nan, np.nan], [5, 7, 9]
    both = over_seeds(pd.concat([first, second]), ["value", "other"])
    assert both.index.tolist() == [0, 1]  # the third text has no seed that defines both
    assert both["value"].tolist() == [2, 4]  # the second text by its second seed alone
    assert both["other"].tolist() == [3, 7]


def test_a_column_that_is_never_defined_gives_no_finding():
    assert mean_over_texts(instances([np.nan, np.nan]), "value", name="x", measured="made up") is None
    assert shown(None) == "–"


def test_shares_and_seeds_have_their_own_intervals():
    share = share_of_texts(pd.Series([True] * 9 + [False]), name="x", measured="made up")
    assert share.interval.method == "Wilson score"
    runs = mean_over_seeds([0.8, 0.9, 0.85], name="x", measured="made up", count=100)
    assert "3 seeds" in runs.interval.method
    assert shown(runs) == "0.85 [0.73, 0.97]"
    alone = mean_over_seeds([0.8], name="x", measured="made up", count=100)
    assert not alone.interval.bounded
    said = mean_over_seeds([0.8], name="x", measured="made up", count=100, error=0.04, alone=True)
    assert "one seed" in said.interval.method
    high = mean_over_seeds([0.99, 0.9], name="x", measured="made up", count=100, within=(0, 1))
    assert high.interval.high == 1
    equal = mean_over_seeds([0.8, 0.8], name="x", measured="made up", count=100)
    assert equal.interval.low < 0.8 < equal.interval.high


def test_a_summary_has_short_names_of_the_papers_models_and_the_names_of_others():
    assert headed({"corpus": "sst", "model": "jain-wallace-cnn-dot"}) == {"corpus": "sst", "model": "cnn-dot"}
    assert headed({"corpus": "sst", "model": "dp"})["model"] == "dp"


def test_cells_keep_their_order_and_findings_become_rows():
    table = pd.concat([instances([1.0], corpus="z"), instances([2.0], corpus="a")])
    assert [where["corpus"] for where, _ in cells(table)] == ["z", "a"]
    found = [
        mean_over_texts(rows, "value", name="x", measured="m", coordinates=w) for w, rows in cells(table)
    ]
    assert findings_table(found)["corpus"].tolist() == ["z", "a"]
