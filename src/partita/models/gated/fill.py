"""Missing cells given the observed ones: laws, means, quantiles and draws, over components and models together.

Models are taken as one mixture: the weight of a component for a row is that of its model times its share of the
density of the row's observed cells; where rows set aside have taught `widths`, of its share in its own model. In a
component a missing Gaussian cell is Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr, stdtrit

from ...data.schema import Schema
from ...data.table import Table
from ...kernels.contract import Rows
from ..mixtures.fill import Beliefs, whole
from .answer import Laws, Speaker
from .held import RowWidths

QUANTILE_STEPS = 36  # of halving what lies between the quantiles of the components: to 2e-11 of it
MOST_COUNT = 2.0**52  # greater ones are no longer told apart by one
LEAST_SHARE = 1e-7  # of a component in the law of a cell: all that are smaller move no quantile that is asked for


def together(models: Sequence[Speaker], weight: np.ndarray, rows: Rows, widths: RowWidths | None = None) -> np.ndarray:
    """(models, n) weight of each model for each row: given its observed cells, or in a linear pool the same for all."""
    if widths is not None:
        return np.repeat(weight[:, None], len(rows), axis=1)
    logs = np.log(weight)[:, None] + np.stack([model.answer(rows).log_density() for model in models])
    logs -= logs.max(axis=0)
    out = np.exp(logs)
    return out / out.sum(axis=0)


def _laws(model: Speaker, rows: Rows, widths: RowWidths | None) -> Laws:
    laws = model.laws(rows)
    return laws if widths is None else widths.widened(laws)


def beliefs(
    models: Sequence[Speaker], weight: np.ndarray, table: Table, widths: RowWidths | None = None
) -> Beliefs:
    """Means, second moments and level probabilities of every cell, in the table's units."""
    schema, n = table.schema, len(table)
    first = np.zeros((n, len(schema.numeric)))
    out = Beliefs([np.zeros((n, k)) for k in schema.n_levels], first, first.copy())
    rows = models[0].view.lens.rows(table)
    for model, share in zip(models, together(models, weight, rows, widths), strict=True):
        law = _laws(model, rows, widths)
        mine = share[:, None] * law.share
        for j, sight in enumerate(model.view.real_sights):
            mean = law.location[:, :, j]
            out.first[:, sight.source] += (mine * mean).sum(axis=1)
            out.second[:, sight.source] += (mine * (mean**2 + law.variance()[:, :, j])).sum(axis=1)
        for column, sight, posterior in zip(model.view.cells, model.view.cell_sights, model.cells, strict=True):
            if column.count:
                mean, variance = column.count_moments(posterior)
                out.first[:, sight.source] += mine @ mean
                out.second[:, sight.source] += mine @ (mean**2 + variance)
            else:
                out.level[sight.source] += mine @ column.probabilities(posterior)
    return out


def quantiles(
    models: Sequence[Speaker], weight: np.ndarray, table: Table, levels: np.ndarray, widths: RowWidths | None = None
) -> list[np.ndarray]:
    """Tables of reals (n, numeric columns), one per level: quantiles of missing cells, by halving on the mixture's
    distribution function; observed cells as they are. Counts are taken at the smallest value that reaches the level."""
    rows = models[0].view.lens.rows(table)
    shares = together(models, weight, rows, widths)
    out = [table.reals.copy() for _ in levels]
    each = [_laws(model, rows, widths) for model in models]
    for j, sight in enumerate(models[0].view.real_sights):
        hole = np.flatnonzero(np.isnan(table.reals[:, sight.source]))
        if len(hole):
            parts = [
                (s[hole, None] * law.share[hole], law.location[hole, :, j], law.scale[hole, :, j], law.degrees[hole])
                for s, law in zip(shares, each, strict=True)
            ]
            share, location, scale, degrees = _largest(*(np.concatenate(p, axis=1) for p in zip(*parts, strict=True)))
            for number, level in enumerate(levels):
                at = np.full(len(hole), float(level)) if widths is None else widths.levels(float(level), hole)
                out[number][hole, sight.source] = _quantile(share, location, scale, degrees, at)
    _count_quantiles(models, shares, each, table, levels, out)
    return out


