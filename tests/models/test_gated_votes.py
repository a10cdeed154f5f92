"""How the fits of the average are weighed, from rows set aside."""

import numpy as np
import pytest

from partita import IQGMEClassifier
from partita.data.encode import encode, learn_schema
from partita.models.gated.aside import FOLDS, fifths
from partita.models.gated.tempering import Tempering
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
    both, even = np.stack([np.column_stack([1 - said, said])] * 2), np.full((2, 2), 0.5)
    votes = choose_votes(both, label, np.ones(400), 100.0, even, np.full(400, 3), 2.0)
    np.testing.assert_allclose(votes.weight, 0.5)
    assert votes.tempering.offset[1] - votes.tempering.offset[0] == pytest.approx(-1.5, abs=0.5)
    assert votes.tempering.temperature == pytest.approx(1.0, abs=0.15)


def test_the_fit_that_is_right_has_the_greater_weight_and_many_rows_leave_little_to_offsets():
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=200)
    good, bad = np.where(label == 1, 0.9, 0.1), np.full(200, 0.5)
    said = np.stack([np.column_stack([1 - p, p]) for p in (good, bad)])
    even, seen = np.full((2, 2), 0.5), np.full(200, 3)
    few, many = (choose_votes(said, label, np.ones(200), n, even, seen, 2.0) for n in (10.0, 1e6))
    assert few.weight[0] > 0.75
    assert abs(many.tempering.offset).max() < 1e-2


def test_only_what_a_row_changes_of_the_odds_is_sharpened():
    """Members that halve the log odds of what rows say, of classes in shares of 9 to 1: an exponent of two mends them,
    and shares stay shares. To a power as they are, one to nine would become one to eighty."""
    rng = np.random.default_rng(2)
    blank = np.array([0.9, 0.1])
    news = 2.5 * rng.normal(size=3000)
    odds = np.log(1 / 9) + news
    label = (rng.random(3000) < 1 / (1 + np.exp(-odds))).astype(int)
    timid = 1 / (1 + np.exp(-(np.log(1 / 9) + news / 2)))
    said = np.column_stack([1 - timid, timid])[None]
    made = choose_votes(said, label, np.ones(3000), 3000.0, blank[None], np.full(3000, 3), 2.0).tempering
    assert made.temperature == pytest.approx(2.0, abs=0.15)
    assert abs(made.offset).max() < 0.1
    table = encode(np.full((1, 3), np.nan), learn_schema(rng.normal(size=(9, 3))))
    np.testing.assert_allclose(made(blank[None], table), blank[None], rtol=1e-9)


def test_offsets_fade_with_the_cells_of_a_row():
    made = Tempering(1.7, np.array([0.0, 1.0]), np.array([0.7, 0.3]), 2.0)
    rows = np.array([[np.nan] * 4, [0.3, *[np.nan] * 3], [0.3, 0.1, np.nan, np.nan], [0.3, 0.1, 0.5, 0.9]])
    table = encode(rows, learn_schema(np.random.default_rng(0).normal(size=(9, 4))))
    p = made(np.repeat(made.blank[None], 4, axis=0), table)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]) - np.log(3 / 7), [0.0, 0.5, 1.0, 1.0], atol=1e-12)


def test_a_row_without_cells_keeps_the_shares_of_the_classes():
    rng = np.random.default_rng(4)
    X, y = rows_of(160)
    y[rng.random(160) < 0.6] = 0  # a fifth of ones
    model = IQGMEClassifier(random_state=0).fit(X, y)
    assert model.temperature_ > 1.2
    assert model.predict_proba(np.full((1, 6), np.nan))[0, 1] == pytest.approx(y.mean(), abs=0.015)


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
    assert model.temperature_ == alike.tempering.temperature
    np.testing.assert_array_equal(model.class_offsets_, alike.tempering.offset)
    assert np.isfinite(model.predict_proba(X)).all()
