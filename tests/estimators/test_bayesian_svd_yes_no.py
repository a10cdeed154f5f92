"""Cells that say yes or no: a rank that they cannot show is not invented, and probabilities stay off 0 and 1."""

import numpy as np
import pytest
from scipy.stats import norm

from partita import BayesianSVD

PLAIN = {"n_chains": 1, "random_state": 0}


def cross_entropy(truth, said):
    return -np.mean(truth * np.log(said) + (1 - truth) * np.log1p(-said))


def chance_of_yes(model, rows, columns):
    said = model.predict_proba(rows, columns)
    return said if said.ndim == 1 else said[:, 1]


@pytest.mark.parametrize("link", ["binomial", "ordinal"])
@pytest.mark.parametrize("seed", range(2))
def test_likes_are_foretold_better_than_by_one_number(link, seed):
    """A dozen answers a row: with twenty components, enough to explain every answer, it was worse than one number."""
    rng = np.random.default_rng(seed)
    truth = norm.cdf(0.8 * rng.normal(size=(80, 2)) @ rng.normal(size=(2, 50)) + 0.5 * rng.normal(size=(80, 1)))
    answers, seen = (rng.random(truth.shape) < truth).astype(float), rng.random(truth.shape) < 0.25
    row, column = np.nonzero(seen)
    model = BayesianSVD(link=link, **PLAIN).fit_triplets(row, column, answers[seen])
    hidden = truth[~seen]
    said = chance_of_yes(model, *np.nonzero(~seen))
    assert cross_entropy(hidden, said) < cross_entropy(hidden, answers[seen].mean()) - 0.02
    assert model.rank_ <= 2


def test_coins_in_a_small_table():
    """Sixty tosses of a fair coin in 15 x 10 cells, which a few components explain without a mistake."""
    excess = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        seen = rng.random((15, 10)) < 0.4
        model = BayesianSVD(link="binomial", **PLAIN).fit_triplets(*np.nonzero(seen), rng.integers(0, 2, seen.sum()))
        excess.append(cross_entropy(0.5, model.predict_proba(*np.nonzero(~seen))) - np.log(2))
    assert np.mean(excess) < 0.1  # it was .3 and more


@pytest.mark.parametrize("answers", [[0, 1, 1], [1, 1, 1], [0, 0, 0]])
def test_three_answers_prove_nothing(answers):
    model = BayesianSVD(link="binomial", **PLAIN).fit_triplets([0, 1, 1], [0, 1, 0], answers)
    said = model.predict_proba([0, 0, 1, 1], [0, 1, 0, 1])
    assert ((said > 1e-3) & (said < 1 - 1e-3)).all()