def _largest(share: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Components (cells, H) by falling share, as many as any cell needs."""
    order = np.argsort(-share, axis=1, kind="stable")
    order = order[:, : max(int((share > LEAST_SHARE).sum(axis=1).max()), 1)]
    first, *rest = (np.take_along_axis(part, order, axis=1) for part in (share, *others))
    return first / first.sum(axis=1, keepdims=True), *rest


def _quantile(
    share: np.ndarray, location: np.ndarray, scale: np.ndarray, degrees: np.ndarray, level: np.ndarray
) -> np.ndarray:
    each = location + scale * stdtrit(degrees, level[:, None])  # that of the mixture lies between those of its parts
    low, high = each.min(axis=1), each.max(axis=1)
    for _ in range(QUANTILE_STEPS):
        middle = 0.5 * (low + high)
        below = (share * stdtr(degrees, (middle[:, None] - location) / scale)).sum(axis=1) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _count_quantiles(
    models: Sequence[Speaker], shares: np.ndarray, each: Sequence[Laws], table: Table, levels: np.ndarray,
    out: list[np.ndarray],
) -> None:  # fmt: skip
    for c, sight in enumerate(models[0].view.cell_sights):
        if not models[0].view.cells[c].count:
            continue
        hole = np.flatnonzero(np.isnan(table.reals[:, sight.source]))
        for number, level in enumerate(levels):
            out[number][hole, sight.source] = _count_quantile(models, shares, each, c, hole, float(level))


def _count_quantile(
    models: Sequence[Speaker], shares: np.ndarray, each: Sequence[Laws], c: int, hole: np.ndarray, level: float
) -> np.ndarray:
    """The least value of column c, in rows `hole`, that a count does not pass with probability `level`."""

    def reached(value: np.ndarray) -> np.ndarray:
        below = np.zeros(len(hole))
        for model, share, law in zip(models, shares, each, strict=True):
            own = model.view.cells[c].count_at_most(model.cells[c], value)
            below += share[hole] * (law.share[hole] * own).sum(axis=1)
        return below >= level

    low, high = np.zeros(len(hole)), np.ones(len(hole))
    while not (done := reached(high) | (high >= MOST_COUNT)).all():
        high = np.where(done, high, 2.0 * high)
    while (low < high).any():
        middle = np.floor(0.5 * (low + high))
        done = reached(middle)
        low, high = np.where(done, low, np.minimum(middle + 1.0, high)), np.where(done, middle, high)
    return low


def draw_tables(
    models: Sequence[Speaker], weight: np.ndarray, table: Table, n_draws: int, rng: np.random.Generator,
    widths: RowWidths | None = None,
) -> list[Table]:  # fmt: skip
    """Completed tables, each row from a model and a component of its own, drawn given its observed cells."""
    rows = models[0].view.lens.rows(table)
    shares = together(models, weight, rows, widths)
    components = [model.answer(rows).shares() for model in models]
    stretches = None if widths is None else [Stretch(model.laws(rows), widths) for model in models]
    return [
        _complete(models, table, _pick(shares.T, rng), components, rng, stretches=stretches) for _ in range(n_draws)
    ]


class Stretch:
    """Drawn cells of one model made as wide as `widths` say, cell by cell: their order within a law stays, and so does
    how they follow each other."""

    def __init__(self, laws: Laws, widths: RowWidths):
        self.laws, self.widths = laws, widths

    def __call__(self, x: np.ndarray, rows: np.ndarray, h: int, hole: np.ndarray) -> np.ndarray:
        """Drawn cells x (b, P) of `rows` in component h, those of `hole` stretched."""
        location, scale = self.laws.location[rows, h], self.laws.scale[rows, h]
        z = (x - location) / np.where(hole, scale, 1.0)
        below = stdtr(self.laws.degrees[rows, h][:, None], -np.abs(z))
        below = 0.5 - 0.5 * self.widths.promises(1.0 - 2.0 * below, rows)
        wide = -np.sign(z) * stdtrit(self.widths.degrees(rows)[:, None], np.clip(below, 1e-12, 0.5))
        return np.where(hole, location + self.widths.scale(rows)[:, None] * scale * wide, x)


def sample_table(
    models: Sequence[Speaker], weight: np.ndarray, schema: Schema, n: int, rng: np.random.Generator
) -> tuple[Table, np.ndarray]:
    """New rows, and for each the probabilities of its classes in the component it came from: (n, C)."""
    blank = Table(schema, np.full((n, len(schema.discrete)), -1, np.int32), np.full((n, len(schema.numeric)), np.nan))
    which = rng.choice(len(models), n, p=weight)
    components = [np.broadcast_to(model.weight, (n, model.n_components)) for model in models]
    place = np.empty(n, np.int64)
    table = _complete(models, blank, which, components, rng, place)
    rows = models[0].view.lens.rows(table)
    proba = np.empty((n, models[0].n_classes))
    for m, model in enumerate(models):
        mine = np.flatnonzero(which == m)
        if len(mine):
            given = model.answer(rows.take(mine))
            proba[mine] = np.exp(given.log_class[np.arange(len(mine)), place[mine]])
    return table, proba / proba.sum(axis=1, keepdims=True)


def _pick(proba: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    edge = np.cumsum(proba, axis=1)
    return np.minimum((rng.random((len(proba), 1)) * edge[:, -1:] >= edge).sum(axis=1), proba.shape[1] - 1)


def _complete(
    models: Sequence[Speaker], table: Table, which: np.ndarray, components: Sequence[np.ndarray],
    rng: np.random.Generator, place: np.ndarray | None = None, stretches: Sequence[Stretch] | None = None,
) -> Table:  # fmt: skip
    """The table with its holes drawn; `place` takes the component of every row."""
    codes, reals = table.codes.copy(), table.reals.copy()
    schema = table.schema
    for m, model in enumerate(models):
        mine = np.flatnonzero(which == m)
        if not len(mine):
            continue
        own = _pick(components[m][mine], rng)
        if place is not None:
            place[mine] = own
        for h in np.unique(own):
            those = mine[own == h]
            _draw_gaussian(model, int(h), reals, those, rng, None if stretches is None else stretches[m])
            _draw_beside(model, int(h), codes, reals, those, rng)
    for j, column in enumerate(schema.numeric):
        if not schema.columns[column].observed:  # nothing is known of it: its holes stay
            reals[:, j] = table.reals[:, j]
    return Table(schema, codes, reals)


def _draw_gaussian(
    model: Speaker, h: int, reals: np.ndarray, those: np.ndarray, rng: np.random.Generator, stretch: Stretch | None
) -> None:
    sources = np.array([sight.source for sight in model.view.real_sights], np.intp)
    if len(sources):
        x = reals[np.ix_(those, sources)]
        drawn = model.gate(h).draw_missing(x, rng)
        if stretch is not None:
            drawn = stretch(drawn, those, h, np.isnan(x))
        reals[np.ix_(those, sources)] = drawn


def _draw_beside(
    model: Speaker, h: int, codes: np.ndarray, reals: np.ndarray, those: np.ndarray, rng: np.random.Generator
) -> None:
    for column, sight, posterior in zip(model.view.cells, model.view.cell_sights, model.cells, strict=True):
        if column.count:
            hole = those[np.isnan(reals[those, sight.source])]
            reals[hole, sight.source] = whole(column.draw_count(posterior[h], len(hole), rng))
        else:
            hole = those[codes[those, sight.source] < 0]
            table = column.probabilities(posterior[h][None])
            codes[hole, sight.source] = _pick(np.repeat(table, len(hole), axis=0), rng)
