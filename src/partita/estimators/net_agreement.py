"""Whether chains agree on the edges: said at the end of a fit, since the mean of chains that do not is no posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.telling import tell

FAR = 0.5  # difference between two chains' probabilities of an edge from which their mean tells nothing


def warn_of_disagreement(chain_edges: np.ndarray, names: Sequence[Any], owner: str) -> None:
    """Name the edge on which chains (chains, parents, children) differ most, where they differ by far."""
    if len(chain_edges) < 2:
        return
    apart = np.ptp(chain_edges, axis=0)
    if apart.max(initial=0.0) <= FAR:
        return
    parent, child = map(int, np.unravel_index(int(apart.argmax()), apart.shape))
    own = chain_edges[:, parent, child]
    tell(
        f"{owner}: the chains do not agree. The edge from {names[parent]!r} to {names[child]!r} has probability "
        f"{own.min():.2f} in one and {own.max():.2f} in another; {int((apart > FAR).sum())} edges differ by more than "
        f"{FAR}. Their mean is not yet the posterior: increase n_sweeps; see diagnostics_ and EdgeAgreementDisplay.",
        ConvergenceWarning,
    )  # fmt: skip
