"""Independent chains over a matrix with holes, run by the one loop; draws kept after burn-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from ...inference import loop
from ...inference.checkpoint import Checkpoint
from ...inference.loop import count_workers
from ...inference.monitor import make_monitor
from ...inference.runner import Runner
from ...inference.streams import spawn_streams
from . import blocked as svd_blocked
from . import coordinate as svd_coordinate
from .draw import Draw
from .growth import grow
from .problem import Problem
from .settling import lengths
from .state import State
from .walkers import Walker, agree, go_on

KEPT_BYTES = 1e9  # all kept draws together: of large matrices not every sweep is kept
BIRTHS = 1 / 3  # share of burn-in in which components may be born; the rest is for those that the data do not hold
HURRY = 1 / 2  # share of a time budget after which burn-in is not made longer
AGREED = 2 / 3  # share of burn-in after which all chains have one number of components, and keep it
# a sampler is a module with init(problem, rng, start), step(problem, rng, state, n_threads),
# adapt(problem, rng, state, births, held, n_threads), which is called after every step of burn-in,
# resize(problem, rng, state, n), which gives a state n components, and kept(problem, state), the draw of a state
SAMPLERS: dict[str, ModuleType] = {"blocked": svd_blocked, "coordinate": svd_coordinate}


@dataclass(frozen=True)
class Settings:
    """How chains are run: sweeps of burn-in and after it, number of chains, where they start, sampler.

    prolong  whether burn-in goes on while the likelihood rises or falls
    """

    n_samples: int = 300
    burn_in: int = 200
    n_chains: int = 1
    init: str | int = "random"
    sampler: str = "blocked"
    prolong: bool = False


@dataclass
class Fitted:
    """Chains that have ended.

    burn_in      sweeps that were dropped of each
    draws        kept draws, one list per chain, never all empty
    states       where the chains stand, to go on from
    streams      their generators
    infos        traces (chains, sweeps) of "rank", "components", "noise", "log_likelihood", ..., burn-in included
    steps_done   sweeps of each chain
    interrupted  None, "keyboard" or "time"
    """

    burn_in: int
    draws: list[list[Draw]]
    states: list[State]
    streams: list[np.random.Generator]
    infos: dict[str, np.ndarray]
    steps_done: list[int]
    interrupted: str | None


def fit_chains(problem: Problem, settings: Settings, seed: Any, runner: Runner, fingerprint: str = "") -> Fitted:
    """New chains, one stream of `seed` each."""
    streams = spawn_streams(seed, settings.n_chains)
    return _run(problem, settings, [Walker(settings.burn_in) for _ in streams], streams, runner, fingerprint)


def continue_chains(
    problem: Problem, states: list[State], streams: list[np.random.Generator], settings: Settings, runner: Runner,
    fingerprint: str = "",
) -> Fitted:  # fmt: skip
    """The chains go on from where they stand, with the cells, rows, columns and features of `problem`.

    Row i and column j are those of before; new ones come after. `settings.burn_in` sweeps are not kept; in them
    components may be born and cut as at the start.
    """
    pairs = zip(states, streams, strict=True)
    walkers = [Walker(settings.burn_in, grow(problem, state, stream), state.sweep) for state, stream in pairs]
    return _run(problem, settings, walkers, streams, runner, fingerprint)


def _run(
    problem: Problem, settings: Settings, walkers: list[Walker], streams: list[np.random.Generator], runner: Runner,
    fingerprint: str,
) -> Fitted:  # fmt: skip
    sampler = SAMPLERS[settings.sampler]
    n_threads = max(1, count_workers(runner.n_jobs) // len(walkers))  # those that chains leave over work within a sweep
    ends = lengths(settings.burn_in, settings.prolong)
    meetings = sorted({*ends, *(int(np.ceil(AGREED * end)) for end in ends)} - {0})

    def step(rng: np.random.Generator, walker: Walker) -> tuple[Walker, Mapping[str, float]]:
        state = sampler.init(problem, rng, settings.init) if walker.state is None else walker.state
        if walker.components not in (None, state.n_components):
            sampler.resize(problem, rng, state, walker.components)
        state, info = sampler.step(problem, rng, state, n_threads)
        walker = replace(walker, state=state)
        if walker.done <= walker.burn_in:
            births = walker.done <= BIRTHS * settings.burn_in
            sampler.adapt(problem, rng, state, births, walker.components is not None, n_threads)
        return walker, {**info, "kept": max(walker.done - walker.burn_in, 0)}

    def keep(chain: int, number: int, walker: Walker) -> Draw | None:
        assert walker.state is not None
        left = walker.burn_in + settings.n_samples - walker.done
        if walker.done <= walker.burn_in or left % keep_every(problem, walker.state, settings):
            return None
        return sampler.kept(problem, walker.state)

    def together(walkers: list[Walker], traces: list[Mapping[str, Sequence[float]]]) -> list[Walker]:
        if walkers[0].done == walkers[0].burn_in < ends[-1] and not _hurried(runner):
            return go_on(walkers, traces, len(problem.entries))
        return agree(walkers) if walkers[0].done >= AGREED * walkers[0].burn_in else walkers

    monitor = make_monitor(runner.progress, (ends[0] + settings.n_samples) * len(walkers), runner.label)
    outcome = loop.run(
        step, walkers, streams, ends[-1] + settings.n_samples, keep=keep, n_jobs=runner.n_jobs, progress=monitor,
        stop=lambda trace: trace["kept"][-1] >= settings.n_samples, time_budget=runner.time_left(),
        checkpoint=_checkpoint(runner, fingerprint), meet=(meetings, together),
    )  # fmt: skip
    return _fitted(problem, settings, outcome)


def _hurried(runner: Runner) -> bool:
    left = runner.time_left()
    return left is not None and left < HURRY * (runner.time_budget or 0.0)  # draws are what the rest is for


def _checkpoint(runner: Runner, fingerprint: str) -> Checkpoint | None:
    packing = Walker.to_tree, Walker.from_tree, Draw.to_tree, Draw.from_tree
    return None if runner.checkpoint is None else Checkpoint(runner.checkpoint, fingerprint, *packing)


def _fitted(problem: Problem, settings: Settings, outcome: loop.Outcome) -> Fitted:
    sampler = SAMPLERS[settings.sampler]
    states = [
        walker.state if walker.state is not None else sampler.init(problem, stream, settings.init)
        for walker, stream in zip(outcome.states, outcome.streams, strict=True)
    ]
    draws = outcome.kept
    if not any(draws):  # stopped within burn-in: the last states are the best there is
        draws = [[sampler.kept(problem, state)] for state in states]
    dropped = outcome.states[0].burn_in
    infos = {name: trace for name, trace in outcome.infos.items() if name != "kept"}
    return Fitted(dropped, draws, states, outcome.streams, infos, outcome.steps_done, outcome.interrupted)


def keep_every(problem: Problem, state: State, settings: Settings) -> int:
    """Sweeps from one kept draw to the next, so that all of them take about KEPT_BYTES."""
    numbers = (problem.n_rows + problem.n_columns) * (state.n_components + 2)
    return max(1, int(np.ceil(4.0 * numbers * settings.n_samples * settings.n_chains / KEPT_BYTES)))
