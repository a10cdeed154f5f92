"""The coordinate sampler of the Bayesian SVD: every move keeps the joint law of state and cells (Geweke 2004)."""

import numpy as np
import pytest
from scipy.special import expit
from svd_worlds import LIMIT, Move, World, changes, together, worst

from partita.models.matrices import coordinate as svd_coordinate
from partita.models.matrices.problem import Problem
from partita.models.matrices.sides import COLUMNS, ROWS
from partita.models.matrices.state import State

WORLDS = {
    "plain": World(prior="paper", sampler="coordinate", offsets=False, n_components=3),
    "one candidate": World(prior="paper", sampler="coordinate", offsets=False, n_components=1),
    "offsets and features": World(prior="paper", sampler="coordinate", features=True),
}


def moved(*names: str) -> Move:
    def move(rng: np.random.Generator, problem: Problem, state: State) -> State:
        sweep = svd_coordinate.Sweep.begin(problem, rng, state)
        for name in names:
            getattr(svd_coordinate, f"draw_{name}")(sweep)
            np.testing.assert_allclose(sweep.residual, problem.entries.values - sweep.fitted(), atol=1e-9)
        return state

    return move


def rows(rng: np.random.Generator, problem: Problem, state: State) -> State:
    svd_coordinate.draw_side(svd_coordinate.Sweep.begin(problem, rng, state), ROWS)
    return state


def columns(rng: np.random.Generator, problem: Problem, state: State) -> State:
    svd_coordinate.draw_side(svd_coordinate.Sweep.begin(problem, rng, state), COLUMNS)
    return state


def everything(rng: np.random.Generator, problem: Problem, state: State) -> State:
    return svd_coordinate.step(problem, rng, state)[0]


MOVES: dict[str, Move] = {
    "scales": moved("scales"), "switches": moved("switches"), "rows": rows, "columns": columns,
    "noise": moved("noise"), "scale precision": moved("scale_precision"),
    "effect precisions": moved("effect_precisions"), "mean": moved("mean"),
}  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", ["plain", "offsets and features"])
def test_a_move_keeps_the_joint_law(name, move):
    z, key = worst(changes(WORLDS[name], MOVES[move], 200))
    assert z < LIMIT, key


@pytest.mark.parametrize("name", ["one candidate", "offsets and features"])
def test_all_moves_keep_the_joint_law(name):
    z, key = worst(together(WORLDS[name], everything, 400))
    assert z < LIMIT, key


def broken(monkeypatch: pytest.MonkeyPatch, what: str) -> Move:
    """A move with one mistake."""
    if what == "a component left in its residual":
        monkeypatch.setattr(svd_coordinate, "_sums", _sums_of_the_plain_residual)
        return moved("scales")
    if what == "switches of other prior odds":
        monkeypatch.setattr(svd_coordinate, "expit", lambda x: expit(x + 1.0))
        return moved("switches")
    if what == "scales of both signs":
        monkeypatch.setattr(svd_coordinate, "positive_normal", lambda u, mean, precision: abs(mean) + 0.3 * u)
        return moved("scales")
    right = svd_coordinate.known
    monkeypatch.setattr(svd_coordinate, "known", lambda *given: (*right(*given)[:3], 2 * right(*given)[3]))
    return rows


def _sums_of_the_plain_residual(sweep, k):
    entries = sweep.problem.entries
    term = sweep.state.U[entries.row, k] * sweep.state.V[entries.column, k]
    return float(term @ term), float(sweep.residual @ term)


@pytest.mark.parametrize(
    "what",
    ["a component left in its residual", "switches of other prior odds", "scales of both signs", "the prior"],
)
def test_a_broken_move_is_caught(monkeypatch, what):
    assert worst(changes(WORLDS["plain"], broken(monkeypatch, what), 500))[0] > 1.2 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("move", [*MOVES, "everything"])
@pytest.mark.parametrize("name", WORLDS)
def test_a_move_keeps_the_joint_law_in_a_long_run(name, move):
    z, key = worst(changes(WORLDS[name], MOVES.get(move, everything), 6000, seed=3))
    assert z < LIMIT, key


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_all_moves_keep_the_joint_law_in_a_long_run(name):
    z, key = worst(together(WORLDS[name], everything, 12_000))
    assert z < LIMIT, key
