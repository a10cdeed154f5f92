"""The peers of the AClass paper are what the paper describes."""

import numpy as np
import pytest
from aclass_claims import Difference
from aclass_peers import (
    FILTER,
    PEERS,
    PENALTIES,
    PolynomialLeastSquares,
    fill_with_running_means,
)
from sklearn.naive_bayes import BernoulliNB

from partita import AClass
from partita.datasets import make_coin_classes, remove_cells


def test_running_means_start_at_half_and_use_earlier_rows_only():
    nan = np.nan
    train = np.array([[nan, 1.0], [1.0, nan], [nan, nan], [0.0, 0.0]])
    filled, asked = fill_with_running_means(train, np.array([[nan, nan], [1.0, 0.0]]))
    np.testing.assert_allclose(filled[:3], [[0.5, 1.0], [1.0, 1.5 / 2], [1.5 / 2, 1.5 / 2]])
    np.testing.assert_allclose(asked, [[1.5 / 3, 1.5 / 3], [1.0, 0.0]])


def test_a_later_cell_does_not_change_an_earlier_fill():
    X = remove_cells(make_coin_classes(30, 5, random_state=0)[0], 0.4, 1)
    before, _ = fill_with_running_means(X, X[:1])
    X[20:] = 1.0
    after, _ = fill_with_running_means(X, X[:1])
    np.testing.assert_array_equal(before[:20], after[:20])


def test_closed_form_leave_one_out_chooses_what_refitting_chooses():
    X, y, _ = make_coin_classes(24, 6, (2, 3), random_state=3)
    model = PolynomialLeastSquares().fit(X, y)
    kernel = model._kernel(X)
    for c, name in enumerate(model.classes_):
        target = np.where(y == name, 1.0, -1.0)
        errors = []
        for penalty in PENALTIES:
            error = 0.0
            for i in range(len(X)):
                rest = np.arange(len(X)) != i
                weights = np.linalg.solve(kernel[np.ix_(rest, rest)] + penalty * np.eye(len(X) - 1), target[rest])
                error += (target[i] - kernel[i, rest] @ weights) ** 2
            errors.append(error)
        best = PENALTIES[int(np.argmin(errors))]
        expected = np.linalg.solve(kernel + best * np.eye(len(X)), target)
        np.testing.assert_allclose(model.weights_[:, c], expected, rtol=1e-6, atol=1e-9)


def test_naive_bayes_is_the_textbook_one():
    X, y, _ = make_coin_classes(120, 8, (3, 3), random_state=0)
    keep = np.concatenate([np.flatnonzero(y == c)[:40] for c in (0, 1)])  # equal classes: the class prior drops out
    model = AClass(**FILTER, n_particles=1, max_components=1, random_state=0).fit(X[keep], y[keep])
    textbook = BernoulliNB(alpha=0.5, binarize=None).fit(X[keep], y[keep])
    np.testing.assert_allclose(model.predict_proba(X), textbook.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_learns_from_holes(name):
    X, y, _ = make_coin_classes(400, 40, (2, 2), missing=0.25, random_state=5)
    answer = PEERS[name](X[:200], y[:200], X[200:], 0, 1)
    assert np.mean(answer.predicted != y[200:]) < 0.25


def test_a_difference_is_called_by_its_interval():
    assert Difference.of([0.1, 0.11, 0.1, 0.11], [0.2, 0.2, 0.21, 0.2]).word == "better"
    assert Difference.of([0.3, 0.31, 0.3, 0.31], [0.2, 0.2, 0.21, 0.2]).word == "worse"
    assert Difference.of([0.1, 0.3], [0.2, 0.15]).word == "level"
    assert Difference.of([0.1], [0.9]).word == "level"  # one repetition proves nothing
