"""What chains over a matrix leave behind: draws as one posterior, the rank, and how well the chains agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inference.diagnostics import ess_bulk, r_hat
from ..models.matrices.chains import Fitted
from ..models.matrices.posterior import Posterior

Described = tuple[dict[int, float], int, dict[str, np.ndarray], dict[str, float], dict[str, dict[str, float]]]


def posterior_of(fitted: Fitted, levels: np.ndarray, offsets: bool) -> Posterior:
    """All kept draws, chain after chain."""
    return Posterior(tuple(draw for chain in fitted.draws for draw in chain), levels, offsets)


def describe_chains(fitted: Fitted, posterior: Posterior) -> Described:
    """Posterior of the rank and its mode, traces, R-hat, and R-hat with effective sizes, over the sweeps kept."""
    ranks, counts = np.unique([draw.rank for draw in posterior.draws], return_counts=True)
    law = {int(rank): float(count / counts.sum()) for rank, count in zip(ranks, counts)}
    mode = max(law, key=lambda rank: (law[rank], -rank))
    done = min(fitted.steps_done)
    trace = {name: np.asarray(values)[:, :done] for name, values in fitted.infos.items()}
    # the number of components is fixed once draws are kept: nothing there could agree
    late = {name: values[:, fitted.burn_in :] for name, values in trace.items() if name != "components"}
    agreement = {name: agreement_of(values) for name, values in late.items()}
    sizes: dict[str, Any] = {
        name: {"r_hat": agreement[name], "ess": float(ess_bulk(values)) if values.size else np.nan}
        for name, values in late.items()
    }
    return law, mode, trace, agreement, sizes


def agreement_of(values: np.ndarray) -> float:
    """R-hat; 1 where all chains give the same number all along, NaN where there are too few sweeps."""
    if not values.size:
        return np.nan
    if np.isfinite(values).all() and np.ptp(values) == 0:
        return 1.0
    return float(r_hat(values))
