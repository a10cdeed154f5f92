"""A level that training never showed counts as missing, also where the column was constant or had holes only."""

import warnings

import numpy as np
import pytest

from partita import KikuchiBayesClassifier, TANClassifier

MAKE = {
    "TAN": TANClassifier,
    "paper": lambda: KikuchiBayesClassifier(estimate="paper"),
    "evidence": lambda: KikuchiBayesClassifier(random_state=0),
}


def telling_column(second, n=200):
    """The first column is the class but for one row in twenty; the second always shows the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    x = np.where(rng.random(n) < 0.05, 1 - y, y).astype(float)
    return np.column_stack([x, np.full(n, second)]), y


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("second", [np.nan, 0.0, 1.0])
@pytest.mark.parametrize("later", [0.0, 1.0, np.nan])
def test_a_column_that_showed_one_thing_only_has_no_say(name, second, later):
    X, y = telling_column(second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the column without cells
        model = MAKE[name]().fit(X, y)
    alone = MAKE[name]().fit(X[:, :1], y).predict_proba([[0.0], [1.0]])
    got = model.predict_proba([[0.0, later], [1.0, later]])
    np.testing.assert_allclose(got, alone, rtol=1e-9)
    assert got[1, 1] > 0.9


def test_a_column_that_showed_one_thing_only_is_no_candidate():
    X, y = telling_column(1.0)
    model = KikuchiBayesClassifier(estimate="paper", singles="all").fit(X, y)
    assert model.map_regions_ == [(0,)]
