"""Which start is on the higher ground: a short run from each, and where they end level with different numbers of groups
another one, since chains from one start may end far apart. The chains of the start that wins go on, so that half of the
trial is not lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...inference import loop
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from .chains import Walker, advance
from .mixture import log_joint
from .problem import Problem
from .starts import Start, grown, scattered

TRIAL_SWEEPS, MOST_PAIRS = 12, 3
LEVEL = 2.0  # square roots of the number of rows by which two starts may differ and count as level
STARTS: tuple[Start, ...] = (scattered, grown)


def try_starts(
    streams: Sequence[np.random.Generator], scouts: Sequence[np.random.Generator], problem: Problem, runner: Runner
) -> tuple[Start, Outcome]:
    """The start whose chains are on the higher ground after a few sweeps, and its chains as far as they have come; a
    stream of `streams` for each chain from the first start, one of `scouts` from the second. Where the trial is
    interrupted, the chain that is ahead.

    Level means scattered: log joint densities of two chains of the same law differ by about the square root of the
    rows (a term of order one from each, at random), and of many groups the grown chains have merged some that they do
    not part again.
    """
    tried: list[Outcome] = []
    lead: list[float] = []
    for pair in zip(streams[:MOST_PAIRS], scouts, strict=False):
        tried.append(_try_both(pair, problem, runner))
        chains = [walker.chain for walker in tried[-1].states]
        reached = [log_joint(problem.layout, chain) for chain in chains]
        if tried[-1].interrupted:
            best = int(np.argmax(reached))
            return STARTS[best], replace(tried[-1].take([best]), interrupted=tried[-1].interrupted)
        lead.append(reached[1] - reached[0])
        ahead = np.mean(lead) / (LEVEL * np.sqrt(len(problem.labelled) / len(lead)))
        if abs(ahead) > 1.0 or chains[0].used.sum() == chains[1].used.sum():
            break
    best = int(ahead > 1.0)
    return STARTS[best], Outcome.side_by_side([outcome.take([best]) for outcome in tried])


def _try_both(pair: Sequence[np.random.Generator], problem: Problem, runner: Runner) -> Outcome:
    walkers = [Walker(0, start(rng, problem)) for start, rng in zip(STARTS, pair, strict=True)]
    return loop.run(
        lambda rng, walker: advance(rng, walker, problem), walkers, pair, TRIAL_SWEEPS,
        n_jobs=runner.n_jobs, time_budget=runner.time_left(),
    )  # fmt: skip
