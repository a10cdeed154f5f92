"""What all models with an ensemble share: states, or a stream from which they are built when they are asked for, and
what they say of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..data.decode import decode, of_holes
from ..data.schema import Schema
from ..data.table import Table
from ..inference.loop import count_workers
from ..inference.streams import root_sequence
from ..models.mixtures import draw, fill
from ..models.mixtures import ensemble as averaging
from ..models.mixtures.ensemble import Ensemble
from ..models.mixtures.online import Online
from ..models.mixtures.soundness import check_ensemble, check_online
from ..models.soundness import need
from .base import TableEstimator


def checked_size(n_samples: Any) -> int:
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer >= 1, got {n_samples!r}.")
    return int(n_samples)


class MixtureEstimator(TableEstimator):
    """Density, imputation and draws from an ensemble."""

    _online: Online | None
    _built: Ensemble | None

    @property
    def _ensemble(self) -> Ensemble:
        """The states that answer. A stream's are made at the first question after a change, not at every change."""
        check_is_fitted(self, "schema_")
        if self._built is None:
            assert self._online is not None
            self._built = self._online.ensemble(self.n_jobs)
        return self._built

    def _check_loaded(self) -> None:
        if not hasattr(self, "schema_"):  # saved before it was fitted
            return
        built, online = self._built, self._online
        need(isinstance(built, Ensemble | None) and isinstance(online, Online | None), "states or a stream")
        need(built is not None or online is not None, "neither states nor a stream")
        need(isinstance(self.schema_, Schema) and self.n_features_in_ == self.schema_.n_columns, "number of columns")
        n_classes = len(self.classes_) if isinstance(self, ClassifierMixin) else 1
        if built is not None:
            check_ensemble(built, self.schema_)
            need(built.n_classes == n_classes, "number of classes")
            built.n_jobs = count_workers(self.n_jobs)
        if online is not None:
            check_online(online, self.schema_)
            need(online.rule.n_classes == n_classes, "number of classes")

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed cells of every row, in the units of X. Low values are anomalies."""
        return self._log_density(self._encode(X))

    def _log_density(self, table: Table) -> np.ndarray:
        return averaging.log_density_of_rows(self._ensemble, table)

    def impute(self, X: Any, n_draws: int | None = None, return_std: bool = False, random_state: Any = None) -> Any:
        """X with its holes filled by posterior means and most probable levels, in the caller's type.

        With `n_draws=m`, m completed tables drawn from the posterior predictive; with `return_std`, also the standard
        deviation of every filled cell (not both). A column that had no observed cell in training stays empty, and its
        deviation is NaN. A Student t with fewer than three degrees of freedom, which has no variance, is taken to have
        three, in draws and deviations alike.

        The kept states count alike, whatever each thinks of the row: they are draws from one posterior given the
        training rows. For a training row, which the states have seen, that is Bayes' rule; for a new row, which would
        favour the states that expect it, it is an approximation. Within a state the groups are weighted by the row.
        """
        table = self._encode(X)
        if n_draws is not None:
            if return_std:
                raise ValueError(
                    f"impute: n_draws={n_draws!r} and return_std=True exclude each other. Take the standard deviation "
                    "over the draws, or leave n_draws out."
                )
            if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
                raise ValueError(f"n_draws must be an integer >= 1 or None, got {n_draws!r}.")
            tables = [decode(t, X) for t in draw.draw_tables(self._ensemble, table, n_draws, self._draws(random_state))]
            return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables
        beliefs = fill.beliefs(self._ensemble, table)
        filled = decode(beliefs.mean_table(table), X)
        return (filled, of_holes(beliefs.spread(table), X, table.schema)) if return_std else filled

    def _draws(self, random_state: Any) -> np.random.Generator:
        """Random numbers for draws: the caller's seed, or the estimator's own."""
        return np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
