"""What the states say of missing cells: means, spreads and probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...data.table import Table
from ...kernels.contract import BACKGROUND, Predictive, Rows
from ..lens import Lens
from . import block
from .cell_laws import cell_moments, class_share, group_weights, level_probabilities
from .ensemble import Ensemble


@dataclass
class Beliefs:
    """About every cell of a table: level probabilities of discrete columns, first two moments of numeric ones
    (table units).
    """

    level: list[np.ndarray]  # per discrete column (rows, levels)
    first: np.ndarray  # (rows, numeric columns)
    second: np.ndarray
    blocks: dict[tuple[int, ...], block.Moments] = field(default_factory=dict)  # while states are being added

    def mean_table(self, table: Table) -> Table:
        """Holes filled with the most probable level, the mean, or the nearest count to the mean."""
        codes, reals = table.codes.copy(), table.reals.copy()
        for j, p in enumerate(self.level):
            hole = codes[:, j] < 0
            codes[hole, j] = p[hole].argmax(axis=1)
        for j, column in enumerate(table.schema.numeric):
            if not table.schema.columns[column].observed:  # nothing is known of it: its holes stay
                continue
            hole = np.isnan(reals[:, j])
            value = self.first[hole, j]
            reals[hole, j] = whole(value) if table.schema.kinds[column] == "count" else value
        return Table(table.schema, codes, reals)

    def spread(self, table: Table) -> np.ndarray:
        """Standard deviation of every missing cell in the caller's units (discrete: of its code), 0 where observed. NaN
        where the hole stays one, in a column of which nothing is known.
        """
        out = np.zeros((len(table), table.schema.n_columns))
        for j, column in enumerate(table.schema.discrete):
            k = np.arange(self.level[j].shape[1])
            mean = _mixed(self.level[j], k)
            out[:, column] = np.sqrt(np.maximum(_mixed(self.level[j], k**2) - mean**2, 0))
        for j, column in enumerate(table.schema.numeric):
            variance = np.maximum(self.second[:, j] - self.first[:, j] ** 2, 0)
            with np.errstate(over="ignore"):
                spread = np.sqrt(variance) * table.schema.columns[column].scale
            out[:, column] = np.minimum(spread, np.finfo(np.float64).max)
        out[:, [not column.observed for column in table.schema.columns]] = np.nan
        out[table.observed()] = 0.0
        return out


def whole(value: np.ndarray) -> np.ndarray:
    """The nearest counts: a lens may have shown a count column as a real one."""
    return np.maximum(np.round(value), 0.0)


def _mixed(weight: np.ndarray, of_groups: np.ndarray) -> np.ndarray:
    """weight @ of_groups, each row summed by itself: in a BLAS product its last bits depend on the others."""
    return np.einsum("ng,g...->n...", weight, of_groups)


def beliefs(ensemble: Ensemble, table: Table) -> Beliefs:
    """Averaged over states, classes and groups, given each row's observed cells."""
    ensemble = ensemble.heaped_part()
    schema, n = table.schema, len(table)
    out = Beliefs(
        [np.zeros((n, k)) for k in schema.n_levels],
        np.zeros((n, len(schema.numeric))),
        np.zeros((n, len(schema.numeric))),
    )
    rows = [lens.rows(table) for lens in ensemble.lenses]
    for state, k, w in zip(ensemble.states, ensemble.lens_of, ensemble.weight, strict=True):
        lens = ensemble.lenses[k]
        share = w * class_share(ensemble, lens.layout, rows[k], state)
        for c in range(ensemble.n_classes):
            weight = group_weights(lens.layout, rows[k], state, c)
            _add_state(out, lens, rows[k], state, c, weight, share[:, c])
    for sources, moments in out.blocks.items():
        out.first[:, sources], out.second[:, sources] = moments.totals()
    return out


def _add_state(
    out: Beliefs, lens: Lens, rows: Rows, state: Predictive, c: int, weight: list[np.ndarray], share: np.ndarray
) -> None:
    spike: np.ndarray | None = None
    for d, sight in enumerate(lens.sights):
        view = int(state.view[d])
        r = weight[view]
        cls = 0 if view == BACKGROUND else c
        if sight.what == "codes":
            out.level[sight.source] += share[:, None] * _mixed(
                r, level_probabilities(lens.layout, state, cls, d, r.shape[1])
            )
            continue
        if sight.what == "block":
            moments = out.blocks.setdefault(sight.sources, block.Moments(lens.layout, rows, d))
            moments.take(state, cls, share[:, None] * r)
            continue
        j = sight.source
        if sight.what == "spike":
            spike = _mixed(r, level_probabilities(lens.layout, state, cls, d, r.shape[1])[:, 1])
            continue
        if sight.what == "levels":
            p = _mixed(r, level_probabilities(lens.layout, state, cls, d, r.shape[1]))
            first, second = _mixed(p, sight.level_values), _mixed(p, sight.level_values**2)
        else:
            m1, m2 = cell_moments(lens.layout, state, cls, d, r.shape[1], sight)
            first, second = _mixed(r, m1), _mixed(r, m2)
        if spike is not None and not np.isnan(sight.at):
            first, second = (1 - spike) * first + spike * sight.at, (1 - spike) * second + spike * sight.at**2
            spike = None
        out.first[:, j] += share * first
        out.second[:, j] += share * second
