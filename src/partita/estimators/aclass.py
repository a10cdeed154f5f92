"""`AClass`: class-conditional Chinese-restaurant mixtures, in batch or online, from tables with holes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..data.decode import decode
from ..data.labels import check_same_classes, encode_labels
from ..data.table import Table
from ..data.validate import Constraint, either, integer, one_of
from ..inference.runner import Runner
from ..inference.streams import root_sequence, spawn_streams
from ..models.mixtures import draw
from ..models.mixtures import ensemble as averaging
from ..models.mixtures.classifier import count_density_chains, learn_classes, make_lenses
from ..models.mixtures.group_numbers import GroupNumbers
from ..models.mixtures.online import Online
from .groups_base import GroupsEstimator, warn_forgotten
from .mixture_base import checked_size
from .mixture_parameters import CONSTRAINTS, rule_of, settings_of
from .probability_base import ProbabilityClassifier

# sweeps of a chain: many where they are cheap, since small tables gain by them
LEAST_SWEEPS, MOST_SWEEPS, CELLS_SWEPT = 22, 30, 240_000
STREAM_SWEEPS = 2
VIEWS = 6


class AClass(ProbabilityClassifier, GroupsEstimator):
    """A classifier that models each class by a mixture, integrates missing cells out and infers the number of groups.

    `fit` runs independent chains (the recommended classifier: views, spikes, pooled posteriors, leave-one-out
    temperature);
    `partial_fit` always streams. `AClass(inference="smc", n_filters=1, n_particles=P, n_sweeps=0, alpha=1.0,
    column_prior=0.5)` is the algorithm of the paper with P particles.

    Parameters
    ----------
    inference : "gibbs" or "smc".
    n_filters : independent chains or filters, averaged. A batch fit runs a quarter as many more, for densities, where
        the lenses of the classifier do not keep them (spikes, few values, counts).
    n_particles : particles of each filter.
    n_sweeps : with "gibbs", the most sweeps of a chain, which stops where rows no longer move (None: 22 to 30, more on
        smaller tables); with "smc" and in `partial_fit`, sweeps over the reservoir after every 100 rows (2), 0 for the
        paper's filter.
    alpha : concentration of the groups of each class, a number or "infer". A filter with `n_sweeps=0` infers neither it
        nor `column_prior`: there "infer" is 1, and the pseudo-counts and hyper-parameters that a fit begins with (0.5 a
        level of a binary column), fixed.
    group_prior : with "gibbs" and alpha="infer", the law of the groups of each class: "crp", a Chinese restaurant
        process; "infer", chosen with alpha among these and finite mixtures of 1 to 256 components with more or less
        equal shares. Streams, and a given alpha, mean the Chinese restaurant process.
    column_prior : "infer", or the pseudo-count of every level of binary and categorical columns.
    max_components : hard cap on the groups of each class.
    reservoir_size : past rows kept by a stream to undo early mistakes.
    correlated : True models the real columns of a group by one full covariance.
    n_views : "auto" (six views in half of the chains), or the number of views in that half; 1 for none.
    missing_label : one more mark of a missing label; None, NaN and NA always are.
    split_merge : split-merge proposals, as in `CRPMixture`; "auto" makes none in chains.
    resampling, column_kinds, random_state, n_jobs, progress, time_budget, checkpoint : as in `CRPMixture`.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ ; temperature_ : exponent of p(row | class) chosen by leave-one-out.
    n_components_posterior_ : dict, number of groups of all classes together to probability (chains with one view);
        `n_components_by_class_` : dict, class to such a dict of its own groups.
    log_evidence_ : of the paper's filter (`n_sweeps=0`), log p(cells, labels) in the units of the table, estimated.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import AClass
    >>> X = np.array([[0.0, np.nan], [0, 1], [1, 0], [1, 1], [np.nan, 0], [0, 0]])
    >>> AClass(random_state=0).fit(X, list("aabbba")).predict([[0, np.nan]])
    array(['a'], dtype='<U1')
    """

    _constraints: ClassVar[dict[str, Constraint]] = {**CONSTRAINTS, "n_views": either(one_of("auto"), integer(1))}

    def __init__(
        self, *, inference="gibbs", n_filters=8, n_particles=1, n_sweeps=None, alpha="infer", group_prior="infer",
        column_prior="infer", max_components=None, reservoir_size=1000, correlated=False, n_views="auto",
        missing_label=None, resampling="systematic", split_merge="auto", column_kinds=None, random_state=None,
        n_jobs=None, progress=False, time_budget=None, checkpoint=None,
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
        self.n_views = n_views
        self.missing_label = missing_label
        self.resampling = resampling
        self.split_merge = split_merge
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any) -> AClass:
        """Learn from rows X with labels y, some of which may be missing."""
        self._check()
        with self._all_or_nothing():
            table = self._learn(X, streaming=self.inference == "smc")
            label, self.classes_ = self._labels(y, None, len(table))
            self._online = None
            if self.inference == "smc":
                self._begin(table)
                mark = self._fingerprint(table.codes, table.reals, label)
                self._learn_stream(table, label, self._runner(), mark)
                assert self._online is not None
                self._built = self._online.ensemble(self.n_jobs)
            else:
                self._run(table, label)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> AClass:
        """Learn from more rows in their order; memory stays bounded. The first call fixes columns, kinds, levels and
        classes (`classes`, or those in y); a later value that is no level counts as missing, with a warning."""
        if getattr(self, "_online", None) is None:
            warn_forgotten(self)
            self._check()
            with self._all_or_nothing():
                table = self._learn(X, streaming=True)
                label, self.classes_ = self._labels(y, classes, len(table))
                self._begin(table)
                self._learn_stream(table, label, self._part_runner(), "")
            return self
        if classes is not None:
            check_same_classes(classes, self.classes_, type(self).__name__)
        with self._all_or_nothing():
            table = self._encode_next(X)
            label, _ = self._labels(y, self.classes_, len(table))
        self._learn_stream(table, label, self._part_runner(), "")
        return self

    def _labels(self, y: Any, classes: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
        return encode_labels(y, self.missing_label, classes, n_rows=n, owner=type(self).__name__)

    def _run(self, table: Table, label: np.ndarray) -> None:
        n_sweeps = min(max(CELLS_SWEPT // (len(table) * self.n_features_in_), LEAST_SWEEPS), MOST_SWEEPS)
        if self.n_sweeps is not None:
            n_sweeps = max(self.n_sweeps, 1)
        fixed = self.column_prior != "infer"
        lenses = make_lenses(table, plain=fixed, uniform_base=fixed, correlated=self.correlated)
        settings = settings_of(self, len(self.classes_), len(table))
        if settings.split_merge is None:  # chains so short, dealt into many groups at the start, gain nothing by it
            settings = replace(settings, split_merge=0)
        n_chains = self.n_filters + count_density_chains(lenses, self.n_filters)
        streams = spawn_streams(root_sequence(self.random_state), n_chains)
        n_views = VIEWS if self.n_views == "auto" else self.n_views
        mark = self._fingerprint(table.codes, table.reals, label, n_sweeps)
        runner = self._runner()
        with runner.one_bar() as bar:
            self._built, kept, outcome = learn_classes(
                table, label, lenses, settings, streams, self.n_filters, n_sweeps, n_views, runner, mark
            )
            if bar is not None and outcome.interrupted is None:
                bar.complete()
        self.trace_ = outcome.common_infos()
        single = np.array([k.state.used[0] - 1 for k in kept if len(k.state.log_weight) == 1])  # without the new group
        self._keep_numbers(GroupNumbers.of_states(single, np.ones(len(single))))
        self.n_rows_seen_ = len(table)

    def _begin(self, table: Table) -> None:
        n_sweeps = STREAM_SWEEPS if self.n_sweeps is None else self.n_sweeps
        fixed = self.column_prior != "infer"
        lens = make_lenses(table, plain=fixed, uniform_base=fixed, correlated=self.correlated, stream=True)[-1]
        streams = spawn_streams(root_sequence(self.random_state), self.n_filters + 1)
        self._online = Online.begin(lens, table, rule_of(self, len(self.classes_), n_sweeps), streams)

    def _learn_stream(self, table: Table, label: np.ndarray, runner: Runner, mark: str) -> None:
        assert self._online is not None
        self._online.learn(table, label, runner, mark)
        self._built = None
        self.n_rows_seen_ = self._online.reservoir.seen
        self._forget("trace_", "_numbers")

    # ---- answers ----

    @property
    def n_components_by_class_(self) -> dict[Any, dict[int, float]]:
        """Class to the posterior over the number of its groups."""
        return dict(zip(self.classes_.tolist(), self._group_numbers().of_class, strict=True))

    @property
    def temperature_(self) -> float:
        """Exponent of p(row | class), averaged over the members of the vote; 1 for the paper's filter."""
        return self._ensemble.temperature

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`) given the observed cells of each row."""
        return averaging.class_probabilities(self._ensemble, self._encode(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """New rows and their classes; cells of very small groups as in `CRPMixture.sample`.

        After a batch fit a number that many cells share, or one of few values, is drawn as such, as `impute` draws it:
        the law is that of the chains that look closer at numeric columns, not quite that of `score_samples`, to which
        such a value is a point. Streams, `correlated=True` and a given `column_prior` never draw it.
        """
        table, label = draw.sample_table(
            self._ensemble, self.schema_, checked_size(n_samples), self._draws(random_state)
        )
        return decode(table), self.classes_[label]
