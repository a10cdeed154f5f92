"""Which cells are asked for next."""

from dataclasses import replace

import numpy as np
import pytest
from svd_draws import N_COLUMNS, N_ROWS, make_posterior

from partita.models.matrices.acquire import STRATEGIES, acquire, cell_draws
from partita.models.matrices.entries import Entries

SEEN = Entries.of([0, 0, 1, 5], [0, 3, 1, 4], np.ones(4), N_ROWS, N_COLUMNS)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("link", ["gaussian", "ordinal", "binomial"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cells_are_new_and_different(strategy, link):
    row, column = acquire(make_posterior(link), SEEN, 12, strategy, rng())
    cells = list(zip(row.tolist(), column.tolist()))
    assert len(set(cells)) == 12 and not set(cells) & set(zip(SEEN.row.tolist(), SEEN.column.tolist()))
    every = acquire(make_posterior(link), SEEN, 1000, strategy, rng())
    assert len(every[0]) == N_ROWS * N_COLUMNS - 4


def test_variance_takes_the_least_sure_cells():
    """By all draws: what `predict` says of a cell is what it is chosen by."""
    posterior = make_posterior(n_draws=300)
    row, column = acquire(posterior, SEEN, N_ROWS * N_COLUMNS, "variance", rng())
    spread = cell_draws(posterior, SEEN, row * N_COLUMNS + column).var(axis=0)
    assert (np.diff(spread) <= 1e-12).all()


def test_lines_are_asked_whole_and_in_turn():
    posterior = make_posterior()
    row, column = acquire(posterior, SEEN, N_ROWS * N_COLUMNS, "line", rng())
    first = int(np.argmax(row != row[0]))
    assert (column[first : first + N_ROWS - 2] == column[first]).all() or len(set(column[first : first + 3])) == 1
    variance = np.zeros((N_ROWS, N_COLUMNS))
    variance[row, column] = cell_draws(posterior, SEEN, row * N_COLUMNS + column).var(axis=0)
    assert row[0] == variance.sum(axis=1).argmax() and first == (variance[row[0]] > 0).sum()
    left = variance.copy()
    left[row[0]] = 0
    assert column[first] == left.sum(axis=0).argmax()


def test_after_a_whole_row_comes_a_column():
    whole = Entries.of(np.zeros(N_COLUMNS, int), np.arange(N_COLUMNS), np.ones(N_COLUMNS), N_ROWS, N_COLUMNS)
    _, column = acquire(make_posterior(), whole, N_ROWS - 1, "line", rng())
    assert len(set(column.tolist())) == 1
    rows, columns = [0] * N_COLUMNS + list(range(1, N_ROWS)), [*range(N_COLUMNS), *[2] * (N_ROWS - 1)]
    both = Entries.of(rows, columns, np.ones(len(rows)), N_ROWS, N_COLUMNS)
    row, _ = acquire(make_posterior(), both, N_COLUMNS - 1, "line", rng())
    assert len(set(row.tolist())) == 1


def test_decorrelated_does_not_ask_twice_what_one_answer_tells():
    """Columns 0 and 1 are copies of each other: after one of their cells the other is hardly worth a question."""
    posterior = make_posterior(n_draws=60)
    draws = []
    for d in posterior.draws:
        V, c = d.V.copy(), d.column_offset.copy()
        V[1], c[1] = V[0], c[0]
        draws.append(replace(d, V=V, column_offset=c, alpha=1e6))
    posterior = replace(posterior, draws=tuple(draws))
    row, column = acquire(posterior, SEEN, 6, "decorrelated", rng())
    asked = set(zip(row.tolist(), column.tolist()))
    assert not any((i, 0) in asked and (i, 1) in asked for i in range(N_ROWS))


def test_decorrelated_takes_most_variance_first():
    posterior = make_posterior(n_draws=60)
    free = np.setdiff1d(np.arange(N_ROWS * N_COLUMNS), SEEN.row * N_COLUMNS + SEEN.column)
    x = cell_draws(posterior, SEEN, free)
    covariance = np.cov(x.T, ddof=0)
    row, column = free // N_COLUMNS, free % N_COLUMNS
    noise = np.mean([1 / (d.alpha * d.row_noise[row] * d.column_noise[column]) for d in posterior.draws], axis=0)
    gain = (covariance**2).sum(axis=0) / (np.diag(covariance) + noise)
    row, column = acquire(posterior, SEEN, 1, "decorrelated", rng())
    assert gain[np.searchsorted(free, row[0] * N_COLUMNS + column[0])] > 0.95 * gain.max()


def test_random_is_that_and_the_same_for_the_same_seed():
    posterior = make_posterior()
    first = acquire(posterior, SEEN, 5, "random", np.random.default_rng(1))
    assert np.array_equal(first, acquire(posterior, SEEN, 5, "random", np.random.default_rng(1)))
    assert not np.array_equal(first, acquire(posterior, SEEN, 5, "random", np.random.default_rng(2)))
