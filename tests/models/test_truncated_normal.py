"""Latents of many classes: cones only where a component may hold a row, against cones everywhere."""

import numpy as np
import pytest

from partita.models.gated.predict import class_probabilities
from partita.models.gated.truncated_normal import cone, hopeful_cone


def shares(logs):
    out = np.exp(logs - logs.max(axis=1, keepdims=True))
    return out / out.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("spread", [0.5, 30.0, 300.0])
def test_components_without_hope_change_nothing(spread):
    rng = np.random.default_rng(0)
    mean, label = rng.normal(0.0, 3.0, (60, 12, 5)), rng.integers(5, size=60)
    log_most = spread * rng.normal(size=(60, 12))
    everywhere, t = cone(mean, label[:, None])
    log_label, expected = hopeful_cone(mean, label, log_most)
    wanted, got = shares(log_most + everywhere), shares(log_most + log_label)
    np.testing.assert_allclose(got, wanted, atol=1e-15)
    np.testing.assert_allclose(got[:, :, None] * expected, wanted[:, :, None] * t, atol=1e-14)


def test_a_sure_component_that_contradicts_the_label_loses_its_row():
    """The first component looks far likelier until its expert is heard; the others must then be looked at."""
    mean = np.zeros((1, 3, 3))
    mean[0, 0] = [40.0, 0.0, 0.0]
    label, log_most = np.array([2]), np.array([[0.0, -100.0, -700.0]])
    log_label, _ = hopeful_cone(mean, label, log_most)
    np.testing.assert_allclose(log_label[0, :2], cone(mean[:, :2], label[:, None])[0][0])
    assert shares(log_most + log_label)[0, 1] > 0.999


@pytest.mark.parametrize("n_classes", [3, 6])
def test_classes_of_components_that_do_not_matter_may_be_rough(n_classes):
    rng = np.random.default_rng(1)
    mean = rng.normal(0.0, 2.0, (40, 8, n_classes))
    covariance = np.broadcast_to(np.eye(n_classes), (40, 8, n_classes, n_classes))
    log_gate = 20.0 * rng.normal(size=(40, 8))
    exact, rough = class_probabilities(mean, covariance), class_probabilities(mean, covariance, log_gate, tied=False)
    share = shares(log_gate)[:, :, None]
    np.testing.assert_allclose((share * np.exp(rough)).sum(axis=1), (share * np.exp(exact)).sum(axis=1), atol=1e-8)
    np.testing.assert_allclose(np.exp(rough).sum(axis=2), 1.0)
    assert np.abs(np.exp(rough) - np.exp(exact)).max() < 0.15
