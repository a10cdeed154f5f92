"""Cells near the end of what numbers hold: draws stay finite, and nothing of NumPy's own comes up."""

import numpy as np
import pandas as pd
import pytest
from estimator_tables import QUICK

from partita import CRPMixture
from partita.models.mixtures.draw import draw_counts

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_draws_of_huge_counts():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2**62, 40), np.repeat([0.0, 2.0**62], 20)])
    model = CRPMixture(**QUICK, column_kinds=["count", "count"]).fit(X)
    drawn = model.sample(200, random_state=1)
    assert np.isfinite(drawn).all() and (drawn >= 0).all() and drawn.max() > 1e17


@pytest.mark.parametrize("mean", [3.0, 1e6, 1e14, 1e30])
def test_counts_have_the_mean_and_the_spread_of_a_negative_binomial(mean):
    r = np.full(20_000, 50.0)
    p = r / (r + mean)
    drawn = draw_counts(r, p, np.random.default_rng(0))
    spread = np.sqrt(mean / p[0])
    assert abs(drawn.mean() - mean) < 5 * spread / np.sqrt(len(r)) and abs(drawn.std() / spread - 1) < 0.05
    assert (drawn == np.round(drawn)).all()


def test_real_cells_at_the_end_of_doubles():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([-1.7e308, 1.7e308, 0.0], 60), rng.normal(size=60)])
    model = CRPMixture(**QUICK).fit(X)
    assert np.isfinite(model.sample(500, random_state=1)).all()
    X[::4, 0] = np.nan
    filled, spread = model.impute(X, return_std=True)
    assert np.isfinite(filled).all() and np.isfinite(spread).all()
    assert all(np.isfinite(one).all() for one in model.impute(X, n_draws=3, random_state=0))


def test_integers_drawn_into_a_narrow_column_fit_it():
    rng = np.random.default_rng(0)
    values = pd.array(np.where(rng.random(80) < 0.5, 3, 120), dtype="Int8")
    values[::5] = pd.NA
    frame = pd.DataFrame({"a": values, "b": rng.normal(size=80)})
    for draw in CRPMixture(**QUICK).fit(frame).impute(frame, n_draws=5, random_state=0):
        assert draw["a"].dtype == "Int8" and draw["a"].notna().all()
