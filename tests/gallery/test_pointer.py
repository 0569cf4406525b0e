"""Gallery `pointer`: right answers are right, whatever may be chosen is open, and pointing beats blending."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from heedful.gallery import compare_entry
from heedful.gallery.learning import parameters_of
from heedful.gallery.pointer import (
    BLEND,
    BUDGETS,
    ENTRY,
    LONGEST,
    PLAIN,
    POINTER,
    REAL,
    SHORTEST,
    Solver,
    build,
    fit,
    try_task,
)
from heedful.gallery.puzzles import (
    SLOTS,
    TASKS,
    Puzzles,
    area,
    excess,
    open_items,
    opened,
    plainly,
    solved,
    turn,
)
from heedful.gallery.seeded import seeded
from heedful.gallery.tours import nearest_tours, shortest_tours, tour_lengths

SORT, HULL, TOUR = TASKS
EVERY = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def some(task, count=100, items=7, seed=3):
    return task.puzzles(count, items, np.random.default_rng(seed))


def test_no_tour_is_shorter_than_the_shortest():
    points = np.random.default_rng(5).random((11, 7, 2))
    found = tour_lengths(points, shortest_tours(points))
    others = [
        tour_lengths(points, np.broadcast_to((*order, 6), (11, 7)))
        for order in itertools.permutations(range(6))
    ]
    np.testing.assert_allclose(found, np.min(others, 0), rtol=1e-12)


def test_the_nearest_city_is_next_and_each_is_visited_once():
    points = np.array([[[0, 0], [5, 0], [1, 0], [3, 0]]], dtype=float)
    assert nearest_tours(points, np.array([0])).tolist() == [[0, 2, 3, 1]]
    assert tour_lengths(points, np.array([[0, 2, 3, 1]])).tolist() == [10]


@EVERY
def test_the_right_path_is_open_at_each_of_its_steps(task):
    puzzles = some(task)
    counted = puzzles.paths >= 0
    may = opened(puzzles, returns=task.returns)
    assert may.gather(-1, puzzles.paths.clamp(min=0)[..., None]).squeeze(-1)[counted].all()
    assert solved(task, puzzles, puzzles.paths).all()


def test_numbers_on_the_right_path_rise_and_are_all_there():
    puzzles = some(SORT)
    assert puzzles.paths.sort(-1).values.equal(torch.arange(7).expand(100, 7))
    assert (puzzles.items[..., 0].gather(1, puzzles.paths).diff() >= 0).all()


def test_no_point_lies_outside_the_right_hull_and_its_path_begins_at_the_lowest_and_returns():
    puzzles = some(HULL)
    for path, points in zip(puzzles.paths, puzzles.items, strict=True):
        path = path[path >= 0]
        corners = points[path]
        assert path[0] == path[-1] == points[:, 1].argmin()
        assert (turn(corners[:-1, None], corners[1:, None], points[None]) >= -1e-6).all()


def test_right_tours_begin_at_the_lowest_city_and_turn_left():
    puzzles = some(TOUR)
    assert puzzles.paths[:, 0].equal(puzzles.items[..., 1].argmin(1))
    assert (area(puzzles.items, torch.cat([puzzles.paths, puzzles.paths[:, :1]], 1)) > 0).all()


def test_a_tour_counts_by_its_length_wherever_it_begins_and_turns():
    puzzles = some(TOUR)
    assert solved(TOUR, puzzles, puzzles.paths.flip(1).roll(3, 1)).all()
    swapped = puzzles.paths[:, [1, 0, *range(2, 7)]]
    assert not solved(TOUR, puzzles, swapped).any()
    assert (excess(puzzles, swapped) > 0).all()


@EVERY
def test_the_plain_method_solves_all_but_some_tours(task):
    share = solved(task, some(task), plainly(task, some(task))).double().mean()
    assert (share == 1) == (task is not TOUR)
    assert share > 0.1


def test_the_area_of_a_closed_path_is_that_of_its_polygon():
    square = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [2.0, 3.0], [0.0, 3.0]]])
    assert area(square, torch.tensor([[0, 1, 2, 3, 0, 0]])) == 6
    assert area(square, torch.tensor([[0, 1, 3, 0]])) == 3


def test_a_path_may_come_back_from_three_items_on_and_then_stays():
    def may(*path):
        return open_items(torch.tensor([path]), items=4, returns=True)[0].tolist()

    assert may(2, 0) == [False, True, False, True]
    assert may(2, 0, 1) == [False, False, True, True]
    assert may(2, 0, 1, 2) == [False, False, True, False]
    assert open_items(torch.tensor([[2, 0, 1]]), items=4, returns=False)[0].tolist() == [False] * 3 + [True]


@EVERY
def test_slots_of_a_puzzle_differ_and_short_puzzles_meet_them_all(task):
    slots = some(task).slots
    assert all(len(set(row)) == 7 for row in slots.tolist())
    assert set(slots.flatten().tolist()) == set(range(SLOTS))


@EVERY
@pytest.mark.parametrize("points", [True, False])
def test_solving_chooses_open_items_only_even_untrained(task, points):
    torch.manual_seed(0)
    puzzles = some(task, 50)
    path = Solver(8, points=points).solve(puzzles, returns=task.returns)
    for step in range(path.shape[1]):
        may = open_items(path[:, :step], items=7, returns=task.returns)
        assert may.gather(1, path[:, step : step + 1]).all()


@pytest.mark.parametrize("points", [True, False])
def test_solving_step_by_step_scores_as_learning_does_along_the_same_path(points):
    torch.manual_seed(0)
    model, puzzles = Solver(8, points=points), some(SORT, 11)
    path = model.solve(puzzles, returns=False)
    chosen = Puzzles(puzzles.items, puzzles.slots, path)
    may = opened(chosen, returns=False)
    scores = model(chosen, may).masked_fill(~may, -torch.inf)
    assert scores.argmax(-1).equal(path)


def test_the_decoder_goes_on_from_what_the_encoder_read():
    """A pointer without an encoder could not tell puzzles apart before its first choice."""
    torch.manual_seed(0)
    model, puzzles = Solver(8, points=True), some(SORT, 2)
    _, _, (last, _) = model.read(puzzles)
    assert not last[0, 0].allclose(last[0, 1])
    forwards, backwards = (
        Puzzles(items, puzzles.slots, puzzles.paths) for items in (puzzles.items, puzzles.items.flip(1))
    )
    assert not model.read(forwards)[1][:, 0].allclose(model.read(backwards)[1][:, -1])


@pytest.mark.parametrize("size", BUDGETS)
def test_both_decoders_have_as_many_parameters(size):
    pointer, blend = (parameters_of(build(BUDGETS[size], kind)) for kind in (POINTER, BLEND))
    assert abs(pointer / blend - 1) < 0.01


def test_each_length_is_tested_and_the_plain_method_beside():
    class Right(Solver):
        def solve(self, puzzles, *, returns):
            return puzzles.paths

    solvers = {POINTER: Right(4, points=True), BLEND: Solver(4, points=False)}
    found = try_task(HULL, solvers, replace(BUDGETS["small"], tested=7), seed=0, device="cpu")
    assert found.shares[POINTER] == found.shares[PLAIN] == [1.0] * (SLOTS - SHORTEST + 1)
    assert max(found.shares[BLEND]) < 1
    assert len(found.shown["points"]) > LONGEST


def test_one_seed_learns_the_same_twice():
    budget, learnt, puzzles = replace(BUDGETS["small"], steps=3), [], some(SORT)
    for _ in range(2):
        with seeded(3):
            solver = build(budget, POINTER)
            fit(solver, SORT, [puzzles], budget)
        learnt.append(solver(puzzles, opened(puzzles, returns=False)))
    assert learnt[0].equal(learnt[1])


def test_learning_lowers_the_share_of_wrong_orders():
    puzzles = some(SORT, 500, items=3)
    with seeded(3):
        solver = build(replace(BUDGETS["small"], width=16), POINTER)
        before = solved(SORT, puzzles, solver.solve(puzzles, returns=False)).double().mean()
        fit(solver, SORT, [puzzles], replace(BUDGETS["small"], width=16, steps=80))
    after = solved(SORT, puzzles, solver.solve(puzzles, returns=False)).double().mean()
    assert after > max(0.6, before + 0.2)


@pytest.mark.slow
def test_the_small_size_is_the_papers_task_without_any_folder_and_is_drawn(monkeypatch):
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    compared = compare_entry(ENTRY, seeds=(0,), size="small")
    assert compared.is_real
    assert "paper's own rules" in compared.data
    assert compared.outcomes[0].yardstick > 0.6
    assert compared.outcomes[0] == REAL.train(0, "small", Path(), "cpu")
    compared.draw(Figure())
