"""`KikuchiBayesClassifier`: which attributes act together, found by a greedy path and averaged over it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.validate import Constraint, boolean, integer, number, one_of, optional
from ..inference.blas import one_blas_thread
from ..inference.brake import Brake
from ..inference.loop import count_workers
from ..inference.runner import Runner
from ..inference.streams import root_sequence
from ..models.coded.coding import Coder
from ..models.evidence.learn import Evidence, fit_evidence
from ..models.evidence.omitted import tell_omitted
from ..models.evidence.settings import Settings
from ..models.evidence.soundness import check_evidence
from ..models.kikuchi.learnt import Kikuchi
from ..models.kikuchi.path import find_path
from ..models.kikuchi.problem import Choices, Problem
from ..models.kikuchi.regions import Region
from ..models.kikuchi.soundness import check_kikuchi
from .closed_form import ClosedForm, Postponed, check_findings, findings
from .labelled_base import LabelledEstimator
from .probability_base import ProbabilityClassifier

SEARCH_SHARE = 0.5  # of the time budget that the closed-form search may use where the evidence estimator follows
SEARCHED_ORDER = 4  # of the largest region that the search of "evidence" finds by itself
PAIRS_PER_TRIPLE = 5  # a triple takes longer to scan and is less likely to be there


@dataclass
class Explanation:
    """What each region of a path says of each row.

    regions         the regions in the order of the path; the first, (), is the class alone. With "evidence" also
                    ("slope", column), ("steps", column), ("products",), ("chosen products",) and ("pooling",).
    contributions   (n, regions, classes): what a region adds to the log probability of a class, less the mean over
                    classes; for two classes twice the value of the second is its contribution to the log odds.
    log_odds        (n, classes): their sum, so log probabilities less their mean over the classes: half the log odds
                    where there are two. Its softmax is `predict_proba`.
    """

    regions: list[Region]
    contributions: np.ndarray
    log_odds: np.ndarray


class KikuchiBayesClassifier(ClosedForm, ProbabilityClassifier, LabelledEstimator):
    """Kikuchi-Bayes [1]: a Markov network over attributes and class, with interactions of up to `max_order` variables.

    Numeric columns are cut by Fayyad and Irani's rule on the training rows. A missing cell is the learnt level
    "missing" where its column had missing cells in training; where it had none the cell is summed over the attribute's
    levels in the Kikuchi product, exactly (up to tables of 2^18 cells; beyond that the row is answered by a shorter
    path, with a warning). A level not seen in training is treated as missing.

    Parameters
    ----------
    max_order : largest region, the class counted (2 to 6): 2 selects among naive Bayes's attributes, 4 finds
        interactions of up to three attributes with the class. The search of "evidence" itself ends at three attributes:
        with 5 or 6 larger regions reach it only from the hilltop of the closed-form path, as one more stage, and only
        from 200 rows on: with fewer they are too often there by chance, which leave-one-out does not see.
    averaging : True averages over the stages of a path: with "paper" by their posterior weights (kBMA), with "evidence"
        by weights chosen by leave-one-out. False predicts by one stage: with "paper" the hilltop (kMAP), with
        "evidence" the stage with the best leave-one-out predictions.
    estimate : "evidence" (the recommended one): maximum-entropy parameters with Gaussian priors whose variances
        maximise the evidence, in stages that are pooled by leave-one-out; numeric columns also act by their values.
        "paper": the closed-form product of [1]. Both give the same `path_`, `map_regions_` and `region_graph_`; with
        "evidence" the search for them is run when one of them, or `interaction_information_` or `not_searched_`, is
        first asked for (or the model is saved), unless
        `time_budget`, `checkpoint`, `progress` or a `max_order` above 4 make it a part of the fit.
    missing_cells : with "evidence", what a missing cell is averaged over where training had none in its column.
        "conditional": its levels given the cells that are seen, by naive Bayes of the training rows; "frequencies": the
        training frequencies of its levels. Either way probabilities are averaged: exactly up to 256 completions of a
        row, beyond that over 256 drawn ones. A number is completed by the means of its bins.
    theta : total pseudo-count of every submodel (eq. 4), spread evenly over its cells: 1 (the default) to predict;
        1e-4 or 1e-3 to come near Table 1 of [1]. With "evidence" it decides the closed-form search and
        `interaction_information_` only: the parameters have priors of their own.
    beyond : how the path goes on past the hilltop, as long as the likelihood rises: "end", after the last order;
        "each", after every order; "never".
    singles : "greedy" starts from the class alone and chooses attributes one by one; "all" starts from naive Bayes.
    prior_cells : the degrees of freedom in the prior (eq. 7) count "all" cells, or only those "observed".
    force_first_cut : cut every numeric column at least once, even where the description length advises against it.
    max_candidates : most regions of one size that are searched; more are screened to the most promising attributes,
        with a warning that names what was not searched. The search of "evidence" has the same limit on pairs, and a
        fifth of it on triples. Pairs are looked at before that, since columns that act only together say nothing alone:
        all of them, in as many rows as the limit allows, where at least 200 rows each can be afforded, so where they
        are no more than max_candidates * rows / 200 and four million; else those of the columns that say most alone.
    weight_cut : the path ends when a stage would weigh less than exp(-weight_cut) of the best; None: never.
    missing_label : one more mark of a missing label; None, NaN and NA always are. Rows without a label are left out.
    column_kinds, random_state, n_jobs, progress, time_budget, checkpoint : as in `AClass`. The result does not depend
        on `n_jobs`; `random_state` draws the rows that "evidence" learns variances from where there are many.
        When `time_budget` (seconds) is spent, or on Ctrl-C, the path found so far is kept and a warning names what was
        not searched. With "evidence" the search uses at most half of the time; what it found is fitted even when the
        time is over, and a warning names the stages that were not. A checkpoint holds the search only.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ ; theta_ : the pseudo-count used.
    path_ : a frame with one row per stage: stage, region, log_likelihood, df, log_posterior, weight, phase.
    map_regions_ : regions of the hilltop in the order in which they were added, as tuples of column positions.
    region_graph_ : dict from regions (the class not listed) to their counting numbers, of the hilltop.
    interaction_information_ : dict from every region of the path and of `region_graph_`, and every attribute in one of
        them, to its interaction information with the class (nats).
    not_searched_ : dict of what `max_candidates` or a stop left out, empty where nothing was; positions of columns.
        "orders": numbers of attributes whose regions a stop left unsearched, in part or wholly, by the closed-form
        search; "attributes": of that search, from the number of attributes of a region to those left out; and of
        "evidence" "stages", "columns" (none of their pairs was looked at), "pairs" (looked at in some rows
        only) and "triples_over" (pairs whose triples were not searched).

    References
    ----------
    [1] A. Jakulin and I. Rish, Kikuchi-Bayes: Markov networks for classification, IBM research report.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import KikuchiBayesClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 3))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> KikuchiBayesClassifier(estimate="paper").fit(X, y).map_regions_
    [(0, 1)]
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_order": integer(2, 6),
        "averaging": boolean(),
        "estimate": one_of("evidence", "paper"),
        "theta": number(0, open_low=True),
        "beyond": one_of("end", "each", "never"),
        "singles": one_of("greedy", "all"),
        "prior_cells": one_of("all", "observed"),
        "force_first_cut": boolean(),
        "max_candidates": integer(1),
        "weight_cut": optional(number(0, open_low=True)),
        "missing_cells": one_of("conditional", "frequencies"),
    }
    _scaled = False

    def __init__(
        self, *, max_order=4, averaging=True, estimate="evidence", theta=1.0, beyond="end", singles="greedy",
        prior_cells="all", force_first_cut=False, max_candidates=1_000_000, weight_cut=40.0,
        missing_cells="conditional", missing_label=None, column_kinds=None, random_state=None, n_jobs=None,
        progress=False, time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.max_order = max_order
        self.averaging = averaging
        self.estimate = estimate
        self.theta = theta
        self.beyond = beyond
        self.singles = singles
        self.prior_cells = prior_cells
        self.force_first_cut = force_first_cut
        self.max_candidates = max_candidates
        self.weight_cut = weight_cut
        self.missing_cells = missing_cells
        self.missing_label = missing_label
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KikuchiBayesClassifier:
        """Learn from rows X with labels y; weights count as repetitions of a row, rows without a label do not count.

        With "evidence" and more than some 4000 different rows, prior variances come from rows drawn at random: another
        order of the rows, or another `random_state`, may then move a probability by some hundredths."""
        self._check()
        with self._all_or_nothing():
            runner = self._runner()
            table, label, weight = self._learn_labelled(X, y, sample_weight)
            self._coder = Coder.learn(table, label, len(self.classes_), weight, bool(self.force_first_cut))
            codes = self._coder.codes(table)
            problem = Problem.of(codes, self._coder.levels, label, weight, len(self.classes_))
            self.theta_ = float(self.theta)
            self._built: Kikuchi | Evidence
            later = Runner(self.n_jobs, label=type(self).__name__)
            self._postponed, search = Postponed(problem, self._choices(), later, self.averaging), None
            if self._searches_first():
                mark = self._fingerprint(codes, label, weight)
                search = find_path(problem, self._choices(), self._for_search(runner), mark, self.schema_.names)
                self._findings, self._postponed = findings(problem, search, self.averaging), None
            if self.estimate == "evidence":
                pressed = search is not None and search.work.brake is not None and search.work.brake.keyboard
                self._built = self._fit_evidence(codes, table.reals, label, weight, runner, pressed)
            else:
                assert search is not None
                self._built = Kikuchi.of(problem, search.path, self.theta_, self.averaging)
        return self

    def _searches_first(self) -> bool:
        """Whether the closed-form search belongs to the fit: its regions are used, or watched, stopped or kept."""
        watched = self.progress or self.time_budget is not None or self.checkpoint is not None
        return self.estimate == "paper" or watched or self.max_order > SEARCHED_ORDER

    def _for_search(self, runner: Runner) -> Runner:
        """What the closed-form search is given: with "evidence" half of the time, the parameters take the rest."""
        left = runner.time_left()
        if self.estimate == "paper" or left is None:
            return runner
        return replace(runner, time_budget=SEARCH_SHARE * left, begun=time.monotonic())

    def _fit_evidence(
        self, codes: np.ndarray, reals: np.ndarray, label: np.ndarray, weight: np.ndarray, runner: Runner, pressed: bool
    ) -> Evidence:
        """Maximum-entropy parameters; the closed-form hilltop, where there is one, helps out as `Path.walk` says.

        After Ctrl-C, `pressed` in the search or here, or when the time is over, only what was found is fitted."""
        until = None if runner.time_budget is None else runner.begun + runner.time_budget
        regions = self._findings["regions"] if self._postponed is None else []
        with Brake() as brake, one_blas_thread():
            built = fit_evidence(
                codes, self._coder.levels, reals, label, len(self.classes_), weight, self._settings(),
                [region for region in regions if len(region) > 1],
                np.random.default_rng(root_sequence(self.random_state)), count_workers(self.n_jobs),
                lambda: pressed or brake.keyboard or (until is not None and time.monotonic() > until),
                binned=self.schema_.numeric.tolist(),
            )  # fmt: skip
        tell_omitted(built.omitted, pressed or brake.keyboard, self.schema_.names, self.max_candidates)
        return built

    def _settings(self) -> Settings:
        return Settings(
            averaging=self.averaging,
            force_first_cut=bool(self.force_first_cut),
            conditional_holes=self.missing_cells == "conditional",
            max_attributes=self.max_order - 1,
            max_candidates=self.max_candidates,
            max_triples=max(1, self.max_candidates // PAIRS_PER_TRIPLE),
        )

    def _choices(self) -> Choices:
        return Choices(
            self.max_order, float(self.theta), self.beyond, self.singles, self.prior_cells, self.max_candidates,
            self.weight_cut,
        )  # fmt: skip

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "schema_"):
            return
        levels, n_classes = self._coder.levels, len(self.classes_)
        if isinstance(self._built, Evidence):
            check_evidence(self._built, levels, len(self.schema_.numeric), n_classes)
        else:
            check_kikuchi(self._built, levels, n_classes)
        check_findings(self._findings, len(levels))

    @property
    def not_searched_(self) -> dict[str, Any]:
        """What limits and stops left out of the searches, by column positions; empty where everything was searched."""
        out = super().not_searched_
        if isinstance(self._built, Evidence):
            omitted = self._built.omitted
            out["stages"], out["columns"] = list(omitted.stages), list(omitted.columns)
            out["pairs"], out["triples_over"] = omitted.pairs, omitted.triples_over
        return {what: left for what, left in out.items() if len(left)}

    # ---- answers ----

    def _read(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Levels and numbers of new rows."""
        check_is_fitted(self, "_built")
        table = self._encode(X)
        return self._coder.codes(table), table.reals

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class (columns as `classes_`) for each row."""
        proba = np.exp(self.predict_log_proba(X))
        return proba / proba.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of every class for each row; tiny probabilities keep their logarithms."""
        codes, reals = self._read(X)
        if isinstance(self._built, Kikuchi):
            return self._built.log_proba(codes)
        return self._built.log_proba(codes, reals)

    def explain(self, X: Any) -> Explanation:
        """The additive contribution of every region to the log odds of every class, for each row.

        Averaged predictions are no product. With `estimate="paper"` they are cut off after each stage in turn, and the
        contribution of a region is what the prediction changes by from the cut before it to the cut after it; with
        `averaging=False` that is the log of the region's own factor. With "evidence" contributions are those of the
        stages averaged by their weights, and the last one, ("pooling",), is what averaging probabilities rather than
        their logarithms adds.
        """
        codes, reals = self._read(X)
        if isinstance(self._built, Kikuchi):
            contributions = self._built.contributions(codes)
            return Explanation(list(self._built.regions), contributions, contributions.sum(axis=1))
        told = self._built.explain(codes, reals)
        first = np.broadcast_to(told.intercept, (len(codes), len(self.classes_)))[:, None]
        contributions = np.concatenate([first, told.contributions, told.pooling[:, None]], axis=1)
        keys = [(), *map(self._named, told.keys), ("pooling",)]
        return Explanation(keys, contributions, contributions.sum(axis=1))

    def _named(self, key: tuple) -> tuple:
        """A group of the evidence estimator: a region as it is, a numeric group with the position of its column."""
        if len(key) == 2 and isinstance(key[0], str):
            assert isinstance(self._built, Evidence)
            return (key[0], int(self.schema_.numeric[self._built.numerics.column[key[1]]]))
        return key
