"""`HybridClassifier`: a generative model fills the holes, any scikit-learn classifier decides."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..data.containers import open_table
from ..data.decode import without_strangers
from ..data.encode import encode
from ..data.labels import encode_labels
from ..data.table import Table
from ..data.validate import Constraint, integer, optional
from ..inference.streams import root_sequence
from ..models.mixtures import fill
from ..models.mixtures.ensemble import Ensemble
from ..models.soundness import need
from .aclass import AClass
from .base import COMMON, TableEstimator
from .probability_base import LabelScore


def _gives_probabilities(hybrid: HybridClassifier) -> bool:
    """Whether the classifier behind has `predict_proba`; where it has not, AttributeError is raised in its name."""
    fitted = getattr(hybrid, "discriminative_", None)
    if isinstance(fitted, list):
        fitted = fitted[0] if fitted else None
    chosen = hybrid.discriminative if fitted is None else fitted
    return chosen is None or bool(getattr(chosen, "predict_proba", False))


def _can_decide(model: Any) -> bool:
    """Whether it is a classifier, by its tags; without tags, as others than scikit-learn's may be, by what it has."""
    if isinstance(model, type):
        return False
    if hasattr(model, "__sklearn_tags__"):
        return is_classifier(model)
    return hasattr(model, "fit") and hasattr(model, "predict")


