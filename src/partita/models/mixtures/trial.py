"""Which start is on the higher ground: a short run from each. The chain that wins goes on, so that half of the trial is
not lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...inference.loop import Outcome, count_workers
from .chains import Walker, advance
from .mixture import log_joint
from .problem import Problem
from .starts import Start, grown, scattered

TRIAL_SWEEPS = 12
LEVEL = 2.0  # square roots of the number of rows by which two starts may differ and count as level
STARTS: tuple[Start, ...] = (scattered, grown)


def try_starts(
    streams: Sequence[np.random.Generator], problem: Problem, n_jobs: int | None = None
) -> tuple[Start, Outcome]:
    """The start whose chain is on the higher ground after a few sweeps, and that chain as far as it has come; one
    stream for each start.

    Level means scattered: log joint densities of two chains of the same law differ by about the square root of the
    rows (a term of order one from each, at random), and of many groups the grown chains have merged some that they do
    not part again.
    """
    if count_workers(n_jobs) > 1:
        with ThreadPoolExecutor(len(STARTS)) as pool:
            tried = list(pool.map(_try, STARTS, streams, [problem] * len(STARTS)))
    else:
        tried = [_try(start, rng, problem) for start, rng in zip(STARTS, streams, strict=True)]
    reached = [log_joint(problem.layout, outcome.states[0].chain) for outcome in tried]
    best = int(reached[1] > reached[0] + LEVEL * np.sqrt(len(problem.labelled)))
    return STARTS[best], tried[best]


def _try(start: Start, rng: np.random.Generator, problem: Problem) -> Outcome:
    walker, infos = Walker(0, start(rng, problem)), []
    for _ in range(TRIAL_SWEEPS):
        walker, info = advance(rng, walker, problem)
        infos.append(info)
    traces = {name: np.array([[info[name] for info in infos]]) for name in infos[0]}
    return Outcome([walker], [[]], traces, [TRIAL_SWEEPS], None, [rng])
