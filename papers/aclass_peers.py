"""The classifiers of the AClass paper: two on imputed cells, naive Bayes, the filter; and our default."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from partita import AClass

LOGISTIC_PENALTY = 1e-2
PENALTIES = 10.0 ** np.arange(-3, 7.5, 0.5)
# The filter of the paper: concentration 1, Beta(1/2, 1/2) coins, old rows are never moved.
FILTER = {"inference": "smc", "n_filters": 1, "n_sweeps": 0, "alpha": 1.0, "column_prior": 0.5}

NAIVE_BAYES = "naive Bayes"
LOGISTIC = "logistic regression"
POLYNOMIAL = "polynomial RLS"
ONE_PARTICLE = "AClass, 1 particle"
TWENTY_PARTICLES = "AClass, 20 particles"
OURS = "AClass, our default"


@dataclass
class Answer:
    """Predicted classes of the test rows, the mean number of groups in a class (None: no groups), the fitted AClass."""

    predicted: np.ndarray
    groups: float | None = None
    model: Any = None


Peer = Callable[[np.ndarray, np.ndarray, np.ndarray, int, int], Answer]
"""(train cells, train classes, test cells, seed, threads) -> Answer; cells are 0, 1 and NaN."""


def fill_with_running_means(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Online mean imputation: a hole gets the average of the cells seen before it in its column, beginning at 0.5.

    The average is that of a Beta(1/2, 1/2) coin, (1/2 + ones) / (1 + cells), so it starts at 0.5 by itself.
    Test rows see all training rows and none of their own company.
    """
    seen = ~np.isnan(train)
    ones = np.cumsum(np.where(seen, train, 0.0), axis=0)
    cells = np.cumsum(seen, axis=0)
    before = np.vstack([np.full(train.shape[1], 0.5), (0.5 + ones) / (1.0 + cells)])
    return np.where(seen, train, before[:-1]), np.where(np.isnan(test), before[-1], test)


class PolynomialLeastSquares:
    """Regularised least squares, one against all, kernel (1 + x.z)^2 over cells mapped from 0..1 to -1..1.

    The paper does not say how cells enter the kernel. Of 0..1 and -1..1, divided by the number of columns or not, this
    choice had the least mean test loss over the paper's three problems: the doubt is settled in the rival's favour.
    Every class has its own penalty: the one with the least squared leave-one-out error, which has a closed form [Rifkin
    and Lippert]: residual i is c_i / G_ii with G = (K + penalty)^-1 and c = G t, t being +1 in the class, else -1.
    """

    def fit(self, X: np.ndarray, y: np.ndarray) -> PolynomialLeastSquares:
        self.classes_ = np.unique(y)
        self.rows_ = X
        values, vectors = np.linalg.eigh(self._kernel(X))
        targets = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        inside = vectors.T @ targets
        best = np.full(len(self.classes_), np.inf)
        self.weights_ = np.zeros(targets.shape)
        for penalty in PENALTIES:
            inverse = 1.0 / (np.maximum(values, 0.0) + penalty)
            c = vectors @ (inverse[:, None] * inside)
            error = ((c / (vectors**2 @ inverse)[:, None]) ** 2).sum(axis=0)
            better = error < best
            best[better], self.weights_[:, better] = error[better], c[:, better]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[(self._kernel(X) @ self.weights_).argmax(axis=1)]

    def _kernel(self, X: np.ndarray) -> np.ndarray:
        return (1.0 + (2 * X - 1) @ (2 * self.rows_ - 1).T) ** 2


def logistic(train: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int, n_jobs: int) -> Answer:
    filled, asked = fill_with_running_means(train, test)
    model = LogisticRegression(C=1 / LOGISTIC_PENALTY, max_iter=1000)
    return Answer(model.fit(filled, y).predict(asked))


def polynomial(train: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int, n_jobs: int) -> Answer:
    filled, asked = fill_with_running_means(train, test)
    return Answer(PolynomialLeastSquares().fit(filled, y).predict(asked))


def aclass(**parameters: Any) -> Peer:
    """AClass with these parameters as a peer."""

    def answer(train: np.ndarray, y: np.ndarray, test: np.ndarray, seed: int, n_jobs: int) -> Answer:
        model = AClass(random_state=seed, n_jobs=n_jobs, column_kinds=["binary"] * train.shape[1], **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pixels and words that never vary among few rows
            predicted = model.fit(train, y).predict(test)
        sizes = [sum(k * p for k, p in one.items()) for one in model.n_components_by_class_.values()]
        return Answer(predicted, float(np.mean(sizes)), model)

    return answer


PEERS: dict[str, Peer] = {
    NAIVE_BAYES: aclass(**FILTER, n_particles=1, max_components=1),
    LOGISTIC: logistic,
    POLYNOMIAL: polynomial,
    ONE_PARTICLE: aclass(**FILTER, n_particles=1),
    TWENTY_PARTICLES: aclass(**FILTER, n_particles=20),
    OURS: aclass(),
}
