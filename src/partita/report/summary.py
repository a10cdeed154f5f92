"""A fitted model in words."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partita.data.kinds import DISCRETE
from partita.estimators.bayesian_svd import BayesianSVD
from partita.estimators.structure_learner import StructureLearner
from partita.report.columns import column_facts, size_of
from partita.report.experts import expert_facts
from partita.report.interactions import interaction_facts
from partita.report.matrices import matrix_text
from partita.report.structures import structure_facts
from partita.report.tables import align, likely_sizes, number, percent

_R_HAT_FINE = 1.1


def summary(model: Any, X: Any = None) -> str:
    """Print-friendly summary of a fitted model: what it learnt, then one line per column.

    X       the training table, or another of the same columns: with it missing shares and values are shown. Of no
            use to a `BayesianSVD`, whose matrix has cells of one kind.
    """
    if isinstance(model, BayesianSVD):
        check_is_fitted(model, "row_ids_")
        return f"{matrix_text(model)}\n  parameters: {set_parameters(model) or 'all at their defaults'}"
    if isinstance(model, StructureLearner) and hasattr(model, "tables_"):  # each with columns of its own
        return "\n\n".join(f"table {k}\n{summary(one)}" for k, one in enumerate(model.tables_))
    check_is_fitted(model, "schema_")
    schema = model.schema_
    facts = learnt_facts(model)
    width = max(len(name) for name, _ in facts)
    lines = [type(model).__name__, *[f"  {name.ljust(width)}  {text}" for name, text in facts], ""]
    if X is None:
        rows = [(str(c.name), c.kind, str(len(c.levels)) if c.kind in DISCRETE else "") for c in schema.columns]
        return "\n".join(lines) + "\n" + align(("column", "kind", "levels"), rows, right=(2,))
    columns = column_facts(X, schema)
    lines.insert(1, "  " + size_of(len(X), len(columns), float(np.mean([c.missing for c in columns]))))
    shown = [(c.name, c.kind, percent(c.missing), c.values) for c in columns]
    return "\n".join(lines) + "\n" + align(("column", "kind", "missing", "values"), shown, right=(2,))


def learnt_facts(model: Any) -> list[tuple[str, str]]:
    """Pairs of a name and what the model learnt: classes, groups, temperature, experts, interactions, parameters."""
    facts = [("columns", _kinds(model.schema_.kinds))]
    if hasattr(model, "n_rows_seen_"):
        facts.insert(0, ("learnt from", f"{model.n_rows_seen_:,} rows"))
    if hasattr(model, "classes_"):
        facts.append(("classes", ", ".join(map(str, model.classes_))))
    facts += [(f"groups{of}", likely_sizes(posterior)) for of, posterior in group_posteriors(model)]
    if isinstance(model, StructureLearner):
        facts += structure_facts(model)
    elif hasattr(model, "diagnostics_"):
        facts.append(("agreement of the chains", _agreement(model.diagnostics_)))
    for attribute, name in (("alpha_", "concentration"), ("temperature_", "temperature")):
        if hasattr(model, attribute):
            facts.append((name, ", ".join(number(float(value)) for value in np.ravel(getattr(model, attribute)))))
    facts += expert_facts(model) + interaction_facts(model)
    facts.append(("parameters", set_parameters(model) or "all at their defaults"))
    return facts


def group_posteriors(model: Any) -> list[tuple[str, dict[int, float]]]:
    """The posterior over the number of groups, with "" for all rows or " of class c" for each class."""
    if hasattr(model, "n_components_by_class_"):
        return [(f" of class {name}", law) for name, law in model.n_components_by_class_.items()]
    return [("", model.n_components_posterior_)] if hasattr(model, "n_components_posterior_") else []


def set_parameters(model: Any) -> str:
    """The parameters that differ from their defaults; those that do not change the result are left out."""
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    quiet = ("n_jobs", "progress", "checkpoint")
    changed = {name: value for name, value in model.get_params(deep=False).items() if name not in quiet}
    return ", ".join(f"{name}={value!r}" for name, value in changed.items() if repr(value) != repr(defaults.get(name)))


def _agreement(diagnostics: Mapping[str, Mapping[str, float]]) -> str:
    """The worst R-hat over what was traced, and what to do about it."""
    if not diagnostics:
        return "not known: too few sweeps to say; raise n_sweeps"
    worst = max(
        (float(entry["r_hat"]) for entry in diagnostics.values() if entry["r_hat"] == entry["r_hat"]), default=1.0
    )
    if worst <= _R_HAT_FINE:
        return f"R-hat {worst:.2f}, fine"
    return f"R-hat {worst:.2f}, above {_R_HAT_FINE}: the number of groups is not settled; raise n_sweeps"


def _kinds(kinds: tuple[str, ...]) -> str:
    names, counts = np.unique(kinds, return_counts=True)
    return ", ".join(f"{count} {name}" for name, count in zip(names, counts))
