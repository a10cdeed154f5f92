"""A fit that is killed, interrupted or out of time: nothing that was paid for is lost."""

import json
import warnings

import interrupted_child
import numpy as np
import pytest
from child import run_child
from estimator_tables import QUICK, holed_binary

from partita import AClass, CRPMixture, HybridClassifier
from partita.inference.loop import FitInterrupted
from partita.models.mixtures import mixture

X, Y = holed_binary()


@pytest.fixture
def steps(monkeypatch):
    """The number of steps done in this process."""
    calls = []
    plain = mixture.step
    monkeypatch.setattr(mixture, "step", lambda *a, **named: calls.append(1) or plain(*a, **named))
    return calls


@pytest.mark.parametrize("name", ["AClass", "CRPMixture"])
def test_a_killed_fit_resumes_byte_for_byte(name, tmp_path, steps):
    path = tmp_path / "fit.checkpoint"
    plain = interrupted_child.model(name).fit(X, Y)
    total = len(steps)
    steps.clear()
    killed = total - 20  # past the trial of starts or of kinds of chains
    child = run_child(interrupted_child, name, "SIGKILL", killed, 1, path)
    assert child.returncode == -9, child.stderr
    assert list(tmp_path.glob("fit.checkpoint*")), "no checkpoint was written"
    resumed = interrupted_child.model(name, checkpoint=path).fit(X, Y)
    assert 0 < len(steps) <= total - killed + 1 + 4  # all but those of the round in which it was killed
    whole = plain
    np.testing.assert_array_equal(resumed.score_samples(X), whole.score_samples(X))
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
    assert resumed.n_components_posterior_ == whole.n_components_posterior_


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
@pytest.mark.parametrize("cap", [None, 3])
def test_a_fit_out_of_time_resumes_byte_for_byte(cls, cap, tmp_path):
    """Also where it stopped before all kinds of chains were tried, or past the first length that is tried."""
    rng = np.random.default_rng(0)
    scattered = rng.normal(size=(150, 4)) * rng.gamma(1.0, size=(150, 1))
    named = {"n_filters": 4, "random_state": 0, "max_components": cap}
    label = (scattered[:, 0] > 0).astype(int)
    whole = cls(**named).fit(scattered, label)
    for budget in (1e-9, 0.05, 0.2):
        path = tmp_path / f"{budget}.checkpoint"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitInterrupted)
            cls(**named, checkpoint=path, time_budget=budget).fit(scattered, label)
        for _ in range(2):  # the second time from the checkpoint of a fit that had ended
            resumed = cls(**named, checkpoint=path).fit(scattered, label)
            np.testing.assert_array_equal(resumed.score_samples(scattered), whole.score_samples(scattered))
            np.testing.assert_array_equal(resumed.predict_proba(scattered), whole.predict_proba(scattered))


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    AClass(**QUICK, checkpoint=path).fit(X, Y)
    for changes in ({"random_state": 1}, {"alpha": 2.0}, {"n_filters": 3}):
        with pytest.raises(ValueError, match="other data or other parameters; delete"):
            AClass(**{**QUICK, **changes}, checkpoint=path).fit(X, Y)
    with pytest.raises(ValueError, match="other data or other parameters; delete"):
        AClass(**QUICK, checkpoint=path).fit(X, 1 - Y)
    first, second = np.random.SeedSequence(1).spawn(2)
    other = tmp_path / "seeds.checkpoint"
    CRPMixture(**{**QUICK, "random_state": first}, checkpoint=other).fit(X)
    with pytest.raises(ValueError, match="other data or other parameters; delete"):
        CRPMixture(**{**QUICK, "random_state": second}, checkpoint=other).fit(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["AClass", "CRPMixture"])
def test_ctrl_c_keeps_what_was_paid_for(name, n_jobs, tmp_path):
    path, steps = tmp_path / "fit.checkpoint", (5, 30, 45)  # while starts are tried, too
    child = run_child(interrupted_child, name, "SIGINT", ",".join(map(str, steps)), n_jobs, path)
    assert child.returncode == 0, child.stderr
    whole = interrupted_child.model(name).fit(X, Y).score_samples(X)
    for step, report in zip(steps, json.loads(child.stdout), strict=True):
        assert [kind for kind, _ in report["said"]] == ["FitInterrupted"]
        assert "stopped by Ctrl-C after" in report["said"][0][1]
        assert np.isfinite(report["score"]).all()
        resumed = interrupted_child.model(name, checkpoint=f"{path}{step}").fit(X, Y)  # goes on where it stopped
        np.testing.assert_array_equal(resumed.score_samples(X), whole)


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_time_budget_is_kept(cls):
    with pytest.warns(FitInterrupted, match="stopped by the time budget after"):
        model = cls(n_filters=2, n_sweeps=10_000_000, time_budget=0.3, random_state=0).fit(X, Y)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_tiny_time_budget_leaves_a_model():
    with pytest.warns(FitInterrupted, match="time budget"):
        model = AClass(n_filters=2, n_sweeps=1000, time_budget=1e-9, random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.6


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_progress_is_shown_on_standard_error_and_only_when_asked(cls, capfd):
    cls(**QUICK).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    cls(**QUICK, progress=True).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == "" and cls.__name__ in err and "100%" in err


def test_the_hybrid_hands_these_parameters_on(tmp_path, capfd):
    path = tmp_path / "fit.checkpoint"
    HybridClassifier(AClass(**QUICK), checkpoint=path, progress=True, n_jobs=2).fit(X, Y)
    assert path.exists() and "AClass" in capfd.readouterr().err
