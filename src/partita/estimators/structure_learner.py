"""`StructureLearner`: which columns depend on which, in what roles, and how sure that is."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.encode import encode
from ..data.validate import Constraint, either, integer, number, one_of, optional
from ..inference.streams import root_sequence, spawn_streams
from ..kernels.net_contract import MOST_NODES
from ..models.net_hyper import HyperGrid
from ..models.net_learn import EXACT_BLOCK, EXACT_ORDERED, NetTask
from ..models.net_learnt import Learnt, NetSettings
from ..models.net_posterior import NetPosterior
from ..models.net_predict import Networks
from ..models.net_state import Schedule
from .base import TableEstimator
from .bayesian_network import BayesianNetwork
from .net_filling import AveragedFilling
from .net_levels import learn_levels, level_counts
from .net_prior import check_ordered, read_knowledge
from .net_queries import AveragedQueries


class StructureLearner(AveragedQueries, AveragedFilling, TableEstimator):
    """Bayesian networks over binary and categorical columns, learnt as a posterior: every edge with its probability.

    Columns fall into classes that play the same role; the probability of an edge depends on the classes of its ends.
    "ordered-block": classes have an order and edges go to later classes only; "block": any two classes; "sparse": one
    class of learnt density; "uniform": all acyclic graphs alike. "auto" weighs the first three by their evidence. As in
    [1], the block prior is P(z, G), proportional to P(z) times the Beta ratios on acyclic graphs.

    Up to 16 columns uniform and sparse are exact, and ordered classes are sampled with graphs and edge probabilities
    summed out.

    Parameters
    ----------
    prior : "auto", "block", "ordered-block", "sparse" or "uniform".
    score : "dirichlet" (the pseudo-count `gamma` in every cell) or "bdeu" (`gamma` rows spread over each table).
    alpha : concentration of the Chinese restaurant over classes, or "infer".
    beta : edge probabilities between classes are Beta(beta, beta); "infer" learns both numbers of the law.
    gamma : pseudo-count of the score; with "bdeu" its equivalent sample size (10 does well); or "infer".
    max_parents : most parents of a column; None has no limit.
    n_chains, n_sweeps, burn_in : independent chains, sweeps of each, and how many at the start do not count (None: a
        fifth).
    required_edges, forbidden_edges : (parent, child) pairs by name or position, or whatever `BayesianNetwork` takes.
    classes : one class for every column, where they are known; None learns them.
    template : matrix of edge probabilities between the given classes, where it is known.
    moves : "all", or "thesis": single edges and classes of single columns only, as in [1]. The thesis's kernel is right but
        does not get about: with ordered classes it takes thousands of sweeps to turn one edge round.
    exact : "auto" takes exact sums where they are cheaper than sampling; True insists on them (uniform and sparse up to
        16 columns, ordered classes up to 6, classes without order up to 5); False always samples classes.
    column_kinds : kinds of columns that should not be inferred.
    random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator.

    Attributes
    ----------
    edge_probabilities_ : array, P(edge from row to column); edge_errors_ its Monte Carlo standard errors (0 if exact).
    coassignment_ : array, P(two columns share a class).
    classes_map_ : array, the most probable classes; with ordered ones numbered in order.
    n_classes_posterior_ : dict, number of classes to probability.
    top_models_ : list of dicts, the best states seen: log_joint, probability (among them), classes, graph.
    map_network_ : BayesianNetwork of the best state.
    prior_weights_ : dict, posterior weight of every prior that was weighed.
    method_ : "exact" or "sampled".
    diagnostics_ : dict by prior: R-hat and effective sizes of the log joint and of the edges. With "auto" a prior whose
        weight is below a fiftieth after a short run is not run on, and has none.
    hyper_ : dict of alpha, beta1, beta2 and gamma: as given, or their posterior means.
    parent_limit_ : dict; where sets of parents were bounded to be listed, the bound and the share of columns at it.
    trace_ : dict of arrays (chains, sweeps). n_features_in_, feature_names_in_.

    References
    ----------
    [1] Mansinghka (2009), Natively Probabilistic Computation, chapter 2; Mansinghka, Kemp, Tenenbaum and Griffiths,
    Structured priors for structure learning, UAI 2006.

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
        "max_parents": optional(integer(0)),
        "n_chains": integer(1),
        "n_sweeps": integer(1),
        "burn_in": optional(integer(0)),
        "moves": one_of("all", "thesis"),
        "exact": one_of("auto", True, False),
    }

    def __init__(
        self, prior="auto", *, score="dirichlet", alpha=0.5, beta=1.0, gamma=0.5, max_parents=None, n_chains=4,
        n_sweeps=2000, burn_in=None, required_edges=None, forbidden_edges=None, classes=None, template=None,
        moves="all", exact="auto", column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None,
        checkpoint=None,
    ):  # fmt: skip
        self.prior = prior
        self.score = score
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
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
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    # ---- learning ----

    def fit(self, X: Any, y: Any = None) -> StructureLearner:
        """Learn from the rows of X."""
        self._check()
        settings = self._settings()
        with self._all_or_nothing():
            owner = type(self).__name__
            source, self.schema_ = learn_levels(X, self.column_kinds, owner)
            self.n_features_in_ = self.schema_.n_columns
            self._forget("feature_names_in_")
            if self.schema_.named:
                self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
            codes, levels = encode(source, self.schema_, owner).codes, level_counts(self.schema_)
            codes[:, levels == 1] = 0  # nothing can be missing where there is one level only
            known = read_knowledge(
                self.schema_, owner, self.required_edges, self.forbidden_edges, self.max_parents, self.classes,
                self.template,
            )  # fmt: skip
            if settings.prior in ("ordered-block", "auto"):
                check_ordered(known, self.schema_, owner)
            if self.gamma == "infer" and (known.n > MOST_NODES or (codes < 0).any() or self.moves == "thesis"):
                raise ValueError(
                    f"StructureLearner: gamma='infer' needs complete columns, at most {MOST_NODES} of them, and "
                    "moves='all'. Give a number."
                )
            if self.exact is True:
                self._check_exact(codes, known.template is not None)
            root = root_sequence(self.random_state)
            task = NetTask(
                codes, levels, known, settings, lambda k: spawn_streams(root, k), self._runner(),
                self._fingerprint(codes)
            )  # fmt: skip
            self._codes, self._levels = codes, levels
            self._bdeu, self._pseudo = settings.bdeu, settings.pseudo
            self._set(task.learn())
        return self

    def _settings(self) -> NetSettings:
        burn_in = self.n_sweeps // 5 if self.burn_in is None else int(self.burn_in)
        if burn_in >= self.n_sweeps:
            raise ValueError(
                f"StructureLearner: burn_in={self.burn_in!r} must be less than n_sweeps={self.n_sweeps!r}; the sweeps "
                "after it are those that count."
            )
        bdeu = self.score == "bdeu"
        grid = HyperGrid.of(self.alpha, self.beta, self.gamma, bdeu)
        if grid.learnt and (self.prior in ("auto", "uniform") or self.exact is True):
            raise ValueError(
                "StructureLearner: 'infer' for alpha, beta or gamma goes with prior='block', 'ordered-block' or "
                f"'sparse' and with exact='auto' or False, got prior={self.prior!r} and exact={self.exact!r}. "
                "Name such a prior, or give numbers."
            )
        first = grid.values(grid.start())
        return NetSettings(
            self.prior, bdeu, first["gamma"], first["alpha"], first["beta1"], first["beta2"], int(self.n_chains),
            Schedule(int(self.n_sweeps), burn_in), self.exact, self.moves == "thesis", grid if grid.learnt else None,
        )  # fmt: skip

    def _check_exact(self, codes: np.ndarray, template: bool) -> None:
        n, prior = codes.shape[1], "uniform" if template else self.prior
        most = {"ordered-block": EXACT_ORDERED, "block": EXACT_BLOCK, "auto": EXACT_BLOCK}.get(prior, MOST_NODES)
        if self.moves == "thesis" or (codes < 0).any() or n > most:
            why = f"{n} columns" if n > most else "missing cells" if self.moves == "all" else "moves='thesis'"
            raise ValueError(
                f"StructureLearner: exact=True with {why} is not possible: sums over all networks need complete "
                f"columns, at most {most} of them with prior={self.prior!r}. Pass exact='auto' or fewer columns."
            )

    def _set(self, learnt: Learnt) -> None:
        self._posterior: NetPosterior = learnt.posterior
        self.edge_probabilities_ = np.clip(learnt.posterior.edges, 0.0, 1.0)
        self.edge_errors_ = learnt.posterior.edge_errors
        self.chain_edges_ = learnt.posterior.chain_edges
        self.coassignment_ = learnt.posterior.together()
        self.classes_map_ = learnt.posterior.best_classes()
        self.n_classes_posterior_ = learnt.posterior.n_classes()
        self.prior_weights_ = learnt.prior_weights
        self.method_ = learnt.method
        self.diagnostics_ = learnt.diagnostics
        self.trace_ = learnt.trace
        self.parent_limit_ = learnt.parent_limit
        self.hyper_ = self._hyper(learnt.trace)
        self._pseudo = self.hyper_["gamma"]

    def _hyper(self, trace: dict[str, np.ndarray]) -> dict[str, float]:
        """Hyper-parameters: as given, or their posterior means."""
        settings = self._settings()
        given = {"alpha": settings.alpha, "beta1": settings.beta1, "beta2": settings.beta2, "gamma": settings.pseudo}
        for name in given:
            if f"{self.prior}/{name}" in trace:
                kept = trace[f"{self.prior}/{name}"]
                given[name] = float(np.nanmean(kept[:, min(settings.schedule.burn_in, kept.shape[1] - 1) :]))
        return given

    def _marks(self) -> dict[str, Any]:
        free = ("required_edges", "forbidden_edges", "classes", "template")
        return super()._marks() | {name: repr(getattr(self, name)) for name in free}

    # ---- answers ----

    @property
    def top_models_(self) -> list[dict[str, Any]]:
        check_is_fitted(self, "_posterior")
        value = self._posterior.top_value
        share = np.exp(value - value.max())
        return [
            {"log_joint": float(v), "probability": float(p), "classes": z.copy(), "graph": graph.copy()}
            for v, p, z, graph in zip(value, share / share.sum(), self._posterior.top_z, self._posterior.top_graph)
        ]

    @property
    def map_network_(self) -> BayesianNetwork:
        check_is_fitted(self, "_posterior")
        return self._network(self._posterior.top_graph[0], None)

    def sample_networks(self, n: int = 1, random_state: Any = None) -> list[BayesianNetwork]:
        """Networks drawn from the posterior, each with its tables: fitted `BayesianNetwork` objects."""
        check_is_fitted(self, "_posterior")
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ValueError(f"sample_networks: n must be an integer >= 1, got {n!r}.")
        rng = np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
        chosen = rng.choice(len(self._posterior.graphs), int(n), p=self._posterior.graph_weight)
        return [self._network(self._posterior.graphs[k], int(k)) for k in chosen]

    def _network(self, graph: np.ndarray, number: int | None) -> BayesianNetwork:
        """The network of a graph; its tables are learnt from the rows as the drawn network `number` saw them."""
        networks = self._networks()
        k = number if number is not None else int(np.argmin((networks.graphs != graph).sum(axis=(1, 2))))
        networks.graphs = networks.graphs.copy()
        networks.graphs[k] = graph
        edges = [(int(a), int(b)) for a, b in np.argwhere(graph)]
        prior = "bdeu" if self._bdeu else "dirichlet"
        model = BayesianNetwork(edges, prior=prior, pseudo_count=self._pseudo)
        model.schema_, model.n_features_in_ = self.schema_, self.n_features_in_
        if self.schema_.named:
            model.feature_names_in_ = self.feature_names_in_
        model._set(networks.net(k))
        return model

    def _networks(self) -> Networks:
        p = self._posterior
        return Networks(
            self._codes, self._levels, self._bdeu, self._pseudo, p.graphs, p.graph_weight, p.graph_cells
        )  # fmt: skip

    def score_samples(self, X: Any) -> np.ndarray:
        """(n,) posterior predictive log probability of the observed cells of each row."""
        check_is_fitted(self, "_posterior")
        codes = encode(X, self.schema_, type(self).__name__).codes
        codes[:, self._levels == 1] = 0
        return self._networks().log_density(codes)

    def to_networkx(self, threshold: float = 0.5) -> Any:
        """The edges of at least this probability as a networkx.DiGraph: columns by name with their class, edges with
        `probability` and `error`. Edges of a threshold under a half may form cycles."""
        import networkx

        check_is_fitted(self, "_posterior")
        if not isinstance(threshold, int | float | np.number) or not 0 <= threshold <= 1:
            raise ValueError(f"to_networkx: threshold must be a probability between 0 and 1, got {threshold!r}.")
        graph, names = networkx.DiGraph(), self.schema_.names
        for name, of in zip(names, self.classes_map_.tolist(), strict=True):
            graph.add_node(name, **{"class": of})
        for parent, child in np.argwhere(self.edge_probabilities_ >= threshold):
            if parent != child:
                graph.add_edge(
                    names[parent], names[child], probability=float(self.edge_probabilities_[parent, child]),
                    error=float(self.edge_errors_[parent, child]),
                )  # fmt: skip
        return graph

    def _check_loaded(self) -> None:
        if "_posterior" in self.__dict__:
            n = self.schema_.n_columns
            assert self._posterior.edges.shape == (n, n) and self._codes.shape[1] == n == len(self._levels)
