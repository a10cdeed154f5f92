"""Gated experts by Gibbs sampling: every move keeps the joint law of state and table (Geweke 2004).

A move alone: state and table are drawn from the joint prior, the move is made, and no statistic may have changed on
average; since a draw is compared with its own past, few are needed. All moves together: a chain that alternates a step
with a fresh table against independent draws."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from experts_prior import World, draw_joint, draw_table, statistics

from partita.models.gated import gibbs_draws as gated_gibbs_draws
from partita.models.gated import gibbs_jumps as gated_gibbs_jumps
from partita.models.gated import gibbs_moves as gated_gibbs_moves
from partita.models.gated import gibbs_reseat as gated_gibbs_reseat
from partita.models.gated import gibbs_rows as gated_gibbs_rows
from partita.models.gated import gibbs_stretch as gated_gibbs_stretch
from partita.models.gated.gibbs import GibbsProblem
from partita.models.gated.gibbs_state import GibbsState

LIMIT = 4.2  # standard errors; there are a few thousand comparisons in a long run
BATCHES = 40
Move = Callable[[np.random.Generator, GibbsProblem, GibbsState], GibbsState]

WORLDS = {
    "two classes": World(),
    "two classes, pooled": World("pooled"),
    "two classes, bounded": World("pooled", least_precision=0.9),
    "two classes, Gaussian": World(beside=False),
    "counts in buckets": World(buckets=True),
    "three classes": World(n_classes=3),
    "three classes, pooled": World("pooled", n_classes=3),
    "pure gates": World(None, unlabelled=(1, 4)),
    "pure gates of three classes": World(None, n_classes=3, unlabelled=(1, 4)),
}


def rows(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return gated_gibbs_rows.draw_rows(rng, problem.given, state, problem.moves.scans)[0]


def parameters(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return gated_gibbs_draws.draw_parameters(rng, problem.given, state, problem.moves.alpha)


def split_merge(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    """Parameters follow: the move has integrated them out."""
    for _ in range(3):
        state, _ = gated_gibbs_moves.split_or_merge(rng, problem.given, state, problem.moves)
    return parameters(rng, problem, state)


def jump(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    """Parameters follow: the move has integrated the gates out."""
    for _ in range(3):
        state, _ = gated_gibbs_jumps.jump(rng, problem.given, state, problem.moves)
    return parameters(rng, problem, state)


def stretched(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return gated_gibbs_stretch.stretch(rng, problem.given, state, 3)


def exchange(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return parameters(rng, problem, gated_gibbs_moves.exchange_sticks(rng, state, 6))


def everything(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return problem.step(rng, state)[0]


def seats(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
    return parameters(rng, problem, gated_gibbs_reseat.reseat(rng, problem.given, state, 5))


MOVES: dict[str, Move] = {
    "rows": rows, "seats": seats, "parameters": parameters, "split and merge": split_merge, "exchange": exchange,
    "jump": jump, "stretches": stretched,
}  # fmt: skip


def changes(world: World, move: Move, draws: int, seed: int = 1) -> dict[str, float]:
    """Mean change of every statistic by a move, in standard errors."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        problem, state = draw_joint(rng, world)
        before = statistics(problem, state)
        after = statistics(problem, move(rng, problem, state))
        found.append([after[key] - before[key] for key in before])
    each = np.array(found)
    error = np.maximum(each.std(axis=0), 1e-12) / np.sqrt(draws)
    return dict(zip(before, (each.mean(axis=0) / error).tolist(), strict=True))


def together(world: World, move: Move, draws: int) -> dict[str, float]:
    """Independent draws against a chain of steps and fresh tables, in standard errors."""
    rng = np.random.default_rng(2)
    alone = [statistics(*draw_joint(rng, world)) for _ in range(draws)]
    problem, state = draw_joint(rng, world)
    chained = []
    for _ in range(draws):
        problem, state = draw_table(rng, world, state.parameters, state.z)
        state = move(rng, problem, state)
        chained.append(statistics(problem, state))
    scores = {}
    for key in alone[0]:
        one = np.array([s[key] for s in alone])
        means = np.array([s[key] for s in chained]).reshape(BATCHES, -1).mean(axis=1)
        error = np.sqrt(one.var() / draws + means.var(ddof=1) / BATCHES)
        scores[key] = float((means.mean() - one.mean()) / max(error, 1e-12))
    return scores


