"""A value that many cells share is drawn as often as it is met, and alike by `sample` and by draws of `impute`."""

import numpy as np
import pytest
from estimator_tables import QUICK

from partita import AClass

rng = np.random.default_rng(0)
N = 300
ZERO = rng.random(N) < 0.5
FEW = rng.integers(1, 4, N) + 0.5


@pytest.mark.parametrize("labels", [(~ZERO).astype(int), rng.integers(0, 2, N)], ids=["told", "chance"])
def test_a_spike_is_sampled_and_drawn_as_often_as_it_is_met(labels):
    X = np.column_stack([np.where(ZERO, 0.0, rng.lognormal(3, 1, N)), rng.normal(size=N)])
    model = AClass(**QUICK).fit(X, labels)
    made = model.sample(2000, random_state=0)[0]
    rows = np.column_stack([np.full(N, np.nan), X[:, 1]])
    drawn = model.impute(rows, n_draws=40, random_state=0)[:, :, 0]
    for cells in (made[:, 0], drawn):
        assert np.mean(cells == 0) == pytest.approx(ZERO.mean(), abs=0.06)
    mean, spread = model.impute(rows, return_std=True)
    z = (drawn.mean(axis=1) - mean[:, 0].mean()).mean() / (spread[:, 0].mean() / np.sqrt(drawn.size))
    assert abs(z) < 8  # draws of one table share a state
    assert np.isfinite(model.score_samples(made)).all()


def test_few_values_are_sampled_as_they_are():
    X = np.column_stack([FEW, rng.normal(size=N)])
    model = AClass(**QUICK).fit(X, (FEW > 2).astype(int))
    assert set(np.unique(model.sample(300, random_state=0)[0][:, 0])) <= {1.5, 2.5, 3.5}
    blank = np.full((50, 2), np.nan)
    assert set(np.unique(model.impute(blank, n_draws=5, random_state=0)[:, :, 0])) <= {1.5, 2.5, 3.5}
