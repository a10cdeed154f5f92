"""`NaiveBayes`: columns of any kind, independent given the class; exact, additive, with holes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.containers import open_table
from ..data.decode import decode
from ..data.encode import encode
from ..data.growth import grow_schema
from ..data.labels import encode_labels
from ..data.validate import Constraint, number, one_of
from ..inference.loop import count_workers
from ..models.coded.class_statistics import ClassStatistics
from ..models.coded.naive_bayes import Prior, log_joint, make_ensemble
from ..models.coded.soundness import check_statistics
from ..models.mixtures import draw
from ..models.mixtures.ensemble import Ensemble
from .labelled_base import LabelledEstimator
from .mixture_base import MixtureEstimator, checked_size
from .probability_base import JointClassifier

_PRIORS = ("class_rows", "level_rows", "count_rows", "mean_rows", "variance_rows")


class NaiveBayes(JointClassifier, LabelledEstimator, MixtureEstimator):
    """Naive Bayes with conjugate priors and their parameters integrated out: an exact posterior predictive.

    Binary and categorical columns have Beta and Dirichlet priors, counts a Gamma, real columns a
    normal-inverse-chi-squared. Missing cells drop out, which is what integrating over them comes to. Learning adds up
    statistics, so `partial_fit` over any parts of a table, in any order, gives the same model as `fit` on all of it (to
    rounding), and columns may show new levels, or turn out to be counts or real, as rows come in.

    Parameters
    ----------
    class_rows : pseudo-rows of every class.
    level_rows : pseudo-rows at every level of a binary or categorical column, in every class.
    counts : how count columns are modelled: "poisson", "normal" (as real ones), or "auto", whichever of the two makes a
        column more probable: whole numbers such as amounts or years vary far more than a Poisson law allows.
    count_rows : what the prior of a count column is worth; its mean is that of the column over all classes.
    mean_rows, variance_rows : what the prior mean and variance of a real column are worth; they are those of the column
        over all classes.
    missing_label : one more mark of a missing label; None, NaN and NA always are. Rows without a label are left out
        (`AClass` learns from them).
    column_kinds : kinds of columns that should not be inferred; a dict or list of "binary", "categorical", "count" and
        "real".
    random_state : seed of `sample` and of the draws of `impute`; learning draws nothing.
    n_jobs : threads that answer questions.
    progress, time_budget, checkpoint : as in every estimator; learning is one pass, so they have nothing to do.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ ; class_weight_ : weight of the rows of each class, learnt so far.

    Notes
    -----
    Real columns are normal within a class. Where they are skewed or have spikes, cut them first (`MDLPDiscretizer`) and
    say "categorical", or use `AClass`, which infers groups. `score_samples` takes a count column that was found better
    as real by its density, which for whole numbers is as good as a probability.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import NaiveBayes
    >>> X = np.array([[0, 2.5], [0, np.nan], [1, 7.5], [np.nan, 8.0]])
    >>> model = NaiveBayes().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0, np.nan], [np.nan, 7.0]])
    array(['a', 'b'], dtype='<U1')
    >>> parts = NaiveBayes().partial_fit(X[:1], ["a"], classes=["a", "b"]).partial_fit(X[1:], ["a", "b", "b"])
    >>> bool(np.allclose(parts.predict_proba(X), model.predict_proba(X)))
    True
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "counts": one_of("auto", "poisson", "normal"),
        **{name: number(0, open_low=True) for name in _PRIORS},
    }

    def __init__(
        self, *, class_rows=1.0, level_rows=0.5, counts="auto", count_rows=1.0, mean_rows=0.1, variance_rows=1.0,
        missing_label=None, column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None,
        checkpoint=None,
    ):  # fmt: skip
        self.class_rows = class_rows
        self.level_rows = level_rows
        self.counts = counts
        self.count_rows = count_rows
        self.mean_rows = mean_rows
        self.variance_rows = variance_rows
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    # ---- learning ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayes:
        """Learn from rows X with labels y, each counted `sample_weight` times; what was learnt before is forgotten."""
        self._check()
        with self._all_or_nothing():
            table, label, weight = self._learn_labelled(X, y, sample_weight)
            self._statistics = ClassStatistics.nothing(self.schema_, len(self.classes_))
            self._count(table, label, weight)
            self._built = self._ensemble
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NaiveBayes:
        """Learn from more rows, after `fit` or after none. The first call fixes columns and classes (`classes`, or
        those in y)."""
        self._check()
        if not hasattr(self, "_statistics"):
            with self._all_or_nothing():
                rows, label, weight = self._labelled_rows(X, y, sample_weight, classes)
                table = self._learn(rows)
                self._statistics = ClassStatistics.nothing(self.schema_, len(self.classes_))
                self._count(table, label, weight)
            return self
        self._check_classes(classes)
        if not self._any_label(X, y):
            return self
        rows, label, weight = self._labelled_rows(X, y, sample_weight, self.classes_)
        owner = type(self).__name__
        grown = grow_schema(self.schema_, rows, self.column_kinds, owner)
        if grown != self.schema_:
            self._statistics = self._statistics.carried(self.schema_, grown)
            self.schema_ = grown
        self._count(encode(rows, grown, owner), label, weight)
        return self

    def _check_loaded(self) -> None:
        if hasattr(self, "schema_"):
            check_statistics(self._statistics, self.schema_, len(self.classes_))
            self._built = None  # made anew from the statistics

    def _check_classes(self, classes: Any) -> None:
        if classes is not None and not np.array_equal(encode_labels(classes)[1], self.classes_):
            raise ValueError(
                f"NaiveBayes.partial_fit: classes={list(classes)!r} differs from those of the first call, "
                f"{self.classes_.tolist()!r}. Leave it out, or begin a new model."
            )

    def _any_label(self, X: Any, y: Any) -> bool:
        """Whether there is a row to learn from: a part of a stream may have no label at all."""
        label, _ = encode_labels(y, self.missing_label, self.classes_, n_rows=len(open_table(X)), owner="NaiveBayes")
        return bool((label >= 0).any())

    def _count(self, table: Any, label: np.ndarray, weight: np.ndarray) -> None:
        self._statistics.add(table, label, weight)
        self.class_weight_ = self._statistics.class_weight.copy()
        self._built = None

    @property
    def _ensemble(self) -> Ensemble:
        """The posterior predictive, made at the first question after a change."""
        check_is_fitted(self, "schema_")
        if self._built is None:
            prior = Prior(**{name: float(getattr(self, name)) for name in _PRIORS}, counts=self.counts)
            self._built = make_ensemble(self.schema_, self._statistics, prior, count_workers(self.n_jobs))
        return self._built

    # ---- answers ----

    def _log_joint(self, X: Any) -> np.ndarray:
        return log_joint(self._ensemble, self._encode(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """New rows and their classes."""
        n, rng, ensemble = checked_size(n_samples), self._draws(random_state), self._ensemble
        state = ensemble.states[0]
        label = rng.choice(len(self.classes_), n, p=np.exp(state.log_weight[0, 0, : len(self.classes_)]))
        table = draw.sample_groups(ensemble.lenses[0], state, self.schema_, label, rng)
        return decode(table), self.classes_[label]
