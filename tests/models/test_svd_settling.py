"""Burn-in that goes on while the likelihood rises or falls."""

import numpy as np
import pytest

from partita.inference.runner import Runner
from partita.models.matrices.chains import Settings, fit_chains
from partita.models.matrices.entries import Entries
from partita.models.matrices.problem import Problem
from partita.models.matrices.settling import lengths, settled

CELLS = 500


def test_a_likelihood_on_its_way_has_not_settled():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.04 * CELLS, 200)
    assert settled(noise, CELLS)
    assert not settled(noise + 0.01 * CELLS * np.arange(200), CELLS)
    assert not settled(noise - 0.01 * CELLS * np.arange(200), CELLS)
    assert settled(noise + 0.0005 * CELLS * np.arange(200), CELLS)  # a change that is of no account


def test_what_cannot_be_judged_counts_as_settled():
    assert settled([1.0, 2.0, 3.0], 1)
    assert settled([float("nan")] * 100, 1)
    assert settled(np.arange(100.0) * 0, 0)


def test_lengths():
    assert lengths(200, True) == [200, 400, 800, 1600, 3200]
    assert lengths(200, False) == [200]
    assert lengths(0, True) == [0]


def slow_problem():
    """Without noise, and nearly as many parameters as cells."""
    generator = np.random.default_rng(3)
    clean = generator.normal(size=(30, 6)) @ generator.normal(size=(6, 30))
    row, column = np.nonzero(generator.random((30, 30)) < 0.5)
    entries = Entries.of(row, column, clean[row, column], 30, 30)
    return Problem.of(entries, max_rank=15, offsets=False, unequal_noise=False)


@pytest.mark.parametrize("prolong", [True, False])
def test_all_chains_go_on_together(prolong):
    fitted = fit_chains(slow_problem(), Settings(15, 25, 2, prolong=prolong), 5, Runner())
    assert (fitted.burn_in > 25) == prolong
    assert fitted.burn_in in lengths(25, prolong)
    assert fitted.steps_done == [fitted.burn_in + 15] * 2
    assert [len(draws) for draws in fitted.draws] == [15, 15]
    assert "kept" not in fitted.infos
    late = fitted.infos["components"][:, fitted.burn_in :]
    assert np.ptp(late) == 0  # one number of components, which stays


def test_noise_is_settled_at_the_first_look():
    rng = np.random.default_rng(1)
    row, column = np.nonzero(rng.random((30, 30)) < 0.5)
    entries = Entries.of(row, column, rng.normal(size=len(row)), 30, 30)
    fitted = fit_chains(Problem.of(entries, max_rank=5), Settings(10, 100, 2, prolong=True), 5, Runner())
    assert fitted.burn_in == 100


def test_threads_and_a_stop_in_between_change_nothing(tmp_path):
    def run(**runner):
        return fit_chains(slow_problem(), Settings(6, 20, 2, prolong=True), 5, Runner(**runner), "x")

    whole, threads = run(), run(n_jobs=2)
    path = str(tmp_path / "chains")
    with pytest.warns(UserWarning, match="at most"):
        run(checkpoint=path, time_budget=0.02)
    resumed = run(checkpoint=path)
    for other in (threads, resumed):
        assert other.burn_in == whole.burn_in > 20
        np.testing.assert_array_equal(other.infos["noise"], whole.infos["noise"])
        for mine, theirs in zip(whole.draws, other.draws, strict=True):
            np.testing.assert_array_equal(mine[-1].U, theirs[-1].U)


def test_half_of_a_time_budget_is_for_draws(monkeypatch):
    monkeypatch.setattr(Runner, "time_left", lambda runner: 40.0)
    assert fit_chains(slow_problem(), Settings(5, 25, prolong=True), 5, Runner(time_budget=60)).burn_in > 25
    assert fit_chains(slow_problem(), Settings(5, 25, prolong=True), 5, Runner(time_budget=100)).burn_in == 25
