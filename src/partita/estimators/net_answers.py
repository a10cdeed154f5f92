"""What a Bayesian network answers: queries, interventions, densities, draws, holes filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.decode import decode
from ..data.schema import Schema
from ..data.table import Table
from ..inference.streams import root_sequence
from ..models.networks.discrete_law import DiscreteLaw
from ..models.networks.network import Net
from ..models.networks.rows import draw_missing, draw_rows, joint_of, log_probability, most_probable, posterior_of
from .net_question import Question, read_levels
from .net_structure import position_of


class NetAnswers:
    """Everything from `schema_` and `_net`."""

    schema_: Schema
    random_state: Any
    parents_: list[tuple[int, ...]]
    _net: Net
    _encode: Any

    def query(
        self, variables: Any, evidence: Mapping[Any, Any] | None = None, do: Mapping[Any, Any] | None = None
    ) -> DiscreteLaw:
        """The joint law of `variables` given `evidence`, in a world where `do` sets columns from outside.

        variables : a column or a list of columns. evidence, do : dicts from columns to levels. Columns are named, or
        given by position.
        """
        check_is_fitted(self, "_net")
        question = Question.read(self.schema_, type(self).__name__, variables, evidence, do)
        return question.answer(joint_of(self._net.cut(question.forced), question.asked, question.row))

    def predict_proba(self, X: Any, variable: Any = None) -> np.ndarray:
        """(n, levels) law of one column given the other observed cells of each row; its own cells are not looked at."""
        check_is_fitted(self, "_net")
        codes = self._encode(X).codes
        if variable is None:
            raise ValueError("predict_proba: say which column is asked by variable=, a name or a position.")
        return posterior_of(self._net, codes, self._position(variable, "variable"))

    def score_samples(self, X: Any) -> np.ndarray:
        """(n,) log probability of the observed cells of each row."""
        check_is_fitted(self, "_net")
        return log_probability(self._net, self._encode(X).codes)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, do: Mapping[Any, Any] | None = None, random_state: Any = None) -> Any:
        """Rows drawn from the network, in the container of the training table; `do` sets columns from outside."""
        check_is_fitted(self, "_net")
        if not isinstance(n_samples, int | np.integer) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(f"sample: n_samples must be an integer >= 1, got {n_samples!r}.")
        net = self._net.cut(read_levels(self.schema_, type(self).__name__, do, "do"))
        return decode(self._table(draw_rows(net, int(n_samples), self._draws(random_state))))

    def impute(self, X: Any, n_draws: int | None = None, return_std: bool = False, random_state: Any = None) -> Any:
        """X with every hole at its most probable level; with `n_draws=m`, m tables whose holes are drawn jointly.

        With `return_std`, also an array of the standard deviations, which levels do not have: NaN in filled cells.
        """
        check_is_fitted(self, "_net")
        codes = self._encode(X).codes
        if n_draws is None:
            filled = decode(self._table(most_probable(self._net, codes)), X)
            return (filled, np.where(codes < 0, np.nan, 0.0)) if return_std else filled
        if return_std:
            raise ValueError("impute: n_draws and return_std=True exclude each other; look at the draws.")
        if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
            raise ValueError(f"n_draws must be an integer >= 1 or None, got {n_draws!r}.")
        rng = self._draws(random_state)
        tables = [decode(self._table(draw_missing(self._net, codes, rng)), X) for _ in range(int(n_draws))]
        return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables

    def to_networkx(self) -> Any:
        """The graph as a networkx.DiGraph over the columns' names."""
        import networkx

        check_is_fitted(self, "_net")
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.schema_.names)
        for child, of in enumerate(self.parents_):
            graph.add_edges_from((self.schema_.names[parent], self.schema_.names[child]) for parent in of)
        return graph

    def _position(self, column: Any, name: str) -> int:
        return position_of(column, self.schema_, type(self).__name__, name)

    def _table(self, codes: np.ndarray) -> Table:
        return Table(self.schema_, np.ascontiguousarray(codes), np.empty((len(codes), 0)))

    def _draws(self, random_state: Any) -> np.random.Generator:
        return np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
