"""Very few labels among many rows: the groups find their classes."""

import numpy as np
import pytest

import partita
from partita import AClass
from partita.models.mixtures.ensemble import log_densities


def two_clear_groups(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return (rng.random((n, 12)) < np.where(y[:, None] == 1, 0.9, 0.1)).astype(float), y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("inference", ["gibbs", "smc"])
def test_one_label_a_class_is_enough_for_two_clear_groups(seed, inference):
    X, y = two_clear_groups(seed=seed)
    given = np.full(len(y), np.nan)
    for c in (0, 1):
        given[np.flatnonzero(y == c)[0]] = c
    model = AClass(inference=inference, n_filters=4, random_state=seed).fit(X, given)
    assert (model.predict(X) == y).mean() > 0.95


def test_chunks_do_not_matter_where_labels_are_missing():
    X, y = two_clear_groups(330, seed=5)
    given = np.where(np.random.default_rng(0).random(len(y)) < 0.4, np.nan, y)
    for settings in ({"n_sweeps": 2}, {"n_sweeps": 0, "n_particles": 2}):
        whole = AClass(inference="smc", n_filters=3, random_state=1, **settings).fit(X, given)
        parts = AClass(n_filters=3, random_state=1, **settings)
        for first, last in ((0, 130), (130, 131), (131, 330)):
            parts.partial_fit(X[first:last], given[first:last], classes=[0, 1])
        np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"n_sweeps": 0, "n_particles": 2}], ids=str)
def test_classes_that_no_label_has_named_share_their_probability(settings, tmp_path):
    """Nothing tells them apart, whatever names the banks gave to their rows."""
    X, y = two_clear_groups(240, seed=3)
    model = AClass(n_filters=3, random_state=0, **settings)
    model.partial_fit(X[:120], np.full(120, np.nan), classes=["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3, rtol=1e-12)
    partita.save(model, tmp_path / "m")
    model = partita.load(tmp_path / "m").partial_fit(X[120:180], np.where(y[120:180] == 1, "b", None))
    p = model.predict_proba(X)
    assert p[y == 1, 1].mean() > 0.9 and (p[:, 0] == p[:, 2]).all()
    np.testing.assert_array_equal(np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(20)]), p[:20])
    model.partial_fit(X[180:], np.where(y[180:] == 1, "b", "c"))
    p = model.predict_proba(X)
    assert (p[:, 0] != p[:, 2]).all() and p[y == 0, 0].mean() < p[y == 0, 2].mean()


@pytest.mark.parametrize("column_prior", ["infer", 0.5])
@pytest.mark.parametrize("settings", [{}, {"n_sweeps": 0}, {"reservoir_size": 3}], ids=str)
def test_a_class_without_rows_at_hand_has_a_density(settings, column_prior):
    """None has come, or none is left in the reservoir: what it says of all rows there are still sums to one."""
    X, y = two_clear_groups(240, seed=4)
    order = np.argsort(y, kind="stable")
    X, y = X[order][:, :3], y[order]
    model = AClass(n_filters=2, random_state=0, column_prior=column_prior, **settings)
    model.partial_fit(X, y, classes=[0, 1, 2])
    every = np.stack(np.meshgrid(*[[0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    density = np.exp(log_densities(model._ensemble, model._encode(every)))
    np.testing.assert_allclose(density.sum(axis=0), 1.0, rtol=1e-9)


def test_counts_are_filled_where_no_further_group_may_open():
    X = np.random.default_rng(0).poisson(3.0, (60, 2)).astype(float)
    X[::4, 0] = np.nan
    model = AClass(n_filters=2, random_state=0, column_prior=0.5, max_components=1, reservoir_size=3)
    model.partial_fit(X, np.arange(60) // 30)
    filled, spread = model.impute(X, return_std=True)
    assert np.isfinite(filled).all() and np.isfinite(spread).all()
