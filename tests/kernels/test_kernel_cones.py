"""Cones of class labels: native and twin agree, and the twin with what can be said otherwise."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from partita.kernels import reference

native = pytest.importorskip("partita.kernels._native")

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
QUADRATURE = NODES, np.log(WEIGHTS) + 0.5 * NODES**2


def cone(module, mean, label):
    log_p, expected = np.full(len(mean), 7.0), np.full(mean.shape, 7.0)
    module.cone(mean, label, *QUADRATURE, log_p, expected)
    return log_p, expected


def probabilities(module, mean, sd):
    out = np.full(mean.shape, 7.0)
    module.cone_probabilities(mean, sd, *QUADRATURE, out)
    return out


@pytest.mark.parametrize(("spread", "rtol"), [(0.0, 1e-9), (1.0, 1e-9), (8.0, 1e-9), (60.0, 1e-6)])
@pytest.mark.parametrize("k", [2, 3, 25])
def test_native_equals_the_twin(k, spread, rtol):
    """Far out the twin's ratios cancel."""
    rng = np.random.default_rng([k, int(spread)])
    mean, label, sd = spread * rng.normal(size=(30, k)), rng.integers(k, size=30), rng.gamma(2.0, size=(30, k)) + 0.2
    for mine, plain in zip(cone(native, mean, label), cone(reference, mean, label), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=rtol, atol=10 * rtol)
    mine, plain = probabilities(native, mean, sd), probabilities(reference, mean, sd)
    np.testing.assert_allclose(mine, plain, rtol=rtol, atol=10 * rtol)


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
def test_two_classes_have_a_closed_form(module):
    mean, sd = np.array([[0.3, -0.4], [5.0, -5.0], [-30.0, 12.0]]), np.array([[1.0, 2.0], [0.5, 0.7], [1.0, 1.0]])
    wanted = log_ndtr((mean - mean[:, ::-1]) / np.sqrt((sd**2).sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(probabilities(module, mean, sd), wanted, rtol=1e-6, atol=1e-12)
    first = log_ndtr((mean[:, 0] - mean[:, 1]) / 2**0.5)
    np.testing.assert_allclose(cone(module, mean, np.zeros(3, int))[0], first, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("module", [native, reference], ids=["native", "reference"])
def test_expected_latents_are_slopes_of_the_logarithm(module):
    mean, label, step = np.random.default_rng(0).normal(size=(4, 5)), np.array([0, 4, 2, 2]), 1e-5
    moved = cone(module, mean, label)[1] - mean
    for c in range(5):
        up, down = (cone(module, mean + sign * step * np.eye(5)[c], label)[0] for sign in (1, -1))
        np.testing.assert_allclose(moved[:, c], (up - down) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(moved.sum(axis=1), 0.0, atol=1e-12)


def test_no_rows_and_wrong_shapes():
    cone(native, np.zeros((0, 3)), np.zeros(0, int))
    with pytest.raises(ValueError, match="label"):
        cone(native, np.zeros((2, 3)), np.array([0, 3]))
    with pytest.raises(ValueError, match="shape"):
        native.cone_probabilities(np.zeros((2, 3)), np.zeros((2, 2)), *QUADRATURE, np.zeros((2, 3)))
