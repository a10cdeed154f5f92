"""Weights of a linear pool, its temperature and offsets of classes."""

import numpy as np
import pytest
from scipy.optimize import minimize

from partita.models.evidence.pool import choose_pool, pooled, softmax
from partita.models.evidence.settings import Settings
from partita.models.pooling import best_exponent_and_offsets, best_log_temperature, pool_weights


def test_weights_maximise_the_pool_with_its_prior():
    rng = np.random.default_rng(0)
    own, weight = rng.uniform(0.05, 0.9, (3, 60)), rng.uniform(0.5, 2.0, 60)

    def loss(z):
        share = np.exp(z - np.logaddexp.reduce(z))
        return -(weight @ np.log(share @ own)) - (20 / 3) * np.log(share).sum()

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000}).x
    share = pool_weights(own, weight, 20.0, rounds=5000, tolerance=1e-12)
    np.testing.assert_allclose(share, np.exp(best - np.logaddexp.reduce(best)), atol=1e-4)


def test_a_weight_is_a_repeated_row():
    rng = np.random.default_rng(1)
    own, count = rng.uniform(size=(2, 30)), rng.integers(1, 4, 30)
    np.testing.assert_allclose(pool_weights(own, count.astype(float)), pool_weights(np.repeat(own, count, axis=1)))


def test_temperature_of_overconfident_stages_is_below_one():
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(2000, 3))
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    share, temperature = choose_pool([softmax(3 * logits)], label, np.ones(2000), Settings())
    assert share.tolist() == [1.0]
    assert temperature == pytest.approx(1 / 3, abs=0.05)
    p = np.exp(pooled([softmax(logits)] * 2, np.array([0.3, 0.7])))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-8)


def test_minimum_of_a_parabola():
    assert best_log_temperature(lambda x: (x - 0.3) ** 2, (-1.0, 1.0)) == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_exponent_and_offsets_are_found_again(n_classes):
    rng = np.random.default_rng(3)
    logits = np.log(softmax(2.0 * rng.normal(size=(6000, n_classes))))
    offset = np.linspace(-0.6, 0.6, n_classes)
    label = (1.5 * logits + offset + rng.gumbel(size=logits.shape)).argmax(axis=1)
    t, b = best_exponent_and_offsets(logits, label, np.ones(6000), 1.0, 0.1)
    assert t == pytest.approx(1.5, abs=0.08)
    np.testing.assert_allclose(b - b.mean(), offset, atol=0.12)


def test_an_exponent_beside_a_base_and_offsets_of_some_rows_are_found_again():
    rng = np.random.default_rng(6)
    logits, base, reach = 1.5 * rng.normal(size=(8000, 3)), np.array([1.0, 0.0, -1.0]), rng.integers(0, 2, 8000)
    offset = np.array([-0.8, 0.3, 0.5])
    label = (base + 1.4 * logits + reach[:, None] * offset + rng.gumbel(size=logits.shape)).argmax(axis=1)
    t, b = best_exponent_and_offsets(logits, label, np.ones(8000), 1.0, 0.1, base, reach.astype(float))
    assert t == pytest.approx(1.4, abs=0.08)
    np.testing.assert_allclose(b - b.mean(), offset, atol=0.12)


def test_strong_priors_leave_probabilities_as_they_are():
    rng = np.random.default_rng(4)
    logits, label = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    t, b = best_exponent_and_offsets(logits, label, np.ones(30), 1e7, 1e7)
    assert t == pytest.approx(1.0, abs=1e-4)
    np.testing.assert_allclose(b, 0.0, atol=1e-4)


def test_weights_of_rows_are_repetitions():
    rng = np.random.default_rng(5)
    logits, label, times = rng.normal(size=(40, 3)), rng.integers(3, size=40), rng.integers(1, 4, 40)
    once = best_exponent_and_offsets(logits, label, times.astype(float), 5.0, 1.0)
    rows = np.repeat(np.arange(40), times)
    often = best_exponent_and_offsets(logits[rows], label[rows], np.ones(len(rows)), 5.0, 1.0)
    assert once[0] == pytest.approx(often[0], rel=1e-3)
    np.testing.assert_allclose(once[1], often[1], atol=1e-3)
