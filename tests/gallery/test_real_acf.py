"""`acf` on Last.fm: what is held out is never in a history, and leaving an item out is what it says."""

import pytest
import torch
from made_data import write_listening, write_table
from matplotlib.figure import Figure

from heedful.gallery.learning import parameters_of
from heedful.gallery.listening import NONE, read_listening
from heedful.gallery.ranking import gain, hit_rate, ranks
from heedful.gallery.real_acf import KINDS, REAL, Recommender, build, plain_ranks


@pytest.fixture
def listening(tmp_path):
    write_listening(tmp_path)
    return read_listening(tmp_path)


def test_what_is_held_out_is_in_no_history_and_the_others_were_never_played(listening):
    played = listening.played()
    for candidates in (listening.dev, listening.test):
        assert played.gather(1, candidates).sum() == 0
        assert not (candidates[:, 1:] == candidates[:, :1]).any()
    assert not (listening.dev[:, 0] == listening.test[:, 0]).any()
    for own, other in ((listening.dev, listening.test), (listening.test, listening.dev)):
        assert not (own[:, 1:] == other[:, :1]).any()  # nobody's wish stands among the others


def test_rare_artists_untagged_ones_and_users_with_few_are_left_out(tmp_path):
    plays = [(user, item, 9) for user in range(6) for item in range(4)]
    plays += [(0, 50, 9), (1, 50, 9)]  # two listeners
    plays += [(user, 60, 9) for user in range(6)]  # no tag
    plays += [(9, 0, 9), (9, 1, 9)]  # two artists
    write_table(tmp_path / "lastfm_plays.csv.gz", ("user", "item", "plays"), plays)
    tags = [(item, "null", 3) for item in range(4)] + [(50, "rock", 1)]
    write_table(tmp_path / "lastfm_tags.csv.gz", ("item", "tag", "users"), tags)
    write_table(
        tmp_path / "lastfm_artists.csv.gz", ("item", "name"), [(item, f"N{item}") for item in range(4)]
    )
    listening = read_listening(tmp_path)
    assert listening.names == ["N0", "N1", "N2", "N3"]
    assert listening.tag_names == ["null"]  # a word, and no gap
    assert listening.history.shape == (6, 2)


def test_a_rank_counts_those_before_it_and_half_of_its_equals():
    scores = torch.tensor([[0.5, 0.9, 0.1, 0.7], [0.3, 0.3, 0.3, 0.1], [1.0, 0.0, 0.0, 0.0]])
    assert ranks(scores).tolist() == [2, 1, 0]
    assert hit_rate(torch.tensor([0.0, 9, 10, 50])) == 0.5
    assert gain(torch.tensor([0.0, 2, 50])) == pytest.approx((1 + 1 / 2) / 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_profile_without_an_item_is_that_of_a_history_that_lacks_it(listening, kind):
    torch.manual_seed(3)
    model = Recommender(listening, kind)
    users = torch.tensor([4, 7])
    left = model.profiles_without(users)
    for row, user in enumerate(users.tolist()):
        place = 1
        shorter = model.history.clone()
        shorter[user, place] = NONE
        whole, model.history = model.history, shorter
        assert torch.allclose(left[row, place], model.profile(users)[row], atol=1e-6)
        model.history = whole


def test_all_models_have_as_many_parameters(listening):
    models = {kind: build(listening, kind) for kind in KINDS}
    for model in models.values():
        assert abs(parameters_of(model) / parameters_of(models["attention"]) - 1) < 0.04  # of few parameters


def test_neighbours_find_artists_that_are_played_together(listening):
    found = plain_ranks(listening)
    assert hit_rate(found["item-kNN"]) > hit_rate(found["popularity"]) + 0.2


@pytest.mark.slow
def test_the_small_size_learns_on_files_of_the_same_form_and_is_drawn(tmp_path):
    write_listening(tmp_path)
    outcome = REAL.train(0, "small", tmp_path, "cpu")
    assert outcome.figure > 0.35  # ten of about fifty at random are 0.2
    assert 1 <= outcome.table["items that attention amounts to"] <= outcome.table["items in a history"] + 1e-6
    REAL.draw([outcome, outcome], Figure())
