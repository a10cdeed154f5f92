"""scikit-learn's own checks for `QGMEClassifier`, with settings that end soon."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import QGMEClassifier

QUICK = {"n_restarts": 1, "max_iter": 5}
STARTS = (
    "columns are standardised and starts clustered as the rows come: repeated rows start elsewhere than weighted ones"
)


@parametrize_with_checks(
    [QGMEClassifier(**QUICK), QGMEClassifier(2, **QUICK)],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": STARTS},
)
@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["random_state", "n_jobs", "column_kinds", "progress", "time_budget", "checkpoint"])
def test_it_has_the_common_parameters(name):
    assert name in QGMEClassifier().get_params(deep=False)
