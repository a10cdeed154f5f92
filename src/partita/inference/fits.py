"""Several fits side by side, run by the one loop: anything with `init` and `step`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from . import loop
from .checkpoint import Checkpoint
from .monitor import make_monitor
from .outcome import Outcome
from .runner import Runner


@dataclass
class Fitting:
    """A fit on its way: the loop's state. It begins within its first step, so that starts run in parallel too."""

    number: int
    state: Any = None  # what the steps of its problem take


class Problem(Protocol):
    """What the loop runs: anything with a start and a step."""

    def init(self, rng: np.random.Generator) -> Any: ...

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, Mapping[str, float]]: ...


def run_fits(
    problems: Sequence[Problem], streams: Sequence[np.random.Generator], max_iter: int, stop: loop.Stop | None,
    runner: Runner, fingerprint: str, from_tree: Callable[[Any], Any],
    keep: Callable[[int, Any], Any] | None = None, kept_from_tree: Callable[[Any], Any] | None = None,
) -> tuple[list[Any], Outcome]:  # fmt: skip
    """All fits to the end; the states reached. A fit that a stop left without a step begins only.

    `from_tree` undoes the `to_tree` of the problems' states, for checkpoints; `keep(step, state)` says what is kept of
    a step, if anything, and `kept_from_tree` undoes its `to_tree`.
    """

    def step(rng: np.random.Generator, fitting: Fitting) -> tuple[Fitting, Mapping[str, float]]:
        problem = problems[fitting.number]
        state = problem.init(rng) if fitting.state is None else fitting.state
        state, info = problem.step(rng, state)
        return replace(fitting, state=state), info

    def pack(fitting: Fitting) -> dict[str, Any]:
        return {"number": fitting.number, "state": None if fitting.state is None else fitting.state.to_tree()}

    def unpack(tree: dict[str, Any]) -> Fitting:
        return Fitting(tree["number"], None if tree["state"] is None else from_tree(tree["state"]))

    checkpoint = None
    if runner.checkpoint is not None:
        checkpoint = Checkpoint(runner.checkpoint, fingerprint, pack, unpack)
        if kept_from_tree is not None:
            checkpoint = replace(checkpoint, pack_kept=lambda kept: kept.to_tree(), unpack_kept=kept_from_tree)
    outcome = loop.run(
        step, [Fitting(k) for k in range(len(problems))], list(streams), max_iter, stop=stop,
        keep=None if keep is None else lambda _, number, fitting: keep(number, fitting.state),
        n_jobs=runner.n_jobs, time_budget=runner.time_left(), checkpoint=checkpoint,
        progress=make_monitor(runner.progress, None, runner.label),
    )  # fmt: skip
    states = []
    for k, fitting in enumerate(outcome.states):
        states.append(problems[k].init(outcome.streams[k]) if fitting.state is None else fitting.state)
    return states, outcome
