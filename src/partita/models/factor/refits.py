"""Short fits of factor experts without some of the rows, for the widths of the laws of cells (`gated.refits`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...inference.fits import run_fits
from ...inference.runner import Runner
from ..gated.aside import learn_widths, make_folds, without
from ..gated.fit import bound_settled
from ..gated.members import Data
from ..gated.pool import Pool
from ..gated.refits import REFIT_ITERATIONS, REFIT_TOLERANCE, quiet
from ..gated.warm import log_shares, most_probable
from .beside import Beside
from .model import FactorFit, FactorModel
from .problem import FactorProblem, FactorSettings
from .state import FactorState


def refit_factors(
    pool: Pool, data: Data, settings: FactorSettings, n_folds: int, streams: Sequence[np.random.Generator],
    runner: Runner,
) -> None:  # fmt: skip
    """Widths for a pool of one fit; one stream for each fold, and one to draw them."""
    *each, last = streams
    whole, folds = pool.whole[0], make_folds(data, 0, n_folds, last)
    fits = []
    for fold in folds:
        part = without(data, fold)
        rows = part.rows[0]
        beside = Beside.of(whole.view.cells, rows, part.label)
        problem = FactorProblem.of(
            rows.reals[:, whole.view.reals], part.label, data.n_classes, part.weight, settings, beside
        )
        fits.append(FactorFit(problem, 0, most_probable(log_shares(whole, rows, part.label))))
    if not fits:
        return
    states, outcome = run_fits(
        fits, each[: len(fits)], REFIT_ITERATIONS, bound_settled(REFIT_TOLERANCE), quiet(runner), "",
        FactorState.from_tree,
    )  # fmt: skip
    if outcome.interrupted is None:
        models = [FactorModel(whole.view, data.n_classes, replace(state, guesses=[])) for state in states]
        learn_widths(pool, [[[model]] for model in models], folds, data, 0, last)
