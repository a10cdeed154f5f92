"""The best network by simulated annealing: chains that begin in the best states seen, the joint raised to a growing
power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...inference.fits import Problem, run_fits
from ...kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES
from ...priors.graph import log_joint
from .large import GraphSampler
from .learnt import Learnt
from .posterior import best_states
from .rows import Rows, Sheets
from .state import NetState, Schedule

if TYPE_CHECKING:
    from .learn import NetTask

SWEEPS, COLDEST = 400, 30.0  # of every chain, and the power it ends with
STARTS = 4  # best states that chains begin in; one more begins afresh
WORTH = 0.01  # weight of a prior below which its best state is not looked for


@dataclass
class Annealer:
    """A chain over classes and graphs whose power grows from 1 to COLDEST."""

    sampler: GraphSampler
    z: np.ndarray | None
    graph: np.ndarray | None

    def init(self, rng: np.random.Generator) -> NetState:
        state = self.sampler.init(rng)
        if self.z is not None:
            state.z[0], state.graph[0] = self.z, self.graph
            self.sampler.seats.start(rng, state, self.sampler.alpha)
        return state

    def step(self, rng: np.random.Generator, state: NetState) -> tuple[NetState, Mapping[str, float]]:
        self.sampler.heat = float(COLDEST ** (state.done / (self.sampler.schedule.n_sweeps - 1)))
        return self.sampler.step(rng, state)


def anneal(task: NetTask, learnt: Learnt) -> Learnt:
    """The same with the best states that annealing finds among its best."""
    s, posterior = task.settings, learnt.posterior
    rows = Sheets([Rows(codes, of, s.bdeu, s.pseudo) for codes, of in zip(task.codes, task.levels, strict=True)])
    found = [(posterior.top_value, posterior.top_z, posterior.top_graph)]
    problems: list[Problem] = []
    names: list[str] = []
    for name in (name for name, weight in learnt.prior_weights.items() if weight > WORTH):
        chains = _chains(task, learnt, rows, name)
        problems += chains
        names += [name] * len(chains)
    runner = replace(task.runner, checkpoint=None)
    streams = task.streams(len(problems))
    states, _ = run_fits(problems, streams, SWEEPS, None, runner, "", NetState.from_tree)
    for name, state in zip(names, states, strict=True):
        seen = np.isfinite(state.top_value)
        value = state.top_value[seen] - learnt.normalisers.get(name, 0.0)
        found.append((value, state.top_z[seen], state.top_graph[seen]))
    value, z, graph = best_states(found)
    learnt.posterior = replace(posterior, top_value=value, top_z=z, top_graph=graph)
    return learnt


def _chains(task: NetTask, learnt: Learnt, rows: Sheets, name: str) -> list[Problem]:
    s, known, posterior = task.settings, task.known, learnt.posterior
    kind = {"ordered-block": ORDERED_CLASSES, "uniform": GIVEN_ODDS, "template": GIVEN_ODDS}.get(name, CLASSES)
    if name == "sparse":
        known = replace(known, classes=np.zeros(known.n, np.int32))
    starts: list[tuple[np.ndarray | None, np.ndarray | None]] = [(None, None)]
    for z, graph in zip(posterior.top_z, posterior.top_graph, strict=True):
        z = np.zeros_like(z) if name == "sparse" else z
        fits = kind != ORDERED_CLASSES or np.isfinite(log_joint(z, graph, s.alpha, s.beta1, s.beta2, True, rows.first))
        if fits and len(starts) <= STARTS:
            starts.append((z, graph))
    schedule = Schedule(SWEEPS, 0)
    return [
        Annealer(GraphSampler(rows, known, kind, s.alpha, s.beta1, s.beta2, schedule, k, rooms=s.rooms), z, graph)
        for k, (z, graph) in enumerate(starts)
    ]
