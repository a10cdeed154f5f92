"""What a posterior over the networks of one table answers: networks drawn, densities, queries, the probable edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.encode import encode
from ..data.schema import Schema
from ..inference.streams import root_sequence
from ..models.networks.discrete_law import DiscreteLaw
from ..models.structure.posterior import NetPosterior
from ..models.structure.predict import Networks
from .bayesian_network import BayesianNetwork
from .net_question import Question


class AveragedNetworks:
    """Answers from `schema_` and `_posterior`; the rows that networks learn their tables from are `_codes`.

    With several tables `table` says which one is asked; `_table` is the fitted learner of that table alone.
    """

    schema_: Schema
    n_features_in_: int
    tables_: list[Any]
    edge_probabilities_: np.ndarray
    edge_errors_: np.ndarray
    classes_map_: np.ndarray
    random_state: Any
    _posterior: NetPosterior
    _codes: np.ndarray
    _levels: np.ndarray
    _bdeu: bool
    _pseudo: float

    @property
    def top_models_(self) -> list[dict[str, Any]]:
        check_is_fitted(self, "_posterior")
        value, several = self._posterior.top_value, hasattr(self, "tables_")
        share = np.exp(value - value.max())
        cut = self._first()[1:-1] if several else np.zeros(0, int)
        models = []
        for v, p, z, graph in zip(value, share / share.sum(), self._posterior.top_z, self._posterior.top_graph):
            parts = [part.copy() for part in np.split(z, cut)]
            graphs, at = [], 0
            for part in parts:
                graphs.append(graph[at : at + len(part), at : at + len(part)].copy())
                at += len(part)
            models.append({
                "log_joint": float(v), "probability": float(p), "classes": parts if several else parts[0],
                "graph": graphs if several else graphs[0],
            })  # fmt: skip
        return models

    @property
    def map_network_(self) -> BayesianNetwork | list[BayesianNetwork]:
        check_is_fitted(self, "_posterior")
        best = self.top_models_[0]["graph"]
        if hasattr(self, "tables_"):
            return [one._network(graph, None) for one, graph in zip(self.tables_, best, strict=True)]
        return self._network(best, None)

    def _first(self) -> np.ndarray:
        """Where the columns of every table begin among those of all."""
        return np.cumsum([0, *(one.n_features_in_ for one in self.tables_)])

    def sample_networks(self, n: int = 1, random_state: Any = None, table: int | None = None) -> list[BayesianNetwork]:
        """Networks drawn from the posterior, each with its tables: fitted `BayesianNetwork` objects."""
        asked = self._table(table, "sample_networks")
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ValueError(f"sample_networks: n must be an integer >= 1, got {n!r}.")
        rng = np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
        chosen = rng.choice(len(asked._posterior.graphs), int(n), p=asked._posterior.graph_weight)
        return [asked._network(asked._posterior.graphs[k], int(k)) for k in chosen]

    def score_samples(self, X: Any, table: int | None = None) -> np.ndarray:
        """(n,) posterior predictive log probability of the observed cells of each row."""
        asked = self._table(table, "score_samples")
        codes = encode(X, asked.schema_, type(self).__name__).codes
        codes[:, asked._levels == 1] = 0
        return asked._networks().log_density(codes)

    def query(
        self, variables: Any, evidence: Mapping[Any, Any] | None = None, do: Mapping[Any, Any] | None = None,
        table: int | None = None,
    ) -> DiscreteLaw:  # fmt: skip
        """The joint law of `variables` given `evidence`, averaged over networks drawn from the posterior.

        `do` sets columns from outside: in every network the edges into them are cut. Columns are named, or given by
        position; evidence and do are dicts from columns to levels.
        """
        asked = self._table(table, "query")
        question = Question.read(asked.schema_, type(self).__name__, variables, evidence, do)
        return question.answer(asked._networks().joint(question.asked, question.row, question.forced))

    def to_networkx(self, threshold: float = 0.5, table: int | None = None) -> Any:
        """The edges of at least this probability as a networkx.DiGraph: columns by name with their class, edges with
        `probability` and `error`. Edges of a threshold under a half may form cycles."""
        import networkx

        asked = self._table(table, "to_networkx")
        if not isinstance(threshold, int | float | np.number) or not 0 <= threshold <= 1:
            raise ValueError(f"to_networkx: threshold must be a probability between 0 and 1, got {threshold!r}.")
        graph, names = networkx.DiGraph(), asked.schema_.names
        for name, of in zip(names, asked.classes_map_.tolist(), strict=True):
            graph.add_node(name, **{"class": of})
        for parent, child in np.argwhere(asked.edge_probabilities_ >= threshold):
            if parent != child:
                graph.add_edge(
                    names[parent], names[child], probability=float(asked.edge_probabilities_[parent, child]),
                    error=float(asked.edge_errors_[parent, child]),
                )  # fmt: skip
        return graph

    def _table(self, table: int | None, asking: str) -> Any:
        """The learner that answers for a table: this one, or one of `tables_`."""
        check_is_fitted(self, "_posterior")
        several = getattr(self, "tables_", None)
        if several is None:
            if table not in (None, 0):
                raise ValueError(f"{asking}: table={table!r}, but one table was fitted. Leave table out.")
            return self
        if not isinstance(table, int | np.integer) or isinstance(table, bool) or not 0 <= table < len(several):
            raise ValueError(
                f"{asking}: {len(several)} tables were fitted; say which one is asked by table=0 .. "
                f"{len(several) - 1}, got {table!r}."
            )
        return several[table]

    def _network(self, graph: np.ndarray, number: int | None) -> BayesianNetwork:
        """The network of a graph; its tables are learnt from the rows as the drawn network `number` saw them."""
        networks = self._networks()
        k = number if number is not None else int(np.argmin((networks.graphs != graph).sum(axis=(1, 2))))
        networks.graphs = networks.graphs.copy()
        networks.graphs[k] = graph
        names = self.schema_.names
        edges = [(names[a], names[b]) for a, b in np.argwhere(graph)]
        prior = "bdeu" if self._bdeu else "dirichlet"
        model = BayesianNetwork(edges, prior=prior, pseudo_count=self._pseudo)
        model.schema_, model.n_features_in_ = self.schema_, self.n_features_in_
        if self.schema_.named:
            model.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        model._set(networks.net(k))
        return model

    def _networks(self) -> Networks:
        p = self._posterior
        return Networks(self._codes, self._levels, self._bdeu, self._pseudo, p.graphs, p.graph_weight, p.graph_cells)
