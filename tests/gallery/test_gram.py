"""Gallery `gram`: the ontology is a tree with common and rare codes; ancestors help with the rare ones."""

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.attention import ancestor_table
from heedful.gallery.diagnoses import CHAPTERS, CODES, GROUPS, SHARES, counts_of, draw_visits, grow_ontology
from heedful.gallery.gram import ENTRY, RANKS, Foreseer, by_band, fit, foreseen
from heedful.gallery.seeded import seeded


def test_codes_have_a_group_a_chapter_and_the_root_above_them():
    ontology = grow_ontology(0)
    nodes, mask = ancestor_table(ontology.parents)
    codes = CHAPTERS * GROUPS * CODES
    assert ontology.codes == codes
    assert mask[:codes].all()
    assert nodes.shape == (codes + CHAPTERS * GROUPS + CHAPTERS + 1, 4)
    groups, chapters, roots = nodes[:codes, 1:].unbind(1)
    assert groups.unique(return_counts=True)[1].tolist() == [CODES] * CHAPTERS * GROUPS
    assert chapters.unique(return_counts=True)[1].tolist() == [CODES * GROUPS] * CHAPTERS
    assert set(roots.tolist()) == {len(ontology.parents) - 1}


def test_every_group_has_common_and_rare_codes():
    popularity = grow_ontology(3).popularity.reshape(-1, CODES)
    assert popularity.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.sort(popularity, 1), np.sort(popularity, 1)[:1].repeat(len(popularity), 0))
    assert (popularity.max(1) > 20 * popularity.min(1)).all()


def test_what_follows_is_the_codes_own_its_groups_or_its_chapters():
    ontology = grow_ontology(1)
    visits = draw_visits(ontology, 20_000, seed=2)
    present, following = visits.present.numpy(), visits.following.numpy()
    own = following == ontology.own[present]
    group = (following[..., None] == ontology.of_group[present]).any(-1)
    chapter = following == ontology.of_chapter[present]
    assert (own | group | chapter).all()
    assert [own.mean(), group.mean()] == pytest.approx(SHARES[:2], abs=0.03)


def test_tested_visits_begin_with_any_code_as_likely_and_learnt_ones_by_popularity():
    ontology = grow_ontology(0)
    learnt, even = (draw_visits(ontology, 40_000, seed=4, evenly=evenly) for evenly in (False, True))
    seen = counts_of(learnt, ontology.codes) / 80_000
    np.testing.assert_allclose(seen.numpy(), ontology.popularity, atol=0.002)
    first = even.present[:, 0].bincount(minlength=ontology.codes) / 40_000
    assert first.max() < 2 / ontology.codes
    assert not learnt.present.equal(draw_visits(ontology, 40_000, seed=5).present)


def test_bands_are_means_by_how_often_a_code_was_seen():
    bands = by_band(torch.tensor([1.0, 0.0, 1.0, 0.0, 0.5]), torch.tensor([1, 4, 5, 21, 1000]))
    assert list(bands.values()) == [0.5, 1.0, 0.0, 0.5]


@pytest.mark.parametrize("mix", ["attention", "mean", "none"])
def test_one_seed_learns_the_same_twice_and_scores_every_code(mix):
    ontology, learnt = grow_ontology(0), []
    visits = draw_visits(ontology, 50, seed=0)
    for _ in range(2):
        with seeded(3):
            model = Foreseer(ontology, mix=mix)
            fit(model, visits, steps=20, rate=0.1)
        learnt.append(model(visits.present))
    assert learnt[0].shape == (50, ontology.codes)
    assert learnt[0].equal(learnt[1])
    assert set(foreseen(model, visits).tolist()) <= {0.0, 1.0}


@pytest.mark.slow
def test_ancestors_help_with_rare_codes_and_weigh_more_for_them_at_the_lower_rate():
    outcome = ENTRY.train(0, "small")
    assert outcome.figure > outcome.baseline + 0.05
    assert outcome.figure == outcome.table["rate 0.1: 1–4, attention"]
    assert outcome.baseline == outcome.table["rate 0.1: 1–4, no ontology"]
    assert outcome.table[f"rate 0.04: {RANKS}"] < -0.2
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.01
    ENTRY.draw(outcome, Figure())