def worst(scores: dict[str, float]) -> tuple[float, str]:
    key = max(scores, key=lambda name: abs(scores[name]))
    return abs(scores[key]), key


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("name", ["two classes, pooled", "three classes", "pure gates"])
def test_a_move_keeps_the_joint_law(name, move):
    z, key = worst(changes(WORLDS[name], MOVES[move], 100))
    assert z < LIMIT, key


@pytest.mark.parametrize("name", ["two classes", "three classes, pooled"])
def test_all_moves_keep_the_joint_law(name):
    z, key = worst(together(WORLDS[name], everything, 480))
    assert z < LIMIT, key


def broken(monkeypatch: pytest.MonkeyPatch, what: str) -> tuple[str, Move]:
    """A world and a move with one mistake."""
    if what == "the label's part of a latent":  # t drawn as if missing cells were known
        right = gated_gibbs_rows.above
        monkeypatch.setattr(gated_gibbs_rows, "above", lambda rng, mean, limit: right(rng, 1.3 * mean, limit))
        return "two classes", rows
    if what == "the way back":
        monkeypatch.setattr(gated_gibbs_moves, "_log_share", lambda *_: 0.0)
        return "two classes, pooled", split_merge
    if what == "a constant of each component":
        right_fixed = gated_gibbs_jumps.Unfilled._fixed
        monkeypatch.setattr(gated_gibbs_jumps.Unfilled, "_fixed", lambda way, mine: right_fixed(way, mine) + 3.0)
        return "pure gates", jump
    if what == "the law of precisions":  # stretched as if their prior were flat in the logarithm
        right_step = gated_gibbs_stretch.slice_step
        tilted = lambda rng, f, *rest: right_step(rng, lambda u: f(u) + 6.0 * u, *rest)  # noqa: E731
        monkeypatch.setattr(gated_gibbs_stretch, "slice_step", tilted)
        return "two classes, pooled", stretched
    if what == "the order of sticks":
        monkeypatch.setattr(gated_gibbs_moves, "log_sticks", lambda counts, alpha: np.zeros(counts.shape[:-1]))
        return "pure gates", exchange
    if what == "the weights of sticks":
        monkeypatch.setattr(gated_gibbs_reseat, "_log_expected", lambda count, alpha: np.zeros(len(count)))
        return "pure gates", seats
    if what == "idle experts":  # their prior learns from experts that only repeat it
        right_pool = gated_gibbs_draws.draw_pool
        doubled = lambda rng, given, w: right_pool(rng, given, np.concatenate([w, w]))  # noqa: E731
        monkeypatch.setattr(gated_gibbs_draws, "draw_pool", doubled)
        return "two classes, pooled", parameters
    right_turn = gated_gibbs_rows.turn_latents
    monkeypatch.setattr(
        gated_gibbs_rows, "turn_latents", lambda rng, mean, label, t: right_turn(rng, 0.5 * mean, label, t)
    )
    return "three classes", rows


MISTAKES = [
    "the label's part of a latent", "the way back", "a constant of each component", "the order of sticks",
    "the law of precisions",
    "the weights of sticks", "idle experts", "latents of many classes",
]  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_a_broken_move_is_caught(monkeypatch, what):
    name, move = broken(monkeypatch, what)

    def repeated(rng: np.random.Generator, problem: GibbsProblem, state: GibbsState) -> GibbsState:
        for _ in range(3):
            state = move(rng, problem, state)
        return state

    draws = {split_merge: 200, jump: 100, parameters: 1000}.get(move, 500)
    assert worst(changes(WORLDS[name], repeated, draws))[0] > 1.2 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("move", [*MOVES, "everything"])
@pytest.mark.parametrize("name", WORLDS)
def test_a_move_keeps_the_joint_law_in_a_long_run(name, move):
    z, key = worst(changes(WORLDS[name], MOVES.get(move, everything), 4000, seed=3))
    assert z < LIMIT, key


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_all_moves_keep_the_joint_law_in_a_long_run(name):
    z, key = worst(together(WORLDS[name], everything, 10_000))
    assert z < LIMIT, key


@pytest.mark.slow
def test_all_moves_keep_the_joint_law_at_a_fixed_concentration():
    world = replace(WORLDS["two classes"], moves=replace(WORLDS["two classes"].moves, alpha=0.7))
    z, key = worst(together(world, everything, 10_000))
    assert z < LIMIT, key
