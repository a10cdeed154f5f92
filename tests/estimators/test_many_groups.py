"""Many groups in real columns, far apart: they are found, whatever was merged at first, and where they are not one is
told so.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partita import AClass, CRPMixture
from partita.models.mixtures.rejuvenation import LEAST_EFFORT, MOST_EFFORT, follow_need

N_GROUPS = 20


def table(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Groups on a line, six standard deviations apart in each of four columns."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, N_GROUPS, n)
    return group[:, None] * 6.0 * np.array([1, -1, 1, 1]) + rng.normal(size=(n, 4)), group


@pytest.mark.parametrize("seed", [3, 4])
def test_chains_find_all_groups(seed):
    X, _ = table(seed)
    model = CRPMixture(random_state=seed).fit(X)
    assert model.n_components_ == N_GROUPS and model.n_components_posterior_[N_GROUPS] > 0.8


@pytest.mark.parametrize("seed", [3, 4])
def test_streams_find_all_groups(seed):
    X, group = table(seed)
    stream = CRPMixture(random_state=seed).partial_fit(X)
    assert sum(k * p for k, p in stream.n_components_posterior_.items()) > N_GROUPS - 3
    classifier = AClass(random_state=seed).partial_fit(X, group % 2)
    new, of = table(seed + 100)
    assert np.mean(classifier.predict(new) != of % 2) < 0.01


def test_few_groups_stay_few():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    X = rng.normal(size=(3, 4))[group] * 5 + rng.normal(size=(300, 4))
    for model in (CRPMixture(random_state=0).fit(X), CRPMixture(random_state=0).partial_fit(X)):
        assert sum(k * p for k, p in model.n_components_posterior_.items()) < 4


def test_any_number_of_threads_gives_the_same_stream():
    X, group = table(5, 250)
    one = AClass(random_state=0, n_jobs=1).partial_fit(X, group % 2)
    np.testing.assert_array_equal(
        AClass(random_state=0, n_jobs=2).partial_fit(X, group % 2).predict_proba(X), one.predict_proba(X)
    )


def test_effort_follows_what_is_accepted():
    assert follow_need(1.0, 50, 100) == 2.0 and follow_need(1.0, 2, 100) == 0.5
    assert follow_need(MOST_EFFORT, 50, 100) == MOST_EFFORT and follow_need(LEAST_EFFORT, 0, 100) == LEAST_EFFORT
    assert follow_need(1.0, 0, 0) == 1.0


def test_chains_that_disagree_are_told():
    X, _ = table(1)
    with pytest.warns(ConvergenceWarning, match=r"R-hat .*n_sweeps=120.*split_merge='auto'") as told:
        CRPMixture(n_sweeps=60, split_merge=0, random_state=0).fit(X)
    assert len([one for one in told if one.category is ConvergenceWarning]) == 1


def test_a_quick_fit_and_one_that_settles_are_not():
    X, _ = table(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        CRPMixture(n_sweeps=10, split_merge=0, random_state=0).fit(X)
        CRPMixture(random_state=0).fit(X)
