"""Whether chains of gated experts agree, and a warning where they do not."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.telling import tell

SWEEPS_TO_SETTLE = 100  # nobody who asks for fewer expects chains to agree after them
FAR = 1.5  # R-hat: chains differ by more than they move
WORDS = {
    "log_likelihood": "the log-likelihood", "n_components": "the number of components",
    "largest": "the size of the largest component", "log_alpha": "the concentration",
}  # fmt: skip


def warn_of_unsettled(diagnostics: dict[str, dict[str, float]], n_sweeps: int, owner: str) -> None:
    """Name the trace on which chains differ most, where they differ by far."""
    r_hats = {name: float(np.nan_to_num(found["r_hat"])) for name, found in diagnostics.items()}
    worst = max(r_hats, key=r_hats.__getitem__)
    if n_sweeps < SWEEPS_TO_SETTLE or r_hats[worst] <= FAR:
        return
    tell(
        f"{owner}: after {n_sweeps} sweeps the chains do not agree on {WORDS[worst]} (R-hat {r_hats[worst]:.2f}; see "
        "diagnostics_): take n_experts_posterior_ as rough, and probabilities as means over explanations that chains "
        f"hardly leave. Try more chains (n_restarts) or sweeps (max_iter={2 * n_sweeps}), or inference='vb'.",
        ConvergenceWarning,
    )
