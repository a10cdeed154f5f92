"""Where a chain begins matters for a long time: dealt into many groups it merges slowly, grown from one group it
splits late.

`scattered` deals the rows of each class into many groups (`mixture.init`). `grown` seats a few rows in one group,
sweeps, seats as many again, sweeps, and so on. Of one group's rows a scattered chain keeps dozens of groups for
hundreds of sweeps; of thirty groups a grown chain finds twenty. A short run from either (`trial`) shows which of them
is on the higher ground.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...kernels import kernel
from ...kernels.contract import Chain
from . import mixture, predictive
from .ensemble import group_log_weights
from .mixture import sweep_rows
from .problem import RESTAURANTS, Problem, make_room

Start = Callable[[np.random.Generator, Problem], Chain]
FIRST_ROWS, SWEEPS_BETWEEN = 64, 2

scattered: Start = mixture.init


def grown(rng: np.random.Generator, problem: Problem) -> Chain:
    """Rows with a label, twice as many at a time, in a chain of one restaurant."""
    chain = mixture.init(rng, problem)
    chain.z[:], chain.used[:], chain.size[:] = -1, 0, 0.0
    order = rng.permutation(problem.labelled)
    seated, until = 0, min(FIRST_ROWS, len(order))
    while seated < len(order):
        _seat(rng, problem, chain, order[seated:until])
        seated, until = until, min(2 * until, len(order))
        if seated < len(order):
            for _ in range(SWEEPS_BETWEEN):
                sweep_rows(rng, problem, chain, order[:seated])
            _move_priors(rng, problem, chain)
    return chain


def _seat(rng: np.random.Generator, problem: Problem, chain: Chain, rows: np.ndarray) -> None:
    """Draw the groups of new rows, each by itself given the groups there are, a new one among them."""
    make_room(problem.layout, chain, int(chain.used.max()) + 2)
    state = predictive.snapshot(problem.layout, chain)
    for c in range(problem.settings.n_classes):
        mine = rows[problem.label[rows] == c]
        if not len(mine):
            continue
        if chain.used[0, c] == 0:
            chain.z[0, mine] = 0
        else:
            score = group_log_weights(problem.layout, problem.rows.take(mine), state, 0, c)
            chain.z[0, mine] = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
        members = chain.z[0, (chain.label == c) & (chain.z[0] >= 0)]
        count = np.bincount(members)
        chain.used[0, c] = len(count)
        chain.size[0, c] = 0.0
        chain.size[0, c, : len(count)] = count
    make_room(problem.layout, chain, int(chain.used.max()) + 1)
    kernel.rebuild(problem.layout, problem.rows, chain)


def _move_priors(rng: np.random.Generator, problem: Problem, chain: Chain) -> None:
    if problem.settings.alpha is None:
        kernel.move_concentration(chain, RESTAURANTS, rng.random(chain.used.shape))
    if problem.settings.column_prior is None:
        kernel.move_hyper(problem.layout, chain, problem.settings.grids, rng.random((problem.layout.n_columns, 3)))
