"""Resampling schemes: unbiased, with the spread of offspring that theory allows, and alike in both backends."""

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.contract import MULTINOMIAL, RESIDUAL, STRATIFIED, SYSTEMATIC
from partita.kernels.reference.draw import Stream

SCHEMES = {"systematic": SYSTEMATIC, "stratified": STRATIFIED, "residual": RESIDUAL, "multinomial": MULTINOMIAL}
scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def offspring(kernels, weight, scheme, first):
    parents = np.full(len(weight), -1, np.int32)
    kernels.resample(weight, scheme, first, parents)
    return np.bincount(parents, minlength=len(weight))


@scheme
@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_native_equals_twin(scheme, n, native):
    rng = np.random.default_rng(n)
    for _ in range(50):
        weight, first = rng.gamma(0.5, size=n), rng.random()
        mine, theirs = np.zeros(n, np.int32), np.zeros(n, np.int32)
        reference.resample(weight, scheme, first, mine)
        native.resample(weight, scheme, first, theirs)
        np.testing.assert_array_equal(mine, theirs)


@scheme
def test_unbiased(scheme, backends):
    """Mean offspring is n times the share, within four standard errors of the most spread scheme (multinomial)."""
    rng = np.random.default_rng(7)
    weight = rng.gamma(0.7, size=9)
    share = weight / weight.sum()
    draws = 4_000
    error = 4.0 * np.sqrt(9 * share * (1.0 - share) / draws)
    for kernels in backends.values():
        mean = np.mean([offspring(kernels, weight, scheme, u) for u in rng.random(draws)], axis=0)
        assert (np.abs(mean - 9 * share) < error).all()


@scheme
def test_offspring_bounds(scheme, backends):
    """Systematic: floor or ceiling of n times the share; residual: at least the floor; stratified: under two off."""
    rng = np.random.default_rng(11)
    for kernels in [k for k in backends.values() for _ in range(200)]:
        weight = rng.gamma(0.5, size=12)
        expected = 12 * weight / weight.sum()
        got = offspring(kernels, weight, scheme, rng.random())
        assert got.sum() == 12
        if scheme == SYSTEMATIC:
            assert ((got == np.floor(expected)) | (got == np.ceil(expected))).all()
        elif scheme == RESIDUAL:
            assert (got >= np.floor(expected)).all()
        elif scheme == STRATIFIED:
            assert (np.abs(got - expected) < 2.0).all()


@scheme
def test_weightless_particles_leave_no_copies(scheme, backends):
    weight = np.array([0.0, 2.0, 0.0, 1.0, 1.0, 0.0])
    rng = np.random.default_rng(3)
    for kernels in backends.values():
        for u in rng.random(200):
            assert (offspring(kernels, weight, scheme, u)[weight == 0] == 0).all()


def test_stream_is_splitmix64():
    """The published first outputs for seed 1234567."""
    stream = Stream(1234567)
    assert [stream.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]
