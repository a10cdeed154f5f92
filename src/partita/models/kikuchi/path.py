"""The whole path, run: watched, stopped by Ctrl-C or the clock, written to a checkpoint and taken up again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...data.telling import tell
from ...data.validate import DataWarning
from ...inference.blas import one_blas_thread
from ...inference.brake import Brake
from ...inference.checkpoint import Chain, Checkpoint
from ...inference.loop import FitInterrupted, count_workers
from ...inference.monitor import make_monitor
from ...inference.runner import Runner
from ..evidence.omitted import NAMED, named
from .problem import Choices, Problem
from .search import Search
from .work import Stopped, Work


def find_path(problem: Problem, choices: Choices, runner: Runner, mark: str = "", names: Sequence[Any] = ()) -> Search:
    """The search at its end, or where Ctrl-C or the time budget stopped it; a checkpoint must agree with `mark`.

    Each matrix product runs in one thread: the threads of `runner.n_jobs` share out the candidates, and no rounding
    depends on their number.
    """
    workers = count_workers(runner.n_jobs)
    until = None if runner.time_budget is None else time.monotonic() + runner.time_budget
    pool = ThreadPoolExecutor(workers, thread_name_prefix="partita") if workers > 1 else None
    monitor = make_monitor(runner.progress, None, runner.label)
    stopped = None
    try:
        with Brake() as brake, one_blas_thread():
            search = Search(problem, choices, Work(pool, brake, until))
            walk = _Walk(search, runner, mark)
            try:
                while walk.step():
                    last = search.path[-1]
                    info = {"order": len(last.region) + 1, "log_posterior": last.log_posterior}
                    monitor.update(len(search.path), info)
            except Stopped as stop:
                stopped = stop.reason
            walk.save()
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        monitor.close()
    _tell_screened(search, names)
    if stopped is not None:
        search.unfinished = sorted({order for _, order in walk.phases[walk.phase :]})
        _tell_stopped(search, walk, stopped)
    return search


class _Walk:
    """The phases of a search one step at a time; where it stands is a list of regions, the number of the phase, and the
    attributes kept for each order so far: what was screened depends on the model at that moment."""

    def __init__(self, search: Search, runner: Runner, mark: str) -> None:
        self.search, self.phases, self.phase = search, search.phases(), 0
        self.chain = Chain(self._state(), np.random.default_rng(0))
        self.checkpoint = Checkpoint(runner.checkpoint, mark) if runner.checkpoint is not None else None
        if self.checkpoint is not None:
            self.checkpoint.begin([self.chain])
            self._resume(self.chain.state)

    def _state(self) -> dict[str, Any]:
        steps = [[list(stage.region), stage.phase] for stage in self.search.path[1:]]
        kept = [self.search.attributes[order].tolist() for order in range(1, len(self.search.attributes))]
        return {"steps": steps, "phase": self.phase, "attributes": kept}

    def _resume(self, state: dict[str, Any]) -> None:
        self.phase = int(state["phase"])
        for region, phase in state["steps"]:
            self.search.add(tuple(region), phase)
        for order, kept in enumerate(state["attributes"], 1):
            self.search.attributes[order] = np.array(kept, self.search.attributes[0].dtype)

    def step(self) -> bool:
        """Add one region, going on to the next phase where the current one has ended; False at the end of all."""
        while self.phase < len(self.phases):
            kind, order = self.phases[self.phase]
            if (self.search.climb if kind == "climb" else self.search.descend)(order):
                if self.checkpoint is not None and self.checkpoint.due():
                    self.save()
                return True
            self.phase += 1
        return False

    def save(self) -> None:
        if self.checkpoint is not None:
            self.chain.state, self.chain.done = self._state(), len(self.search.path)
            self.checkpoint.save([self.chain])


def _tell_screened(search: Search, names: Sequence[Any]) -> None:
    """Warn of attributes that max_candidates left out."""
    for order, left in search.screened().items():
        n_kept, listed = len(search.attributes[order]), ", ".join(named(j, names) for j in left[:NAMED])
        more = f" and {len(left) - NAMED:,} more" if len(left) > NAMED else ""
        tell(
            f"{_regions(order)} were searched among the {n_kept} most promising attributes only "
            f"(max_candidates={search.choices.max_candidates}); not searched: {listed}{more}. not_searched_ holds them "
            "all; raise max_candidates to search them.",
            DataWarning,
        )


def _regions(order: int) -> str:
    return f"regions of {order} attribute{'s' if order > 1 else ''}"


def _tell_stopped(search: Search, walk: _Walk, reason: str) -> None:
    kind, order = walk.phases[walk.phase]
    later = sorted({o for _, o in walk.phases[walk.phase + 1 :] if o > order})
    what = _regions(order) + (" past the hilltop" if kind == "descend" else "")
    also = f", and of {' and '.join(map(str, later))} not at all" if later else ""
    tell(
        f"{'stopped by Ctrl-C' if reason == 'keyboard' else 'time_budget is spent'}: {what} were not searched to the "
        f"end{also}. The result keeps the path of {len(search.path) - 1} regions found so far.",
        FitInterrupted,
    )
