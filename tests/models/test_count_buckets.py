"""Missing counts of any size: buckets of values, their probabilities against sums over single values."""

import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare, nbinom, poisson

from partita import IQGMEClassifier, QGMEClassifier
from partita.models.gated.count_buckets import (
    MOST_BUCKETS,
    bucket_ends,
    bucket_of,
    bucket_starts,
    draw_poisson,
    log_negative_binomial,
    log_poisson,
    poisson_means,
)


@pytest.mark.parametrize("largest", [0, 3, 700, 5000, 10**6, 2 * 10**9])
def test_buckets_hold_every_count_once(largest):
    starts = bucket_starts(largest)
    ends = bucket_ends(starts)
    assert starts[0] == 0
    assert len(starts) <= MOST_BUCKETS
    assert (ends >= starts).all()
    assert (starts[1:] == ends[:-1] + 1).all()
    assert starts[-1] > largest + 4 * np.sqrt(largest)
    tried = np.unique(np.random.default_rng(0).integers(0, starts[-1] + 1, 200))
    place = bucket_of(starts, tried)
    assert ((starts[place] <= tried) & (tried <= ends[place])).all()


@pytest.mark.parametrize("rate", [1e-4, 3.0, 900.0, 2900.0])
def test_probabilities_and_means_of_buckets_are_sums_over_values(rate):
    starts = bucket_starts(3000)
    ends, value = bucket_ends(starts), np.arange(bucket_starts(3000)[-1] + 1)
    logs = poisson(rate).logpmf(value)
    place = bucket_of(starts, value)
    wanted = np.array([logsumexp(logs[place == b]) for b in range(len(starts))])
    near = wanted > -600
    np.testing.assert_allclose(log_poisson(starts, ends, np.log([rate]))[0][near], wanted[near], atol=1e-8)
    means = np.array([np.exp(logs[place == b] - wanted[b]) @ value[place == b] for b in range(len(starts))])
    np.testing.assert_allclose(poisson_means(starts, ends, np.log([rate]))[0][near], means[near], rtol=1e-6)
    shape, speed = np.array([0.02 * rate + 1.0]), np.array([0.02])
    logs = nbinom(shape, speed / (1 + speed)).logpmf(value)
    wanted = np.array([logsumexp(logs[place == b]) for b in range(len(starts))])
    near = wanted > -600
    np.testing.assert_allclose(log_negative_binomial(starts, ends, shape, speed)[0][near], wanted[near], atol=1e-8)


@pytest.mark.parametrize(("rate", "low", "high"), [(1000.0, 990, 1004), (1000.0, 1100, 1112), (1000.0, 880, 890)])
def test_draws_within_a_bucket_follow_poisson(rate, low, high):
    n = 20_000
    drawn = draw_poisson(np.full(n, low), np.full(n, high), np.full(n, rate), np.random.default_rng(0))
    value = np.arange(low, high + 1)
    mass = np.exp(poisson(rate).logpmf(value))
    got = np.bincount(drawn - low, minlength=len(value))
    common = mass / mass.sum() * n > 5
    assert got[~common].sum() <= 60
    wanted = mass[common] / mass[common].sum() * got[common].sum()
    assert chisquare(got[common], wanted).pvalue > 1e-3


def counts_table(n, rng, least=2_000.0, most=60_000.0):
    """Two groups whose counts differ thirtyfold; the label follows the count where the group leaves a doubt."""
    group = rng.integers(2, size=n)
    counts = rng.poisson(np.where(group == 0, least, most)).astype(float)
    X = np.column_stack([counts, 3.0 * group + rng.normal(size=n)])
    return X, (rng.random(n) < np.where(group == 0, 0.15, 0.85)).astype(int)


@pytest.mark.parametrize("settings", [
    {"average": False, "n_restarts": 2}, {"average": True}, {"inference": "gibbs", "max_iter": 60, "n_restarts": 2},
    {"n_factors": 2},
])  # fmt: skip
def test_missing_counts_beyond_a_thousand_are_guessed_where_they_are(settings):
    rng = np.random.default_rng(0)
    X, y = counts_table(300, rng)
    holed = X.copy()
    holed[rng.random(300) < 0.3, 0] = np.nan
    model = IQGMEClassifier(column_kinds=["count", "real"], random_state=0, **settings)
    model.fit(holed[:200], y[:200])
    hole = np.isnan(holed[:, 0])
    filled = model.impute(holed)[hole, 0]
    far = X[hole, 1] > 1.5
    assert filled[far].mean() > 40_000
    assert filled[~far].mean() < 20_000
    low, middle, high = (one[hole, 0] for one in model.impute(holed, quantiles=[0.05, 0.5, 0.95]))
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.median(high[far]) > 60_000
    assert abs(((X[hole, 0] >= low) & (X[hole, 0] <= high)).mean() - 0.9) < 0.1
    assert np.isfinite(model.predict_proba(holed)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bound_never_falls_with_missing_counts_in_buckets(n_classes):
    rng = np.random.default_rng(1)
    X, y = counts_table(120, rng)
    y = y + (rng.random(120) < 0.3) * (n_classes - 2)
    X[rng.random(X.shape) < 0.4] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IQGMEClassifier(average=False, n_restarts=2, column_kinds=["count", "real"], random_state=0).fit(X, y)
        finite = QGMEClassifier(n_experts=2, column_kinds=["count", "real"], random_state=0).fit(X, y)
    for bounds in [*model.lower_bounds_all_, finite.objectives_]:
        assert (np.diff(bounds) >= -1e-7 * np.abs(bounds[1:])).all()


def test_quantiles_of_one_group_are_those_of_its_negative_binomial():
    rng = np.random.default_rng(2)
    X = rng.poisson(5_000.0, (40, 1)).astype(float)
    model = IQGMEClassifier(average=False, n_restarts=1, max_experts=1, column_kinds=["count"], random_state=0)
    model.fit(X, np.arange(40) % 2)
    shape, rate = model._pool.whole[0].cells[0][0]
    levels = [0.01, 0.25, 0.5, 0.9, 0.999]
    got = [one[0, 0] for one in model.impute(np.array([[np.nan]]), quantiles=levels)]
    np.testing.assert_array_equal(got, nbinom(shape, rate / (1 + rate)).ppf(levels))
