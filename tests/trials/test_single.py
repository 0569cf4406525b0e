"""Single-item tests: the top item against a random other one."""

import numpy as np
import pandas
import pytest
import torch
from erasure_traces import linear, random_trace, stacked, through_the_head

from heedful.errors import UserError
from heedful.models.trace import Trace, decisions
from heedful.records import append_rows, mcnemar_exact, read_rows
from heedful.trials import (
    SingleErasures,
    flip_sizes,
    flip_table,
    js_by_weight_gap,
    js_divergence,
    order_of,
    shuffle_weights,
    single_erasures,
    single_findings,
)


def test_each_column_is_what_erasing_that_one_item_does():
    trace = random_trace(instances=41, classes=3)
    found = single_erasures(trace, "attention", seed=3)
    before = trace.logits().softmax(-1)
    for row in range(len(trace)):
        if trace.item_counts[row] < 2:
            assert (found.other[row], found.other_flips[row]) == (-1, False)
            assert np.isnan(found.other_js[row])
            continue
        assert found.top[row] == int(trace.weights[row].argmax())
        assert found.other[row] != found.top[row]
        for kind in ("top", "other"):
            item = int(getattr(found, kind)[row])
            erased = torch.zeros_like(trace.present)
            erased[row, item] = True
            logits = trace.logits(trace.erase(erased))[row]
            js = js_divergence(before[row], logits.softmax(-1))
            assert getattr(found, f"{kind}_js")[row] == pytest.approx(js.item(), abs=1e-12)
            assert getattr(found, f"{kind}_flips")[row] == bool(
                decisions(logits) != decisions(trace.logits())[row]
            )
            assert getattr(found, f"{kind}_weight")[row] == trace.weights[row, item].item()


@pytest.mark.parametrize("ranking", ["attention", "gradient", "product", "signed"])
def test_the_head_gives_what_the_closed_form_gives(ranking):
    trace = random_trace(instances=41, classes=3)
    closed, general = single_erasures(trace, ranking), single_erasures(through_the_head(trace), ranking)
    assert np.array_equal(closed.top, general.top)
    assert np.array_equal(closed.other, general.other)
    assert np.array_equal(closed.top_flips, general.top_flips)
    assert np.allclose(closed.top_js, general.top_js, atol=1e-12)


def test_the_top_item_flips_exactly_where_one_erasure_is_enough():
    trace = random_trace(instances=101, classes=5)
    for ranking in ("attention", "gradient", "product", "contribution"):
        alone = single_erasures(trace, ranking)
        sizes = flip_sizes(trace, order_of(ranking, trace)).numpy()
        several = alone.items > 1
        assert np.array_equal(alone.top_flips[several], sizes[several] == 1)


def test_the_other_item_is_any_other_with_the_same_chance():
    weights = torch.tensor([[0.1, 0.6, 0.1, 0.1, 0.1]]).expand(4001, 5)
    trace = Trace(weights, torch.ones(4001, 5, 2), weights > 0, linear(torch.eye(2)))
    other = single_erasures(trace).other
    assert np.bincount(other, minlength=5) / 4001 == pytest.approx([0.25, 0, 0.25, 0.25, 0.25], abs=0.03)


def test_the_table_counts_the_four_cells_and_the_instances_left_out():
    trace = random_trace(instances=211, classes=5)
    found = single_erasures(trace)
    table = flip_table(found)
    assert table.alone == int((trace.item_counts == 1).sum()) > 0
    assert table.count == 211 - table.alone
    assert table.both + table.top_only == found.tested.top_flips.sum()
    assert table.both + table.other_only == found.tested.other_flips.sum()
    assert table.p_value == mcnemar_exact(table.top_only, table.other_only)


def test_a_random_ranking_flips_no_more_often_than_a_random_other_item():
    trace = random_trace(instances=2003, classes=5)
    assert flip_table(single_erasures(trace, "random")).p_value > 0.01
    assert flip_table(single_erasures(trace, "product")).p_value < 1e-9


def test_negative_differences_are_counted_by_the_gap_in_weight():
    columns = {name: np.zeros(5) for name in ("instance", "top", "other")}
    flips = np.zeros(5, dtype=bool)
    found = SingleErasures(
        **columns,
        items=np.array([2, 2, 2, 2, 1]),
        top_weight=np.array([0.5, 0.6, 0.7, 1.0, 1.0]),
        other_weight=np.array([0.45, 0.53, 0.45, 0.0, np.nan]),
        top_js=np.array([0.1, 0.1, 0.5, 0.5, 0.5]),
        other_js=np.array([0.2, 0.05, 0.1, 0.1, np.nan]),
        top_flips=flips,
        other_flips=flips,
    )
    bins = js_by_weight_gap(found)
    assert bins.counts.tolist() == [2, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert bins.negatives.tolist() == [1] + [0] * 9
    assert bins.mean_delta_js[[0, 2, 9]] == pytest.approx([-0.025, 0.4, 0.4])
    assert np.isnan(bins.mean_delta_js[1])


def test_a_gap_may_be_negative_for_a_ranking_that_is_not_attention():
    bins = js_by_weight_gap(single_erasures(random_trace(instances=101, classes=3), "gradient"))
    assert bins.edges[0] == -1
    assert bins.counts.sum() == len(
        single_erasures(random_trace(instances=101, classes=3), "gradient").tested
    )


def test_findings_carry_their_count_interval_nulls_and_unit():
    trace = random_trace(instances=211, classes=5)
    found = single_findings(
        single_erasures(trace),
        "attention",
        shuffled=single_erasures(trace, "shuffled"),
        coordinates={"model": "x"},
    )
    by_name = {finding.name: finding for finding in found}
    flips = by_name["flips by the top item"]
    assert flips.baselines.keys() == {"random", "shuffled"}
    assert flips.coordinates["model"] == "x"
    assert by_name["mean ΔJS"].unit == "nats"
    assert all(finding.count == flips.count and finding.interval is not None for finding in found)
    beyond = by_name["flips by the top item beyond a random other"]
    assert beyond.value == pytest.approx(flips.value - flips.baselines["random"].value)


def test_the_shuffled_null_is_run_on_the_shuffled_trace():
    trace = random_trace(instances=41)
    expected = single_erasures(shuffle_weights(trace, seed=4), seed=4)
    assert np.array_equal(single_erasures(trace, "shuffled", seed=4).top_js, expected.top_js)


def test_results_do_not_depend_on_how_a_corpus_is_cut_and_survive_storage(tmp_path):
    trace = random_trace(instances=31)
    whole = single_erasures(trace, "random", seed=1)
    parts = [
        single_erasures(trace.take(torch.arange(s, min(s + 7, 31))).numbered(s), "random", seed=1)
        for s in range(0, 31, 7)
    ]
    for part in parts:
        append_rows(tmp_path, part.to_frame())
    for again in (SingleErasures.joined(parts), SingleErasures.from_frame(read_rows(tmp_path))):
        pandas.testing.assert_frame_equal(again.to_frame(), whole.to_frame(), rtol=1e-9)


def test_several_rows_of_weights_are_tested_too():
    found = single_erasures(stacked(random_trace(items="words")), "gradient")
    assert (found.tested.top_js >= 0).all()


def test_nothing_to_compare_is_said():
    trace = random_trace(instances=5, longest=1)
    with pytest.raises(UserError, match="two items"):
        single_findings(single_erasures(trace), "attention")
