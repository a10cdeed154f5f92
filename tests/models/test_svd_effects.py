"""Features as extra columns in the thesis's sampler: they help where they say something, and do no harm elsewhere."""

import numpy as np
import pytest

from partita import BayesianSVD
from partita.models.matrices import coordinate
from partita.models.matrices.entries import Entries
from partita.models.matrices.features import Features
from partita.models.matrices.problem import Problem

SETTINGS = {
    "prior": "paper", "sampler": "coordinate", "max_rank": 8, "missingness_features": 0, "burn_in": 80, "n_samples": 60,
    "n_chains": 1, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def rated():
    """Rank 2 about a mean far from zero, raw as in the thesis, and what the first of two features does in columns."""
    rng = np.random.default_rng(4)
    given, effect = (rng.random((80, 2)) < 0.4).astype(float), rng.normal(size=50)
    signal = 3.5 + rng.normal(size=(80, 2)) @ rng.normal(size=(2, 50)) + np.outer(given[:, 0], effect)
    holed = np.where(rng.random(signal.shape) < 0.35, signal + 0.5 * rng.normal(size=signal.shape), np.nan)
    return signal, holed, given, effect


def fitted(holed, **features):
    return BayesianSVD(**SETTINGS).fit(holed, **features)


def error(model, signal):
    return float(np.sqrt(np.mean((model.complete(keep_observed=False) - signal) ** 2)))


def test_features_of_noise_cost_little_and_leave_the_components(rated):
    signal, holed, _, _ = rated
    noise = (np.random.default_rng(5).random((80, 15)) < 0.3).astype(float)
    bare, with_noise = fitted(holed), fitted(holed, row_features=noise)
    assert error(with_noise, signal) < 1.15 * error(bare, signal)
    assert with_noise.rank_ >= 3 <= bare.rank_


def test_what_a_feature_does_is_learnt_and_holds_for_new_rows(rated):
    _, holed, given, effect = rated
    model = fitted(holed, row_features=given)
    of_two = {"with": [1.0, 0.0], "without": [0.0, 0.0]}
    with_it, without = (model.predict([row] * 50, range(50), row_features={row: of_two[row]}) for row in of_two)
    assert np.corrcoef(with_it - without, effect)[0, 1] > 0.9


def test_features_wait_until_components_have_formed(rated):
    _, holed, given, _ = rated
    row, column = np.nonzero(np.isfinite(holed))
    entries = Entries.of(row, column, holed[row, column], *holed.shape)
    features = Features.of(len(holed), [given])
    problem = Problem.of(entries, prior="paper", offsets=False, unequal_noise=False, max_rank=6, row_features=features)
    rng = np.random.default_rng(0)
    state = coordinate.init(problem, rng)
    for _ in range(coordinate.HELD):
        coordinate.step(problem, rng, state)
        assert not state.column_effects.any() and state.z.all()
    coordinate.step(problem, rng, state)
    assert state.column_effects.all()
