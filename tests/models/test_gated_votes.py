"""How the fits of the average are weighed, from rows set aside."""

import numpy as np
import pytest

from partita import IQGMEClassifier
from partita.models.gated.aside import FOLDS, fifths
from partita.models.gated.votes import choose_votes, equal_votes


def rows_of(n, seed=0, p=6):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, p)) * np.where(y[:, None] == 1, 0.3, 2.0)  # one class lies together
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def test_a_class_that_is_favoured_without_cause_is_taken_back():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.02, 0.98, 400)
    label = (rng.random(400) < truth).astype(int)
    odds = np.log(truth / (1 - truth)) + 1.5
    said = 1 / (1 + np.exp(-odds))
    votes = choose_votes(np.stack([np.column_stack([1 - said, said])] * 2), label, np.ones(400), 100.0)
    np.testing.assert_allclose(votes.weight, 0.5)
    assert votes.offset[1] - votes.offset[0] == pytest.approx(-1.5, abs=0.5)
    assert votes.temperature == pytest.approx(1.0, abs=0.15)


def test_the_fit_that_is_right_has_the_greater_weight_and_many_rows_leave_little_to_offsets():
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=200)
    good, bad = np.where(label == 1, 0.9, 0.1), np.full(200, 0.5)
    said = np.stack([np.column_stack([1 - p, p]) for p in (good, bad)])
    few, many = (choose_votes(said, label, np.ones(200), n) for n in (10.0, 1e6))
    assert few.weight[0] > 0.75
    assert abs(many.offset).max() < 1e-2


def test_rows_set_aside_are_enough_and_no_more():
    assert [fifths(150, n) for n in (10, 150, 250, 400, 10_000)] == [5, 5, 3, 2, 1]


def test_answers_about_classes_do_not_depend_on_the_learning_of_cells():
    X, y = rows_of(60)
    a, b = (IQGMEClassifier(random_state=0, max_iter=4, cell_folds=k).fit(X, y) for k in (0, 3))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.temperature_ != 1.0
    assert abs(a.class_offsets_).max() > 0
    assert b._pool.widths is not None
    assert b._pool.seen_widths is not None
    assert a._pool.widths is None


@pytest.mark.parametrize("case", ["few", "single", "unlabelled"])
def test_where_nothing_can_be_set_aside_all_fits_count_alike(case):
    X, y = rows_of(40)
    y = y.astype(float)
    if case == "few":
        X, y = X[: FOLDS - 1], np.array([0.0, 1.0, 0.0, 1.0])
    elif case == "single":  # every class once
        X, y = X[:6], np.arange(6.0)
    else:
        y[2:] = np.nan
        y[:2] = 0.0, 1.0
    model = IQGMEClassifier(random_state=0, max_iter=3).fit(X, y)
    alike = equal_votes(len(model.member_weights_), len(model.classes_))
    np.testing.assert_allclose(model.member_weights_, alike.weight)
    assert model.temperature_ == alike.temperature
    np.testing.assert_array_equal(model.class_offsets_, alike.offset)
    assert np.isfinite(model.predict_proba(X)).all()
