import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from partita.report.scores import compare, score, scores_text


def test_scores_by_hand():
    y = np.array(["b", "a", "b", "a"])
    p = np.array([[0.2, 0.8], [0.9, 0.1], [0.6, 0.4], [0.7, 0.3]])
    s = score("m", y, p, np.array(["a", "b"]))
    assert s.log_loss == pytest.approx(-np.log([0.8, 0.9, 0.4, 0.7]).mean())
    assert s.error_rate == 0.25 and s.auc == 1.0
    assert s.calibration_error == pytest.approx(np.mean([0.2, 0.1, 0.6, 0.3]))


def test_auc_of_an_absent_class_is_not_a_number():
    assert np.isnan(score("m", np.array([0, 0]), np.array([[0.6, 0.4], [0.7, 0.3]]), np.array([0, 1])).auc)


def test_compare_fits_and_scores_every_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    told = []
    models = {"plain": LogisticRegression(), "blind": LogisticRegression(C=1e-9)}
    scores, p = compare(models, (X[:100], y[:100]), (X[100:], y[100:]), told.append)
    assert told == ["plain", "blind"] and p["plain"].shape == (100, 2)
    assert scores[0].log_loss < scores[1].log_loss and scores[0].seconds >= 0
    lines = scores_text(scores).splitlines()
    assert len(lines) == 4 and len({len(line) for line in lines}) == 1
