"""`gram` on hospital stays: which stays are read for the next, the tree above codes, and recall by hand."""

import math

import pytest
import torch
from made_data import write_stays, write_table
from matplotlib.figure import Figure

from heedful.attention import ancestor_table
from heedful.gallery.hospital import HISTORY, NONE, NextStays, read_hospital
from heedful.gallery.learning import parameters_of
from heedful.gallery.real_gram import KINDS, REAL, build, count_scores, foreseen, recall


def written(folder, stays):
    header = ("patient", "visit", "diag_1", "diag_2", "diag_3", "split")
    write_table(folder / "diabetes130_visits.csv.gz", header, stays)
    tree = [("a", "1", "1.1", "1.1.1", ""), ("b", "1", "1.1", "", ""), ("c", "2", "", "", "")]
    write_table(folder / "diabetes130_codes.csv.gz", ("code", "l1", "l2", "l3", "l4"), tree)
    return read_hospital(folder)


def test_stays_are_taken_in_their_order_and_never_from_another_patient(tmp_path):
    rows = [(1, 2, "b", "b", "", "train"), (1, 10, "c", "a", "c", "train"), (1, 1, "a", "", "", "train")]
    hospital = written(tmp_path, [(0, 1, "c", "c", "c", "train"), *rows, (3, 1, "a", "b", "c", "test")])
    learnt = hospital.splits["train"]
    assert len(learnt) == 2  # a patient with one stay has no next one
    assert learnt.before[0, -1].tolist() == [0, NONE, NONE]
    assert learnt.before[0, :-1].eq(NONE).all()
    assert learnt.following[0].tolist() == [1, NONE, NONE]  # a code that stands twice counts once
    assert learnt.before[1, -2:].tolist() == [[0, NONE, NONE], [1, 1, NONE]]
    assert learnt.following[1].tolist() == [2, 0, NONE]
    assert learnt.before.shape[1] == HISTORY
    assert len(hospital.splits["test"]) == 0


def test_the_tree_has_all_groups_above_a_code_and_one_root(tmp_path):
    parents = written(tmp_path, [(0, 1, "a", "", "", "train"), (0, 2, "b", "", "", "train")]).parents
    nodes, mask = ancestor_table(parents)
    assert mask[:3].sum(1).tolist() == [5, 4, 3]  # itself, its groups, the root
    assert len(set(nodes[:3, :][mask[:3]].tolist())) == len(parents) == 3 + 4 + 1
    assert nodes[0][2] == nodes[1][1]  # group 1.1 is above both


def test_recall_counts_codes_and_not_stays():
    stays = NextStays(torch.full((2, 1, 3), NONE), torch.tensor([[0, 1, NONE], [2, NONE, NONE]]))
    found = torch.tensor([[True, False, True], [True, True, True]])
    assert recall(found, stays) == pytest.approx(2 / 3)
    assert recall(found, stays, torch.tensor([False, True, True])) == 0.5


def test_counts_prefer_what_followed_the_newest_stay():
    learnt = NextStays(torch.tensor([[[0]], [[0]], [[1]]]), torch.tensor([[30], [30], [31]]))
    asked = NextStays(torch.tensor([[[0]], [[1]], [[NONE]]]), torch.tensor([[30], [31], [30]]))
    assert count_scores(learnt, asked, 40).argmax(-1).tolist() == [
        30,
        31,
        30,
    ]  # without a code: the commonest
    assert foreseen(count_scores(learnt, asked, 40), asked).all()


def test_all_models_have_as_many_parameters_and_shuffling_moves_leaves_only(tmp_path):
    write_stays(tmp_path)
    hospital = read_hospital(tmp_path)
    models = {kind: build(hospital, kind, seed=1) for kind in KINDS}
    for model in models.values():
        assert abs(parameters_of(model) / parameters_of(models["attention"]) - 1) < 0.02
    right, shuffled = models["attention"].nodes, models["shuffled tree"].nodes
    assert not right.equal(shuffled)
    assert right[:, 0].equal(shuffled[:, 0])


def test_a_history_gives_the_same_alone_and_in_company(tmp_path):
    write_stays(tmp_path)
    hospital = read_hospital(tmp_path)
    model = build(hospital, "attention", seed=0).eval()
    before = hospital.splits["train"].before[:20]
    assert torch.allclose(model(before)[3], model(before[3:4])[0], atol=1e-6)


@pytest.mark.slow
def test_the_small_size_learns_on_files_of_the_same_form_and_is_drawn(tmp_path):
    write_stays(tmp_path)
    outcome = REAL.train(0, "small", tmp_path, "cpu")
    assert (
        outcome.figure > 20 / 30 + 0.15
    )  # twenty of thirty codes at random; a patient's chapter has fifteen
    assert all(math.isfinite(value) for value in outcome.table.values())
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.02
    REAL.draw([outcome, outcome], Figure())
