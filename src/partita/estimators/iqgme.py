"""`IQGMEClassifier`: Dirichlet-process mixtures of local probit experts that integrate missing cells out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..data.containers import open_table, take_rows
from ..data.table import Table
from ..data.validate import Constraint, boolean, either, integer, number, one_of, optional
from ..data.weights import read_weights
from ..inference.streams import root_sequence, spawn_streams
from ..models.factor.problem import FactorSettings
from ..models.gated.aside import FOLDS, REFIT_STREAMS
from ..models.gated.average import (
    AVERAGE_STREAMS,
    FACTOR_STARTS,
    Learnt,
    learn_average,
    learn_factors,
    learn_in_batches,
    learn_one,
)
from ..models.gated.chains import learn_by_gibbs
from ..models.gated.explain import occupied_posterior
from ..models.gated.members import Hyper
from ..models.gated.warm import first_places
from .gated_agreement import warn_of_unsettled
from .gated_base import GatedClassifier, check_start

AVERAGE_ITERATIONS, ONE_ITERATIONS = 30, 300
AVERAGE_TOLERANCE, ONE_TOLERANCE = 1e-5, 1e-6
SWEEPS = 600
RESTARTS, CHAINS = 5, 4


class IQGMEClassifier(GatedClassifier):
    """A classifier made of local linear experts whose number is inferred; missing cells are integrated out.

    Rows fall into the components of a Dirichlet-process mixture (Gaussian over real columns, categories and counts
    beside), and each component has a linear probit expert for the label. By default fifteen small variational fits,
    most of which look at some of the columns, are averaged; `average=False` is one model of the thesis [1].

    Parameters
    ----------
    inference : "vb" (variational) or "gibbs" (blocked Gibbs sampling of the same model; no average of small fits).
    average : True averages small fits (recommended); False takes one model, the best bound of `n_restarts` starts.
    max_experts : truncation of the Dirichlet process, where one model is fitted.
    n_restarts : starts of the one model (None: 5; 3 with `n_factors`, 1 with `batch_size`); with "gibbs", chains
        (None: 4), each from the best of five short variational fits of its own.
    max_iter : iterations of each fit (None: 30 in the average, 300 for one model; with "gibbs", sweeps: 600).
    tol : relative rise of the bound below which a fit has converged (None: 1e-5 in the average, 1e-6 for one model).
    n_factors : None, an int (the most factors) or "auto" (at most 50): the form with factor analysers of the real
        columns, for tables with more of them than rows; one model, the best of `n_restarts`.
    batch_size : rows of a step of stochastic inference, for tables too large to pass over every time: one model, not
        the average. `max_iter` then counts steps (None: ten passes over the rows), and `lower_bounds_` are estimates.
    cell_folds : how many fifths of the rows are set aside in turn, to learn from fits without them how wide the laws of
        missing cells are, of new rows and, by a few cells hidden from such fits, of the training rows (fewer where
        cells are many; with `batch_size` of at most 5,000 rows). 0: not learnt; for those who never impute. The average
        sets rows aside in any case, up to five fifths where they are few, to learn how its fits are weighed.
    a_0, b_0, gamma_0 : normal-gamma prior of the experts' common law (pooled experts).
    tau_10, tau_20 : shape and rate of the Gamma prior of the concentration.
    u_0, nu_0 : rows that the prior mean of a gate is worth; degrees of freedom of its covariance (None: worth 3 or 10
        rows).
    missing_label : one more mark of a missing label; None, NaN and NA always are. Rows without a label shape the gates.
    column_kinds, random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    lower_bounds_ : array, the bound after every iteration of the best fit of all columns; all fits in
        `lower_bounds_all_` (of the average: fifteen that vote, and one more of all columns that only fills cells).
    n_iter_ : iterations of that fit.
    n_experts_posterior_ : dict, number of components that hold rows to its probability.
    n_factors_posterior_ : with `n_factors`, dict, number of factors in use to its probability.
    member_weights_, temperature_, class_offsets_ : how the small fits are averaged: their weights; a power of what a
        row changes of the odds of the classes, against a row without cells; and what is added to the logarithm of each
        class then, less for rows with few cells.
    trace_, diagnostics_ : with "gibbs", dict of arrays (chains, sweeps), and R-hat and effective sizes of their second
        halves; there are no bounds then.

    References
    ----------
    [1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import IQGMEClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # no linear rule
    >>> X[rng.random(X.shape) < 0.1] = np.nan
    >>> model = IQGMEClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]])
    array([ True, False])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "inference": one_of("vb", "gibbs"),
        "average": boolean(),
        "max_experts": integer(1),
        "n_restarts": optional(integer(1)),
        "max_iter": optional(integer(1)),
        "tol": optional(number(0)),
        "n_factors": optional(either(one_of("auto"), integer(1))),
        "batch_size": optional(integer(1)),
        "cell_folds": integer(0, FOLDS),
        **{name: number(0, open_low=True) for name in ("a_0", "b_0", "gamma_0", "tau_10", "tau_20", "u_0")},
        "nu_0": optional(number(0, open_low=True)),
    }

    def __init__(
        self, *, inference="vb", average=True, max_experts=20, n_restarts=None, max_iter=None, tol=None, n_factors=None,
        batch_size=None, cell_folds=3, a_0=0.01, b_0=0.01, gamma_0=0.1, tau_10=0.05, tau_20=0.05, u_0=0.1, nu_0=None,
        missing_label=None, column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None,
        checkpoint=None,
    ):  # fmt: skip
        self.inference = inference
        self.average = average
        self.max_experts = max_experts
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.n_factors = n_factors
        self.batch_size = batch_size
        self.cell_folds = cell_folds
        self.a_0 = a_0
        self.b_0 = b_0
        self.gamma_0 = gamma_0
        self.tau_10 = tau_10
        self.tau_20 = tau_20
        self.u_0 = u_0
        self.nu_0 = nu_0
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: Any = None, start_from: Any = None) -> IQGMEClassifier:
        """Learn from rows X with labels y, some of which may be missing, each counted `sample_weight` times.

        `start_from`, a fitted IQGMEClassifier or QGMEClassifier of the same columns and classes, is where one model
        (`average=False`) begins: the first of its `n_restarts`, or with "gibbs" every chain, so that R-hat tells less.
        """
        self._check()
        self._check_form()
        with self._all_or_nothing():
            table, label, weight = self._learn_rows(X, y, sample_weight)
            self._check_degrees()
            starts = None if start_from is None else self._starts(X, sample_weight, label, start_from)
            mark = self._fingerprint(table.codes, table.reals, label, weight, *(starts or ()))
            names = ("a_0", "b_0", "gamma_0", "tau_10", "tau_20", "u_0", "nu_0")
            hyper = Hyper(**{name: getattr(self, name) for name in names})
            n_classes, root = len(self.classes_), root_sequence(self.random_state)
            if self.inference == "gibbs":
                self._sample_chains(table, label, weight, hyper, mark, starts)
                return self
            if self.n_factors is not None:
                learnt = self._factors(table, label, weight, hyper, mark)
            elif self.batch_size is not None:
                learnt = learn_in_batches(
                    table, label, weight, n_classes, hyper, self.max_experts, self.batch_size, self.max_iter,
                    self.cell_folds, spawn_streams(root, (self.n_restarts or 1) + REFIT_STREAMS), self._runner(), mark,
                )  # fmt: skip
            elif self.average:
                streams = spawn_streams(root, AVERAGE_STREAMS)
                learnt = learn_average(
                    table, label, weight, n_classes, hyper, self.max_iter or AVERAGE_ITERATIONS,
                    AVERAGE_TOLERANCE if self.tol is None else self.tol, self.cell_folds, streams, self._runner(), mark,
                )  # fmt: skip
            else:
                learnt = learn_one(
                    table, label, weight, n_classes, hyper, self.max_experts, self.max_iter or ONE_ITERATIONS,
                    ONE_TOLERANCE if self.tol is None else self.tol, self.cell_folds,
                    spawn_streams(root, (self.n_restarts or RESTARTS) + REFIT_STREAMS), self._runner(), mark,
                    None if starts is None else starts[0],
                )  # fmt: skip
            self._take(learnt)
        return self

    def _check_form(self) -> None:
        """Raise where parameters choose two forms at once."""
        asked = {'inference="gibbs"': self.inference == "gibbs", "n_factors": self.n_factors is not None,
                 "batch_size": self.batch_size is not None}  # fmt: skip
        chosen = [name for name, on in asked.items() if on]
        if len(chosen) > 1:
            raise ValueError(
                f"IQGMEClassifier: {' and '.join(chosen)} choose different forms of the model, of which there can be "
                "one. Leave out all but one of them."
            )

    def _check_degrees(self) -> None:
        """Raise where the prior covariance of the gates would have no mean; factor analysers have none of their own."""
        n_reals = sum(column.kind == "real" for column in self.schema_.columns)
        if self.nu_0 is not None and self.n_factors is None and n_reals and self.nu_0 <= n_reals + 1:
            raise ValueError(
                f"IQGMEClassifier: nu_0={self.nu_0!r} must be above the number of real columns + 1, here {n_reals + 1};"
                " below it the prior covariance of a gate has no mean. Raise nu_0, or leave it out."
            )

    def _starts(self, X: Any, sample_weight: Any, label: np.ndarray, start_from: Any) -> list[np.ndarray]:
        """Log probabilities of the other fit's components for the rows that count, for every start."""
        one = self.inference == "gibbs" or not (self.average or self.n_factors or self.batch_size)
        if not one:
            raise ValueError(
                "IQGMEClassifier: start_from is for one model; pass average=False (without n_factors and batch_size) "
                "or inference='gibbs', or leave start_from out."
            )
        check_start(self, start_from)
        weight = read_weights(sample_weight, len(open_table(X)), "IQGMEClassifier")
        rows = start_from._encode(take_rows(X, np.flatnonzero(weight > 0)) if (weight == 0).any() else X)
        pool = start_from._models
        by_weight = [pool.whole[k] for k in np.argsort(pool.whole_weight, kind="stable")]
        n_starts = (self.n_restarts or CHAINS) if self.inference == "gibbs" else 1
        return first_places(by_weight, pool.lenses[0].rows(rows), label, n_starts)

    def _factors(self, table: Table, label: np.ndarray, weight: np.ndarray, hyper: Hyper, mark: str) -> Learnt:
        if not any(column.kind == "real" for column in self.schema_.columns):
            raise ValueError(
                f"IQGMEClassifier: n_factors={self.n_factors!r} is for tables with real columns, and this has none. "
                "Leave n_factors out, or make columns of numbers real by column_kinds."
            )
        settings = FactorSettings(
            n_sticks=self.max_experts, n_factors=self.n_factors, concentration_shape=hyper.tau_10,
            concentration_rate=hyper.tau_20, centre_count=hyper.gamma_0, weight_shape=hyper.a_0, weight_rate=hyper.b_0,
        )  # fmt: skip
        n_streams = (self.n_restarts or len(FACTOR_STARTS)) + REFIT_STREAMS
        streams = spawn_streams(root_sequence(self.random_state), n_streams)
        learnt, state = learn_factors(
            table, label, weight, len(self.classes_), settings, self.max_iter or ONE_ITERATIONS,
            ONE_TOLERANCE if self.tol is None else self.tol, self.cell_folds, streams, self._runner(), mark,
        )  # fmt: skip
        law = state.n_factors_posterior()
        self.n_factors_posterior_ = {k: float(p) for k, p in enumerate(law / law.sum()) if p > 1e-12}
        return learnt

    def _sample_chains(
        self, table: Table, label: np.ndarray, weight: np.ndarray, hyper: Hyper, mark: str,
        starts: list[np.ndarray] | None,
    ) -> None:  # fmt: skip
        if (weight != np.round(weight)).any():
            raise ValueError(
                "IQGMEClassifier: with inference='gibbs' a weight repeats its row, so sample_weight must be whole "
                f"numbers, got {weight[weight != np.round(weight)][0]}. Round the weights, or use inference='vb'."
            )
        n_classes, n_chains = len(self.classes_), self.n_restarts or CHAINS
        streams = spawn_streams(root_sequence(self.random_state), n_chains + 1)
        sampled = learn_by_gibbs(
            table, label, weight, n_classes, hyper, self.max_experts, self.max_iter or SWEEPS,
            self.cell_folds, streams, self._runner(), mark, starts,
        )  # fmt: skip
        self._forget("lower_bounds_", "lower_bounds_all_", "trace_", "diagnostics_")
        self._pool = sampled.pool
        self.n_iter_ = sampled.n_sweeps
        self.trace_ = sampled.trace
        self.diagnostics_ = sampled.diagnostics()
        if sampled.n_sweeps == (self.max_iter or SWEEPS):
            warn_of_unsettled(self.diagnostics_, sampled.n_sweeps, "IQGMEClassifier")
        self.n_experts_posterior_ = sampled.n_components
        self.member_weights_ = sampled.pool.weight
        self.temperature_ = sampled.pool.tempering.temperature
        self.class_offsets_ = sampled.pool.tempering.offset

    def _take(self, learnt: Learnt) -> None:
        """Keep of the fits what answers, and what tells how they went."""
        self._forget("trace_", "diagnostics_")
        self._pool = learnt.pool
        self.lower_bounds_all_ = [learnt.bounds(k) for k in range(len(learnt.outcome.steps_done))]
        self.lower_bounds_ = self.lower_bounds_all_[learnt.best()]
        self.n_iter_ = len(self.lower_bounds_)
        self.n_experts_posterior_ = occupied_posterior(learnt.rho)
        self.member_weights_ = learnt.pool.weight
        self.temperature_ = learnt.pool.tempering.temperature
        self.class_offsets_ = learnt.pool.tempering.offset
