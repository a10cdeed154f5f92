"""Chains of gated experts that do not agree are told of."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partita import IQGMEClassifier
from partita.estimators import gated_agreement
from partita.estimators.gated_agreement import warn_of_unsettled


def found(**r_hat: float) -> dict[str, dict[str, float]]:
    return {name: {"r_hat": value, "ess_bulk": 9.0} for name, value in r_hat.items()}


def test_the_trace_that_differs_most_is_named():
    with pytest.warns(ConvergenceWarning, match=r"the number of components \(R-hat 2\.50.*max_iter=600"):
        warn_of_unsettled(found(log_likelihood=1.6, n_components=2.5, log_alpha=float("nan")), 300, "IQGMEClassifier")


@pytest.mark.parametrize("sweeps", [99, 300])
def test_chains_that_agree_or_are_short_are_not_told_of(sweeps):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_unsettled(found(log_likelihood=1.1, largest=9.0 if sweeps < 100 else 1.4), sweeps, "IQGMEClassifier")


def test_a_fit_tells(monkeypatch):
    """Chains of so few sweeps differ from one another; that they are few is looked away from."""
    monkeypatch.setattr(gated_agreement, "SWEEPS_TO_SETTLE", 8)
    monkeypatch.setattr(gated_agreement, "FAR", 0.0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    with pytest.warns(ConvergenceWarning, match="after 8 sweeps"):
        IQGMEClassifier(inference="gibbs", n_restarts=2, max_iter=8, cell_folds=0, random_state=0).fit(X, y)
