"""Numbers of trials beside a matrix of successes, in every form a matrix comes in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from partita import BayesianSVD
from partita.data.entries import read_matrix

HITS = np.array([[1, 0, 2], [0, 0, 3]])
TRIALS = np.array([[2, 1, 2], [4, 0, 3]])
TRIED = {(0, 0, 1, 2), (0, 1, 0, 1), (0, 2, 2, 2), (1, 0, 0, 4), (1, 2, 3, 3)}
SHORT = {"link": "binomial", "burn_in": 5, "n_samples": 5, "n_chains": 1, "random_state": 0}


def cells(X, trials):
    found = read_matrix(X, trials)
    parts = (found.row, found.column, found.values, found.trials)
    return {cell for cell in zip(*(part.tolist() for part in parts)) if cell[3] > 0}


@pytest.mark.parametrize(
    "trials",
    [TRIALS, TRIALS.tolist(), sparse.csr_matrix(TRIALS), sparse.coo_matrix(TRIALS), pl.DataFrame(TRIALS),
     pd.DataFrame(TRIALS), pd.DataFrame(TRIALS).astype("Int64").mask(TRIALS == 0)],
    ids=["array", "lists", "csr", "coo", "polars", "pandas", "NA"],
)  # fmt: skip
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix, sparse.csc_array], ids=["dense", "csr", "csc"])
def test_cells_that_were_tried_are_observed(of, trials):
    """Of a sparse matrix only those with a success were: the frequencies came out far too high."""
    assert {cell[:4] for cell in cells(of(HITS), trials)} == TRIED


def test_a_sparse_matrix_learns_what_a_dense_one_does():
    rng = np.random.default_rng(0)
    trials = rng.integers(0, 6, (14, 10))
    hits = rng.binomial(trials, 0.2)
    dense = BayesianSVD(**SHORT).fit(np.where(trials == 0, np.nan, hits), trials=trials)
    thin = BayesianSVD(**SHORT).fit(sparse.csr_matrix(hits), trials=sparse.csr_matrix(trials))
    assert thin.n_entries_ == dense.n_entries_ == (trials > 0).sum()
    assert np.array_equal(thin.complete(), dense.complete())


@pytest.mark.parametrize(
    ("X", "trials", "message"),
    [
        (HITS, 3, "of the shape of X, .2, 3., got a single value"),
        (HITS, TRIALS[:1], r"of the shape of X, \(2, 3\), got \(1, 3\)"),
        (sparse.csr_matrix(HITS), sparse.csr_matrix(TRIALS[:1]), r"of the shape of X, \(2, 3\), got \(1, 3\)"),
        (HITS, pd.DataFrame(TRIALS).astype(str), "trials: column 0 holds text, not numbers"),
        (pd.DataFrame(HITS), pd.DataFrame(TRIALS)[::-1], r"another order. .*trials.loc\[X.index, X.columns\]"),
        (pd.DataFrame(HITS), pd.DataFrame(TRIALS, columns=list("abc")), "names other rows or columns"),
        (pl.DataFrame(HITS), pl.DataFrame(TRIALS, schema=list("abc")), r"Line it up: trials.select\(X.columns\)"),
        (HITS, np.where(HITS, np.nan, TRIALS), "no finite number of trials: 1 of nan"),
        (0 * HITS, 0 * TRIALS, "no observed cell to learn from: trials are 0 in all"),
    ],
)
def test_trials_that_cannot_be_are_named(X, trials, message):
    with pytest.raises(ValueError, match=message):
        BayesianSVD(**SHORT).fit(X, trials=trials)
