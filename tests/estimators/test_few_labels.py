"""Very few labels among many rows: the groups find their classes."""

import numpy as np
import pytest

from partita import AClass


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
