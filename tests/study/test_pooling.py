"""Means over texts and seeds have intervals that know of both, and what is undefined is left out."""

import numpy as np
import pandas as pd
import pytest

from debated import instances
from heedful.papers.wiegreffe_pinter.run_scores import headed
from heedful.study.pooling import (
    cells,
    findings_table,
    lead_over_texts,
    mean_over_seeds,
    mean_over_texts,
    share_of_texts,
    shown,
)


def test_seeds_count_alike_and_their_spread_is_in_the_interval():
    table = pd.concat([instances([1, 2, 3]), instances([3, 2, np.nan], seed=1)])
    finding = mean_over_texts(table, "value", name="x", measured="made up")
    assert (finding.value, finding.count, finding.seeds) == (pytest.approx((2 + 2.5) / 2), 3, 2)
    assert "2 seeds, crossed with 3 texts" in finding.interval.method
    assert finding.measured == "made up; mean over 2 seeds, crossed with texts"
    one = mean_over_texts(instances([1, 2, 3]), "value", name="x", measured="made up")
    assert ("bootstrap" in one.interval.method, one.measured) == (True, "made up")
    asked = mean_over_texts(instances([1, 2, 3]), "value", name="x", measured="made up", alone=False)
    assert not asked.interval.bounded


def test_a_lead_is_paired_over_texts_and_seeds_and_one_seed_is_compared_with_each():
    several = pd.concat([instances([1, 2, np.nan]), instances([3, 4, 8], seed=1)])
    other = pd.concat([instances([0, 0, 0]), instances([1, 1, 1], seed=1)])
    lead = lead_over_texts(several, other, "value", name="x", measured="made up")
    assert (lead.value, lead.count, lead.seeds) == (pytest.approx((1.5 + 4) / 2), 3, 2)
    single = instances([1, 1, 1])
    for one, two, sign in ((several, single, 1), (single, several, -1)):
        lead = lead_over_texts(one, two, "value", name="x", measured="made up")
        assert (lead.value, lead.seeds) == (pytest.approx(sign * (0.5 + 4) / 2), 2)
    assert lead_over_texts(single, instances([np.nan]), "value", name="x", measured="made up") is None


def test_a_column_that_is_never_defined_gives_no_finding():
    assert mean_over_texts(instances([np.nan, np.nan]), "value", name="x", measured="made up") is None
    assert shown(None) == "–"


def test_shares_and_seeds_have_their_own_intervals():
    held = instances([1] * 9 + [0, np.nan])
    share = share_of_texts(held, "value", name="x", measured="made up")
    assert (share.value, share.interval.method) == (0.9, "Wilson score")
    other = pd.concat([held, held.assign(seed=1, value=0.0)])
    share = share_of_texts(other, "value", name="x", measured="made up", baselines={"same": "value"})
    assert (share.value, share.count, share.baselines["same"].value) == (pytest.approx(0.45), 11, share.value)
    assert (share.interval.low, share.interval.high) == (0, 1)
    assert share_of_texts(instances([np.nan]), "value", name="x", measured="made up") is None
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
