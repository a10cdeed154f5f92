"""Who sits where in one restaurant for one class, while rows move.

Groups have slots. An emptied slot is a hole; the group on offer to a row that wants a new one, `fresh`, takes the
slot emptied last, or the next one at the end. `close` numbers the groups 0, 1, .. again in the order of their slots.
"""

from __future__ import annotations

import numpy as np

from ..contract import FIRST_RESTAURANT, Chain, Layout
from .cells import Cells, count_in, log_predictive
from .columns import column_of_statistic, columns_of, fill_table


class Seating:
    """Groups of class c in a restaurant; `own` are the statistics of its columns, `bound` the slots taken so far."""

    def __init__(self, layout: Layout, chain: Chain, restaurant: int, c: int):
        self.layout, self.chain, self.c, self.where = layout, chain, c, (restaurant, c)
        self.columns = columns_of(chain.view, FIRST_RESTAURANT + restaurant)
        self.own = np.flatnonzero(np.isin(column_of_statistic(layout), self.columns))
        self.stats, self.size, self.z = chain.stats[c], chain.size[restaurant, c], chain.z[restaurant]
        self.bound = int(chain.used[self.where])
        self.holes: list[int] = []
        self.fresh: int | None = None

    def offer_fresh(self) -> bool:
        """Have an empty group on offer; False if there is no slot left for it, and the caller must make room."""
        if self.fresh is None:
            if self.holes:
                self.fresh = self.holes.pop()
            elif self.bound < len(self.size):
                self.fresh = self.bound
                self.bound += 1
            else:
                return False
            self._empty(self.fresh)
        return True

    def leave(self, cells: Cells, g: int) -> bool:
        """Take a row out of group g; True if it was alone there."""
        count_in(self.layout, self.stats[g], cells, -1.0)
        self.size[g] -= 1.0
        if self.size[g] > 0:
            return False
        self._empty(g)  # what rounding left behind is no evidence
        return True

    def join(self, cells: Cells, g: int) -> None:
        """Put a row into group g."""
        if g == self.fresh:
            self.fresh = None
        count_in(self.layout, self.stats[g], cells, 1.0)
        self.size[g] += 1.0

    def reseat(self, cells: Cells, emptied: int | None, g: int) -> int:
        """Put a row into g and return its group. If it left a group empty, the fresh one stands for that: it stays."""
        if emptied is not None:
            if g == self.fresh:
                g = emptied
            else:
                self.holes.append(emptied)
        self.join(cells, g)
        return g

    def occupied(self) -> int:
        return int(np.count_nonzero(self.size[: self.bound]))

    def opening(self, others: int) -> float:
        """Weight of a new group beside `others`: alpha + discount * others, none at the cap."""
        weight = float(self.chain.alpha[self.where] + self.chain.discount[self.where] * others)
        return max(weight, 0.0) if others < self.chain.cap else 0.0

    def log_joint(self, cells: Cells) -> np.ndarray:
        """log(weight p(row | group)) of every slot for a row that sits nowhere: size - discount, or that of opening."""
        size = self.size[: self.bound]
        weight = np.where(size > 0, size - self.chain.discount[self.where], 0.0)
        if self.fresh is not None:
            weight[self.fresh] = self.opening(self.occupied())
        with np.errstate(divide="ignore"):
            log_weight = np.log(weight)
        return log_weight + log_predictive(self.layout, self.chain.hyper, self.stats[: self.bound], cells)

    def close(self) -> None:
        """Number the groups without holes, leave an empty one after them, and fill in the tables."""
        old = np.flatnonzero(self.size[: self.bound] > 0)
        used = len(old)
        self.stats[:used, self.own] = self.stats[np.ix_(old, self.own)]
        self.size[:used] = self.size[old]
        self._empty(slice(used, None))
        name = np.full(self.bound + 1, -1, np.int32)
        name[old] = np.arange(used)
        mine = (self.chain.label == self.c) & (self.z >= 0)
        self.z[mine] = name[self.z[mine]]
        self.chain.used[self.where] = used
        for d in self.columns.tolist():
            fill_table(self.layout, self.chain.hyper, self.stats, self.chain.table[self.c], d, slice(0, used + 1))

    def _empty(self, groups: int | slice) -> None:
        self.size[groups] = 0.0
        self.stats[groups, self.own] = 0.0
