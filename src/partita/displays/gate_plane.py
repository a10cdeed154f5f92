"""Two real columns of a model of gated experts, every other cell missing: what it answers there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.decode import column_values
from ..data.scaling import restore
from ..data.table import Table
from .gate_ellipses import half_axes

N_ANGLES, N_RINGS = 61, 10  # of the points inside a gate at which its expert is asked
WIDEST = 4.0  # standard deviations from the mean that are looked at where no rows are given


class GatePlane:
    """Two real columns of a model, in the units of its tables; all other cells are missing."""

    def __init__(self, estimator: Any, columns: Any) -> None:
        self.pool, self.schema = estimator._models, estimator.schema_
        pair = list(columns) if isinstance(columns, list | tuple) else [columns]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"columns={columns!r} must be a pair of two different columns.")
        positions = [_real_position(self.schema, column) for column in pair]
        self.columns = [self.schema.columns[position] for position in positions]
        self.positions = positions
        self.names = [str(c.name) if self.schema.named else f"column {c.name}" for c in self.columns]
        self.places = [int(np.searchsorted(self.schema.numeric, position)) for position in positions]
        self.best = self.pool.shown()

    def rows(self, points: np.ndarray) -> Table:
        """Rows that hold these cells and nothing else."""
        codes = np.full((len(points), len(self.schema.discrete)), -1, np.int32)
        reals = np.full((len(points), len(self.schema.numeric)), np.nan)
        reals[:, self.places] = points
        return Table(self.schema, codes, reals)

    def ask(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log density (n, H), with the gate's weight, and log probabilities of the classes (n, H, C)."""
        answer = self.pool.answer(self.best, self.rows(points))
        return answer.log_gate, answer.log_class

    def gates(self, shown: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Centres, points inside and what the experts say there, of the gates `shown`."""
        axis = np.linspace(-WIDEST, WIDEST, 31)
        mesh = np.stack(np.meshgrid(axis, axis), axis=2).reshape(-1, 2)
        start = mesh[self.ask(mesh)[0][:, shown].argmax(axis=0)]
        centre, axes = half_axes(lambda points: self.ask(points)[0][:, shown], start, coverage)
        angle, ring = np.linspace(0, 2 * np.pi, N_ANGLES), np.linspace(0, 1, N_RINGS)
        circle = ring[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        discs = centre[:, None, None, :] + np.einsum("gij,raj->grai", axes, circle)
        said = [self.ask(disc.reshape(-1, 2))[1][:, h] for disc, h in zip(discs, shown, strict=True)]
        return centre, discs, np.exp(np.array(said)).reshape(*discs.shape[:3], -1)

    def axes(self, table: Table | None, discs: np.ndarray, n_points: int) -> list[np.ndarray]:
        """The grid: around the rows, or around the gates where there are none."""
        out = []
        for k, place in enumerate(self.places):
            cells = np.zeros(0) if table is None else table.reals[:, place]
            cells = cells[~np.isnan(cells)]
            if not len(cells):
                cells = np.clip(discs[..., k].ravel(), -WIDEST, WIDEST)
            margin = 0.08 * np.ptp(cells) or 1.0
            out.append(np.linspace(cells.min() - margin, cells.max() + margin, n_points))
        return out

    def restore(self, values: np.ndarray, k: int) -> np.ndarray:
        return restore(values, self.columns[k].centre, self.columns[k].scale)

    def restore_points(self, points: np.ndarray) -> np.ndarray:
        return np.stack([self.restore(points[..., k], k) for k in (0, 1)], axis=-1)

    def cells(self, table: Table | None) -> np.ndarray:
        if table is None:
            return np.zeros((0, 2))
        return np.stack([column_values(table, position).astype(float) for position in self.positions], axis=1)


def _real_position(schema: Any, column: Any) -> int:
    """Where a column lies in the table, given by its name or its position."""
    names = list(schema.names)
    position = names.index(column) if column in names else column
    known = isinstance(position, int | np.integer) and 0 <= position < len(names)
    if not known or schema.kinds[position] != "real":
        real = [name for name, kind in zip(names, schema.kinds) if kind == "real"]
        raise ValueError(f"column {column!r} is not a real column of this model. Real columns: {real}.")
    return int(position)
