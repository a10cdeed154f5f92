"""Steps over batches of rows, against passes over all of them."""

import warnings

import numpy as np
import pytest

from partita import IQGMEClassifier
from partita.models.gated import average


def groups_with_rules(n, seed, k=4, p=4):
    """k Gaussians well apart, each cut by a line of its own, a quarter of the cells missing."""
    rng = np.random.default_rng(seed)
    centre = 6.0 * np.eye(k, p)
    group = rng.integers(k, size=n)
    X = centre[group] + rng.normal(size=(n, p))
    rule = rng.normal(size=(k, p))
    y = (((X - centre[group]) * rule[group]).sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X, y


@pytest.mark.parametrize("seed", [0, 1])
def test_batches_keep_as_few_components_as_passes_over_all_rows(seed):
    X, y = groups_with_rules(3000, seed)
    rows, labels = groups_with_rules(1000, seed)
    whole = IQGMEClassifier(average=False, cell_folds=0, random_state=0, max_iter=60).fit(X, y)
    batches = IQGMEClassifier(batch_size=300, max_iter=60, random_state=0).fit(X, y)
    found = [max(model.n_experts_posterior_, key=model.n_experts_posterior_.get) for model in (whole, batches)]
    assert found[1] <= found[0] + 2
    losses = [-np.log(model.predict_proba(rows)[np.arange(1000), labels]).mean() for model in (whole, batches)]
    assert losses[1] < losses[0] + 0.02


def test_a_start_that_ctrl_c_came_before_is_not_the_best(monkeypatch):
    X, y = groups_with_rules(200, 0)
    run = average.run_fits

    def cut_short(*args, **rest):
        states, outcome = run(*args, **rest)
        outcome.infos["bound"][0], outcome.steps_done[0], outcome.interrupted = np.nan, 0, "keyboard"
        return states, outcome

    monkeypatch.setattr(average, "run_fits", cut_short)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IQGMEClassifier(batch_size=50, n_restarts=2, max_iter=3, random_state=0).fit(X, y)
    assert model.n_iter_ == 3
