"""Structure learning from beginning to end: which way of inference a prior and its tables get, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...inference.runner import Runner
from ...kernels.net_contract import MOST_NODES
from .anneal import anneal
from .knowledge import Knowledge, score_tables
from .learn_large import LargeNetworks
from .learn_small import SHOWN, SmallNetworks
from .learnt import Learnt, NetSettings
from .several import one_density, side_by_side


@dataclass
class NetTask:
    """Everything a fit is given: codes and numbers of levels of every table, and what is known of all their columns,
    which follow one another."""

    codes: list[np.ndarray]
    levels: list[np.ndarray]
    known: Knowledge
    settings: NetSettings
    streams: Callable[[int], list[np.random.Generator]]
    runner: Runner
    fingerprint: str

    def learn(self) -> Learnt:
        learnt = self._learn()
        found = learnt.method == "exact" and not {"uniform", "template"}.isdisjoint(learnt.prior_weights)
        return anneal(self, learnt) if self.settings.anneal and not found else learnt

    def _learn(self) -> Learnt:
        first = np.cumsum([0, *map(len, self.levels)])
        parts = [self.known.part(slice(a, b)) for a, b in pairwise(first)]
        small = [part.n <= MOST_NODES and (codes >= 0).all() for codes, part in zip(self.codes, parts, strict=True)]
        if self.settings.single_edges or not (all(small) or len(parts) > 1):
            return LargeNetworks(self).learn()
        s = self.settings
        tables = [
            score_tables(codes, of, s.bdeu, s.pseudo, part) if fits else None
            for codes, of, part, fits in zip(self.codes, self.levels, parts, small, strict=True)
        ]
        whole = [table for table in tables if table is not None]
        if len(parts) == len(whole) == 1:
            return SmallNetworks(self, whole[0]).learn()
        return (self._exact_together(whole, parts) if all(small) else None) or LargeNetworks(self, tables).learn()

    def _exact_together(self, tables: list[np.ndarray], parts: list[Knowledge]) -> Learnt | None:
        """Several tables by themselves where nothing is shared, or with their one density; None: they share classes."""
        s = self.settings
        if self.known.template is not None or s.prior == "uniform":
            alone = [
                SmallNetworks(replace(self, codes=[codes], levels=[of], known=part), table).learn()
                for codes, of, part, table in zip(self.codes, self.levels, parts, tables, strict=True)
            ]
            return replace(alone[0], posterior=side_by_side([one.posterior for one in alone]))
        if s.prior == "sparse" and s.exact is not False and s.grid is None and self.known.classes is None:
            posterior = one_density(tables, self.streams(1)[0], s.beta1, s.beta2, SHOWN)
            return Learnt(posterior, "exact", {"sparse": 1.0})
        return None
