"""What structure learning leaves: the posterior, how it was found, and what to judge it by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .hyper import HyperGrid
from .posterior import NetPosterior
from .seats import ROOMS
from .state import Schedule


@dataclass(frozen=True)
class NetSettings:
    """beta1 and beta2 of the edge probabilities; pseudo is gamma, or the equivalent sample size of BDeu. `exact` is
    True, False or "auto"; `single_edges` the kernel of the thesis."""

    prior: str
    bdeu: bool
    pseudo: float
    alpha: float
    beta1: float
    beta2: float
    n_chains: int
    schedule: Schedule
    exact: bool | str
    single_edges: bool = False
    grid: HyperGrid | None = None  # where hyper-parameters are learnt
    anneal: bool = False  # whether the best state is looked for beyond what chains saw
    rooms: np.ndarray = field(default_factory=lambda: ROOMS)  # of several tables, see `structure.seats`


@dataclass
class Learnt:
    """The posterior, "exact" or "sampled", the weights of the priors, and what chains there were. `parent_limit`:
    the most parents that lists of sets had room for, and how many nodes of the networks drawn have as many."""

    posterior: NetPosterior
    method: str
    prior_weights: dict[str, float]
    diagnostics: dict[str, Any] = field(default_factory=dict)
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    parent_limit: dict[str, float] = field(default_factory=dict)
    normalisers: dict[str, float] = field(default_factory=dict)  # of the priors that were weighed, in the best states
