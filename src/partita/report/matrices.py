"""A matrix model in words and as pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.displays.completion import CompletionDisplay
from partita.displays.factor import FactorDisplay
from partita.displays.picture import draw_png
from partita.displays.rank_posterior import RankPosteriorDisplay
from partita.displays.trace import TraceDisplay
from partita.report.tables import likely_sizes, number

_R_HAT_FINE = 1.1


def matrix_facts(model: Any) -> list[tuple[str, str]]:
    """Pairs of a name and what the model learnt of its matrix."""
    entries, n, p = model.n_entries_, len(model.row_ids_), len(model.column_ids_)
    facts = [
        ("matrix", f"{n:,} rows x {p:,} columns, {entries:,} cells observed ({entries / max(n * p, 1):.1%})"),
        ("link", model.link),
        ("rank above the noise", likely_sizes(model.rank_posterior_)),
    ]
    if hasattr(model, "noise_"):
        facts.append(("standard deviation of the noise", number(model.noise_)))
    if hasattr(model, "levels_"):
        facts.append(("levels", ", ".join(f"{level:g}" for level in model.levels_)))
    features = [
        f"{side.features.n_coefficients} of {name}"
        for name, side in (("rows", model._row_side), ("columns", model._column_side))
        if side.features.blocks
    ]
    facts.append(("features (given, activity, pattern of cells)", ", ".join(features) or "none"))
    facts.append(("agreement of the chains", agreement(model.r_hat_)))
    return facts


def agreement(r_hat: dict[str, float]) -> str:
    """The worst R-hat of what was traced, and what to do about it."""
    known = {name: value for name, value in r_hat.items() if value == value}
    if not known:
        return "not known: too few sweeps"
    worst = max(known, key=lambda name: known[name])
    told = f"R-hat {known[worst]:.2f} ({worst.replace('_', ' ')})"
    fine = known[worst] <= _R_HAT_FINE
    return told + (", fine" if fine else f", above {_R_HAT_FINE}: not settled yet; raise burn_in and n_samples")


def matrix_text(model: Any) -> str:
    """The facts as lines of text."""
    facts = matrix_facts(model)
    width = max(len(name) for name, _ in facts)
    return "\n".join([type(model).__name__, *(f"  {name.ljust(width)}  {text}" for name, text in facts)])


def matrix_pictures(model: Any) -> list[tuple[str, bytes, str]]:
    """Pairs of a question and the picture that answers it, with a note."""
    return [
        (
            "What stands in the holes, and how sure is it?",
            draw_png(_Both(CompletionDisplay.from_estimator(model, max_lines=60)), size=(9.6, 4.4)),
            "Left: observed and completed cells of the rows and columns that have most. Right: the standard deviation "
            "of their expected values; dots are observed cells.",
        ),
        (
            "How many factors are there, and have the chains settled?",
            draw_png(RankPosteriorDisplay.from_estimator(model), TraceDisplay.from_estimator(model, "log_likelihood")),
            "Left: the posterior over the number of components that stand above the noise. Right: what the chains "
            "recorded; shaded sweeps are not used.",
        ),
        (
            "What do the factors set apart?",
            draw_png(FactorDisplay.from_estimator(model, "rows"), FactorDisplay.from_estimator(model, "columns")),
            "Rows (left) and columns in the plane of the two strongest factors; the names are of those farthest out.",
        ),
    ]


class _Both:
    """A display of two axes in the place of one: the place is divided."""

    def __init__(self, display: Any) -> None:
        self.display = display

    def plot(self, ax: Any) -> None:
        places, figure = ax.get_subplotspec().subgridspec(1, 2), ax.figure
        ax.remove()
        self.display.plot(np.array([figure.add_subplot(place) for place in places], dtype=object))
