"""What CRPMixture and AClass share: an ensemble of states, or a stream from which one is built when it is asked for."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.decode import decode
from ..inference.runner import Runner
from ..inference.streams import root_sequence
from ..models import ensemble as averaging
from ..models import fill
from ..models.ensemble import Ensemble
from ..models.online import Online
from .base import TableEstimator


def checked_size(n_samples: Any) -> int:
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer >= 1, got {n_samples!r}.")
    return int(n_samples)


def warn_forgotten(estimator: Any) -> None:
    """Chains of a batch fit are not continued by a stream: say so rather than forget them silently."""
    if getattr(estimator, "_built", None) is not None:
        warnings.warn(
            f"{type(estimator).__name__}.partial_fit starts a stream anew: what fit() learnt with inference='gibbs' is "
            "forgotten. To go on from a fit, fit with inference='smc', or begin with partial_fit.",
            UserWarning,
            stacklevel=3,
        )


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

    def _part_runner(self) -> Runner:
        """How a part of a stream is learnt: a checkpoint is of a whole fit; a stream is saved by `save`."""
        return replace(self._runner(), checkpoint=None)

    def _tell_evidence(self) -> None:
        assert self._online is not None
        evidence = self._online.log_evidence()
        self._forget("log_evidence_")
        if evidence is not None:
            self.log_evidence_ = evidence

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed cells of every row, in the units of X. Low values are anomalies."""
        table = self._encode(X)
        return averaging.log_density_of_rows(self._ensemble, table)

    def impute(self, X: Any, n_draws: int | None = None, return_std: bool = False, random_state: Any = None) -> Any:
        """X with its holes filled by posterior means and most probable levels, in the caller's type.

        With `n_draws=m`, m completed tables drawn from the posterior predictive; with `return_std`, also the standard
        deviation of every filled cell. A column that had no observed cell in training stays empty.
        """
        table = self._encode(X)
        if n_draws is not None:
            if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
                raise ValueError(f"n_draws must be an integer >= 1 or None, got {n_draws!r}.")
            tables = [decode(t, X) for t in fill.draw_tables(self._ensemble, table, n_draws, self._draws(random_state))]
            return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables
        beliefs = fill.beliefs(self._ensemble, table)
        filled = decode(beliefs.mean_table(table), X)
        return (filled, beliefs.spread(table)) if return_std else filled

    def _draws(self, random_state: Any) -> np.random.Generator:
        """Random numbers for draws: the caller's seed, or the estimator's own."""
        return np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
