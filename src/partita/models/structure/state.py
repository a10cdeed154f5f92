"""Where a chain over networks stands, and what it has seen: one form for every prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

MOST_TOP = 100  # best states that are remembered, as [1] averages over


@dataclass
class NetState:
    """Symbols: n nodes, R copies of the chain at one temperature or several (often one copy).

    z           int32 (R, n): class of every node; with ordered classes its place in the order.
    graph       uint8 (R, n, n): parent row, child column.
    template    float64 (K, K): probabilities of edges between classes, where the chain holds them; else (0, 0).
    ladder      uint8: graphs beside the chain (`tempered`), those of every table one after another; empty where
                there are none.
    cells       int32: what now stands in the missing cells, in the order of the rows.
    hyper       int64 (R, 3): places of alpha, beta and gamma in their grids.
    share, room (n + 1,): shares of classes that several tables share, and a number, see `seats`; of no use in one
                table.
    done        sweeps so far.
    edges       (n, n): edge probabilities summed since the batch began.
    classes     int32 (kept sweeps, n): z after every sweep that counts; during the burn-in after the last ones of it.
    values      (kept sweeps,): log target after the same.
    top_value, top_z, top_graph   the best states so far, best first; -inf where there are fewer.
    """

    z: np.ndarray
    graph: np.ndarray
    template: np.ndarray
    ladder: np.ndarray
    cells: np.ndarray
    hyper: np.ndarray
    share: np.ndarray
    room: float
    done: int
    edges: np.ndarray
    classes: np.ndarray
    values: np.ndarray
    top_value: np.ndarray
    top_z: np.ndarray
    top_graph: np.ndarray

    @classmethod
    def begin(cls, z: np.ndarray, graph: np.ndarray, n_kept: int, cells: np.ndarray, hyper: np.ndarray) -> NetState:
        n = z.shape[1]
        return cls(
            np.ascontiguousarray(z, np.int32), np.ascontiguousarray(graph, np.uint8), np.zeros((0, 0)),
            np.zeros(0, np.uint8), np.ascontiguousarray(cells, np.int32),
            np.asarray(hyper, np.int64), np.append(np.zeros(n), 1.0), 0.0, 0, np.zeros((n, n)),
            np.zeros((n_kept, n), np.int32), np.zeros(n_kept), np.full(MOST_TOP, -np.inf),
            np.zeros((MOST_TOP, n), np.int32), np.zeros((MOST_TOP, n, n), np.uint8),
        )  # fmt: skip

    def seen(self, schedule: Schedule) -> tuple[np.ndarray, np.ndarray]:
        """Classes and log targets of the sweeps that count; of a run that was stopped in its burn-in, of the later half
        of those that are known."""
        late = self.done - schedule.burn_in
        if late > 0:
            return self.classes[:late], self.values[:late]
        known = min(self.done, schedule.n_kept)
        at = np.arange(self.done - (known + 1) // 2, self.done) % schedule.n_kept
        return self.classes[at], self.values[at]

    def to_tree(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> NetState:
        return cls(**tree)


@dataclass(frozen=True)
class Schedule:
    """How long chains run and what is kept: edge probabilities are averaged over batches of sweeps."""

    n_sweeps: int
    burn_in: int
    n_batches: int = 50

    @property
    def batch(self) -> int:
        return max((self.n_sweeps - self.burn_in) // self.n_batches, 1)

    @property
    def n_kept(self) -> int:
        return self.n_sweeps - self.burn_in

    def ends_batch(self, done: int) -> bool:
        """Whether the sweep that brings a chain to `done` sweeps is the last of a batch; the last batch ends the
        run."""
        return (self.n_sweeps - done) % self.batch == 0


@dataclass
class Batch:
    """What is kept of a batch of sweeps: mean edge probabilities, and its last state."""

    step: int
    edges: np.ndarray
    z: np.ndarray
    graph: np.ndarray
    cells: np.ndarray
    hyper: np.ndarray
    value: float

    def to_tree(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Batch:
        return cls(**tree)


def before_sweep(state: NetState, schedule: Schedule) -> None:
    """A batch that was kept is over."""
    if state.done and schedule.ends_batch(state.done):
        state.edges[:] = 0.0


def after_sweep(state: NetState, schedule: Schedule, value: float, joint: float) -> dict[str, float]:
    """Take down the state after a sweep: `value` its log target, `joint` the log joint of its classes and graph."""
    z, graph = state.z[0], state.graph[0]
    late = state.done - schedule.burn_in
    place = late if late >= 0 else state.done % schedule.n_kept
    state.classes[place], state.values[place] = z, value
    if joint > state.top_value[-1]:
        remember(state, joint)
    state.done += 1
    return {"log_joint": joint, "n_classes": float(z.max() + 1), "n_edges": float(graph.sum())}


def remember(state: NetState, joint: float) -> None:
    """Put the state among the best, once."""
    close = np.flatnonzero(np.abs(state.top_value - joint) < 1e-9)
    if any((state.top_graph[k] == state.graph[0]).all() and (state.top_z[k] == state.z[0]).all() for k in close):
        return
    k = int(np.searchsorted(-state.top_value, -joint, side="right"))
    for array, item in ((state.top_value, joint), (state.top_z, state.z[0]), (state.top_graph, state.graph[0])):
        array[k + 1 :] = array[k:-1].copy()
        array[k] = item


def take_batch(step: int, state: NetState, schedule: Schedule) -> Batch | None:
    """The batch that ends with this sweep (counted from 0), if one does."""
    if not schedule.ends_batch(step + 1):
        return None
    begun = schedule.n_sweeps - ((schedule.n_sweeps - step - 1) // schedule.batch + 1) * schedule.batch
    size = step + 1 - max(begun, 0)
    return Batch(
        step, state.edges / size, state.z[0].copy(), state.graph[0].copy(), state.cells.copy(),
        state.hyper[0].copy(),
        float(state.values[step - schedule.burn_in]) if step >= schedule.burn_in else float("nan"),
    )  # fmt: skip
