"""`StructureLearner`: which columns depend on which, in what roles, and how sure that is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from ..data.validate import Constraint, either, integer, number, one_of, optional
from ..inference.streams import root_sequence, spawn_streams
from ..models.structure.learn import NetTask
from ..models.structure.learnt import Learnt
from ..models.structure.posterior import NetPosterior
from ..models.structure.selective import best_only
from ..models.structure.several import part_of
from ..models.structure.template import mean_template
from .base import TableEstimator
from .net_agreement import warn_of_disagreement
from .net_averages import AveragedNetworks
from .net_filling import AveragedFilling
from .net_prior import check_ordered, read_knowledge
from .net_settings import check_possible, hyper_means, read_settings
from .net_tables import PER_TABLE, NetTable, are_several, know_together, one_for_each

# parameters that do not decide the result of a chain
UNMARKED = {"n_jobs", "progress", "time_budget", "checkpoint", "column_kinds", "random_state", "average"}


class StructureLearner(AveragedNetworks, AveragedFilling, TableEstimator):
    """Bayesian networks over binary and categorical columns, learnt as a posterior: every edge with its probability.

    Columns fall into classes that play the same role; the probability of an edge depends on the classes of its ends.
    "ordered-block": classes have an order and edges go to later classes only; "block": any two classes; "sparse": one
    class of learnt density; "uniform": all acyclic graphs alike. "auto" weighs the first three by their evidence. As in
    [1], the block prior is P(z, G), proportional to P(z) times the Beta ratios on acyclic graphs.

    Up to 16 columns uniform and sparse are exact, and ordered classes are sampled with graphs and edge probabilities
    summed out.

    `fit([X1, X2, ...])` learns from several tables with columns of their own. Each has a graph of its own; classes, and
    with them the probabilities of edges between classes, are shared: classes by a Chinese restaurant franchise [2] of
    concentration `alpha`, edges by adding up those of all tables between two classes. "sparse" shares the density,
    "uniform" nothing. A list of one table is that table.

    Parameters
    ----------
    prior : "auto", "block", "ordered-block", "sparse" or "uniform".
    score : "dirichlet" (the pseudo-count `gamma` in every cell) or "bdeu" (`gamma` rows spread over each table).
    alpha : concentration of the Chinese restaurant over classes, or "infer".
    beta : edge probabilities between classes are Beta(beta, beta); "infer" learns both numbers of the law.
    gamma : pseudo-count of the score; with "bdeu" its equivalent sample size (10 does well); or "infer".
    sharing : with several tables, the concentration of each table's own restaurant: the larger, the more alike tables
        are in how common classes are; "infer" learns it.
    max_parents : most parents of a column; None has no limit.
    n_chains, n_sweeps, burn_in : independent chains, sweeps of each, and how many at the start do not count (None: a
        fifth).
    required_edges, forbidden_edges : (parent, child) pairs by name or position, or whatever `BayesianNetwork` takes.
    classes : one class for every column, where they are known; None learns them.
    template : matrix of edge probabilities between the given classes, where it is known.
    moves : "all", or "thesis": single edges and classes of single columns only, as in [1]. The thesis's kernel is right
        but does not get about: with ordered classes it takes thousands of sweeps to turn one edge round.
    exact : "auto" takes exact sums where they are cheaper than sampling; True insists on them (uniform and sparse up to
        16 columns, classes up to 6; of several tables uniform and sparse); False always samples classes.
    average : "posterior" averages over everything; "best" over the 100 best states that were seen, weighed by their
        joint probability, as [1] does: every answer is of these then, and there are no errors.
    map_search : "chains" takes the best state that chains saw for `map_network_`; "anneal" goes on from there by
        simulated annealing.
    column_kinds : kinds of columns that should not be inferred.
        With several tables this, required_edges, forbidden_edges and classes are lists of one entry a table, or None;
        classes of the same name in several tables are one class.
    random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator.

    Attributes
    ----------
    edge_probabilities_ : array, P(edge from row to column); edge_errors_ its Monte Carlo standard errors (0 if exact).
    coassignment_ : array, P(two columns share a class).
    template_ : array, mean probability of an edge from a class of `classes_map_` to another; NaN where no edge can be.
    classes_map_ : array, the most probable classes; with ordered ones numbered in order.
    n_classes_posterior_ : dict, number of classes to probability.
    top_models_ : list of dicts, the best states seen: log_joint, probability (among them), classes, graph.
    map_network_ : BayesianNetwork of the best state.
    prior_weights_ : dict, posterior weight of every prior that was weighed.
    method_ : "exact" or "sampled".
    diagnostics_ : dict by prior: R-hat and effective sizes of the log joint and of the edges. With "auto" a prior whose
        weight is below a fiftieth after a short run is not run on, and has none.
    hyper_ : dict of alpha, beta1, beta2, gamma, and with several tables sharing: as given, or their posterior means.
    parent_limit_ : dict; where sets of parents were bounded to be listed, the bound and the share of columns at it.
    trace_ : dict of arrays (chains, sweeps). n_features_in_, feature_names_in_.
    tables_ : only with several tables: a fitted `StructureLearner` for each, which answers all that one table's does
        and can be drawn and saved by itself. edge_probabilities_, edge_errors_, classes_map_ (numbers shared by all)
        and map_network_ are lists with one entry a table then; coassignment_ is over the columns of all tables one
        after the other, template_ and n_classes_posterior_ of the classes they share; top_models_ has lists of classes
        and graphs. score_samples, query, sample_networks and to_networkx are told the table by `table=`.

    References
    ----------
    [1] Mansinghka (2009), Natively Probabilistic Computation, chapter 2; Mansinghka, Kemp, Tenenbaum and Griffiths,
    Structured priors for structure learning, UAI 2006.
    [2] Teh, Jordan, Beal and Blei (2006), Hierarchical Dirichlet processes, JASA 101.

    Examples
    --------
    >>> import numpy as np
    >>> from partita import StructureLearner
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.random((200, 2)) < 0.5
    >>> effect = rng.random(200) < np.where(cause.any(axis=1), 0.9, 0.1)
    >>> X = np.column_stack([cause, effect]).astype(int)
    >>> model = StructureLearner(prior="uniform").fit(X)
    >>> either_way = model.edge_probabilities_ + model.edge_probabilities_.T
    >>> either_way[:2, 2].round(2)
    array([1., 1.])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "prior": one_of("auto", "block", "ordered-block", "sparse", "uniform"),
        "score": one_of("dirichlet", "bdeu"),
        "alpha": either(number(0, open_low=True), one_of("infer")),
        "beta": either(number(0, open_low=True), one_of("infer")),
        "gamma": either(number(0, open_low=True), one_of("infer")),
        "sharing": either(number(0, open_low=True), one_of("infer")),
        "max_parents": optional(integer(0)),
        "n_chains": integer(1),
        "n_sweeps": integer(1),
        "burn_in": optional(integer(0)),
        "moves": one_of("all", "thesis"),
        "exact": one_of("auto", True, False),
        "average": one_of("posterior", "best"),
        "map_search": one_of("chains", "anneal"),
    }

    def __init__(
        self, prior="auto", *, score="dirichlet", alpha=0.5, beta=1.0, gamma=0.5, sharing="infer", max_parents=None,
        n_chains=4, n_sweeps=2000, burn_in=None, required_edges=None, forbidden_edges=None, classes=None, template=None,
        moves="all", exact="auto", average="posterior", map_search="chains", column_kinds=None, random_state=None,
        n_jobs=None, progress=False, time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.prior = prior
        self.score = score
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.sharing = sharing
        self.max_parents = max_parents
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.required_edges = required_edges
        self.forbidden_edges = forbidden_edges
        self.classes = classes
        self.template = template
        self.moves = moves
        self.exact = exact
        self.average = average
        self.map_search = map_search
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    # ---- learning ----

    def fit(self, X: Any, y: Any = None) -> StructureLearner:
        """Learn from the rows of X, or of every table in a list."""
        self._check()
        read_settings(self)
        several = are_several(X, type(self).__name__)
        with self._all_or_nothing():
            self._forget("tables_", "feature_names_in_", "schema_")
            if several and len(X) > 1:
                self._fit_several(list(X))
            else:
                self._fit_one(X[0] if several else X)
        return self

    def _fit_one(self, X: Any) -> None:
        owner = type(self).__name__
        table = NetTable.learn(X, self.column_kinds, owner)
        known = read_knowledge(
            table.schema, owner, self.required_edges, self.forbidden_edges, self.max_parents, self.classes,
            self.template,
        )  # fmt: skip
        if self.prior in ("ordered-block", "auto"):
            check_ordered(known, table.schema.names, owner)
        self._use(table)
        self._set(self._learn_from([table], known))
        warn_of_disagreement(self.chain_edges_, table.schema.names, owner)

    def _fit_several(self, X: list[Any]) -> None:
        owner = type(self).__name__
        kinds = one_for_each(self.column_kinds, len(X), "column_kinds", owner)
        tables = [NetTable.learn(one, of, owner) for one, of in zip(X, kinds, strict=True)]
        known = know_together(
            tables, owner, self.required_edges, self.forbidden_edges, self.max_parents, self.classes, self.template
        )
        if self.prior in ("ordered-block", "auto"):
            check_ordered(known, [name for table in tables for name in table.schema.names], owner)
        self.n_features_in_ = known.n
        learnt = self._learn_from(tables, known)
        self.tables_, node, cell = [], 0, 0
        for k, table in enumerate(tables):
            one = clone(self).set_params(checkpoint=None)
            for name in PER_TABLE:
                setattr(one, name, one_for_each(getattr(self, name), len(X), name, owner)[k])
            nodes, cells = slice(node, node + len(table.levels)), slice(cell, cell + int((table.codes < 0).sum()))
            one._use(table)
            one._set(Learnt(**vars(learnt) | {"posterior": part_of(learnt.posterior, nodes, cells)}))
            self.tables_.append(one)
            node, cell = nodes.stop, cells.stop
        self._set(learnt)
        warn_of_disagreement(self.chain_edges_, [name for table in tables for name in table.schema.names], owner)
        self._part()

    def _learn_from(self, tables: list[NetTable], known: Any) -> Learnt:
        codes = [table.codes for table in tables]
        check_possible(self, codes, known)
        root = root_sequence(self.random_state)
        marks = self._fingerprint(*codes, *(repr(table.schema.to_tree()) for table in tables))
        learnt = NetTask(
            codes, [table.levels for table in tables], known, read_settings(self), lambda k: spawn_streams(root, k),
            self._runner(), marks,
        ).learn()  # fmt: skip
        return Learnt(**vars(learnt) | {"posterior": best_only(learnt.posterior)}) if self.average == "best" else learnt

    def _use(self, table: NetTable) -> None:
        self.schema_, self._codes, self._levels = table.schema, table.codes, table.levels
        self.n_features_in_ = self.schema_.n_columns
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)

    def _set(self, learnt: Learnt) -> None:
        self._posterior: NetPosterior = learnt.posterior
        self.edge_probabilities_ = np.clip(learnt.posterior.edges, 0.0, 1.0)
        self.edge_errors_ = learnt.posterior.edge_errors
        self.chain_edges_ = learnt.posterior.chain_edges
        self.coassignment_ = learnt.posterior.together()
        self.classes_map_ = learnt.posterior.best_classes()
        self.template_ = mean_template(self.classes_map_, self.edge_probabilities_)
        self.n_classes_posterior_ = learnt.posterior.n_classes()
        self.prior_weights_ = learnt.prior_weights
        self.method_ = learnt.method
        self.diagnostics_ = learnt.diagnostics
        self.trace_ = learnt.trace
        self.parent_limit_ = learnt.parent_limit
        self.hyper_ = hyper_means(self, learnt)
        self._bdeu, self._pseudo = self.score == "bdeu", self.hyper_["gamma"]

    def _part(self) -> None:
        """What is learnt of several tables as lists; classes have the same numbers in all of them."""
        first = self._first()
        self.template_ = mean_template(self.classes_map_, self.edge_probabilities_, first)
        for one, start, end in zip(self.tables_, first[:-1], first[1:], strict=True):
            one.classes_map_ = self.classes_map_[start:end]
            one.template_ = self.template_
        for name in ("edge_probabilities_", "edge_errors_", "chain_edges_", "classes_map_"):
            setattr(self, name, [getattr(one, name) for one in self.tables_])

    def _marks(self) -> dict[str, Any]:
        free = ("required_edges", "forbidden_edges", "classes", "template")
        marks = {name: value for name, value in self.get_params(deep=False).items() if name not in UNMARKED}
        if self.random_state is not None:
            marks["seed"] = root_sequence(self.random_state)
        return marks | {name: repr(getattr(self, name)) for name in free}

    def _check_loaded(self) -> None:
        if "tables_" in self.__dict__:
            assert self._posterior.edges.shape == (self.n_features_in_, self.n_features_in_)
            assert self.n_features_in_ == sum(one.n_features_in_ for one in self.tables_)
        elif "_posterior" in self.__dict__:
            n = self.schema_.n_columns
            assert self._posterior.edges.shape == (n, n) and self._codes.shape[1] == n == len(self._levels)
