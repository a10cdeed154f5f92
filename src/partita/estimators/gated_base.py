"""What classifiers of gated experts share: a pool of models, and everything that is asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.containers import open_table, take_rows
from ..data.decode import decode, of_holes
from ..data.labels import encode_labels
from ..data.table import Table
from ..data.weights import read_weights
from ..inference.loop import count_workers
from ..inference.streams import root_sequence
from ..models.gated import fill as gated_fill
from ..models.gated.explain import Explanation, explain
from ..models.gated.pool import Pool
from ..models.gated.soundness import check_pool
from ..models.soundness import need
from .base import TableEstimator
from .mixture_base import checked_size
from .probability_base import ProbabilityClassifier


def check_quantiles(quantiles: Any) -> np.ndarray:
    try:
        levels = np.atleast_1d(np.asarray(quantiles, float))
    except (TypeError, ValueError):
        levels = np.full(1, np.nan)
    if levels.ndim != 1 or not len(levels) or not ((levels > 0) & (levels < 1)).all():
        raise ValueError(
            f"impute: quantiles={quantiles!r} must be numbers between 0 and 1, for example [0.05, 0.5, 0.95]."
        )
    return levels


def check_start(estimator: GatedClassifier, other: Any) -> None:
    """Raise where `other` is no fit that one of the estimator's columns and classes can begin from."""
    owner = type(estimator).__name__
    if not isinstance(other, GatedClassifier) or not hasattr(other, "schema_"):
        what = "one that is not fitted" if isinstance(other, GatedClassifier) else f"a {type(other).__name__}"
        raise ValueError(
            f"{owner}: start_from must be a fitted IQGMEClassifier or QGMEClassifier, got {what}. Fit it first, or "
            "leave start_from out."
        )
    mine, theirs = ([(c.name, c.kind) for c in one.schema_.columns] for one in (estimator, other))
    if mine != theirs:
        wrong = next((m for m, t in zip(mine, theirs, strict=False) if m != t), (f"{len(mine)} columns", "any"))
        raise ValueError(
            f"{owner}: start_from was fitted to other columns; the first that differs is {wrong[0]!r} ({wrong[1]}). "
            "Fit both to the same columns, with the same column_kinds."
        )
    if not np.array_equal(estimator.classes_, other.classes_):
        raise ValueError(
            f"{owner}: start_from has classes {other.classes_.tolist()!r}, y has {estimator.classes_.tolist()!r}. "
            "Fit both to the same classes."
        )


class GatedClassifier(ProbabilityClassifier, TableEstimator):
    """Answers from a pool of fits."""

    _pool: Pool

    def _learn_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, np.ndarray, np.ndarray]:
        """The training table, labels (-1: none) and weights; rows of weight 0 are as if they were not there, except
        that their classes are classes."""
        owner, n_rows = type(self).__name__, len(open_table(X))
        label, self.classes_ = encode_labels(y, self.missing_label, None, n_rows=n_rows, owner=owner)
        weight = read_weights(sample_weight, n_rows, owner)
        if (weight == 0).any():
            used = np.flatnonzero(weight > 0)
            X, label, weight = take_rows(X, used), label[used], weight[used]
        return self._learn(X), label.astype(np.int64), weight

    def _check_loaded(self) -> None:
        if hasattr(self, "schema_"):
            need(isinstance(self.__dict__.get("_pool"), Pool), "models")
            check_pool(self._pool, self.schema_, len(self.classes_))

    @property
    def _models(self) -> Pool:
        check_is_fitted(self, "schema_")
        self._pool.n_jobs = count_workers(self.n_jobs)
        return self._pool

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`) given the observed cells of each row."""
        pool = self._models
        return pool.probabilities(self._encode(X))

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed cells of every row, in the units of X. Low values are anomalies."""
        pool = self._models
        return pool.log_density(self._encode(X))

    def explain(self, X: Any) -> Explanation:
        """Which components each row belongs to, what their experts say, and the linear rule they make together."""
        pool = self._models
        return explain(pool, self._encode(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """New rows and their classes."""
        n, pool, rng = checked_size(n_samples), self._models, self._draws(random_state)
        table, proba = gated_fill.sample_table(pool.whole, pool.whole_weight, self.schema_, n, rng)
        chosen = np.minimum((rng.random((n, 1)) >= np.cumsum(proba, axis=1)).sum(axis=1), pool.n_classes - 1)
        return decode(table), self.classes_[chosen]

    def impute(
        self, X: Any, n_draws: int | None = None, return_std: bool = False, quantiles: Any = None,
        random_state: Any = None,
    ) -> Any:  # fmt: skip
        """X with its holes filled by posterior means and most probable levels, in the caller's type.

        With `n_draws=m`, m completed tables drawn from the posterior predictive; with `quantiles`, a list of completed
        tables, one per level, in which real and count cells stand at that quantile (categories at their most probable
        level); with `return_std`, also the standard deviation of every filled cell. The laws of single cells are
        mixtures, often peaked: intervals should come from quantiles, not from standard deviations. Rows that the model
        has learnt from are known again, cell by cell, and have widths of their own: their other cells have shaped it,
        so that it would be too sure of their holes. A column that had no observed cell in training stays empty.
        """
        asked = [name for name, on in (("n_draws", n_draws is not None), ("return_std", return_std),
                                       ("quantiles", quantiles is not None)) if on]  # fmt: skip
        if len(asked) > 1:
            raise ValueError(f"impute: {' and '.join(asked)} exclude each other; ask for one at a time.")
        pool, table = self._models, self._encode(X)
        models, weight, widths = pool.whole, pool.whole_weight, pool.row_widths(table)
        if n_draws is not None:
            if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
                raise ValueError(f"n_draws must be an integer >= 1 or None, got {n_draws!r}.")
            drawn = gated_fill.draw_tables(models, weight, table, int(n_draws), self._draws(random_state), widths)
            tables = [decode(one, X) for one in drawn]
            return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables
        beliefs = gated_fill.beliefs(models, weight, table, widths)
        filled = beliefs.mean_table(table)
        if quantiles is not None:
            levels = check_quantiles(quantiles)
            reals = gated_fill.quantiles(models, weight, table, levels, widths)
            return [decode(Table(table.schema, filled.codes, self._keep_empty(one, table)), X) for one in reals]
        if not return_std:
            return decode(filled, X)
        return decode(filled, X), of_holes(beliefs.spread(table), X, table.schema)

    def _keep_empty(self, reals: np.ndarray, table: Table) -> np.ndarray:
        for j, column in enumerate(table.schema.numeric):
            if not table.schema.columns[column].observed:
                reals[:, j] = table.reals[:, j]
        return reals

    def _draws(self, random_state: Any) -> np.random.Generator:
        """Random numbers for draws: the caller's seed, or the estimator's own."""
        return np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))

