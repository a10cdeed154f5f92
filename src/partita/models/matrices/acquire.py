"""Which cells to ask for next: rules over posterior draws of the matrix.

All rules look at draws of the expected values of the cells that are not observed yet, and rank them by what asking is
expected to teach.
"""

from __future__ import annotations

import numpy as np

from .entries import Entries
from .laws import laws_at, laws_of_rows, row_parts
from .posterior import Posterior, thinned
from .predict import expected_values

STRATEGIES = ("variance", "line", "decorrelated", "random")
_DRAWS = 100  # at most of "decorrelated", which compares all of them with each other
_NUMBERS = 200_000_000  # draws by cells that the other rules look at: all draws, but of large matrices
_CANDIDATES = 50_000  # cells that "decorrelated" looks at, the most doubtful ones


def acquire(
    posterior: Posterior, entries: Entries, n: int, strategy: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of at most n cells, the most wanted first.

    variance        the cells whose expected value is least sure.
    line            alternately the row and the column with the most variance left, asked whole.
    decorrelated    greedily the cell that takes most variance from all cells together, given those chosen before.
    random          any.
    """
    taken = entries.row.astype(np.int64) * entries.n_columns + entries.column
    free = np.setdiff1d(np.arange(entries.n_rows * entries.n_columns, dtype=np.int64), taken, assume_unique=True)
    n = min(n, len(free))
    if strategy == "random":
        chosen = rng.choice(free, n, replace=False)
    else:
        if strategy == "decorrelated":
            chosen = _decorrelated(thinned(posterior, _DRAWS), entries, free, n)
        else:
            cells = entries.n_rows * entries.n_columns * max(len(posterior.levels), 1)
            several = max(_DRAWS, _NUMBERS // cells)
            variance = cell_variances(thinned(posterior, several)).ravel()[free]
            if strategy == "variance":
                chosen = free[np.argsort(-variance, kind="stable")[:n]]
            else:
                chosen = _lines(entries, free, variance, n)
    return chosen // entries.n_columns, chosen % entries.n_columns


def cell_draws(posterior: Posterior, entries: Entries, cells: np.ndarray) -> np.ndarray:
    """(S, m) draws of the expected values of cells, numbered row by row."""
    laws = laws_at(posterior, cells // entries.n_columns, cells % entries.n_columns)
    return expected_values(laws, posterior.link, posterior.levels)


def cell_variances(posterior: Posterior) -> np.ndarray:
    """(rows, columns) posterior variances of the expected values of all cells."""
    parts = (laws_of_rows(posterior, rows) for rows in row_parts(posterior))
    link, levels = posterior.link, posterior.levels
    spread = [expected_values(laws, link, levels).var(axis=0) for laws in parts]
    return np.concatenate(spread).reshape(-1, len(posterior.draws[0].V))


def _lines(entries: Entries, free: np.ndarray, variance: np.ndarray, n: int) -> np.ndarray:
    """Whole rows and columns in turn. Who comes first: a row after as many rows as columns have been asked whole."""
    left = np.zeros((entries.n_rows, entries.n_columns))
    open_cells = np.zeros(left.shape, bool)
    row, column = free // entries.n_columns, free % entries.n_columns
    left[row, column], open_cells[row, column] = variance, True
    whole = int((entries.row_counts == entries.n_columns).sum() + (entries.column_counts == entries.n_rows).sum())
    chosen: list[np.ndarray] = []
    while sum(map(len, chosen)) < n:
        axis = whole % 2
        total = np.where(open_cells.any(axis=1 - axis), left.sum(axis=1 - axis), -1.0)
        line = int(total.argmax())
        places = np.flatnonzero(open_cells[line] if axis == 0 else open_cells[:, line])
        cells = line * entries.n_columns + places if axis == 0 else places * entries.n_columns + line
        chosen.append(cells[np.argsort(-left.ravel()[cells], kind="stable")])
        left.ravel()[cells], open_cells.ravel()[cells] = 0.0, False
        whole += 1
    return np.concatenate(chosen)[:n] if chosen else np.zeros(0, np.int64)


def _decorrelated(posterior: Posterior, entries: Entries, free: np.ndarray, n: int) -> np.ndarray:
    """Greedy: with draws x (S, cells) centred, asking cell c takes cov(x, c)^2 / (var(c) + noise) from every cell."""
    if len(free) > _CANDIDATES:
        variance = cell_variances(posterior).ravel()[free]
        free = np.sort(free[np.argsort(-variance, kind="stable")[: max(_CANDIDATES, n)]])
    x = cell_draws(posterior, entries, free)
    x = x - x.mean(axis=0)
    noise = _noise(posterior, entries, free)
    gram_weight, chosen = np.ones(len(free)), []
    for _ in range(n):
        inner = x @ x.T  # (S, S): the sum over all cells of cov(cell, c)^2 is x_c' inner x_c / S^2
        variance = (x**2).mean(axis=0)
        gain = np.einsum("sc,sc->c", x, inner @ x) / len(x) ** 2 / (variance + noise + 1e-300)
        gain = np.where(gram_weight > 0, gain, -1.0)
        best = int(gain.argmax())
        chosen.append(best)
        gram_weight[best] = 0.0
        along = x[:, best] / np.sqrt(len(x))
        size = float(along @ along)
        if size > 0:  # what remains of the draws once the cell is known up to its noise
            kept = np.sqrt(noise[best] / (noise[best] + size)) if noise[best] > 0 else 0.0
            x = x - np.outer(along * (1.0 - kept) / size, along @ x)
    return free[chosen]


def _noise(posterior: Posterior, entries: Entries, cells: np.ndarray) -> np.ndarray:
    """(m,) mean variance of an observation around its expected value."""
    laws = laws_at(thinned(posterior, 20), cells // entries.n_columns, cells % entries.n_columns)
    if posterior.link == "gaussian":
        return laws.noise.mean(axis=0)
    if posterior.link == "binomial":
        chance = laws.chances()
        return (chance * (1 - chance)).mean(axis=0)
    mean = expected_values(laws, "ordinal", posterior.levels)
    return (expected_values(laws, "ordinal", posterior.levels**2) - mean**2).mean(axis=0)
