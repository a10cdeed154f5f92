"""Why a row gets its probabilities: which components it belongs to, and the linear rule that they make together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.table import Table
from .pool import Pool


@dataclass(eq=False)
class Explanation:
    """Of n rows, by the model of all columns that votes with the greatest weight.

    responsibilities   (n, H) probability of each component given the observed cells
    class_probabilities   (n, H, C) of each component's expert
    weights            (n, K, F) weights of the experts, averaged with the responsibilities: the local linear rule, one
                       for two classes (in favour of the second), else one per class
    feature_names      names of the F features: columns (standardised), levels of columns, and "intercept"
    """

    responsibilities: np.ndarray
    class_probabilities: np.ndarray
    weights: np.ndarray
    feature_names: list[str]


def explain(pool: Pool, table: Table) -> Explanation:
    """Responsibilities, experts' probabilities and local weights."""
    best = pool.shown()
    model, given = pool.whole[best], pool.answer(best, table)
    share = given.shares()
    k = 1 if pool.n_classes == 2 else pool.n_classes
    weights = np.zeros((len(table), k, model.view.n_features))
    if model.experts is not None:
        weights = np.einsum("nh,hkf->nkf", share, model.experts.mean)
    return Explanation(share, np.exp(given.log_class), weights, feature_names(pool, table, best))


def feature_names(pool: Pool, table: Table, k: int) -> list[str]:
    """What the features of an expert are called."""
    view, columns = pool.whole[k].view, table.schema.columns
    names = [str(columns[sight.column].name) for sight in view.real_sights]
    for column, sight in zip(view.cells, view.cell_sights, strict=True):
        name = columns[sight.column].name
        if column.count:
            names.append(f"log(1 + {name})")
        elif column.n_features == 1:
            levels = columns[sight.column].levels
            names.append(f"{name} = {levels[-1]}" if len(levels) == 2 else str(name))
        else:
            shown = np.argmax(column.features, axis=0)
            names += [f"{name} = {columns[sight.column].levels[level]}" for level in shown]
    return [*names, "intercept"]


def occupied_posterior(rho: np.ndarray) -> dict[int, float]:
    """Probability of each number of components that hold a row, rows taking theirs independently with rho (n, H)."""
    with np.errstate(divide="ignore"):
        empty = np.exp(np.log1p(-np.minimum(rho, 1.0)).sum(axis=0))
    law = np.ones(1)
    for p in empty:
        law = np.convolve(law, [p, 1.0 - p])
    return {k: float(p) for k, p in enumerate(law / law.sum()) if p > 1e-12}
