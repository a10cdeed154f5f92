"""Fits of structures that are out of time or interrupted: priors are weighed by what was seen, and that is kept."""

import os
import signal
import time

import numpy as np
import pytest

from partita import StructureLearner
from partita.inference.loop import FitInterrupted
from partita.models.structure import chains

SETTINGS = {"n_chains": 2, "n_sweeps": 20_000, "random_state": 0, "exact": False}


def table():
    """Eight coins, two of them joined: nothing speaks for ordered classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 8))
    X[:, 1] = np.where(rng.random(150) < 0.85, X[:, 0], X[:, 1])
    return X


@pytest.fixture(scope="module")
def weights():
    return StructureLearner("auto", **SETTINGS | {"n_sweeps": 500}).fit(table()).prior_weights_


@pytest.mark.parametrize("n_chains", [1, 2])
@pytest.mark.parametrize("burn_in", [None, 15_000])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_priors_are_weighed_by_what_a_short_burn_in_saw(n_chains, burn_in, weights):
    settings = SETTINGS | {"n_chains": n_chains, "burn_in": burn_in}
    with pytest.warns(FitInterrupted, match="time budget"):
        stopped = StructureLearner("auto", time_budget=0.1, **settings).fit(table())
    for prior, weight in weights.items():
        assert stopped.prior_weights_[prior] == pytest.approx(weight, abs=0.4)
    assert stopped.prior_weights_["ordered-block"] < 0.6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_short_run_is_the_answer(monkeypatch):
    steps, plain = [], chains.OrderedSampler.step

    def hit(sampler, rng, state):
        steps.append(1)
        if len(steps) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        if len(steps) >= 20:
            time.sleep(0.05)  # the loop hears of it before the short run is over
        return plain(sampler, rng, state)

    monkeypatch.setattr(chains.OrderedSampler, "step", hit)
    with pytest.warns(FitInterrupted, match="Ctrl-C"):
        model = StructureLearner("auto", n_jobs=1, **SETTINGS).fit(table())
    assert len(steps) < 200 and model.edge_probabilities_[[0, 1], [1, 0]].sum() > 0.9
    assert sum(model.prior_weights_.values()) == pytest.approx(1)
