"""Diagnostics against ArviZ on autoregressive chains, and at the edges."""

import sys
import warnings

import numpy as np
import pytest
from scipy.signal import lfilter

from partita.inference.arviz_export import to_arviz
from partita.inference.diagnostics import effective_sample_size, ess_bulk, ess_tail, mcse_mean, r_hat


def autoregressive(coefficient, chains, draws, seed=0):
    noise = np.random.default_rng(seed).standard_normal((chains, draws))
    return lfilter([1], [1, -coefficient], noise, axis=1)


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ announces its next version at import
        return pytest.importorskip("arviz")


@pytest.mark.parametrize("coefficient", [-0.9, -0.3, 0.0, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("shape", [(2, 4), (2, 5), (3, 11), (4, 100), (4, 333), (1, 50)])
def test_as_arviz(arviz, coefficient, shape):
    draws = autoregressive(coefficient, *shape)
    assert ess_bulk(draws) == pytest.approx(arviz.ess(draws, method="bulk"))
    assert ess_tail(draws) == pytest.approx(arviz.ess(draws, method="tail"))
    assert mcse_mean(draws) == pytest.approx(arviz.mcse(draws, method="mean"))
    if shape[0] > 1:
        assert r_hat(draws) == pytest.approx(arviz.rhat(draws, method="rank"))


def test_as_arviz_with_ties_and_a_shifted_chain(arviz):
    draws = np.round(autoregressive(0.6, 4, 200)) + np.array([[0], [0], [0], [3]])
    assert r_hat(draws) == pytest.approx(arviz.rhat(draws)) and r_hat(draws) > 1.2
    assert ess_bulk(draws) == pytest.approx(arviz.ess(draws)) and ess_bulk(draws) < 20


def test_r_hat_sees_chains_that_differ_in_width_only():
    draws = np.random.default_rng(1).standard_normal((4, 500)) * np.array([[1], [1], [1], [8]])
    assert r_hat(draws) > 1.1
    assert r_hat(draws[:3]) < 1.02


def test_ess_is_near_the_known_value():
    coefficient = 0.6
    draws = autoregressive(coefficient, 4, 20_000)
    assert ess_bulk(draws) == pytest.approx(80_000 * (1 - coefficient) / (1 + coefficient), rel=0.1)


def test_more_axes_give_one_value_each():
    draws = np.stack([autoregressive(0.5, 3, 60, seed) for seed in range(6)], axis=-1).reshape(3, 60, 2, 3)
    for statistic in (r_hat, ess_bulk, ess_tail, mcse_mean):
        values = statistic(draws)
        assert values.shape == (2, 3)
        assert values[1, 2] == statistic(draws[:, :, 1, 2])


def test_edges():
    constant = np.ones((2, 50))
    assert np.isnan(r_hat(constant)) and ess_bulk(constant) == ess_tail(constant) == 100 and mcse_mean(constant) == 0
    assert r_hat(np.array([[0.0] * 20, [1.0] * 20])) == np.inf
    assert np.isnan(r_hat(np.ones((2, 3)))) and np.isnan(ess_bulk(np.full((2, 50), np.nan)))
    with pytest.raises(ValueError, match=r"draws has the shape \(5,\)"):
        r_hat(np.ones(5))


def test_effective_number_of_weights():
    assert effective_sample_size(np.full(7, -3000.0)) == pytest.approx(7)
    assert effective_sample_size([0.0, -np.inf, -np.inf]) == 1
    assert effective_sample_size([-np.inf, -np.inf]) == 0
    assert effective_sample_size(np.log([1.0, 2.0, 3.0])) == pytest.approx(36 / 14)
    assert effective_sample_size(np.zeros((2, 5))).tolist() == [5, 5]
    for wrong in ([np.nan, 0.0], [np.inf, 0.0], []):
        with pytest.raises(ValueError, match="log_weights"):
            effective_sample_size(wrong)


def test_export_to_arviz(arviz):
    infos = {"log_joint": autoregressive(0.5, 2, 10), "n_groups": np.ones((2, 10))}
    data = to_arviz(infos)
    assert set(data.posterior.data_vars) == set(infos)
    assert (data.posterior["log_joint"].values == infos["log_joint"]).all()
    with pytest.raises(ValueError, match="differ in their numbers of chains and draws"):
        to_arviz({"a": np.ones((2, 3)), "b": np.ones((2, 4))})
    with pytest.raises(ValueError, match=r"infos\['a'\]"):
        to_arviz({"a": np.ones(3)})


def test_export_without_arviz_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install 'partita\[arviz\]'"):
        to_arviz({})
