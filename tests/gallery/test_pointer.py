"""Gallery `pointer`: whatever may be chosen is an answer of the right kind, and pointing beats blending."""

import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery.pointer import ENTRY, Solver, fit
from heedful.gallery.puzzles import (
    SLOTS,
    area,
    draw_numbers,
    draw_points,
    open_numbers,
    open_points,
    turn,
)
from heedful.gallery.seeded import seeded

TASKS = pytest.mark.parametrize(
    ("draws", "opens"), [(draw_numbers, open_numbers), (draw_points, open_points)], ids=["sort", "hull"]
)


@TASKS
def test_the_right_path_is_open_at_each_of_its_steps(draws, opens):
    puzzles = draws(100, seed=3, shortest=5, longest=11)
    counted = puzzles.paths >= 0
    open_there = puzzles.opened.gather(-1, puzzles.paths.clamp(min=0)[..., None]).squeeze(-1)
    assert open_there[counted].all()
    assert (puzzles.opened <= puzzles.mask[:, None]).all()


def test_numbers_on_the_right_path_rise_and_are_all_there():
    puzzles = draw_numbers(100, seed=3, shortest=5, longest=11)
    for row in range(100):
        path = puzzles.paths[row][puzzles.paths[row] >= 0]
        assert sorted(path.tolist()) == puzzles.mask[row].nonzero().flatten().tolist()
        assert (puzzles.items[row, path, 0].diff() >= 0).all()


def test_no_point_lies_outside_the_right_hull_and_its_path_begins_at_the_lowest_and_returns():
    puzzles = draw_points(100, seed=3, shortest=5, longest=11)
    for row in range(100):
        path, points = puzzles.paths[row][puzzles.paths[row] >= 0], puzzles.items[row, puzzles.mask[row]]
        corners = puzzles.items[row, path]
        assert path[0] == path[-1] == points[:, 1].argmin()
        assert (turn(corners[:-1, None], corners[1:, None], points[None]) >= -1e-6).all()


@pytest.mark.parametrize("seed", range(5))
def test_choosing_at_random_among_open_points_always_ends_in_a_convex_polygon(seed):
    puzzles = draw_points(200, seed=seed, shortest=5, longest=7)
    lots = torch.Generator().manual_seed(seed)
    path = puzzles.paths[:, :0]
    for _ in range(8):
        allowed = open_points(puzzles.items, puzzles.mask, path)
        assert allowed.any(-1).all()
        path = torch.cat([path, torch.multinomial(allowed.float(), 1, generator=lots)], 1)
        closed = (path[:, 1:] == path[:, :1]).any(-1)
        path[closed, -1] = path[closed, 0]  # whoever is back at the first corner has ended
    assert closed.all()
    for row in range(200):
        end = int((path[row, 1:] == path[row, 0]).nonzero()[0]) + 1
        corners = puzzles.items[row, path[row, :end]]
        assert len(set(path[row, :end].tolist())) == end >= 3
        before, after = corners.roll(1, 0), corners.roll(-1, 0)
        assert (turn(before, corners, after) > 0).all()


def test_the_area_of_a_closed_path_is_that_of_its_polygon():
    square = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0]]])
    assert area(square, torch.tensor([[0, 1, 2, 3, 0, 0]])) == 6
    assert area(square, torch.tensor([[0, 1, 3, 0]])) == 3


@TASKS
def test_slots_of_a_puzzle_differ_and_short_puzzles_meet_them_all(draws, opens):
    slots = draws(200, seed=3, shortest=5, longest=7).slots
    assert all(len(set(row)) == 7 for row in slots.tolist())
    assert set(slots.flatten().tolist()) == set(range(SLOTS))


@TASKS
@pytest.mark.parametrize("points", [True, False])
def test_solving_chooses_open_items_only_even_untrained(draws, opens, points):
    torch.manual_seed(0)
    puzzles = draws(50, seed=3, shortest=5, longest=7)
    path, weights = Solver(points=points).solve(puzzles, opens, steps=5)
    for step in range(5):
        allowed = opens(puzzles.items, puzzles.mask, path[:, :step])
        assert allowed.gather(1, path[:, step : step + 1]).all()
        assert (weights[:, step][~allowed] == 0).all()


@pytest.mark.slow
def test_pointing_beats_blending_on_puzzles_longer_than_in_training():
    outcome = ENTRY.train(0, "small")
    for task in ("sort", "hull"):
        assert outcome.table[f"{task} 11–20"] > outcome.table[f"{task} 11–20, blend"]
    assert abs(outcome.parameters / outcome.baseline_parameters - 1) < 0.03
    ENTRY.draw(outcome, Figure())


def test_one_seed_learns_the_same_twice():
    puzzles, learnt = draw_numbers(100, seed=0, shortest=5, longest=10), []
    for _ in range(2):
        with seeded(3):
            solver = Solver(points=True)
            fit(solver, puzzles, steps=3)
        learnt.append(solver(puzzles))
    assert learnt[0].equal(learnt[1])
