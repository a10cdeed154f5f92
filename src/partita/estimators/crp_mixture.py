"""`CRPMixture`: a density, clusters and their number from a table with holes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..data.decode import decode
from ..data.table import Table
from ..data.telling import tell
from ..data.validate import Constraint
from ..inference.diagnostics import ess_bulk, r_hat
from ..inference.loop import count_workers
from ..inference.runner import Runner
from ..inference.streams import root_sequence, spawn_streams
from ..models.lens import plain_lens
from ..models.mixtures import draw
from ..models.mixtures import ensemble as averaging
from ..models.mixtures.chains import settled
from ..models.mixtures.clusterer import learn_groups
from ..models.mixtures.co_assignment import co_assignment, most_central
from ..models.mixtures.ensemble import Ensemble
from ..models.mixtures.group_numbers import GroupNumbers
from ..models.mixtures.online import Online
from ..models.mixtures.problem import Problem
from ..models.mixtures.vote import plain_members
from ..models.soundness import need
from .groups_base import GroupsEstimator, warn_forgotten
from .mixture_base import checked_size
from .mixture_parameters import CONSTRAINTS, rule_of, settings_of

STREAM_SWEEPS = 2
SWEEPS_TO_SETTLE = 48  # fewer that were asked for are not expected to settle


class CRPMixture(ClusterMixin, DensityMixin, GroupsEstimator):
    """Chinese-restaurant mixture of products of conjugate column models; missing cells are integrated out.

    Parameters
    ----------
    inference : "gibbs" (independent chains of collapsed Gibbs sweeps) or "smc" (particle filters; one pass over the
        rows).
    n_filters : independent chains or filters, averaged.
    n_particles : particles of each filter.
    n_sweeps : with "gibbs", sweeps of each chain (None: until the number of groups no longer drifts, at most 192);
        with "smc" and in `partial_fit`, sweeps over the reservoir after every
        100 rows (2), 0 for the plain filter.
    alpha : concentration, a number or "infer" (Gamma(1, 1) prior). A filter with `n_sweeps=0` infers neither it nor
        `column_prior`: there "infer" is 1, and the pseudo-counts and hyper-parameters that a fit begins with (0.5 a
        level of a binary column), fixed.
    group_prior : with "gibbs" and alpha="infer", the law of the groups: "crp", a Chinese restaurant process; "infer",
        chosen with alpha among these and finite mixtures of 1 to 256 components with more or less equal shares.
        Streams, and a given alpha, mean the Chinese restaurant process.
    column_prior : "infer" (hyper-parameters of every column on grids, pooled over columns), or the pseudo-count of
        every level of binary and categorical columns.
    max_components : hard cap on the number of groups (200). A partition under the cap stays a distinct hypothesis.
    reservoir_size : rows kept by `partial_fit` to undo early mistakes.
    correlated : True models the real columns of a group by one full covariance (normal-inverse-Wishart).
    resampling : "systematic", "stratified", "residual" or "multinomial".
    split_merge : split-merge proposals after every second sweep of a chain, and in each sweep of a stream. "auto": in a
        chain a third as many as it had groups after 12 sweeps, from the 25th sweep on as many; in a stream more where
        many are accepted, else fewer.
    column_kinds : kinds of columns that should not be inferred: a dict (name or position to kind) or a list. A list of
        levels may stand for the kind of a binary or categorical column.
    random_state, n_jobs, progress, time_budget, checkpoint : as in all estimators. Same seed, same result, for any
        `n_jobs`.

    Attributes
    ----------
    n_components_ : posterior mode of the number of groups; `n_components_posterior_` : dict, size to probability.
    labels_ : groups of the training rows in the kept state nearest to the average co-assignment; of a filter, as
        `predict` gives them at its end. Not there after `partial_fit`, which keeps no rows.
    log_evidence_ : of the plain filter (`n_sweeps=0`), log p(cells) in the units of the table, estimated.
    trace_, diagnostics_ : with "gibbs", dict of arrays (chains, sweeps), and their R-hat and effective sample sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import CRPMixture
    >>> X = np.repeat([[0.0, 0, 0, 0], [1, 1, 1, 1]], 20, axis=0)
    >>> X[0, 1] = np.nan
    >>> model = CRPMixture(random_state=0).fit(X)
    >>> model.n_components_
    2
    """

    _constraints: ClassVar[dict[str, Constraint]] = CONSTRAINTS

    def __init__(
        self, *, inference="gibbs", n_filters=8, n_particles=1, n_sweeps=None, alpha="infer", group_prior="crp",
        column_prior="infer", max_components=None, reservoir_size=1000, correlated=False, resampling="systematic",
        split_merge="auto", column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None,
        checkpoint=None,
    ):  # fmt: skip
        self.inference = inference
        self.n_filters = n_filters
        self.n_particles = n_particles
        self.n_sweeps = n_sweeps
        self.alpha = alpha
        self.group_prior = group_prior
        self.column_prior = column_prior
        self.max_components = max_components
        self.reservoir_size = reservoir_size
        self.correlated = correlated
        self.resampling = resampling
        self.split_merge = split_merge
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None) -> CRPMixture:
        """Learn the density and the groups of the rows of X."""
        self._check()
        with self._all_or_nothing():
            table = self._learn(X, streaming=self.inference == "smc")
            self._online = None
            if self.inference == "smc":
                self._begin(table)
                self._learn_stream(table, self._runner(), self._fingerprint(table.codes, table.reals))
                assert self._online is not None
                self._built = self._online.ensemble(self.n_jobs)
                self._name_groups(table)
            else:
                self._run(table)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> CRPMixture:
        """Learn from more rows, in their order; memory stays bounded. The first call fixes columns, kinds and
        levels (those that a categorical type declares among them); a later value that is no level counts as missing,
        with a warning.
        """
        if getattr(self, "_online", None) is None:
            warn_forgotten(self)
            self._check()
            with self._all_or_nothing():
                table = self._learn(X, streaming=True)
                self._begin(table)
                self._learn_stream(table, self._part_runner(), "")
            return self
        self._learn_stream(self._encode_next(X), self._part_runner(), "")
        return self

    def _lens(self, table: Table, stream: bool):
        uniform = self.column_prior != "infer"
        return plain_lens(table, uniform_base=uniform, correlated=self.correlated, stream=stream)

    def _begin(self, table: Table) -> None:
        n_sweeps = STREAM_SWEEPS if self.n_sweeps is None else self.n_sweeps
        streams = spawn_streams(root_sequence(self.random_state), self.n_filters + 1)
        self._online = Online.begin(self._lens(table, stream=True), table, rule_of(self, 1, n_sweeps), streams)

    def _learn_stream(self, table: Table, runner: Runner, mark: str) -> None:
        assert self._online is not None
        self._online.learn(table, np.zeros(len(table), np.int32), runner, mark)
        self._built = None
        self._forget("labels_", "_assignments", "diagnostics_", "_order", "_numbers")
        self.n_rows_seen_ = self._online.reservoir.seen

    def _run(self, table: Table) -> None:
        lens = self._lens(table, stream=False)
        rows, label = lens.rows(table).listed().entered(lens.layout), np.zeros(len(table), np.int32)
        problem = Problem(lens.layout, rows, label, settings_of(self, 1, len(table)))
        mark = self._fingerprint(rows.codes, rows.reals)
        runner = self._runner()
        with runner.one_bar():
            kept, outcome = learn_groups(problem, self.n_filters, self.n_sweeps, self.random_state, runner, mark)
        weight = np.full(len(kept), 1 / len(kept))
        counts = np.array([float(len(table))])
        states = [one.state for one in kept]
        kind = np.zeros(len(kept), int)
        self._built = Ensemble(
            [lens], states, [0] * len(kept), weight, counts, kind, plain_members(kind), count_workers(self.n_jobs)
        )
        self._assignments = np.stack([one.z[0] for one in kept])
        self._keep_numbers(GroupNumbers.of_states(self._assignments.max(axis=1, keepdims=True) + 1, weight))
        self.labels_ = self._assignments[most_central(self._assignments)].astype(np.int64)
        self.trace_ = outcome.common_infos()
        half = {name: trace[:, trace.shape[1] // 2 :] for name, trace in self.trace_.items()}
        self.diagnostics_ = {
            name: {"r_hat": float(r_hat(trace)), "ess": float(ess_bulk(trace))}
            for name, trace in half.items()
            if trace.shape[1] >= 4
        }
        if outcome.interrupted is None:
            self._tell_unsettled(self.trace_["n_groups"])
        self.n_rows_seen_ = len(table)
        self._forget("_order")

    def _tell_unsettled(self, trace: np.ndarray) -> None:
        """Nobody who asks for a few sweeps expects the chains to agree after them."""
        n_sweeps = trace.shape[1]
        if n_sweeps < SWEEPS_TO_SETTLE or settled(trace):
            return
        more = "" if self.split_merge == "auto" else " and more splits and merges (split_merge='auto')"
        tell(
            f"CRPMixture: after {n_sweeps} sweeps the number of groups still drifts or differs between the chains "
            f"(R-hat {self.diagnostics_['n_groups']['r_hat']:.2f}): take n_components_posterior_ and labels_ as rough. "
            f"Try more sweeps (n_sweeps={2 * n_sweeps}){more}.",
            ConvergenceWarning,
        )

    @property
    def n_components_(self) -> int:
        """The most probable number of groups, the smallest of equals."""
        posterior = self.n_components_posterior_
        return max(posterior, key=lambda k: (posterior[k], -k))

    # ---- answers ----

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density."""
        return float(np.mean(self.score_samples(X)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each group of the representative state (see `labels_`); the last column is a group not
        met yet.
        """
        table = self._encode(X)
        lens, state = self._ensemble.lenses[0], self._representative()
        p = averaging.responsibilities(lens.layout, lens.rows(table), state)
        return p[:, self._order] if hasattr(self, "_order") else p

    def _name_groups(self, table: Table) -> None:
        """Groups that are some training row's most probable one come first, so that `labels_` has no gaps."""
        lens, state = self._ensemble.lenses[0], self._representative()

        def likeliest(part: Table) -> np.ndarray:
            return averaging.group_log_weights(lens.layout, lens.rows(part), state, 0, 0).argmax(axis=1)

        group, n = averaging.over_rows(self._ensemble, table, likeliest), int(state.used[0, 0])
        chosen = np.bincount(group, minlength=n) > 0
        # the group not met yet stays last
        self._order = np.append(np.argsort(~chosen[:-1], kind="stable"), n - 1)
        self.labels_ = np.argsort(self._order)[group]

    def predict(self, X: Any) -> np.ndarray:
        """Most probable group of every row."""
        return self.predict_proba(X).argmax(axis=1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Groups of the training rows."""
        return self.fit(X).labels_

    def similarity(self, X: Any = None) -> np.ndarray:
        """Posterior probability that two rows share a group, n x n: of the training rows where X is None.

        For new rows each is seated by itself in every state, so two rows of a group not met yet count as apart.
        """
        check_is_fitted(self, "schema_")
        if X is None:
            if not hasattr(self, "_assignments"):
                raise ValueError(
                    "similarity() without X needs a model fitted by inference='gibbs'; pass the rows as X."
                )
            return co_assignment(self._assignments)
        table = self._encode(X)
        out = np.zeros((len(table), len(table)))
        for k, state, w in zip(self._ensemble.lens_of, self._ensemble.states, self._ensemble.weight, strict=True):
            lens = self._ensemble.lenses[k]
            p = averaging.responsibilities(lens.layout, lens.rows(table), state)[:, :-1]
            out += w * (p @ p.T)
        np.fill_diagonal(out, 1.0)
        return np.minimum(out, 1.0)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """New rows from the posterior predictive: an array or a frame, as the training table was, with the plain dtypes
        of its kinds (float64, int64, bool, categories); `impute` keeps those of the table it is given.

        In a group so small that the Student t of a real cell has no variance (two degrees of freedom or one), that t is
        taken to have three, on the same scale, by all that draws or tells of cells; densities keep the model's own. A
        number that many cells of a real column share (half of them 0, say) is no value apart to this model: no draw
        hits it.
        """
        return decode(
            draw.sample_table(self._ensemble, self.schema_, checked_size(n_samples), self._draws(random_state))[0]
        )

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "_assignments"):
            z = self._assignments
            need(self._built is not None and z.ndim == 2 and len(z) == len(self._ensemble.states), "assignments")
        if hasattr(self, "_order"):
            n = int(self._representative().used[0, 0])
            need(sorted(self._order.tolist()) == list(range(n)), "order of the groups")

    def _representative(self):
        k = most_central(self._assignments) if hasattr(self, "_assignments") else 0
        return self._ensemble.states[k]
