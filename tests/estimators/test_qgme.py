"""`QGMEClassifier`: the number of experts, its answers, and everything an estimator owes its user."""

import signal
import warnings

import numpy as np
import pandas as pd
import pytest
from estimator_tables import mixed_frame
from scipy.stats import multivariate_normal

import partita
from partita import QGMEClassifier
from partita.inference.loop import FitInterrupted
from partita.models.qgme import em as qgme_em

QUICK = {"n_restarts": 2, "max_iter": 15, "random_state": 0}


def three_gaussians(n, seed):
    """The example of the thesis, section 3.5.1: three Gaussians in a row, each with a line of its own."""
    rng = np.random.default_rng(seed)
    means = np.array([[-3.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    outer, inner = [[0.52, -0.36], [-0.36, 0.73]], [[0.47, 0.19], [0.19, 0.7]]
    slope, height = np.array([0.75, -0.58, 0.75]), np.array([2.25, 0.58, -3.75])
    z = rng.integers(0, 3, n)
    X = np.stack([rng.multivariate_normal(means[k], inner if k == 1 else outer) for k in z])
    return X, X[:, 1] > slope[z] * X[:, 0] + height[z]


def one_gaussian(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal([0, 3, -1], [[1, 0.5, 0], [0.5, 1, 0.3], [0, 0.3, 1]], n)
    return X, X @ [1.0, -1.0, 0.5] + 3.0 + rng.normal(size=n) > 0


def test_bic_finds_one_expert_where_there_is_one():
    found = [QGMEClassifier(random_state=s, n_restarts=2).fit(*one_gaussian(100, s)).n_experts_ for s in range(5)]
    assert found.count(1) >= 4


def test_bic_finds_the_three_gaussians_of_the_thesis():
    found = []
    for seed in range(5):
        X, y = three_gaussians(200, seed)
        X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
        model = QGMEClassifier(random_state=seed, n_restarts=2).fit(X, y)
        found.append(model.n_experts_)
        assert set(model.bic_) == {1, 2, 3, 5, 10, 20}
        if model.n_experts_ == 3:
            np.testing.assert_allclose(np.sort(model.means_[:, 0]), [-3, 1, 5], atol=0.5)
    assert found.count(3) >= 4


def test_a_given_number_is_the_model_that_bic_would_try():
    X, y = three_gaussians(120, 0)
    tried = QGMEClassifier(**QUICK).fit(X, y)
    given = QGMEClassifier(tried.n_experts_, **QUICK).fit(X, y)
    assert given.bic_ == {tried.n_experts_: tried.bic_[tried.n_experts_]}
    np.testing.assert_array_equal(given.predict_proba(X), tried.predict_proba(X))


def test_what_is_learnt_fits_together():
    X, y = mixed_frame()
    y = np.where(np.arange(len(y)) % 5 == 0, None, y)
    model = QGMEClassifier(3, **QUICK).fit(X, y)
    assert model.n_experts_ == len(model.weights_) == len(model.means_) == 3
    assert model.weights_.sum() == pytest.approx(1.0) and (np.diff(model.weights_) <= 0).all()
    assert model.n_iter_ == len(model.log_likelihoods_) == len(model.objectives_) <= 15
    assert np.diff(model.objectives_).min() > -1e-7
    assert (model.objectives_ <= model.log_likelihoods_).all()


def test_one_gaussian_is_described_in_the_units_of_the_table():
    X, y = one_gaussian(80, 0)
    X = 1000.0 + 50.0 * X
    model = QGMEClassifier(1, **{**QUICK, "max_iter": 200}, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    exact = multivariate_normal.logpdf(X, X.mean(axis=0), np.cov(X.T, bias=True))
    assert np.abs(model.score_samples(X) - exact).max() < 0.5  # the prior's three rows
    loose = QGMEClassifier(1, covariance_rows=1e-9).fit(X, y)
    np.testing.assert_allclose(loose.score_samples(X), exact, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_answer_of_a_table_with_all_kinds(n_classes):
    X, y = mixed_frame()
    if n_classes == 3:
        y = np.where(np.arange(len(y)) % 3 == 0, "maybe", y)
    model = QGMEClassifier(2, **QUICK).fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), n_classes) and np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    filled = model.impute(X)
    assert not filled.isna().any().any()
    low, high = model.impute(X, quantiles=[0.1, 0.9])
    holes = X["height"].isna()
    assert (low["height"][holes] < high["height"][holes]).all()
    assert (low["visits"][X["visits"].isna()] <= high["visits"][X["visits"].isna()]).all()
    _, spread = model.impute(X, return_std=True)
    assert np.isfinite(spread[holes.to_numpy(), X.columns.get_loc("height")]).all()
    drawn = model.impute(X, n_draws=2, random_state=1)
    assert len(drawn) == 2 and not drawn[0].isna().any().any()
    rows, labels = model.sample(50, random_state=1)
    assert len(rows) == 50 and set(labels) <= set(model.classes_)
    told = model.explain(X)
    assert told.weights.shape[1:] == (1 if n_classes == 2 else 3, len(told.feature_names))
    np.testing.assert_allclose(np.einsum("nh,nhc->nc", told.responsibilities, told.class_probabilities), proba)


def test_samples_follow_the_fitted_law():
    X, y = three_gaussians(400, 1)
    model = QGMEClassifier(3, random_state=0, n_restarts=2).fit(X, y)
    drawn, labels = model.sample(4000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.3)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=1.0)
    assert (model.predict(drawn) == labels).mean() > 0.9


def test_the_same_bytes_for_any_number_of_threads():
    X, y = mixed_frame()
    first, *others = [QGMEClassifier(**QUICK, n_jobs=n).fit(X, y) for n in (1, 2, -1)]
    for other in others:
        np.testing.assert_array_equal(first.predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(first.score_samples(X), other.score_samples(X))
        assert first.bic_ == other.bic_


def test_a_row_is_answered_alike_in_any_company():
    X, y = mixed_frame()
    model = QGMEClassifier(4, **QUICK).fit(X, y)
    whole = model.predict_proba(X), model.score_samples(X)
    many = pd.concat([X] * 20, ignore_index=True)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (order, order[:7], order[:1], [3, 3, 3], np.arange(len(many)) % len(X)):
        table = many if len(rows) == len(many) else X.iloc[rows]
        for one, all_ in zip((model.predict_proba(table), model.score_samples(table)), whole, strict=True):
            np.testing.assert_allclose(one, all_[rows], rtol=1e-11)


def test_saved_and_loaded_it_answers_the_same(tmp_path):
    X, y = mixed_frame()
    model = QGMEClassifier(3, **QUICK).fit(X, y)
    partita.save(model, tmp_path / "model")
    again = partita.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    pd.testing.assert_frame_equal(again.impute(X), model.impute(X))
    np.testing.assert_array_equal(again.means_, model.means_)
    assert again.bic_ == model.bic_


def test_a_fit_out_of_time_resumes_byte_for_byte(tmp_path):
    X, y = mixed_frame()
    whole = QGMEClassifier(**QUICK).fit(X, y)
    path = tmp_path / "fit.checkpoint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitInterrupted)
        QGMEClassifier(**QUICK, checkpoint=path, time_budget=1e-9).fit(X, y)
    for _ in range(2):  # the second time from the checkpoint of a fit that had ended
        resumed = QGMEClassifier(**QUICK, checkpoint=path).fit(X, y)
        np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))
        np.testing.assert_array_equal(resumed.log_likelihoods_, whole.log_likelihoods_)
        assert resumed.bic_ == whole.bic_
    with pytest.raises(ValueError, match="other data or other parameters"):
        QGMEClassifier(**{**QUICK, "ridge": 1.0}, checkpoint=path).fit(X, y)


def test_ctrl_c_keeps_the_best(monkeypatch):
    X, y = mixed_frame()
    plain, calls = qgme_em.QGMEProblem.step, []

    def interrupted(self, state):
        calls.append(self.k)
        if len(calls) == 6:
            signal.raise_signal(signal.SIGINT)
        return plain(self, state)

    monkeypatch.setattr(qgme_em.QGMEProblem, "step", interrupted)
    with pytest.warns(FitInterrupted, match=r"stopped by Ctrl-C"):
        model = QGMEClassifier(**QUICK).fit(X, y)
    assert len(calls) == 6 and set(model.bic_) == set(calls)
    assert model.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("at", [3, 40])
def test_ctrl_c_while_rows_are_set_aside_keeps_a_fit_of_the_others(monkeypatch, at):
    X, y = mixed_frame()
    plain, calls = qgme_em.QGMEProblem.step, []

    def interrupted(self, state):
        calls.append(self.k)
        if len(calls) == at:
            signal.raise_signal(signal.SIGINT)
        return plain(self, state)

    monkeypatch.setattr(qgme_em.QGMEProblem, "step", interrupted)
    with pytest.warns(FitInterrupted, match=r"stopped by Ctrl-C"):
        model = QGMEClassifier("cv", n_restarts=1, max_iter=5, random_state=0).fit(X, y)
    assert len(calls) == at
    assert model.n_experts_ <= max(model.cv_log_losses_)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_row_without_cells_has_the_class_prior_and_density_one():
    X, y = three_gaussians(150, 2)
    model = QGMEClassifier(3, **QUICK).fit(X, y)
    nothing = [[np.nan, np.nan]]
    assert model.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-10)
    assert model.predict_proba(nothing)[0, 1] == pytest.approx(y.mean(), abs=0.05)


def test_weights_count_rows():
    X, y = three_gaussians(100, 3)
    times = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = QGMEClassifier(1, max_iter=200, tol=1e-12).fit(X, y, sample_weight=times)
    repeated = QGMEClassifier(1, max_iter=200, tol=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.means_, repeated.means_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=0.02)


def test_doubtful_tables_give_finite_answers():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(12, 40))
    y = np.arange(12) % 2
    flat = wide.copy()
    flat[:, 0], flat[:, 1] = 3.0, np.nan
    levels = pd.DataFrame({"name": [f"level {k}" for k in range(12)], "x": wide[:, 0]})
    for X in (wide, flat, levels):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", partita.data.validate.DataWarning)
            model = QGMEClassifier(**QUICK).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all() and np.isfinite(model.score_samples(X)).all()
    one = QGMEClassifier(2, **QUICK).fit(wide, np.zeros(12))
    np.testing.assert_array_equal(one.predict_proba(wide), 1.0)
    assert QGMEClassifier(**QUICK).fit([[0.5], [2.5]], [0, 1]).n_experts_ in (1, 2)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"n_experts": 13}, r"QGMEClassifier: n_experts=13 is more than the rows of X that count, n_samples=12"),
        ({"n_experts": 0}, "QGMEClassifier: n_experts must be one of 'bic', 'cv' or an integer >= 1, got 0"),
        ({"n_experts": "bci"}, "Did you mean 'bic'"),
        ({"ridge": 0}, "QGMEClassifier: ridge must be a finite number > 0, got 0"),
        ({"covariance_rows": -1.0}, "QGMEClassifier: covariance_rows"),
        ({"level_rows": None}, "QGMEClassifier: level_rows"),
        ({"tol": -1e-3}, "QGMEClassifier: tol"),
    ],
)
def test_a_wrong_parameter_is_named_at_fit(named, message):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match=message):
        QGMEClassifier(**named).fit(X, np.arange(12) % 2)


def test_rows_of_no_weight_do_not_count_for_the_number_of_experts():
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(ValueError, match="n_samples=3"):
        QGMEClassifier(4).fit(X, np.arange(12) % 2, sample_weight=[1, 1, 1] + [0] * 9)


def test_rows_set_aside_choose_the_number_of_experts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) > 0, "a", "b")  # no linear rule, one cloud of rows
    y = y.astype(object)
    y[::8] = None
    model = QGMEClassifier("cv", n_restarts=2, max_iter=40, random_state=0).fit(X, y)
    (chosen,) = model.bic_
    assert model.cv_log_losses_[chosen] == min(model.cv_log_losses_.values()) and chosen > 1
    again = QGMEClassifier("cv", n_restarts=2, max_iter=40, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    with pytest.raises(ValueError, match="n_experts"):
        QGMEClassifier("aic").fit(X, y)


def test_one_row_is_one_expert_however_the_number_is_chosen():
    for n_experts in ("bic", "cv", 1):
        model = QGMEClassifier(n_experts, random_state=0).fit([[0.5, 1.5]], ["a"])
        assert model.n_experts_ == 1
        np.testing.assert_array_equal(model.predict_proba([[0.0, np.nan]]), [[1.0]])
