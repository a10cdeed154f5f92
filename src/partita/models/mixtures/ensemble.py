"""Kept states together: densities, class probabilities, groups, imputations and draws averaged over them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.table import Table
from ...kernels import kernel
from ...kernels.contract import FIRST_RESTAURANT, Layout, Predictive, Rows
from ..lens import Lens
from . import vote
from .predictive import log_density
from .problem import CLASS_PSEUDO_COUNT
from .vote import Member

ROWS_AT_A_TIME = 2048


@dataclass
class Ensemble:
    """States with their weights; each looks at the table through one of the lenses."""

    lenses: list[Lens]
    states: list[Predictive]
    lens_of: list[int]
    weight: np.ndarray  # of the states, for densities and imputations
    class_count: np.ndarray
    kind_of: np.ndarray  # kind of chain of every state
    members: list[Member]  # how states become class probabilities
    n_jobs: int = 1
    # bool (classes,): classes that no label has named yet, None where there are none; nothing tells them from each
    # other, whichever of them a state gave a row to
    alike: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        return len(self.class_count)

    @property
    def log_prior(self) -> np.ndarray:
        return log_shares(self.class_count)

    def density_part(self) -> Ensemble:
        """The states that keep densities, for new rows whose law is that of `score_samples`."""
        return self._part([k for k, lens in enumerate(self.lens_of) if self.lenses[lens].is_density])

    def heaped_part(self) -> Ensemble:
        """The states that show values which many cells share as such, where there are any: what is told and drawn of
        cells comes from these alone, since to a density such a value is a point that no draw ever hits.
        """
        return self._part([k for k, lens in enumerate(self.lens_of) if self.lenses[lens].has_heaps])

    def _part(self, keep: list[int]) -> Ensemble:
        """These states; all where that is none."""
        if len(keep) in (0, len(self.states)):
            return self
        weight = self.weight[keep] / self.weight[keep].sum()
        lens_of = [self.lens_of[k] for k in keep]
        return replace(
            self, states=[self.states[k] for k in keep], lens_of=lens_of, weight=weight, kind_of=self.kind_of[keep]
        )

    @property
    def temperature(self) -> float:
        """The members' temperatures, averaged with their weights."""
        return float(sum(m.weight * m.temperature for m in self.members) / sum(m.weight for m in self.members))

    def to_tree(self) -> dict[str, Any]:
        return {
            "lenses": [lens.to_tree() for lens in self.lenses],
            "states": [vars(state) for state in self.states],
            "lens_of": list(map(int, self.lens_of)),
            "weight": self.weight,
            "class_count": self.class_count,
            "kind_of": self.kind_of,
            "members": vote.to_trees(self.members),
            "n_jobs": self.n_jobs,
            "alike": self.alike,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Ensemble:
        return cls(
            lenses=[Lens.from_tree(lens) for lens in tree["lenses"]],
            states=[Predictive(**state) for state in tree["states"]],
            lens_of=tree["lens_of"],
            weight=tree["weight"],
            class_count=tree["class_count"],
            kind_of=tree["kind_of"],
            members=[Member(**member) for member in tree["members"]],
            n_jobs=tree["n_jobs"],
            alike=tree["alike"],
        )


def log_shares(count: np.ndarray) -> np.ndarray:
    """log p(class) of the next row after so many of each, Dirichlet prior."""
    return np.log((count + CLASS_PSEUDO_COUNT) / (count + CLASS_PSEUDO_COUNT).sum())


def _first_restaurant(state: Predictive) -> int:
    """A restaurant that has columns; negative where none has."""
    return int(state.view.max(initial=FIRST_RESTAURANT)) - FIRST_RESTAURANT


def lean(state: Predictive, count: np.ndarray, common: np.ndarray) -> Predictive:
    """The state with its own class counts, where the ensemble has `common` ones: labels that were missing differ from
    state to state. What it says of p(row | class) then carries the ratio of its class shares to the common ones.
    """
    if (first := _first_restaurant(state)) >= 0:
        state.log_weight[first] += (log_shares(count) - log_shares(common))[:, None]
    return state


def class_shares(state: Predictive, log_prior: np.ndarray) -> np.ndarray:
    """p(class) in one state, which may lean."""
    p = np.exp(log_prior)
    if (first := _first_restaurant(state)) >= 0:
        p = p * np.exp(state.log_weight[first]).sum(axis=1)
    return p / p.sum()


def over_rows(ensemble: Ensemble, table: Table, what: Callable[[Table], np.ndarray]) -> np.ndarray:
    """`what` of the table a few rows at a time, on all threads; a row's answer does not depend on its company."""
    starts = range(0, len(table), ROWS_AT_A_TIME)
    parts = [table.take(slice(s, s + ROWS_AT_A_TIME)) for s in starts]
    if ensemble.n_jobs == 1 or len(parts) == 1:
        return np.concatenate([what(part) for part in parts])
    with ThreadPoolExecutor(ensemble.n_jobs) as pool:
        return np.concatenate(list(pool.map(what, parts)))


def class_probabilities(ensemble: Ensemble, table: Table) -> np.ndarray:
    """p(class | row) by the members together."""
    voting = np.isin(ensemble.kind_of, [member.kind for member in ensemble.members])

    def what(part: Table) -> np.ndarray:
        rows = [lens.rows(part) for lens in ensemble.lenses]
        used = np.flatnonzero(voting)
        density = np.empty((len(used), len(part), ensemble.n_classes))
        for j, k in enumerate(used):
            lens = ensemble.lens_of[k]
            density[j] = log_density(ensemble.lenses[lens].layout, rows[lens], ensemble.states[k])
        proba = vote.combine(
            ensemble.members, density, ensemble.kind_of[used], ensemble.log_prior, ensemble.weight[used]
        )
        return proba if ensemble.alike is None else shared_alike(proba, ensemble.alike)

    return over_rows(ensemble, table, what)


def shared_alike(proba: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """The mean over all namings of the classes that are alike: these share their probability equally."""
    out = proba.copy()
    out[:, alike] = np.ascontiguousarray(proba[:, alike]).mean(axis=1, keepdims=True)
    return out


def log_densities(ensemble: Ensemble, table: Table) -> np.ndarray:
    """log p(observed cells | class) in the caller's units: the log of the mean density over the states whose lens
    keeps densities.
    """
    used = [k for k, lens in enumerate(ensemble.lens_of) if ensemble.lenses[lens].is_density]

    def what(part: Table) -> np.ndarray:
        rows = {k: ensemble.lenses[k].rows(part) for k in {ensemble.lens_of[k] for k in used}}
        units = {k: ensemble.lenses[k].log_jacobian(r) for k, r in rows.items()}
        out = np.full((len(part), ensemble.n_classes), -np.inf)
        total = np.log(ensemble.weight[used].sum())
        for k in used:
            lens = ensemble.lens_of[k]
            density = log_density(ensemble.lenses[lens].layout, rows[lens], ensemble.states[k]) + units[lens][:, None]
            np.logaddexp(out, density + np.log(ensemble.weight[k]) - total, out=out)
        return out

    return over_rows(ensemble, table, what)


def log_density_of_rows(ensemble: Ensemble, table: Table) -> np.ndarray:
    """log p(observed cells), classes summed out."""
    joint = log_densities(ensemble, table) + ensemble.log_prior
    top = joint.max(axis=1)
    return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))


def group_log_weights(layout: Layout, rows: Rows, state: Predictive, restaurant: int, c: int) -> np.ndarray:
    """log of weight times predictive of each group, (rows, groups), the new group among them."""
    out = np.empty((len(rows), int(state.used[restaurant, c])))
    kernel.group_scores(layout, rows, state, restaurant, c, out)
    return out


def responsibilities(layout: Layout, rows: Rows, state: Predictive, restaurant: int = 0, c: int = 0) -> np.ndarray:
    """p(group | row) in one state."""
    s = group_log_weights(layout, rows, state, restaurant, c)
    s -= s.max(axis=1, keepdims=True)
    np.exp(s, out=s)
    return s / s.sum(axis=1, keepdims=True)
