"""Values that a missing count may hold: one by one while they are few, neighbours together where they are many.

Counts up to `top` lie in buckets of consecutive values, each a single value as long as about a thousand buckets reach
the top, else of widths that grow with the value. An expert sees the same of all values of a bucket, so that
probabilities of buckets are all it needs; they are exact sums, whatever their widths.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, gammainc, gammaincc, gammaln

from ...families.gamma_poisson import GammaPoisson

MOST_BUCKETS = 1000
BEYOND = 5.0  # Poisson standard deviations that missing counts may lie beyond the largest one seen
LEAST_MASS = 1e-280  # of a bucket: below, differences of distribution functions have no digits left

Law = Callable[[np.ndarray], np.ndarray]


def bucket_starts(largest: int) -> np.ndarray:
    """(L,) the least value of every bucket, 0 first; the last bucket is one value, `top`."""
    top = int(largest + np.ceil(BEYOND * np.sqrt(largest + 1.0)) + BEYOND)
    if top < MOST_BUCKETS:
        return np.arange(top + 1)
    edges = np.expm1(np.linspace(0.0, np.log1p(top), MOST_BUCKETS))
    return np.unique(np.append(np.floor(edges[:-1] + 1e-6), top)).astype(np.int64)


def bucket_ends(starts: np.ndarray) -> np.ndarray:
    """(L,) the greatest value of every bucket."""
    return np.append(starts[1:] - 1, starts[-1:])


def bucket_of(starts: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The bucket of every value up to `top`; of greater ones the last."""
    return np.searchsorted(starts, value, side="right") - 1


def middles(starts: np.ndarray) -> np.ndarray:
    """(L,) log(1 + value) as it is seen of every bucket: half-way between its ends."""
    return 0.5 * (np.log1p(starts) + np.log1p(bucket_ends(starts)))


def log_poisson(low: np.ndarray, high: np.ndarray, log_rate: np.ndarray) -> np.ndarray:
    """(..., L) log P(low <= V <= high) under Poisson laws, given log rates (...)."""
    log_rate = np.asarray(log_rate, float)[..., None]
    rate = np.exp(log_rate)
    return _log_sums(
        low, high, rate,
        lambda value: value * log_rate - rate - gammaln(value + 1.0),
        lambda value: gammaincc(value + 1.0, rate),
        lambda value: gammainc(value + 1.0, rate),
    )  # fmt: skip


def log_negative_binomial(low: np.ndarray, high: np.ndarray, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """(..., L) the same of counts whose rate has a Gamma(shape, rate) law."""
    family = GammaPoisson(shape[..., None], rate[..., None])
    stays = family.rate / (1.0 + family.rate)
    return _log_sums(
        low, high, family.shape / family.rate,
        family.log_predictive,
        lambda value: betainc(family.shape, value + 1.0, stays),
        lambda value: betainc(value + 1.0, family.shape, 1.0 / (1.0 + family.rate)),
    )  # fmt: skip


def _log_sums(
    low: np.ndarray, high: np.ndarray, centre: np.ndarray, log_mass: Law, below: Law, above: Law
) -> np.ndarray:
    """`below` and `above` are P(V <= v) and P(V > v), each used on its own side of the centre, where it is small. Of
    values too far away for them the one nearest to the centre stands for all."""
    wide = np.flatnonzero(high > low)
    out = np.array(log_mass(low))
    if len(wide):
        first, last = low[wide], high[wide]
        mass = np.where(first > centre, above(first - 1.0) - above(last), below(last) - below(first - 1.0))
        near = log_mass(np.clip(np.floor(centre), first, last))
        out[..., wide] = np.where(mass > LEAST_MASS, np.log(np.maximum(mass, LEAST_MASS)), near)
    return out


def poisson_means(low: np.ndarray, high: np.ndarray, log_rate: np.ndarray) -> np.ndarray:
    """(..., L) mean of a Poisson count that lies between low and high: rate P(low <= V + 1 <= high) / P(low <= V <=
    high)."""
    log_rate = np.asarray(log_rate, float)
    out = np.broadcast_to(low.astype(float), (*log_rate.shape, len(low))).copy()
    wide = np.flatnonzero(high > low)
    if len(wide):
        first, last = low[wide], high[wide]
        ratio = log_poisson(first - 1, last - 1, log_rate) - log_poisson(first, last, log_rate)
        out[..., wide] = np.clip(np.exp(np.clip(log_rate[..., None] + ratio, 0.0, 700.0)), first, last)
    return out


def draw_poisson(low: np.ndarray, high: np.ndarray, rate: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) Poisson counts of given rates that lie between low and high (n,), by halving on the distribution function;
    from whichever side of the rate is nearer, as in the sums."""
    u, upper = rng.random(len(low)), low > rate
    tail = lambda value: np.where(upper, gammainc(value + 1.0, rate), gammaincc(value + 1.0, rate))  # noqa: E731
    start, stop = tail(low - 1.0), tail(high.astype(float))
    point = start + u * (stop - start)
    least, most = low.copy(), high.copy()  # the answer is the least value at which the tail has passed the point
    while (least < most).any():
        middle = (least + most) // 2
        passed = np.where(upper, tail(middle.astype(float)) <= point, tail(middle.astype(float)) >= point)
        least, most = np.where(passed, least, np.minimum(middle + 1, most)), np.where(passed, middle, most)
    return least
