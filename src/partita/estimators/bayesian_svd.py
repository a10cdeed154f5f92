"""`BayesianSVD`: matrix completion with a rank that is inferred and error bars that can be believed."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.entries import is_frame, is_long, read_matrix, read_triplets
from ..data.validate import Constraint
from ..inference.streams import root_sequence
from ..models.matrices import chains as svd_chains
from ..models.matrices.soundness import check_matrix_model
from .base import TableEstimator
from .matrix_answers import MatrixAnswers
from .matrix_fold_in import folded
from .matrix_learning import Matrix, grown_matrix, make_problem, new_matrix
from .matrix_parameters import CONSTRAINTS, check_going_on, check_together, own_cut_points, parts_of_model
from .matrix_summary import describe_chains, posterior_of

BURN_IN = 200  # sweeps at least, where it is left open
BURN_IN_AGAIN = 1 / 4  # of it, when chains go on with more entries


class BayesianSVD(MatrixAnswers, TableEstimator):
    """Completion of a matrix with holes: cell = mean + row + column offset + product of a few factors + noise.

    Parameters
    ----------
    max_rank : most factors that may stand above the noise.
    prior : "ard", the recommended default: scales of factors free down to zero, noise that differs by row and column;
        "paper", the thesis's: factors switched on or off.
    sampler : "blocked" (rows drawn whole) or "coordinate" (the thesis's, number by number; prior="paper" only).
    link : "gaussian" for measurements and ratings; "ordinal" for levels, whose cut points are learnt; "binomial" for
        successes out of trials.
    n_samples, burn_in : sweeps of each chain that are kept, and dropped before (None: 200, and twice as many, up to
        four times over, while the likelihood of a chain still rises or falls; `n_dropped_` says how many it took).
    n_chains : independent chains.
    init : where a chain begins: "random", "svd", or an integer, a starting rank.
    missingness_features : implicit feedback: how many singular vectors of the pattern of observed cells are features
        of rows and columns, log activity beside them. "auto": up to 100 where the pattern is not what chance would
        make of it, none with link="binomial"; 0: none.
    offsets : whether mean, row and column offsets are in the model (None: yes, but not with sampler="coordinate").
    unequal_noise : whether noise differs by row and column (None: with prior="ard", but not with link="binomial").
    cut_points : of link="ordinal": "rows", every row (a rater, say) has cut points of its own about those of all, as
        far from them as is learnt; "shared", all rows have the same (None: "rows" with prior="ard", else "shared").
    duplicates : a cell given twice: "error", or "mean" (successes and trials are summed).
    column_kinds : None only; the kind of all cells is said by `link`.
    random_state, n_jobs, progress, time_budget, checkpoint : as in all estimators. Same seed, same result, for any
        `n_jobs`.

    Attributes
    ----------
    row_ids_, column_ids_ : ids of the rows and of the columns, in the order of the completed matrix.
    rank_ : posterior mode of the rank: components that stand above the noise edge; `rank_posterior_` : dict, rank to
        probability. On ratings smaller components fade into the noise without an end: the rank counts those above.
    levels_ : of an ordinal link, the levels in order.
    trace_ : dict, name to array (chains, sweeps); `r_hat_` : dict, name to R-hat over the kept sweeps (1 is best).
    noise_ : posterior mean of the noise's standard deviation, of a row and a column of ordinary noise (Gaussian link).

    Examples
    --------
    >>> import numpy as np
    >>> from partita import BayesianSVD
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(rng.normal(size=30), rng.normal(size=20))
    >>> X[rng.random(X.shape) < 0.5] = np.nan
    >>> model = BayesianSVD(random_state=0, burn_in=50, n_samples=50).fit(X)
    >>> model.rank_
    1
    >>> bool(np.isfinite(model.complete()).all())
    True
    """

    _constraints: ClassVar[dict[str, Constraint]] = CONSTRAINTS

    def __init__(
        self, *, max_rank=64, prior="ard", sampler="blocked", link="gaussian", n_samples=300, burn_in=None, n_chains=2,
        init="random", missingness_features="auto", offsets=None, unequal_noise=None, cut_points=None,
        duplicates="error", column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None,
        checkpoint=None,
    ):  # fmt: skip
        self.max_rank = max_rank
        self.prior = prior
        self.sampler = sampler
        self.link = link
        self.n_samples = n_samples
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.init = init
        self.missingness_features = missingness_features
        self.offsets = offsets
        self.unequal_noise = unequal_noise
        self.cut_points = cut_points
        self.duplicates = duplicates
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    # ---- learning ----

    def fit(
        self, X: Any, y: Any = None, *, trials: Any = None, row_features: Any = None, column_features: Any = None,
        entries: bool | None = None,
    ) -> BayesianSVD:  # fmt: skip
        """Learn from a matrix with holes.

        Parameters
        ----------
        X : a dense matrix (array or frame; NaN, None and NA are holes), a scipy sparse matrix (what is stored is
            observed, zeros too), or a frame that lists entries: three named columns, row ids, column ids and values
            (with link="binomial" a fourth, trials).
        y : ignored.
        trials : with link="binomial", numbers of trials in a matrix of the shape of X; 1 by default. Beside a sparse X
            every cell that was tried is observed: what X does not store there are 0 successes.
        row_features, column_features : arrays, one line per row or column; a frame with ids as its index, or a dict.
        entries : whether X is a frame that lists entries (True) or the matrix itself (False). None: a frame with three
            named columns is a list where the first two hold ids, which have neither fractions nor holes.
        """
        self._check()
        if trials is None and is_long(X, self.link, entries):
            try:
                return self.fit_triplets(X, row_features=row_features, column_features=column_features)
            except ValueError as error:
                if entries is None:
                    error.add_note("X was read as a list of entries. If it is the matrix itself, pass entries=False.")
                raise
        with self._all_or_nothing():
            observed = read_matrix(X, trials)
            self._container = "numpy" if not is_frame(X) else "pandas" if hasattr(X, "iloc") else "polars"
            features = (row_features, column_features)
            self._learn_matrix(new_matrix(observed, self.link, self.duplicates, *features, None, None, fixed=True))
            self.n_features_in_ = len(self._matrix.columns)
        return self

    def fit_triplets(
        self, rows: Any, columns: Any = None, values: Any = None, trials: Any = None, *, data: Any = None,
        row_features: Any = None, column_features: Any = None, row_ids: Any = None, column_ids: Any = None,
    ) -> BayesianSVD:  # fmt: skip
        """Learn from entries.

        Parameters
        ----------
        rows, columns, values : ids (any hashable type) and numbers, one of each per entry; with `data` the names of
            its columns; or `rows` alone, a frame of three columns (four with trials). NaN: not observed after all.
        trials : with link="binomial", of how many trials `values` are the successes; 1 by default.
        row_features, column_features : a frame with ids as its index, or a dict from id to vector: lined up by id, and
            ids without entries become known. Or an array: where ids are whole numbers below its height the id is the
            line, else one line per id in sorted order.
        row_ids, column_ids : all ids, in the order of the features' lines; also such without any entry.
        """
        self._check()
        with self._all_or_nothing():
            frame = rows if data is None else data
            observed = read_triplets(rows, columns, values, trials, data)
            self._container = "pandas" if hasattr(frame, "iloc") and is_frame(frame) else "numpy"
            listed = row_ids, column_ids
            features = (row_features, column_features)
            self._learn_matrix(new_matrix(observed, self.link, self.duplicates, *features, *listed, fixed=False))
            self._forget("n_features_in_")
        return self

    def partial_fit(
        self, rows: Any, columns: Any = None, values: Any = None, trials: Any = None, *, data: Any = None,
        row_features: Any = None, column_features: Any = None, n_samples: int | None = None, burn_in: int | None = None,
    ) -> BayesianSVD:  # fmt: skip
        """Learn from more entries: the chains go on from where they stand, and draws are kept anew.

        Parameters
        ----------
        rows, columns, values, trials, data : as in `fit_triplets`; ids may be new.
        row_features, column_features : of new ids only; unknown ones count as the mean.
        n_samples, burn_in : sweeps now, kept and dropped before; by default `n_samples` and a quarter of `burn_in`
            (50 and more, where that is None).
        """
        if not hasattr(self, "row_ids_"):
            return self.fit_triplets(
                rows, columns, values, trials, data=data, row_features=row_features, column_features=column_features
            )
        self._check()
        check_going_on(self, {"n_samples": n_samples, "burn_in": burn_in})
        observed = read_triplets(rows, columns, values, trials, data, who="partial_fit")
        with self._all_or_nothing():
            features = (row_features, column_features)
            matrix = grown_matrix(self._matrix, observed, self._posterior.link, self.duplicates, *features)
            settings = self._settings(self.n_samples if n_samples is None else n_samples, burn_in, BURN_IN_AGAIN)
            problem = self._set_problem(matrix)
            states, streams = copy.deepcopy((self._states, self._streams))  # a failure leaves the model as it was
            runner = replace(self._runner(), checkpoint=None)
            self._take(svd_chains.continue_chains(problem, states, streams, settings, runner))
        return self

    def fold_in(
        self, rows: Any, columns: Any = None, values: Any = None, trials: Any = None, *, data: Any = None,
        row_features: Any = None, column_features: Any = None,
    ) -> BayesianSVD:  # fmt: skip
        """A model that also knows new rows and columns, from their entries (and features), without refitting.

        In every draw the new row is drawn given its cells, so it comes with its uncertainty; nothing else changes, and
        this model stays as it is. For entries of rows and columns that are both known use `partial_fit`. A new row
        learns from its cells in known columns; a new column from its cells in known and new rows.
        """
        check_is_fitted(self, "row_ids_")
        observed = read_triplets(rows, columns, values, trials, data, who="fold_in")
        return folded(self, observed, row_features, column_features)

    def _learn_matrix(self, matrix: Matrix) -> None:
        root = root_sequence(self.random_state)
        self._entropy = root.generate_state(4).tolist()
        problem = self._set_problem(matrix)
        e = matrix.entries
        parts = [e.row, e.column, e.values, [] if e.trials is None else e.trials, [e.n_rows, e.n_columns]]
        blocks = [block.rows for side in (problem.row_features, problem.column_features) for block in side.blocks]
        mark = self._fingerprint(*parts, *blocks)
        settings = self._settings(self.n_samples, None, 1.0)
        self._take(svd_chains.fit_chains(problem, settings, root, self._runner(), mark))

    def _settings(self, n_samples: int, burn_in: int | None, share: float) -> svd_chains.Settings:
        """`burn_in` None: a share of what the model is told, or of what it needs."""
        known = BURN_IN if self.burn_in is None else self.burn_in
        return svd_chains.Settings(
            n_chains=self.n_chains, burn_in=int(share * known) if burn_in is None else burn_in, n_samples=n_samples,
            init=self.init, sampler=self.sampler, prolong=self.burn_in is None and burn_in is None,
        )  # fmt: skip

    def _set_problem(self, matrix: Matrix) -> Any:
        offsets, unequal = parts_of_model(self)
        problem, self._row_side, self._column_side = make_problem(
            matrix, link=self.link, prior=self.prior, offsets=offsets, unequal_noise=unequal,
            max_rank=min(self.max_rank, max(min(matrix.entries.n_rows, matrix.entries.n_columns), 1)),
            missingness=self._missingness(), row_cuts=own_cut_points(self),
        )  # fmt: skip
        self._matrix = matrix
        self.row_ids_, self.column_ids_ = matrix.rows.labels, matrix.columns.labels
        self._forget("levels_")
        if self.link == "ordinal":
            self.levels_ = matrix.levels
        self._offsets = offsets
        return problem

    def _missingness(self) -> str | int:
        """How often a pair was tried is mostly design: as features it made held-out baseball worse, so it is none."""
        return 0 if self.missingness_features == "auto" and self.link == "binomial" else self.missingness_features

    def _take(self, fitted: svd_chains.Fitted) -> None:
        """Keep what the chains give."""
        self._posterior = posterior_of(fitted, self._matrix.levels, self._offsets)
        self._states, self._streams = list(fitted.states), list(fitted.streams)
        self.n_dropped_ = fitted.burn_in
        described = describe_chains(fitted, self._posterior)
        self.rank_posterior_, self.rank_, self.trace_, self.r_hat_, self.diagnostics_ = described
        self._forget("noise_")
        if self.link == "gaussian":
            self.noise_ = float(np.mean([draw.alpha**-0.5 for draw in self._posterior.draws]))
        self.n_entries_ = len(self._matrix.entries)

    # ---- rules ----

    def _check(self) -> None:
        super()._check()
        check_together(self)

    def _marks(self) -> dict[str, Any]:
        free = {"n_jobs", "progress", "time_budget", "checkpoint", "column_kinds", "random_state", "duplicates"}
        marks = {name: value for name, value in self.get_params(deep=False).items() if name not in free}
        return marks if self.random_state is None else marks | {"seed": root_sequence(self.random_state)}

    def _check_loaded(self) -> None:
        if hasattr(self, "row_ids_"):
            check_matrix_model(self._posterior, self._matrix.entries, self._states, self._row_side, self._column_side)

    @property
    def _rows(self):  # type: ignore[override]
        return self._matrix.rows

    @property
    def _columns(self):  # type: ignore[override]
        return self._matrix.columns

    @property
    def _entries(self):  # type: ignore[override]
        return self._matrix.entries

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags
