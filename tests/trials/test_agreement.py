import numpy as np
import pytest
import torch

from heedful.errors import UserError
from heedful.trials.agreement.correlations import agreement
from heedful.trials.groups import mean_findings, share_findings, weight_bins


def related(noise, *, instances=211, slots=23, seed=0):
    draw = torch.Generator().manual_seed(seed)
    a = torch.rand(instances, slots, generator=draw)
    b = a + noise * torch.rand(instances, slots, generator=draw)
    mask = torch.arange(slots) < torch.randint(7, slots + 1, (instances, 1), generator=draw)
    return a, b, mask


def named(findings):
    """The findings over all instances, by name."""
    return {finding.name: finding for finding in findings if "predicted" not in finding.coordinates}


def test_related_scores_agree_and_a_random_ranking_beside_them_does_not():
    found = named(agreement(*related(1.0)).findings())
    for name in ("Kendall's τ", "Spearman's ρ"):
        finding, random = found[name], found[name].baselines["random"]
        assert finding.interval.low > 0.3
        assert random.interval.low < 0 < random.interval.high
    overlap = found["overlap of the top 5"]
    assert overlap.interval.low > overlap.baselines["random"].value


def test_the_random_ranking_stays_the_same_when_a_batch_is_padded_or_cut():
    a, b, mask = related(1.0)
    whole = agreement(a, b, mask, seed=3)
    wide = agreement(*(torch.nn.functional.pad(part, (0, 5)) for part in (a, b, mask)), seed=3)
    later = agreement(a[5:], b[5:], mask[5:], seed=3, first_instance=5)
    assert torch.equal(wide.random_tau, whole.random_tau)
    assert torch.equal(later.random_tau, whole.random_tau[5:])
    assert not torch.equal(agreement(a, b, mask, seed=4).random_tau, whole.random_tau)


def test_false_discoveries_are_controlled():
    a, _, mask = related(0.0, instances=997)
    unrelated = torch.rand(a.shape, generator=torch.Generator().manual_seed(5))
    found = agreement(a, unrelated, mask)
    assert float((found.p_value < 0.05).double().mean()) > 0.03  # one in twenty, uncorrected
    assert float(found.significant.mean()) < 0.005
    assert float(agreement(*related(0.3)).significant.mean()) > 0.9


def test_constant_scores_are_left_out_and_counted():
    a, b, mask = related(1.0)
    a[:13] = 1.0
    result = agreement(a, b, mask)
    assert result.significant[:13].isnan().all()
    tau = named(result.findings())["Kendall's τ"]
    assert tau.count == 211 - 13
    assert "13 instances" in tau.measured


def test_findings_are_given_for_each_predicted_class():
    a, b, mask = related(1.0)
    b[:100] = -b[:100]
    decided = (torch.arange(211) >= 100).long()
    result = agreement(a, b, mask, decided=decided, names=("attention", "leave-one-out"))
    by_class = {
        finding.coordinates["predicted"]: finding
        for finding in result.findings(classes=["no", "yes"])
        if finding.name == "Kendall's τ" and "predicted" in finding.coordinates
    }
    assert by_class["no"].value < 0 < by_class["yes"].value
    assert (by_class["no"].count, by_class["yes"].count) == (100, 111)
    assert by_class["no"].coordinates["second"] == "leave-one-out"


def test_a_share_has_an_honest_interval_even_where_all_are_alike():
    (finding,) = share_findings(np.ones(19), name="share", measured="so")
    assert finding.value == 1
    assert finding.interval.low < 0.9


def test_means_are_given_by_bin_of_the_largest_weight():
    values, largest = np.arange(5.0), np.array([0.0, 0.25, 0.74, 0.75, 1.0])
    assert weight_bins(largest).tolist() == [0, 1, 2, 3, 3]
    found = mean_findings(values, name="x", measured="so", largest=largest)
    assert [finding.value for finding in found] == [2.0, 0.0, 1.0, 2.0, 3.5]
    assert found[-1].coordinates == {"largest_weight": "0.75–1"}


def test_an_impossible_false_discovery_rate_is_refused():
    with pytest.raises(UserError, match=r"0\.05"):
        agreement(*related(1.0), rate=5)
