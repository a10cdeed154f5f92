"""What a model of gated experts found: how many experts, whose rows they look at, in words and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.data.containers import take_rows
from partita.data.table import Table
from partita.displays.gates import GatesDisplay
from partita.displays.lower_bound import RECORDS, LowerBoundDisplay
from partita.displays.picture import draw_png
from partita.estimators.gated_base import GatedClassifier
from partita.report.tables import likely_sizes, percent

_ROWS, _GATES, _TRAITS = 1000, 12, 4
_LEAST = 0.3  # standard deviations that a trait must be away from the mean to be named


@dataclass(frozen=True)
class GateFacts:
    """share of the rows, what the expert says of them, and what sets them apart, in words."""

    share: float
    says: str
    apart: str


def expert_facts(model: Any) -> list[tuple[str, str]]:
    """Number of experts, the fits that are averaged, and the bound; nothing for other models."""
    if not isinstance(model, GatedClassifier):
        return []
    facts = []
    if hasattr(model, "n_experts_posterior_"):
        facts.append(("experts that hold rows", likely_sizes(model.n_experts_posterior_)))
    elif hasattr(model, "n_experts_"):
        facts.append(("experts", str(model.n_experts_)))
    members = len(getattr(model, "member_weights_", ()))
    if members > 1 and len(getattr(model, "lower_bounds_", ())):
        facts.append(("averaged", f"{members} small fits; experts and bound are of one that looks at all columns"))
    for name, words in RECORDS.items():
        values = np.asarray(getattr(model, name, ()))
        if len(values):
            step = f", last step {values[-1] - values[-2]:+.2g}" if len(values) > 1 else ""
            facts.append((words, f"{values[-1]:,.1f} after {len(values)} iterations{step}"))
    return facts


def gate_facts(model: Any, X: Any) -> list[GateFacts]:
    """The gates that hold most of X, largest first; nothing for other models."""
    if not isinstance(model, GatedClassifier):
        return []
    rows = np.unique(np.linspace(0, len(X) - 1, min(_ROWS, len(X))).astype(int))
    part = take_rows(X, rows)
    told, table = model.explain(part), model._encode(part)
    names, traits = _traits(table)
    facts = []
    share = told.responsibilities.mean(axis=0)
    for h in np.argsort(-share, kind="stable")[:_GATES]:
        if share[h] * len(rows) < 0.5:
            continue
        own = told.responsibilities[:, h]
        says = (own @ told.class_probabilities[:, h]) / own.sum()
        best = np.argsort(-says, kind="stable")[:3]
        words = ", ".join(f"{model.classes_[c]} {percent(float(says[c]))}" for c in best)
        facts.append(GateFacts(float(share[h]), words, _apart(names, traits, own)))
    return facts


def expert_picture(model: Any, X: Any) -> bytes | None:
    """Gates over the two real columns that experts weigh most, and the bound; None where there is neither."""
    if not isinstance(model, GatedClassifier):
        return None
    displays: list[Any] = []
    rows = take_rows(X, np.unique(np.linspace(0, len(X) - 1, min(_ROWS, len(X))).astype(int)))
    pair = heaviest_columns(model, rows)
    if len(pair) == 2:
        displays.append(GatesDisplay.from_estimator(model, rows, columns=pair))
    if any(len(getattr(model, name, ())) for name in RECORDS):
        displays.append(LowerBoundDisplay.from_estimator(model))
    return draw_png(*displays, size=(6.0, 4.4)) if displays else None


def heaviest_columns(model: Any, X: Any) -> list[int]:
    """Positions of the two real columns with the greatest weights in the experts' rules for the rows of X."""
    told = model.explain(X)
    weight = dict(zip(told.feature_names, np.abs(told.weights).mean(axis=(0, 1)), strict=True))
    real = [j for j, column in enumerate(model.schema_.columns) if column.kind == "real" and column.observed]
    heaviest = sorted(real, key=lambda j: -weight.get(str(model.schema_.names[j]), 0.0))[:2]
    return sorted(heaviest)


def _traits(table: Table) -> tuple[list[str], np.ndarray]:
    """Names and values (n, traits) of every numeric cell and level, standardised; NaN where missing."""
    names, values = [], []
    for j, place in enumerate(table.schema.numeric):
        names.append(str(table.schema.names[place]))
        values.append(table.reals[:, j])
    for j, place in enumerate(table.schema.discrete):
        column, codes = table.schema.columns[place], table.codes[:, j]
        n = len(column.levels)
        for code in range(n) if n > 2 else range(n - 1, n):  # of two levels one says it all
            names.append(f"{column.name} = {column.levels[code]}")
            values.append(np.where(codes < 0, np.nan, codes == code))
    cells = np.array(values, float).reshape(len(names), len(table)).T
    seen = ~np.isnan(cells)
    count = np.maximum(seen.sum(axis=0), 1)
    centre = np.where(seen, cells, 0.0).sum(axis=0) / count
    spread = np.sqrt(np.where(seen, (cells - centre) ** 2, 0.0).sum(axis=0) / count)
    return names, (cells - centre) / np.where(spread > 1e-12, spread, 1.0)


def _apart(names: list[str], traits: np.ndarray, own: np.ndarray) -> str:
    """The traits in which rows with these weights differ most from all, in standard deviations."""
    weight = np.where(np.isnan(traits), 0.0, own[:, None])
    total = weight.sum(axis=0)
    mean = (weight * np.nan_to_num(traits)).sum(axis=0) / np.maximum(total, 1e-12)
    order = [k for k in np.argsort(-np.abs(mean), kind="stable")[:_TRAITS] if abs(mean[k]) >= _LEAST]
    return ", ".join(f"{names[k]} {mean[k]:+.1f}" for k in order) or "nothing in one column alone"
