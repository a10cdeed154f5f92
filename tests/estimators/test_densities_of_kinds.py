"""score_samples is a density of every column as what it is: counts sum to one, reals integrate to one, units matter."""

import numpy as np
import pandas as pd
import pytest

from partita import AClass, CRPMixture

QUICK = {"n_filters": 6, "n_sweeps": 8, "random_state": 0}


def fitted(cls, frame, y, **kinds):
    model = cls(**QUICK, column_kinds=kinds)
    return model.fit(frame, y)


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_count_column_sums_to_one(cls):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    model = fitted(cls, pd.DataFrame({"n": rng.poisson(np.where(y == 1, 2, 9))}), y, n="count")
    total = np.exp(model.score_samples(pd.DataFrame({"n": np.arange(400)}))).sum()
    assert total == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_real_column_of_few_values_is_a_density_with_units(cls):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 120)
    x = rng.choice([1.0, 2.0, 3.5, 7.0], 120) + 0.0 * y
    grid = np.linspace(-300, 300, 200_001)
    model = fitted(cls, pd.DataFrame({"x": x}), y, x="real")
    density = np.exp(model.score_samples(pd.DataFrame({"x": grid})))
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=0.02)
    far, near = model.score_samples(pd.DataFrame({"x": [1e6, 3.5]}))
    assert far < near - 5
    scaled = fitted(cls, pd.DataFrame({"x": 1000 * x}), y, x="real")
    shift = model.score_samples(pd.DataFrame({"x": x})) - scaled.score_samples(pd.DataFrame({"x": 1000 * x}))
    np.testing.assert_allclose(shift, np.log(1000.0), rtol=1e-6)


def test_draws_of_a_count_column_look_like_it():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    model = fitted(AClass, pd.DataFrame({"n": rng.poisson(3.0, 200)}), y, n="count")
    drawn = np.asarray(model.sample(4000, random_state=0)[0]["n"], float)
    assert (drawn >= 0).all() and (drawn == np.round(drawn)).all()
    assert drawn.mean() == pytest.approx(3.0, abs=0.4) and drawn.std() == pytest.approx(np.sqrt(3.0), abs=0.5)


def test_huge_counts_are_finite():
    X = np.random.default_rng(3).integers(0, 10**17, (40, 1))
    model = CRPMixture(**QUICK, column_kinds=["count"]).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(np.asarray(model.sample(5, random_state=0), float)).all()
