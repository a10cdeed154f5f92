"""The correlated block from the table to held-out densities: the lens that makes it, and chains that learn it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, poisson

from partita.data.archive_tree import decode, encode
from partita.data.encode import encode as encode_table
from partita.data.encode import learn_schema
from partita.kernels.contract import CORRELATED, COUNT
from partita.models.lens import Lens, plain_lens
from partita.models.mixtures import mixture, predictive
from partita.models.mixtures.problem import Problem, Settings

KINDS = ["real", "count", "real", "binary", "real"]
REALS = [0, 2, 4]
SLOPES, NOISE = np.array([[100.0, 0.5, 7.0], [-50.0, 0.5, 7.0]]), np.array([5.0, 0.05, 1.0])
MEAN, COVARIANCE = np.array([1e4, 0.0, -3.0]), SLOPES.T @ SLOPES + np.diag(NOISE**2)
RATE = 3.0
N_PARAMETERS = 3 + 6 + 1 + 1  # means, covariances, rate, frequency


def make_table(seed, n, missing):
    """Three real columns near a plane, in units far from one, a count between them."""
    rng = np.random.default_rng(seed)
    plane = rng.standard_normal((n, 2)) @ SLOPES + rng.standard_normal((n, 3)) * NOISE + MEAN
    x = np.column_stack([plane[:, 0], rng.poisson(RATE, n), plane[:, 1], rng.integers(0, 2, n), plane[:, 2]])
    x[rng.random(x.shape) < missing] = np.nan
    return x


def true_log_density(x):
    """Mean log density of the cells that rows have under the law that made them."""
    seen = ~np.isnan(x[:, REALS])
    counts = np.where(np.isnan(x[:, 1]), 0.0, poisson(RATE).logpmf(x[:, 1]))
    total = counts + np.where(np.isnan(x[:, 3]), 0.0, np.log(0.5))
    for row in np.flatnonzero(seen.any(axis=1)):
        own = seen[row]
        law = multivariate_normal(MEAN[own], COVARIANCE[np.ix_(own, own)])
        total[row] += law.logpdf(x[row, REALS][own])
    return total.mean()


@pytest.fixture(scope="module")
def tables():
    train, test = make_table(0, 150, 0.2), make_table(1, 200, 0.2)
    schema = learn_schema(train, KINDS)
    return encode_table(train, schema), encode_table(test, schema)


def test_lens_puts_the_real_columns_side_by_side(tables):
    table, _ = tables
    lens = plain_lens(table, correlated=True)
    kinds = lens.layout.kind.tolist()
    assert kinds.count(CORRELATED) == 1 and kinds.count(COUNT) == 1 and len(kinds) == 3
    block = kinds.index(CORRELATED)
    first = lens.layout.source[block]
    np.testing.assert_array_equal(lens.rows(table).reals[:, first : first + 3], table.reals[:, [0, 2, 3]])
    assert lens.sights[block].columns == (0, 2, 4)
    np.testing.assert_allclose(lens.log_jacobian(lens.rows(table)), table.schema.log_jacobian(table))


def test_lens_survives_the_archive(tables):
    table, _ = tables
    lens, arrays = plain_lens(table, correlated=True), []
    tree = encode(lens.to_tree(), arrays)
    again = Lens.from_tree(decode(tree, dict(enumerate(arrays))))
    for name in ("codes", "reals"):
        np.testing.assert_array_equal(getattr(again.rows(table), name), getattr(lens.rows(table), name))
    np.testing.assert_array_equal(again.layout.stat_first, lens.layout.stat_first)
    np.testing.assert_array_equal(again.log_jacobian(again.rows(table)), lens.log_jacobian(lens.rows(table)))


def held_out(tables, correlated, **options):
    """Mean log density of the test rows, averaged over the second half of a chain."""
    train, test = tables
    lens, rng = plain_lens(train, correlated=correlated), np.random.default_rng(2)
    settings = Settings(start=10, split_merge=2, **options)
    problem = Problem(lens.layout, lens.rows(train), np.zeros(len(train), np.int32), settings)
    chain, logs = mixture.init(rng, problem), []
    for t in range(40):
        chain, _ = mixture.step(rng, chain, problem)
        if t >= 20:
            state = predictive.snapshot(lens.layout, chain)
            logs.append(predictive.log_density(lens.layout, lens.rows(test), state)[:, 0])
    return (np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)) + lens.log_jacobian(lens.rows(test))).mean()


@pytest.mark.parametrize("views", [1, 2])
def test_correlated_reals_are_learnt(views):
    """What is lost to the true law, a mean over tables: with the block about half a nat per parameter and row, as where
    the right law is learnt; without it many groups have to stand for the plane."""
    n_rows, missing, tables = 150, 0.2, range(0, 8, 2)
    lost = {True: [], False: []}
    for seed in tables:
        train, test = make_table(seed, n_rows, missing), make_table(seed + 1, 200, missing)
        schema = learn_schema(train, KINDS)
        encoded = encode_table(train, schema), encode_table(test, schema)
        for block in lost:
            lost[block].append(true_log_density(test) - held_out(encoded, correlated=block, n_restaurants=views))
    together, apart = np.mean(lost[True]), np.mean(lost[False])
    assert together < 2 * N_PARAMETERS / (2 * n_rows * (1 - missing))
    assert apart > 3 * together