class HybridClassifier(LabelScore, TableEstimator):
    """A discriminative classifier on a table whose holes a generative model has filled.

    The generative model learns from all rows, those without a label among them; the classifier learns from the
    completed rows that have one. It sees real columns centred and scaled, counts as they are, a binary column as 0 and
    1 and a categorical one as an indicator per level. A hole holds the posterior predictive mean given the row's
    observed cells: of an indicator, the probability of its level.

    Parameters
    ----------
    generative : an unfitted estimator with `impute`, such as AClass (the default) or CRPMixture.
    discriminative : an unfitted scikit-learn classifier; by default logistic regression on standardised columns.
    n_draws : None, or the number of completed tables drawn from the posterior predictive: the classifier is trained on
        each and the predictions are averaged over as many draws of the new rows, so that they know how unsure the holes
        are. Those of rows with holes then carry Monte Carlo noise that depends on the rows asked for together.
    missing_label : one more mark of a missing label; None, NaN and NA always are.
    random_state : seeds both models and the draws; None leaves the models their own.
    column_kinds, n_jobs, progress, time_budget, checkpoint : handed to the generative model where given.

    Attributes
    ----------
    generative_ : the fitted generative model.
    discriminative_ : the fitted classifier (None where there is a single class), or with `n_draws` the list of them.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import HybridClassifier
    >>> X = np.array([[0.0, np.nan], [0, 1], [1, 0], [1, 1], [np.nan, 0], [0, 0]])
    >>> HybridClassifier(random_state=0).fit(X, list("aabbba")).predict([[0, np.nan]])
    array(['a'], dtype='<U1')
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"n_draws": optional(integer(1))}

    def __init__(
        self, generative=None, discriminative=None, *, n_draws=None, missing_label=None, column_kinds=None,
        random_state=None, n_jobs=None, progress=False, time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.generative = generative
        self.discriminative = discriminative
        self.n_draws = n_draws
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any) -> HybridClassifier:
        """Learn both models from rows X with labels y, some of which may be missing."""
        self._check()
        with self._all_or_nothing():
            self._fit(X, y)
        return self

    def _fit(self, X: Any, y: Any) -> None:
        label, self.classes_ = encode_labels(
            y, self.missing_label, n_rows=len(open_table(X)), owner=type(self).__name__
        )
        seeds = root_sequence(self.random_state).generate_state(3)
        self.generative_ = self._make_generative(int(seeds[0]))
        self.generative_.fit(X, y) if is_classifier(self.generative_) else self.generative_.fit(X)
        self._take_over(self.generative_)
        self._draw_seed = int(seeds[2])
        known = label >= 0
        fitted = []
        if len(self.classes_) > 1:
            for design in self._designs(X, self.n_draws):
                fitted.append(self._make_discriminative(int(seeds[1])).fit(design[known], label[known]))
        self.discriminative_ = fitted if self.n_draws is not None else fitted[0] if fitted else None

    def _make_generative(self, seed: int) -> Any:
        model = AClass() if self.generative is None else self.generative
        if not (hasattr(model, "impute") and isinstance(model, TableEstimator)):
            raise ValueError(
                f"{type(self).__name__}: generative must be an estimator of partita with impute, got {model!r}. "
                "Pass AClass() or CRPMixture(), for example."
            )
        model = clone(model)
        given = {name: getattr(self, name) for name in (*COMMON, "column_kinds", "missing_label")}
        given = {
            name: value
            for name, value in given.items()
            if value is not None and (value is not False or name == "missing_label")  # which False may be
        }
        if self.random_state is not None:
            given["random_state"] = seed
        own = model.get_params(deep=False)
        return model.set_params(**{name: value for name, value in given.items() if name in own})

    def _make_discriminative(self, seed: int) -> Any:
        if self.discriminative is None:
            return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        if not _can_decide(self.discriminative):
            raise ValueError(
                f"{type(self).__name__}: discriminative must be a scikit-learn classifier, got "
                f"{self.discriminative!r}. Pass an unfitted one, for example RandomForestClassifier()."
            )
        model = clone(self.discriminative)
        if self.random_state is not None:
            own = model.get_params()
            model.set_params(**{k: seed for k in own if k == "random_state" or k.endswith("__random_state")})
        return model

    def _take_over(self, generative: TableEstimator) -> None:
        """The columns are those of the generative model."""
        self._forget("feature_names_in_")
        for name in ("schema_", "n_features_in_", "feature_names_in_"):
            if hasattr(generative, name):
                setattr(self, name, getattr(generative, name))

    # ---- what the classifier sees ----

    def _designs(self, X: Any, n_draws: int | None) -> list[np.ndarray]:
        """Matrices without holes for the classifier: one, or one for each draw."""
        table = self._encode(X)
        X = without_strangers(table, X)
        if n_draws is None:
            return [_expected_design(self.generative_, table, X)]
        tables = self.generative_.impute(X, n_draws=n_draws, random_state=self._draw_seed)
        told = list(range(self.schema_.n_columns))  # of values that are no level X has been warned already
        return [_design(encode(filled, self.schema_, told=told)) for filled in tables]

    def _check_loaded(self) -> None:
        if not hasattr(self, "schema_"):  # saved before it was fitted
            return
        need(isinstance(self.generative_, TableEstimator) and hasattr(self.generative_, "schema_"), "generative model")
        need(isinstance(self._draw_seed, int), "seed of the draws")
        behind: Any = self.discriminative_
        fitted = behind if isinstance(behind, list) else [behind] if behind is not None else []
        need(bool(fitted) == (len(self.classes_) > 1), "number of classes")  # a single class needs no classifier
        need(all(len(model.classes_) == len(self.classes_) for model in fitted), "number of classes")

    def _pairs(self, X: Any) -> list[tuple[Any, np.ndarray]]:
        """The fitted classifiers, each with the matrix it is to judge."""
        if not isinstance(self.discriminative_, list):
            return [(self.discriminative_, self._designs(X, None)[0])]
        return list(zip(self.discriminative_, self._designs(X, len(self.discriminative_)), strict=True))

    def _probabilities(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "discriminative_")
        if len(self.classes_) == 1:
            return np.ones((len(self._encode(X)), 1))
        return np.mean([model.predict_proba(design) for model, design in self._pairs(X)], axis=0)

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`); with `n_draws` the mean over the draws."""
        return self._probabilities(X)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(X))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of every row; of a classifier without probabilities its answer, or that of most draws."""
        check_is_fitted(self, "discriminative_")
        averaged = isinstance(self.discriminative_, list) and _gives_probabilities(self)
        if len(self.classes_) == 1 or averaged:
            return self.classes_[self._probabilities(X).argmax(axis=1)]
        votes = [np.asarray(model.predict(design), int) for model, design in self._pairs(X)]
        count = sum(vote[:, None] == np.arange(len(self.classes_)) for vote in votes)
        return self.classes_[np.argmax(count, axis=1)]

    def impute(self, X: Any, n_draws: int | None = None, return_std: bool = False, random_state: Any = None) -> Any:
        """X with its holes filled by the generative model."""
        check_is_fitted(self, "discriminative_")
        return self.generative_.impute(X, n_draws=n_draws, return_std=return_std, random_state=random_state)


def _expected_design(generative: Any, table: Table, X: Any) -> np.ndarray:
    """The posterior predictive mean of the design given the observed cells."""
    if not isinstance(getattr(generative, "_ensemble", None), Ensemble):
        return _design(encode(generative.impute(X), table.schema))
    beliefs = fill.beliefs(generative._ensemble, table)
    return _design(table, beliefs.level, beliefs.first)


def _design(table: Table, level: list[np.ndarray] | None = None, mean: np.ndarray | None = None) -> np.ndarray:
    """A binary column as 0 and 1, a categorical one as indicators, numeric ones as they are in the table.

    Holes hold `level` (probabilities of the levels of each discrete column) and `mean` (of each numeric one). A column
    that was never observed has no mean: it is 0 everywhere.
    """
    parts = []
    for j, n_levels in enumerate(table.schema.n_levels):
        code = table.codes[:, j]
        indicators = (code[:, None] == np.arange(n_levels)).astype(float)
        if level is not None:
            indicators[code < 0] = level[j][code < 0]
        parts.append(indicators[:, 1:] if n_levels == 2 else indicators)
    reals = table.reals if mean is None else np.where(np.isnan(table.reals), mean, table.reals)
    return np.column_stack([*parts, np.nan_to_num(reals, nan=0.0)])
