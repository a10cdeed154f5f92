"""Rows from a posterior over networks: missing cells filled, whole rows drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.decode import decode
from ..data.encode import encode
from ..data.schema import Schema
from ..data.table import Table
from ..inference.streams import root_sequence
from ..models.structure.fill import draw_mixed, fill_drawn, fill_probable


class AveragedFilling:
    """`impute` and `sample` from the drawn networks of a structure learner."""

    schema_: Schema
    random_state: Any
    _table: Any
    _networks: Any
    _levels: np.ndarray

    def impute(
        self, X: Any, n_draws: int | None = None, return_std: bool = False, random_state: Any = None,
        table: int | None = None,
    ) -> Any:  # fmt: skip
        """X with every hole at its most probable level, averaged over networks drawn from the posterior; with
        `n_draws=m`, m tables whose holes are drawn jointly.

        With `return_std`, also an array of the standard deviations, which levels do not have: NaN in filled cells.
        """
        asked = self._table(table, "impute")
        codes = encode(X, asked.schema_, type(self).__name__).codes
        hidden = codes < 0
        codes[:, asked._levels == 1] = 0
        if n_draws is None:
            filled = decode(asked._rows(fill_probable(asked._networks(), codes)), X)
            return (filled, np.where(hidden, np.nan, 0.0)) if return_std else filled
        if return_std:
            raise ValueError("impute: n_draws and return_std=True exclude each other; look at the draws.")
        if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 1:
            raise ValueError(f"n_draws must be an integer >= 1 or None, got {n_draws!r}.")
        rng, networks = self._stream(random_state), asked._networks()
        tables = [decode(asked._rows(fill_drawn(networks, codes, rng)), X) for _ in range(int(n_draws))]
        return np.stack(tables) if isinstance(tables[0], np.ndarray) else tables

    def sample(self, n_samples: int = 1, random_state: Any = None, table: int | None = None) -> Any:
        """Rows drawn from the posterior predictive law, in the container of the training table."""
        asked = self._table(table, "sample")
        if not isinstance(n_samples, int | np.integer) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(f"sample: n_samples must be an integer >= 1, got {n_samples!r}.")
        return decode(asked._rows(draw_mixed(asked._networks(), int(n_samples), self._stream(random_state))))

    def _rows(self, codes: np.ndarray) -> Table:
        return Table(self.schema_, np.ascontiguousarray(codes), np.empty((len(codes), 0)))

    def _stream(self, random_state: Any) -> np.random.Generator:
        return np.random.default_rng(root_sequence(self.random_state if random_state is None else random_state))
