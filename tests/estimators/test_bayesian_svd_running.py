"""BayesianSVD under way: any number of threads, killed and resumed, stopped, out of time, failed."""

import json

import matrix_child
import numpy as np
import pytest
from child import run_child
from matrices import QUICK, low_rank, triplets
from sklearn.exceptions import NotFittedError

from partita import BayesianSVD
from partita.inference.loop import FitInterrupted

X, TRUTH = low_rank()
HOLES = np.isnan(X)


def all_said(model):
    return np.concatenate([part.ravel() for part in model.complete(keep_observed=False, return_std=True)])


def test_threads_do_not_change_a_byte():
    whole = BayesianSVD(**QUICK).fit(X)
    for n_jobs in (2, 4, -1):
        other = BayesianSVD(**QUICK, n_jobs=n_jobs).fit(X)
        assert np.array_equal(all_said(whole), all_said(other))
        assert all(np.array_equal(whole.trace_[name], other.trace_[name]) for name in whole.trace_)
    one = {**QUICK, "n_chains": 1}  # threads within a sweep
    assert np.array_equal(all_said(BayesianSVD(**one).fit(X)), all_said(BayesianSVD(**one, n_jobs=3).fit(X)))


def test_the_seed_decides():
    assert not np.array_equal(
        all_said(BayesianSVD(**QUICK).fit(X)), all_said(BayesianSVD(**{**QUICK, "random_state": 1}).fit(X))
    )
    sequence = np.random.SeedSequence(7)
    first, second = (BayesianSVD(**{**QUICK, "random_state": sequence}).fit(X) for _ in range(2))
    assert np.array_equal(all_said(first), all_said(second))


def test_a_killed_fit_resumes_byte_for_byte(tmp_path):
    path = tmp_path / "fit.checkpoint"
    child = run_child(matrix_child, "SIGKILL", 31, 1, path)
    assert child.returncode == -9, child.stderr
    resumed = matrix_child.model(checkpoint=path).fit(X)
    whole = matrix_child.model().fit(X)
    assert np.array_equal(all_said(resumed), all_said(whole))
    assert resumed.rank_posterior_ == whole.rank_posterior_
    assert all(np.array_equal(resumed.trace_[name], whole.trace_[name]) for name in whole.trace_)


@pytest.mark.parametrize("step", [8, 40])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_what_was_paid_for(tmp_path, step, n_jobs):
    """Within burn-in too: then the last states are the answer."""
    path = tmp_path / "fit.checkpoint"
    child = run_child(matrix_child, "SIGINT", step, n_jobs, path)
    assert child.returncode == 0, child.stderr
    report = json.loads(child.stdout)
    assert [kind for kind, _ in report["said"]] == ["FitInterrupted"], report["said"]
    assert np.isfinite(report["filled"]).all()
    resumed = matrix_child.model(checkpoint=path).fit(X)
    assert np.array_equal(all_said(resumed), all_said(matrix_child.model().fit(X)))


def test_out_of_time():
    for budget in (1e-9, 0.2):
        with pytest.warns(FitInterrupted, match="stopped by the time budget after"):
            model = BayesianSVD(n_samples=10_000_000, burn_in=10, n_chains=2, time_budget=budget, random_state=0).fit(X)
        assert np.isfinite(all_said(model)).all() and sum(model.rank_posterior_.values()) == pytest.approx(1)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    matrix_child.model(checkpoint=path).fit(X)
    for other in (matrix_child.model(checkpoint=path).set_params(random_state=1),
                  matrix_child.model(checkpoint=path).set_params(max_rank=3)):  # fmt: skip
        with pytest.raises(ValueError, match="other data or other parameters; delete"):
            other.fit(X)
    with pytest.raises(ValueError, match="other data or other parameters; delete"):
        matrix_child.model(checkpoint=path).fit(X + 1)
    with pytest.raises(ValueError, match="other data or other parameters; delete"):
        matrix_child.model(checkpoint=path).fit(X, row_features=np.arange(30.0)[:, None])


def test_a_failed_fit_leaves_the_model_as_it_was(tmp_path):
    model = BayesianSVD(**QUICK)
    before = set(vars(model))
    for call in (lambda: model.fit([["a", "b"]]), lambda: model.fit(X, row_features=np.ones((3, 1)))):
        with pytest.raises(ValueError):
            call()
        assert set(vars(model)) == before
        with pytest.raises(NotFittedError):
            model.predict(0, 0)
    model.fit(X)
    said = all_said(model)
    row, column, value = triplets(X)
    for call in (
        lambda: model.fit(X * np.inf),
        lambda: model.partial_fit(row[:1], column[:1], value[:1]),
        lambda: model.partial_fit([99], [0], [1.0], row_features=np.ones((1, 2))),
        lambda: model.fold_in(row[:1], column[:1], value[:1]),
    ):
        with pytest.raises(ValueError):
            call()
        assert np.array_equal(all_said(model), said) and len(model.row_ids_) == 30


def test_an_interrupted_partial_fit_keeps_a_model(monkeypatch):
    row, column, value = triplets(X)
    model = BayesianSVD(**QUICK).fit_triplets(row[5:], column[5:], value[5:])
    said = all_said(model)
    from partita.models.matrices import chains as svd_chains

    def broken(*arguments, **named):
        for state in arguments[1]:
            state.U[:] = np.nan  # chains change in place
        raise RuntimeError("broken")

    monkeypatch.setattr(svd_chains, "continue_chains", broken)
    with pytest.raises(RuntimeError):
        model.partial_fit(row[:5], column[:5], value[:5])
    monkeypatch.undo()
    assert np.array_equal(all_said(model), said)
    model.partial_fit(row[:5], column[:5], value[:5])
    assert np.isfinite(all_said(model)).all()


def test_progress_is_shown_when_asked(capfd):
    BayesianSVD(**QUICK).fit(X)
    assert capfd.readouterr() == ("", "")
    BayesianSVD(**QUICK, progress=True).fit(X)
    out, err = capfd.readouterr()
    assert out == "" and "BayesianSVD" in err and "100%" in err


@pytest.mark.parametrize("seed", range(2))
def test_burn_in_lasts_until_the_noise_has_settled(seed):
    """Rank 6 of 50 x 50 without noise, from 700 cells of which 564 numbers are wanted: 200 sweeps are too few."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 50))
    matrix = np.where(rng.permutation(2500).reshape(50, 50) < 700, clean, np.nan)
    model = BayesianSVD(offsets=False, unequal_noise=False, missingness_features=0, n_chains=1, random_state=0)
    model.fit(matrix)
    assert model.n_dropped_ > 200
    assert model.trace_["noise"].shape == (1, model.n_dropped_ + 300)
    assert model.rank_ == 6
    assert np.linalg.norm(model.complete(keep_observed=False) - clean) < 1e-3 * np.linalg.norm(clean)


def test_a_told_burn_in_is_kept_to():
    assert BayesianSVD(**QUICK).fit(X).n_dropped_ == QUICK["burn_in"]
    settled = BayesianSVD(**{**QUICK, "burn_in": None}).fit(X)
    assert settled.n_dropped_ == 200
    row, column = np.argwhere(HOLES)[0]
    settled.partial_fit([row], [column], TRUTH[row, column], n_samples=5)
    assert settled.n_dropped_ in 50 * 2 ** np.arange(5)  # a quarter, and twice as many while it has not settled
