"""`BayesianNetwork`: a given graph over discrete columns, its tables learnt from rows with holes, exact answers."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data import bif
from ..data.encode import encode
from ..data.schema import Column, Schema
from ..data.validate import Constraint, integer, number, one_of, optional
from ..data.weights import read_weights
from ..inference.checkpoint import Checkpoint
from ..inference.loop import run
from ..inference.monitor import make_monitor
from ..inference.streams import spawn_streams
from ..models.networks import em as em
from ..models.networks.network import LARGEST_TABLE, Net, family_shapes, normalised
from .base import TableEstimator
from .net_answers import NetAnswers
from .net_levels import learn_levels
from .net_question import NEVER_SEEN
from .net_structure import read_structure


class BayesianNetwork(NetAnswers, TableEstimator):
    """A Bayesian network with a given graph: every column has a table of probabilities given its parents.

    Tables by maximum likelihood, by the mode or by the mean of their Dirichlet posterior; with "bayes" the probability
    of a new row is exact, the tables integrated out. Missing cells are summed out exactly, in training (by expectation
    and maximisation; with "bayes" variationally, q(tables) q(missing cells)) and in every answer.

    Parameters
    ----------
    structure : the graph: (parent, child) pairs by name or position, a dict from children to parents, a 0/1 matrix
        (parent row, child column), a networkx.DiGraph; None has no edges.
    estimate : "bayes" (posterior mean), "map" (posterior mode) or "ml" (counts alone: what was never seen gets
        probability zero, and a row of a table without data equal shares).
    prior : "dirichlet", the same pseudo-count in every cell; "bdeu", `pseudo_count` rows spread over each table.
    pseudo_count : of the prior; None is 0.5 (a mode exists from 1 on: 2 with "map"; 1 row with "bdeu").
    n_restarts : starts of the iterations where cells are missing; the best is kept.
    max_iter, tol : the iterations end when the objective rises by less than `tol` of its size, or after `max_iter`.
    column_kinds : kinds of columns that should not be inferred. Columns must be binary or categorical; whole numbers of
        few values are taken as levels.
    random_state, n_jobs, progress, time_budget, checkpoint : as in every estimator.

    Attributes
    ----------
    parents_ : list of tuples, positions of each column's parents.
    tables_ : list of arrays (levels of the parents ..., own levels).
    objective_ : array, objective of every iteration of the best start: log likelihood ("ml"), plus log prior ("map"),
        lower bound on the log evidence ("bayes"). With complete rows one value, exact.
    n_iter_, n_features_in_, feature_names_in_.

    Examples
    --------
    >>> import numpy as np
    >>> import partita
    >>> rng = np.random.default_rng(0)
    >>> rain = rng.random(500) < 0.3
    >>> wet = rng.random(500) < np.where(rain, 0.9, 0.1)
    >>> X = np.column_stack([rain, wet]).astype(float)
    >>> X[::5, 0] = np.nan
    >>> model = partita.BayesianNetwork([(0, 1)]).fit(X)
    >>> model.query([0], {1: 1}).probabilities.round(1)
    array([0.2, 0.8])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "estimate": one_of("bayes", "map", "ml"),
        "prior": one_of("dirichlet", "bdeu"),
        "pseudo_count": optional(number(0, open_low=True)),
        "n_restarts": integer(1),
        "max_iter": integer(1),
        "tol": number(0),
    }

    def __init__(
        self, structure=None, *, estimate="bayes", prior="dirichlet", pseudo_count=None, n_restarts=1, max_iter=500,
        tol=1e-8, column_kinds=None, random_state=None, n_jobs=None, progress=False, time_budget=None, checkpoint=None,
    ):  # fmt: skip
        self.structure = structure
        self.estimate = estimate
        self.prior = prior
        self.pseudo_count = pseudo_count
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.column_kinds = column_kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.time_budget = time_budget
        self.checkpoint = checkpoint

    # ---- learning ----

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BayesianNetwork:
        """Learn the tables from the rows of X, each counted `sample_weight` times."""
        self._check()
        amount = self._pseudo_count()
        with self._all_or_nothing():
            source, self.schema_ = learn_levels(X, self.column_kinds, type(self).__name__)
            self.n_features_in_ = self.schema_.n_columns
            self._forget("feature_names_in_")
            if self.schema_.named:
                self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
            table = encode(source, self.schema_, type(self).__name__)
            weight = read_weights(sample_weight, len(table), type(self).__name__)
            parents = read_structure(self.structure, self.schema_, type(self).__name__)
            arities = [max(len(column.levels), 1) for column in self.schema_.columns]
            self._check_sizes(parents, arities)
            used = weight > 0
            learner = em.Learner.of(
                table.codes[used], weight[used], parents, arities, self.prior, amount, self.estimate
            )  # fmt: skip
            self._set(learner.net(self._learn_tables(learner)))
        return self

    def _pseudo_count(self) -> float:
        if self.pseudo_count is None:
            return {"bayes": 0.5, "map": 2.0, "ml": 1.0}[self.estimate] if self.prior == "dirichlet" else 1.0
        if self.estimate == "map" and self.prior == "dirichlet" and self.pseudo_count < 1:
            raise ValueError(
                f"BayesianNetwork: pseudo_count={self.pseudo_count!r} with estimate='map' has no mode inside the "
                "tables. Pass pseudo_count >= 1, or estimate='bayes'."
            )
        return float(self.pseudo_count)

    def _check_sizes(self, parents: Sequence[Sequence[int]], arities: Sequence[int]) -> None:
        for node, shape in enumerate(family_shapes(parents, arities)):
            cells = float(np.prod(shape, dtype=float))
            if cells > LARGEST_TABLE:
                raise ValueError(
                    f"BayesianNetwork: the table of {self.schema_.label(node)} given its {len(parents[node])} parents "
                    f"would have {cells:.3g} cells, beyond the {LARGEST_TABLE:.3g} allowed. Give it fewer parents."
                )
            if self.estimate == "map" and self.prior == "bdeu" and self._pseudo_count() / cells < 1:
                raise ValueError(
                    f"BayesianNetwork: prior='bdeu' spreads pseudo_count={self._pseudo_count():g} over {cells:g} cells "
                    f"of {self.schema_.label(node)}: a mode exists from one per cell on. Pass estimate='bayes'."
                )

    def _learn_tables(self, learner: em.Learner) -> list[np.ndarray]:
        if learner.complete or not len(learner.codes):
            counts = learner.observed_counts()
            self.objective_ = np.array([learner.objective_of_complete(counts)])
            self.n_iter_ = 1
            return learner.tables(counts)
        runner = self._runner()
        streams = spawn_streams(self.random_state, int(self.n_restarts))
        states = [em.init(learner, rng, 0.0 if k == 0 else 0.5) for k, rng in enumerate(streams)]
        file = None
        if runner.checkpoint is not None:
            mark = self._fingerprint(learner.codes, learner.weight, repr(learner.parents))
            file = Checkpoint(runner.checkpoint, mark)
        monitor = make_monitor(runner.progress, len(states) * int(self.max_iter), runner.label)
        outcome = run(
            lambda rng, state: em.step(learner, rng, state), states, streams, int(self.max_iter), stop=self._settled,
            n_jobs=runner.n_jobs, progress=monitor, time_budget=runner.time_left(), checkpoint=file,
        )  # fmt: skip
        last = [outcome.infos["objective"][k, done - 1] for k, done in enumerate(outcome.steps_done)]
        best = int(np.argmax(last))
        self.n_iter_ = outcome.steps_done[best]
        self.objective_ = outcome.infos["objective"][best, : self.n_iter_]
        return learner.tables(outcome.states[best]["counts"])

    def _settled(self, trace: Mapping[str, Sequence[float]]) -> bool:
        values = trace["objective"]
        return len(values) > 1 and values[-1] - values[-2] <= self.tol * max(1.0, abs(values[-1]))

    def _set(self, net: Net) -> None:
        self._net = net
        self.parents_ = list(net.parents)
        self.tables_ = list(net.tables)

    def _marks(self) -> dict[str, Any]:
        return super()._marks() | {"structure": repr(self.structure)}

    # ---- files ----

    @classmethod
    def read_bif(cls, path: str | os.PathLike[str]) -> BayesianNetwork:
        """The network of a BIF file (packed or not), or of its text as `datasets.fetch_network` gives it, ready to
        answer. Rows of a table are scaled to sum to one."""
        network = bif.read_bif(path)
        where = bif.TEXT if "\n" in os.fspath(path) else os.fspath(path)
        kept = "pandas" if importlib.util.find_spec("pandas") else "numpy"
        named = zip(network.variables, network.levels)
        columns = tuple(Column(name, "categorical", levels, origin="text") for name, levels in named)
        model = cls([(p, child) for child, of in enumerate(network.parents) for p in of])
        return model._take(Schema(columns, True, kept), network.parents, network.tables, where)

    def _take(
        self, schema: Schema, parents: Sequence[Sequence[int]], tables: Sequence[np.ndarray], where: str
    ) -> BayesianNetwork:
        """Be the network with these columns and tables."""
        self.schema_ = schema
        self.n_features_in_ = schema.n_columns
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        edges = [(p, child) for child, of in enumerate(parents) for p in of]
        read_structure(edges, schema, where)  # a cycle is named
        arities = tuple(len(column.levels) for column in schema.columns)
        self._set(Net(tuple(map(tuple, parents)), arities, tuple(normalised(table) for table in tables)))
        return self

    def write_bif(self, path: str | os.PathLike[str]) -> None:
        """Write the network as a BIF file; a name that ends in .gz is packed. Levels are written as text."""
        check_is_fitted(self, "_net")
        levels = []
        for position, column in enumerate(self.schema_.columns):
            named = tuple(str(level) for level in column.levels or (NEVER_SEEN,))
            if len(set(named)) < len(named):
                said = f"write_bif: levels of {self.schema_.label(position)} are spelled alike: {column.levels!r}"
                raise ValueError(f"{said}. Rename them.")
            levels.append(named)
        names = tuple(str(name) for name in self.schema_.names)
        bif.write_bif(bif.BifNetwork("unknown", names, tuple(levels), self._net.parents, self._net.tables), path)

    def _check_loaded(self) -> None:
        if "_net" in self.__dict__:
            assert len(self._net) == self.schema_.n_columns

