"""A step of a chain: the native kernel makes the same moves as its plain twin, wherever a call ends."""

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.contract import BINARY, DONE, PROPOSALS, VIEWS, Moves, SeatingLaws, grow

CASES = [
    {},
    {"missing": 0.6, "restaurants": 3, "listed": True},
    {"classes": 3, "empty_classes": 1, "alpha": 3.0},
    {"cap": 3, "groups": 3, "finite": True},
    {"kinds": (BINARY,) * 30, "entered": True, "restaurants": 3, "listed": True, "missing": 0.5},
    {"kinds": (BINARY,) * 30, "entered": True, "crowded": True, "restaurants": 1},
    {"groups": 7, "capacity": 8, "alpha": 30.0},  # room has to be made on the way
]
LAWS = SeatingLaws(np.array([0.3, 1.0, 4.0, 6.0]), np.array([0.0, 0.0, -1.0, -1.0]), np.log([0.3, 0.3, 0.2, 0.2]))


@pytest.fixture(params=[(case, seed) for case in CASES for seed in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def problem(request, make):
    case, seed = request.param
    return make.chain(seed, **case)


def all_moves(problem) -> Moves:
    rng, chain, D = problem.rng, problem.chain, problem.layout.n_columns
    order = np.argsort(chain.label, kind="stable")
    offset = np.concatenate([[0], np.cumsum(np.bincount(chain.label, minlength=len(chain.stats)))])
    return Moves(
        order, offset, rng.random(len(order)), rng.random((len(chain.z), len(order))),
        rng.integers(0, 2**63, chain.used.shape, dtype=np.uint64), 2, LAWS, rng.random(chain.used.shape),
        rng.random(D), problem.grids, rng.random((D, 3)),
    )  # fmt: skip


def carry_out(kernels, problem, chain, moves, first=0, until=DONE):
    """The moves, room being made where it is asked for; what they found, and how many calls it took."""
    place, found, calls = np.array([first, 0]), np.zeros(2), 0
    while place[0] < until:
        room = kernels.chain_step(problem.layout, problem.rows, chain, moves, place, found, until)
        if room > chain.capacity:
            grow(chain, room)
            kernels.refresh_tables(problem.layout, chain)
        calls += 1
    assert place.tolist() == [until, 0]
    return found.tolist(), calls


def test_all_moves(problem, native, make):
    for _ in range(2):
        moves, theirs = all_moves(problem), deepcopy(problem.chain)
        again = deepcopy(moves)
        found = carry_out(reference, problem, problem.chain, moves)
        assert carry_out(native, problem, theirs, again) == found
        np.testing.assert_array_equal(moves.order, again.order)
        make.same(problem.layout, problem.chain, theirs)


def test_short_calls_do_the_whole_step(problem, native, make):
    """The groups are named anew where a call ends, so that draws differ; but every row and column has its turn."""
    moves, chain = all_moves(problem), deepcopy(problem.chain)
    moves.cells_per_call = 3.0 * problem.layout.n_columns * chain.capacity
    _, calls = carry_out(native, problem, chain, moves)
    assert calls > 3
    fresh = deepcopy(chain)
    reference.rebuild(problem.layout, problem.rows, fresh)
    make.same(problem.layout, chain, fresh)


def test_stage_by_stage(problem, native, make):
    moves, theirs = all_moves(problem), deepcopy(problem.chain)
    found, _ = carry_out(native, problem, theirs, deepcopy(moves))
    bounds = [0, PROPOSALS, VIEWS, DONE]
    parts = [carry_out(native, problem, problem.chain, moves, *part)[0] for part in pairwise(bounds)]
    assert np.sum(parts, axis=0).tolist() == found
    make.same(problem.layout, theirs, problem.chain)


def test_moves_without_numbers_are_left_out(problem, backends, make):
    bare = all_moves(problem)
    bare = Moves(bare.order, bare.offset, bare.shuffle, bare.seats)
    for k in backends.values():
        chain = deepcopy(problem.chain)
        found, _ = carry_out(k, problem, chain, deepcopy(bare))
        assert found[1] == 0.0
        for name in ("hyper", "at", "view", "alpha", "discount"):
            np.testing.assert_array_equal(getattr(chain, name), getattr(problem.chain, name))


def test_rows_are_shuffled_within_their_class(problem, backends):
    """Every order of three rows comes up equally often, whatever the class."""
    moves = all_moves(problem)
    moves.seats = np.zeros((len(problem.chain.z), 0))
    for k in backends.values():
        seen = {}
        for u in (np.arange(3)[:, None] + 0.5) / 3:
            for v in (np.arange(2) + 0.5) / 2:
                order = np.array([5, 7, 9])
                label = np.zeros(len(moves.offset), np.int64)
                label[1:] = 3
                one = replace(moves, order=order, offset=label, shuffle=np.array([0.0, v, u[0]]))
                k.chain_step(
                    problem.layout, problem.rows, deepcopy(problem.chain), one, np.zeros(2, np.int64), np.zeros(2), 1
                )
                seen[tuple(order.tolist())] = True
        assert len(seen) == 6
