"""One mixture of all rows: a trial of the starts, then independent chains from the better one."""

from __future__ import annotations

import os
from typing import Any

from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ...inference.streams import root_sequence, spawn_streams
from .chains import Chains, Kept
from .problem import Problem
from .starts import scattered
from .trial import MOST_PAIRS, TRIAL_SWEEPS, try_starts


def learn_groups(
    problem: Problem, n_chains: int, n_sweeps: int | None, seed: Any, runner: Runner, fingerprint: str
) -> tuple[list[Kept], Outcome]:
    """States kept of chains of `n_sweeps` sweeps (None: until they have settled), and where the chains have come to."""
    streams = spawn_streams(root_sequence(seed), n_chains + MOST_PAIRS)
    streams, scouts = streams[:n_chains], streams[n_chains:]
    start, begun = scattered, None
    if runner.checkpoint is None or not os.path.exists(runner.checkpoint):  # a resumed chain goes on from where it was
        start, begun = try_starts(streams, scouts, problem, runner)
        if begun.interrupted:
            return Chains([problem], [0], begun.streams, runner=runner, begun=begun).as_they_stand(), begun
        streams[: len(begun.streams)] = begun.streams
        if n_sweeps is not None and n_sweeps < 2 * TRIAL_SWEEPS:
            begun = None  # nothing would be kept of it
    chains = Chains(
        [problem] * n_chains, [0] * n_chains, streams, runner=runner, fingerprint=fingerprint, begun=begun, start=start
    )
    kept = chains.run_until_settled() if n_sweeps is None else chains.run(max(n_sweeps, 1))
    assert chains.outcome is not None
    return kept, chains.outcome
