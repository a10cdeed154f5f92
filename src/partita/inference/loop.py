"""The one long loop: it advances any sampler's chains, in parallel, and can be watched, stopped, killed and resumed.

A sampler is ``step(rng, state) -> (state, info)``. Every chain owns its state and its random stream, so neither the
number of threads nor the cutting into rounds changes a single bit of the result.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from partita.data.telling import tell
from partita.inference.brake import Brake
from partita.inference.checkpoint import Chain, Checkpoint
from partita.inference.monitor import Monitor, Silent
from partita.inference.outcome import Outcome

Step = Callable[[np.random.Generator, Any], tuple[Any, Mapping[str, float]]]
Keep = Callable[[int, int, Any], Any]
Stop = Callable[[Mapping[str, Sequence[float]]], bool]
Traces = list[Mapping[str, Sequence[float]]]
Meet = tuple[Sequence[int], Callable[[list[Any], Traces], list[Any]]]

_ROUND_SECONDS = 0.075


class FitInterrupted(UserWarning):
    """A fit was stopped by Ctrl-C or by its time budget and returns what it had."""


def run(
    step: Step,
    states: Sequence[Any],
    streams: Sequence[np.random.Generator],
    n_steps: int,
    *,
    keep: Keep | None = None,
    stop: Stop | None = None,
    n_jobs: int | None = 1,
    progress: Monitor | None = None,
    time_budget: float | None = None,
    checkpoint: Checkpoint | None = None,
    start: Outcome | None = None,
    meet: Meet | None = None,
    whole: int | None = None,
) -> Outcome:
    """Advance every chain to `n_steps` steps.

    Parameters
    ----------
    step : `step(rng, state) -> (state, info)`; it may change the state in place. `info` maps names to floats.
    states, streams : one state and one generator per chain.
    n_steps : steps per chain, those of `start` or of a resumed checkpoint included.
    keep : `keep(chain, step, state)`, called after every step (counted from 0), returns something to collect, or None;
        it must copy what it keeps of a state that changes in place.
    stop : `stop(trace)`, called after every step with a chain's own infos so far (name to list), says whether that
        chain has converged: bounds that no longer rise, say. Neither threads nor a resume change what it sees.
    n_jobs : threads over the chains; None or 1 is one, -1 all cores.
    progress : consumer of the number of steps done (see `monitor`).
    time_budget : seconds; the loop ends with the round in which they pass, after at least one step of every chain.
    checkpoint : file to resume from, if it is there, and to write to.
    start : outcome of an earlier run to continue; its states and streams take the place of those given.
    meet : numbers of steps, rising, and a function of the states and of the infos of all chains, which gives the states
        back, maybe changed: called when every chain has done exactly so many, before any goes on. After a resume it may
        be called again: states that it has seen it must give back as they are.
    whole : steps per chain of the whole, where this run is but its beginning: what a warning speaks of.

    Ctrl-C lets every chain finish its step and returns what there is, with a `FitInterrupted` warning; a chain may then
    have no step at all, but not all of them (else KeyboardInterrupt is raised). A second Ctrl-C raises at once. A spent
    time budget warns likewise.
    """
    chains = _line_up(states, streams, start)
    workers = min(count_workers(n_jobs), len(chains))
    if time_budget is not None and not time_budget > 0:
        raise ValueError(f"time_budget={time_budget!r} must be a positive number of seconds, or None for no limit")
    if checkpoint is not None:
        checkpoint.begin(chains)
        if any(chain.done > n_steps for chain in chains):
            raise ValueError(
                f"checkpoint={os.fspath(checkpoint.path)!r} has more than the {n_steps} steps asked for; "
                "delete the file to start anew, choose another path, or ask for more steps"
            )
    rounds = _Rounds(step, keep, stop, chains, n_steps, progress if progress is not None else Silent(), meet)
    interrupted = rounds.run(workers, time_budget, checkpoint)
    if interrupted is not None:
        asked = f"{whole or n_steps}" if stop is None else f"at most {whole or n_steps}"
        _tell_interrupted(chains, asked, "Ctrl-C" if interrupted == "keyboard" else "the time budget")
    return Outcome.of(chains, interrupted)


def count_workers(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` asks for, in scikit-learn's way of counting (-1: all cores, -2: all but one)."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is no number of threads; give None, a positive int, or -1 for all cores")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


class _Rounds:
    """The loop, cut into rounds of a few steps of every chain; between rounds all chains are at rest."""

    def __init__(
        self, step: Step, keep: Keep | None, stop: Stop | None, chains: list[Chain], n_steps: int, monitor: Monitor,
        meet: Meet | None,
    ) -> None:  # fmt: skip
        self.step = step
        self.keep = keep
        self.stop = stop
        for chain in chains:  # a chain that goes on, or is resumed, may have converged before
            chain.converged = stop is not None and chain.done > 0 and stop(chain.infos)
        self.chains = chains
        self.n_steps = n_steps
        self.monitor = monitor
        self.meet = meet
        self.brake = Brake()
        self.pool: ThreadPoolExecutor | None = None

    def run(self, workers: int, time_budget: float | None, checkpoint: Checkpoint | None) -> str | None:
        """Run to the end or to an interruption, which it names."""
        try:
            with self.brake:
                if workers > 1:
                    self.pool = ThreadPoolExecutor(workers, thread_name_prefix="partita")
                self._report()
                interrupted = self._rounds(time_budget, checkpoint)
                if checkpoint is not None and any(chain.done for chain in self.chains):
                    checkpoint.save(self.chains)
                return interrupted
        finally:
            self.brake.failed = True  # whatever still runs after an exception should not go on for long
            if self.pool is not None:
                self.pool.shutdown(wait=False, cancel_futures=True)
            self.monitor.close()

    def _rounds(self, time_budget: float | None, checkpoint: Checkpoint | None) -> str | None:
        begin = time.monotonic()
        block = 1
        while not self._finished():
            start = time.monotonic()
            self._round(block)
            now = time.monotonic()
            if self.brake.keyboard:
                return "keyboard"
            if self._finished():
                return None
            if time_budget is not None and now - begin >= time_budget:
                return "time"
            if checkpoint is not None and checkpoint.due():
                checkpoint.save(self.chains)
            block = _next_block(block, now - start)
        return None

    def _finished(self) -> bool:
        return not self._under_way()

    def _under_way(self) -> list[int]:
        return [k for k, chain in enumerate(self.chains) if chain.done < self.n_steps and not chain.converged]

    def _round(self, block: int) -> None:
        """Bring every chain `block` steps beyond the hindmost, so that all get their share of the time."""
        under_way = self._under_way()
        hindmost = min(self.chains[k].done for k in under_way)
        until = min(self.n_steps, hindmost + block)
        if self.meet is not None:
            until = self._before_meeting(*self.meet, hindmost, until)
        todo = [number for number in under_way if self.chains[number].done < until]
        if self.pool is None:
            for number in todo:
                self._advance(number, until)
                self._report()
        else:
            self._wait([self.pool.submit(self._advance, number, until) for number in todo])

    def _before_meeting(self, numbers: Sequence[int], together: Callable, hindmost: int, until: int) -> int:
        """How far the chains may go in a round; when all have come to a meeting, it takes place."""
        if hindmost in numbers and all(chain.done == hindmost for chain in self.chains):
            states = together([chain.state for chain in self.chains], [chain.infos for chain in self.chains])
            for chain, state in zip(self.chains, states, strict=True):
                chain.state = state
        return min([until, *(at for at in numbers if at > hindmost)])

    def _wait(self, futures: list[Future[None]]) -> None:
        pending = set(futures)
        try:
            while pending and not self.brake.failed:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                self.brake.failed = any(future.exception() is not None for future in done)
                self._report()
        except KeyboardInterrupt:
            if self.brake.keyboard:
                raise
            self.brake.keyboard = True
        wait(futures)
        for future in futures:
            future.result()

    def _advance(self, number: int, until: int) -> None:
        chain = self.chains[number]
        while chain.done < until and not chain.converged and not self.brake.pulled:
            chain.state, info = self.step(chain.rng, chain.state)
            kept = self.keep(number, chain.done, chain.state) if self.keep is not None else None
            if kept is not None:
                chain.kept.append(kept)
            chain.record(info)
            chain.done += 1
            chain.converged = self.stop is not None and self.stop(chain.infos)

    def _report(self) -> None:
        first = self.chains[0]
        # list(): the first chain may be adding a name in its own thread at this moment.
        info = {name: trace[-1] for name, trace in list(first.infos.items()) if trace}
        self.monitor.update(sum(chain.done for chain in self.chains), info)


def _next_block(block: int, seconds: float) -> int:
    """Steps for the next round, so that it lasts about `_ROUND_SECONDS`; growth is cautious as steps differ in cost."""
    return max(1, int(block * min(4.0, _ROUND_SECONDS / max(seconds, 1e-6))))


def _line_up(states: Sequence[Any], streams: Sequence[np.random.Generator], start: Outcome | None) -> list[Chain]:
    if start is not None:
        states, streams = start.states, start.streams
    assert len(states) == len(streams) > 0, "one stream per chain, and at least one chain"
    assert len({id(stream) for stream in streams}) == len(streams), "chains must not share a stream"
    chains = [Chain(state, rng) for state, rng in zip(states, streams)]
    if start is not None:
        for number, chain in enumerate(chains):
            chain.done = start.steps_done[number]
            chain.kept = list(start.kept[number])
            chain.infos = {name: trace[number, : chain.done].tolist() for name, trace in start.infos.items()}
    return chains


def _tell_interrupted(chains: list[Chain], asked: str, why: str) -> None:
    fewest, most = min(chain.done for chain in chains), max(chain.done for chain in chains)
    if most == 0:
        raise KeyboardInterrupt
    done = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    tell(
        f"stopped by {why} after {done} of {asked} steps per chain; the result keeps the steps that were done",
        FitInterrupted,
    )
