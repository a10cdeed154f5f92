"""A learnt structure in words and pictures: which edges are sure, which columns play the same role, what the chains
did."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.displays.class_template import ClassTemplateDisplay
from partita.displays.coassignment import CoassignmentDisplay
from partita.displays.edge_agreement import EdgeAgreementDisplay
from partita.displays.edge_probabilities import EdgeProbabilitiesDisplay
from partita.displays.network import NetworkDisplay
from partita.displays.picture import draw_png
from partita.displays.trace import TraceDisplay, r_hat_text
from partita.report.tables import align, likely_sizes, percent

_MOST = 25
_R_HAT_FINE, _APART_FINE = 1.1, 0.1


def structure_text(model: Any, least: float = 0.1) -> str:
    """Edges of at least the probability `least`, roles, weights of the priors, and how the chains did."""
    shown, more = likely_edges(model, least)
    parts = [f"{len(model.schema_.names)} columns; {_expected(model)}"]
    heads = ["parent", "", "child", "probability", "error"]
    parts.append(align(heads, shown, (3, 4)) if shown else "no edge is likely")
    if more:
        parts.append(f"... and {more} more of probability {least:g} or above")
    parts.append("\n".join(f"{name}: {members}" for name, members in roles(model)))
    parts.append("\n".join(f"{name}: {text}" for name, text in _how(model)))
    return "\n\n".join(parts)


def structure_facts(model: Any) -> list[tuple[str, str]]:
    """Pairs of a name and what was learnt."""
    facts = [("edges", _expected(model)), ("number of classes", likely_sizes(model.n_classes_posterior_))]
    return facts + roles(model) + _how(model)


def likely_edges(model: Any, least: float = 0.1) -> tuple[list[list[str]], int]:
    """Lines of parent, arrow, child, probability and error, the surest first; and how many more there are."""
    names, edges = [str(name) for name in model.schema_.names], model.edge_probabilities_
    found = sorted(((-edges[i, j], i, j) for i, j in np.argwhere(edges >= least) if i != j))
    rows = [[names[i], "->", names[j], f"{-p:.2f}", _error(model, i, j)] for p, i, j in found[:_MOST]]
    return rows, len(found) - len(rows)


def roles(model: Any) -> list[tuple[str, str]]:
    """Every class with its columns."""
    names, classes = [str(name) for name in model.schema_.names], np.asarray(model.classes_map_)
    return [
        (f"class {number}", ", ".join(name for name, of in zip(names, classes, strict=True) if of == number))
        for number in np.unique(classes)
    ]


def structure_pictures(model: Any) -> list[tuple[str, bytes, str]]:
    """Questions, the pictures that answer them, and a note on each."""
    matrices = EdgeProbabilitiesDisplay.from_estimator(model), CoassignmentDisplay.from_estimator(model)
    pictures = [
        (
            "Which columns act on which?",
            draw_png(NetworkDisplay.from_estimator(model), size=(10.0, 6.4)),
            "Edges of at least even odds, the darker the surer; colours are the most probable classes.",
        ),
        (
            "How sure is every edge, and who shares a role?",
            draw_png(*matrices, size=(6.2, 5.4)),
            "Left: the probability of every edge. Right: the probability that two columns belong to one class.",
        ),
        (
            "How do the classes act on each other?",
            draw_png(ClassTemplateDisplay.from_estimator(model), size=(5.4, 4.6)),
            "Mean probability of an edge from a column of one class to one of another; in brackets, how many columns.",
        ),
    ]
    return pictures + ([_chains(model)] if model.trace_ else [])


def agreement(model: Any) -> list[tuple[str, str]]:
    """How the chains of every prior did; empty where all is exact."""
    facts = []
    for prior, report in model.diagnostics_.items():
        worst, told = _worst(report), []
        for name, entry in report.items():
            if entry["r_hat"] != entry["r_hat"]:  # a number that never moved
                continue
            size = f"effective size {entry['ess_bulk']:.0f}"
            told.append(f"{name.replace('_', ' ')} {r_hat_text(entry['r_hat'])}, {size}")
        if "edges" in report:
            told.append(f"chains differ by at most {report['edges']['disagreement']:.2f} on an edge")
        fine = worst <= _R_HAT_FINE and report.get("edges", {}).get("disagreement", 0.0) <= _APART_FINE
        facts.append((f"chains, {prior}", "; ".join(told) + ("" if fine else " (not settled: raise n_sweeps)")))
    return facts


def _worst(report: dict[str, dict[str, float]]) -> float:
    known = [entry["r_hat"] for entry in report.values() if entry["r_hat"] == entry["r_hat"]]
    return max(known, default=1.0)


def _chains(model: Any) -> tuple[str, bytes, str]:
    name = next((name for name in model.trace_ if name.endswith("log_joint")), next(iter(model.trace_)))
    shown: list[Any] = [TraceDisplay.from_estimator(model, name)]
    if len(model.chain_edges_) > 1:
        shown.append(EdgeAgreementDisplay.from_estimator(model))
    note = "Left: the log joint probability by sweep; shaded sweeps are not used. " + (
        "Right: every edge by each chain against all of them." if len(shown) > 1 else ""
    )
    return "Have the chains settled?", draw_png(*shown, size=(5.4, 4.6)), note


def _how(model: Any) -> list[tuple[str, str]]:
    facts = agreement(model)
    if len(model.prior_weights_) > 1:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in model.prior_weights_.items())
        facts.insert(0, ("posterior weights of the priors", weights))
    if limit := model.parent_limit_:
        at = f"at most {limit['most']} of a column; {percent(limit['share_at_limit'])} of the columns have so many"
        facts.append(("parents under ordered classes", at))
    return facts


def _expected(model: Any) -> str:
    return f"expected number of edges {model.edge_probabilities_.sum():.1f} ({model.method_})"


def _error(model: Any, i: int, j: int) -> str:
    error = float(model.edge_errors_[i, j])
    return "exact" if error == 0 else f"{error:.3f}"
