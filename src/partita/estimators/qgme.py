"""`QGMEClassifier`: finitely many local probit experts by expectation-maximisation, missing cells integrated out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..data.validate import Constraint, either, integer, number, one_of
from ..inference.streams import root_sequence, spawn_streams
from ..models.gated.aside import FOLDS, REFIT_STREAMS
from ..models.qgme.choice import held_out_losses
from ..models.qgme.fits import Fitted, Strength, learn, pool_of
from ..models.qgme.widths import refit_points
from .gated_base import GatedClassifier

TRIED = (1, 2, 3, 5, 10, 20)


class QGMEClassifier(GatedClassifier):
    """A quadratically gated mixture of a fixed number of experts, by EM; missing cells are integrated out.

    Rows fall into `n_experts` components (Gaussian over real columns, with categories and counts beside), each with a
    linear probit expert for the label [1, 2]. `IQGMEClassifier` is the Bayesian model with an inferred number of
    experts; this is its point-parameter form of the literature, with the number given or chosen by BIC.

    Parameters
    ----------
    n_experts : a number of experts, or "bic": 1, 2, 3, 5, 10 and 20 (as far as there are rows) are fitted, and the one
        of the smallest BIC is taken: -2 log likelihood + free parameters * log(sum of the weights of the rows). With P
        real columns an expert has P + P (P + 1) / 2 parameters of its Gaussian, levels - 1 of each category, 1 of each
        count, features + 1 of its rule for every class but one, and a weight.
        "cv": the same numbers, and the one of the smallest log-loss on rows set aside, in five folds (six times the
        fits; stopped before the last, it keeps the fit of the fold that it was in). BIC judges the joint density of
        cells and labels; where the classes matter more, and columns are many, it takes too few.
    n_restarts : starts of each number of experts, in turn from k-means over all rows and within each class.
    max_iter : iterations of each start.
    tol : rise of log likelihood plus log prior, per row, below which a start has converged.
    cell_folds : how many fifths of the rows are set aside in turn, each from one short fit more, to learn how wide the
        laws of missing cells are (fewer where cells are many). 0: not learnt; for those who never impute.
    covariance_rows, ridge, level_rows : what keeps maximum likelihood finite, as a log prior beside it: rows of the
        pooled covariance (Ledoit and Wolf's over n_experts^(2 / P)) that each covariance is drawn to; precision of the
        experts' weights, w ~ N(0, I / ridge) on standardised columns; pseudo-rows at the pooled shares of levels and
        means of counts.
    missing_label : one more mark of a missing label; None, NaN and NA always are. Rows without a label shape the gates.
    column_kinds, random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
    n_experts_ : experts of the model; fewer than asked for where some held no rows.
    weights_ : array, their shares of the rows, the largest first.
    means_ : array (n_experts_, real columns), centres of the Gaussians in the units of X.
    log_likelihoods_ : array, log likelihood of the observed cells (real ones as standardised) and labels after every
        iteration of the best start. With more than two classes, or where labelled rows miss categories or counts, the
        E-step is variational and this is a lower bound.
    objectives_ : array, the same with the log prior: what EM raises in every iteration.
    n_iter_ : iterations of that start.
    bic_ : dict, number of experts tried to its BIC.
    cv_log_losses_ : with "cv", dict, number of experts tried to its log-loss on rows set aside.

    References
    ----------
    [1] X. Liao, H. Li and L. Carin (2007), Quadratically gated mixture of experts for incomplete data classification,
    International Conference on Machine Learning.
    [2] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, 3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import QGMEClassifier
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 2)) + 8.0 * group[:, None]
    >>> y = np.where(group == 0, X[:, 0] > 0, X[:, 1] < 8)  # a rule of its own in each group
    >>> X[rng.random(X.shape) < 0.1] = np.nan
    >>> model = QGMEClassifier(random_state=0).fit(X, y)
    >>> model.n_experts_
    2
    >>> model.predict([[1.0, 0.0], [8.0, 7.0], [8.0, np.nan]])
    array([ True,  True, False])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_experts": either(one_of("bic", "cv"), integer(1)),
        "n_restarts": integer(1),
        "max_iter": integer(1),
        "tol": number(0),
        "cell_folds": integer(0, FOLDS),
        **{name: number(0, open_low=True) for name in ("covariance_rows", "ridge", "level_rows")},
    }

    def __init__(
        self, n_experts="bic", *, n_restarts=5, max_iter=300, tol=1e-5, cell_folds=3, covariance_rows=3.0, ridge=0.1,
        level_rows=1.0, missing_label=None, column_kinds=None, random_state=None, n_jobs=None, progress=False,
        time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.n_experts = n_experts
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.cell_folds = cell_folds
        self.covariance_rows = covariance_rows
        self.ridge = ridge
        self.level_rows = level_rows
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> QGMEClassifier:
        """Learn from rows X with labels y, some of which may be missing, each counted `sample_weight` times."""
        self._check()
        with self._all_or_nothing():
            table, label, weight = self._learn_rows(X, y, sample_weight)
            candidates, runner, seed = self._candidates(len(table)), self._runner(), root_sequence(self.random_state)
            strength = Strength(self.covariance_rows, self.ridge, self.level_rows)
            given: Any = (table, label, weight, len(self.classes_))
            rule: Any = (self.n_restarts, strength, self.max_iter, self.tol, seed, runner)
            self._forget("cv_log_losses_")
            if self.n_experts == "cv" and len(table) > 1:
                tried: Any = [k for k in candidates if k <= 0.8 * len(table)] or [1]
                losses, stopped = held_out_losses(*given, tried, *rule)  # type: ignore[call-arg]
                self.cv_log_losses_ = losses
                candidates = [min(losses, key=losses.__getitem__)]
                if stopped is not None:  # what there is: fits without a fifth of the rows
                    self._take({k: one for k, one in stopped.items() if k in candidates} or stopped)
                    return self
            mark: Any = self._fingerprint(table.codes, table.reals, label, weight)
            fitted = learn(*given, candidates, *rule, mark)  # type: ignore[call-arg]
            self._take(fitted)
            if all(one.ended for one in fitted.values()):
                streams = spawn_streams(seed, max(*TRIED, *candidates) * self.n_restarts + REFIT_STREAMS)
                streams = streams[-REFIT_STREAMS:]
                refit_points(self._pool, table, label, weight, strength, self.tol, self.cell_folds, streams, runner)
        return self

    def _candidates(self, n_rows: int) -> list[int]:
        if self.n_experts in ("bic", "cv"):  # one row leaves none to set aside, and one expert to take
            return [k for k in TRIED if k <= n_rows]
        if self.n_experts > n_rows:
            raise ValueError(
                f"QGMEClassifier: n_experts={self.n_experts} is more than the rows of X that count, n_samples={n_rows}."
                ' Ask for at most as many experts as rows, or pass n_experts="bic".'
            )
        return [int(self.n_experts)]

    def _take(self, fitted: dict[int, Fitted]) -> None:
        """Keep the number of experts with the smallest BIC: what answers, and what tells how it went."""
        best = fitted[min(fitted, key=lambda k: fitted[k].bic)]
        model = best.model
        self._pool = pool_of(model)
        self.bic_ = {k: one.bic for k, one in fitted.items()}
        self.n_experts_ = model.n_components
        self.weights_ = model.weight
        columns = [self.schema_.columns[sight.column] for sight in model.view.real_sights]
        scale, centre = np.array([c.scale for c in columns]), np.array([c.centre for c in columns])
        self.means_ = model.gates.mean * scale + centre
        self.log_likelihoods_ = best.log_likelihoods
        self.objectives_ = best.objectives
        self.n_iter_ = len(best.log_likelihoods)
