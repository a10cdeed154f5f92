"""A filter's fit can be timed, stopped and resumed as chains can; a stream after a batch fit says what it forgets."""

import os
import signal

import numpy as np
import pytest

from partita import AClass, CRPMixture
from partita.inference.loop import FitInterrupted
from partita.models.mixtures import mixture, online

rng = np.random.default_rng(0)
X = (rng.random((9000, 6)) < 0.5).astype(float)
Y = (X[:, 0] + X[:, 1] > rng.random(9000) * 2).astype(int)
SMC = {"inference": "smc", "n_filters": 2, "random_state": 3}


@pytest.mark.parametrize("plain", [{}, {"n_sweeps": 0, "n_particles": 5, "alpha": 1.0, "column_prior": 0.5}], ids=str)
def test_a_time_budget_ends_a_filter_and_its_checkpoint_goes_on(tmp_path, plain):
    path, settings = tmp_path / "stream.checkpoint", {**SMC, **plain}
    with pytest.warns(FitInterrupted, match="time_budget"):
        part = AClass(**settings, time_budget=1e-6, checkpoint=path).fit(X, Y)
    assert 0 < part.n_rows_seen_ < len(X)
    assert np.isfinite(part.predict_proba(X[:10])).all()
    resumed = AClass(**settings, checkpoint=path).fit(X, Y)
    whole = AClass(**settings).fit(X, Y)
    assert resumed.n_rows_seen_ == len(X)
    np.testing.assert_array_equal(resumed.predict_proba(X[:200]), whole.predict_proba(X[:200]))
    with pytest.raises(ValueError, match="other data or other parameters"):
        AClass(**{**settings, "random_state": 4}, checkpoint=path).fit(X, Y)


@pytest.mark.parametrize(
    "model, module, name",
    [(AClass(**SMC), online.stream, "learn"), (AClass(n_sweeps=4000), mixture, "step")],
    ids=["filter", "pilots of a batch fit"],
)
def test_ctrl_c_keeps_what_was_learnt(model, module, name, monkeypatch):
    plain, calls = getattr(module, name), []

    def pressed(*arguments, **named):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return plain(*arguments, **named)

    monkeypatch.setattr(module, name, pressed)
    with pytest.warns(FitInterrupted, match="Ctrl-C"):
        model.fit(X, Y)
    assert 3 <= len(calls) < 100
    assert np.isfinite(model.predict_proba(X[:10])).all()


def test_a_stream_after_a_batch_fit_says_what_it_forgets():
    model = CRPMixture(n_filters=2, n_sweeps=2, random_state=0).fit(X[:100])
    with pytest.warns(UserWarning, match="forgotten"):
        model.partial_fit(X[:50])
    assert model.n_rows_seen_ == 50


def test_a_checkpoint_of_other_kinds_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    AClass(n_filters=2, n_sweeps=2, random_state=0, checkpoint=path).fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="other data or other parameters"):
        kinds = ["categorical"] * 6
        AClass(n_filters=2, n_sweeps=2, random_state=0, checkpoint=path, column_kinds=kinds).fit(X[:100], Y[:100])


def test_the_files_of_all_stages_are_named(tmp_path):
    path = tmp_path / "fit.checkpoint"
    AClass(n_filters=4, n_sweeps=8, random_state=0, checkpoint=path).fit(X[:100], Y[:100])
    stages = [name for name in (path, f"{path}.look", f"{path}.pilot") if os.path.exists(name)]
    assert len(stages) > 1
    with pytest.raises(ValueError) as caught:
        AClass(n_filters=4, n_sweeps=8, random_state=1, checkpoint=path).fit(X[:100], Y[:100])
    assert f"checkpoint={str(path)!r} was" in str(caught.value)
    assert all(f"{name} " in str(caught.value) for name in stages)


def test_a_stream_that_is_slow_looks_at_the_clock_often():
    """300 columns, 20 particles: a row costs milliseconds, so 2,000 of them would be far beyond any budget."""
    wide = (np.random.default_rng(1).random((600, 300)) < 0.5).astype(float)
    with pytest.warns(FitInterrupted, match="time_budget"):
        model = AClass(inference="smc", n_particles=20, random_state=0, time_budget=0.05).fit(wide, np.arange(600) % 3)
    assert 0 < model.n_rows_seen_ < 600


def test_how_a_stream_is_cut_by_the_clock_changes_nothing(monkeypatch):
    numbers = np.random.default_rng(2).normal(size=(500, 3))
    plain = {**SMC, "n_sweeps": 0}
    once = CRPMixture(**plain).fit(numbers)
    monkeypatch.setattr(online, "_next_rows", lambda n_rows, seconds: 7)
    again = CRPMixture(**plain).fit(numbers)
    assert again.log_evidence_ == once.log_evidence_
    np.testing.assert_array_equal(again.score_samples(numbers[:50]), once.score_samples(numbers[:50]))
