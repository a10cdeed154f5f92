"""A learnt structure in words: which edges are sure, which doubtful, and which columns play the same role."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.report.tables import align

_MOST = 25


def structure_text(model: Any, least: float = 0.1) -> str:
    """Edges of at least the probability `least`, roles, and how the chains did."""
    names = [str(name) for name in model.schema_.names]
    n = len(names)
    found = [(float(model.edge_probabilities_[i, j]), i, j) for i in range(n) for j in range(n) if i != j]
    shown = sorted((edge for edge in found if edge[0] >= least), reverse=True)
    rows = [[names[i], "->", names[j], f"{p:.2f}", _error(model, i, j)] for p, i, j in shown[:_MOST]]
    parts = [f"{n} columns; expected number of edges {sum(p for p, _, _ in found):.1f} ({model.method_})"]
    parts.append(align(["parent", "", "child", "probability", "error"], rows, (3, 4)) if rows else "no edge is likely")
    if len(shown) > _MOST:
        parts.append(f"... and {len(shown) - _MOST} more of probability {least:g} or above")
    parts.append("\n".join(_roles(model, names)))
    if len(model.prior_weights_) > 1:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in model.prior_weights_.items())
        parts.append(f"posterior weights of the priors: {weights}")
    return "\n\n".join(parts)


def _error(model: Any, i: int, j: int) -> str:
    error = float(model.edge_errors_[i, j])
    return "exact" if error == 0 else f"{error:.3f}"


def _roles(model: Any, names: list[str]) -> list[str]:
    classes = np.asarray(model.classes_map_)
    lines = []
    for number, label in enumerate(np.unique(classes)):
        members = [name for name, of in zip(names, classes, strict=True) if of == label]
        lines.append(f"class {number + 1}: {', '.join(members)}")
    return lines
