"""scikit-learn's own checks for the estimators of networks, and by hand what those that do not apply look for."""

import pickle

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import BayesianNetwork, StructureLearner

REAL = "the check has continuous columns, which a network of levels refuses by name"
SCORE = "score is the name of a parameter (dirichlet or bdeu), so there is no method of that name"
ASKED = "predict_proba is asked for one of the columns by variable=, there is no y"
QUICK = {"n_chains": 1, "n_sweeps": 6, "random_state": 0}
NOT = {
    StructureLearner: {
        "check_positive_only_tag_during_fit": REAL,
        **dict.fromkeys(
            ("check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency"), SCORE
        ),
    },
    BayesianNetwork: {
        **dict.fromkeys(
            ("check_positive_only_tag_during_fit", "check_sample_weight_equivalence_on_dense_data"), REAL
        ),
        **dict.fromkeys(
            (
                "check_estimators_dtypes", "check_estimators_pickle", "check_methods_sample_order_invariance",
                "check_methods_subset_invariance", "check_dict_unchanged", "check_fit_idempotent",
            ),
            ASKED,
        ),
    },
}  # fmt: skip


@parametrize_with_checks(
    [
        StructureLearner("sparse", **QUICK), StructureLearner("ordered-block", exact=False, **QUICK),
        StructureLearner("auto", **QUICK), BayesianNetwork(),
    ],
    expected_failed_checks=lambda estimator: NOT[type(estimator)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["random_state", "n_jobs", "column_kinds", "progress", "time_budget", "checkpoint"])
def test_they_have_the_common_parameters(name):
    assert name in StructureLearner().get_params(deep=False) and name in BayesianNetwork().get_params(deep=False)


def rows(n=40):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, n)
    return np.column_stack([a, a ^ rng.integers(0, 2, n), rng.integers(0, 2, n)])


def answers(model):
    if isinstance(model, BayesianNetwork):
        return lambda X: model.predict_proba(X, 1)
    return model.score_samples


@pytest.mark.parametrize("model", [StructureLearner("block", **QUICK), BayesianNetwork([(0, 1)])])
def test_rows_are_answered_alike_in_any_batch(model):
    X = rows()
    whole = answers(model.fit(X))(X)
    before = dict(model.__dict__)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(answers(model)(X[order]), whole[order], rtol=1e-12)
    np.testing.assert_allclose(np.concatenate([answers(model)(X[k : k + 1]) for k in range(9)]), whole[:9], rtol=1e-12)
    for dtype in (np.float32, np.float64, np.int32, object):
        np.testing.assert_allclose(answers(model)(X.astype(dtype)), whole, rtol=1e-12)
    assert before.keys() == model.__dict__.keys()
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(model)))(X), whole)
    np.testing.assert_array_equal(answers(model.fit(X))(X), whole)
    with pytest.raises(ValueError, match="expecting 3 features"):
        answers(model)(X[:, :2])


def test_weights_are_repetitions():
    X, weight = rows(), np.random.default_rng(2).integers(0, 4, 40)
    weighed = BayesianNetwork([(0, 1)]).fit(X, sample_weight=weight)
    repeated = BayesianNetwork([(0, 1)]).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighed.predict_proba(X, 1), repeated.predict_proba(X, 1), rtol=1e-12)
    with pytest.raises(ValueError, match="BayesianNetwork: sample_weight"):
        BayesianNetwork([(0, 1)]).fit(X, sample_weight=-weight)


def test_which_column_is_asked_is_said():
    with pytest.raises(ValueError, match="predict_proba: say which column is asked by variable="):
        BayesianNetwork().fit(rows()).predict_proba(rows())
