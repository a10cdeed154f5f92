"""What classifiers answer from one quantity: probabilities of the classes, or log p(class, row)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..data.labels import check_all_labelled


class LabelScore(ClassifierMixin):
    """Accuracy, which labels that are missing have none of."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose label is predicted; every row needs one."""
        check_all_labelled(y, getattr(self, "missing_label", None), type(self).__name__)
        return super().score(X, y, sample_weight)


class ProbabilityClassifier(LabelScore):
    """Everything from `predict_proba`."""

    classes_: np.ndarray

    @abstractmethod
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`) given the observed cells of each row."""

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of every row."""
        best = self.predict_proba(X).argmax(axis=1)  # first: it says so where the model is not fitted
        return self.classes_[best]


class JointClassifier(ProbabilityClassifier):
    """Everything from `_log_joint`, so that tiny probabilities keep their logarithms."""

    @abstractmethod
    def _log_joint(self, X: Any) -> np.ndarray:
        """log p(class, observed cells) of every row, up to a constant of the row."""

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of every class (columns as `classes_`) given the observed cells of each row."""
        joint = self._log_joint(X)
        joint -= joint.max(axis=1, keepdims=True)
        return joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`) given the observed cells of each row."""
        proba = np.exp(self.predict_log_proba(X))
        return proba / proba.sum(axis=1, keepdims=True)
