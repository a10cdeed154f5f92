"""Sharper than the evidence: the prior variances of a stage times a factor that leave-one-out chooses.

Where a stage nearly separates the classes, its parameters want to be large. Laplace's evidence sees that late: the
curvature vanishes with the residuals, few parameters count as determined, and the update of the variances creeps. The
leave-one-out predictions say it at once: an exponent above one would make them better. Then all variances are
multiplied by `FACTOR`, the mode is found again, and again while the leave-one-out loss falls. This is done once the
path has been walked, for the stages that carry the pool, and the pool is chosen anew; nothing is done where the pool's
temperature is near one. The searches for regions see the modes of the evidence: gains are small where a model is sure
of itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..pooling import best_exponent
from .map import Target
from .pool import LEAST, LOG_TEMPERATURES, full_logits, log_softmax, softmax
from .scales import BOUNDS, StageFit

FACTOR = 6.0  # of the variances from one trial to the next
WANTED = 1.25  # exponent of the leave-one-out predictions above which sharper parameters are tried
TRIALS = 6
LEAST_SHARE = 0.1  # of the pool, below which a stage is left as it is
# Nats of all rows by which a trial must lower the leave-one-out loss, about log(FACTOR): leave-one-out flatters a stage
# that separates its own rows, so a large factor is believed only where many rows ask for it.
LEAST_GAIN = 2.0


class Answer(NamedTuple):
    """What a stage says: parameters, leave-one-out logits of the rows that variances are learnt from, moments."""

    w: np.ndarray
    left_out: np.ndarray
    moments: np.ndarray


def worth_sharpening(share: np.ndarray, temperature: float) -> np.ndarray:
    """Numbers of the stages to try: none where the pool as a whole is sharp enough, else those that carry it."""
    return np.flatnonzero((share >= LEAST_SHARE) & (temperature > WANTED))


def sharpened(
    fit: StageFit, left_out: np.ndarray, target: Target, refit: Callable[[np.ndarray, StageFit], StageFit],
    learn: Callable[[StageFit], Answer], prior: float,
) -> tuple[StageFit, Answer] | None:  # fmt: skip
    """The fit and its answer with the variances that leave-one-out likes best; None where those of `fit` are.

    `refit` finds the mode at given variances from an earlier fit, `prior` is that of the exponent."""
    best, loss = None, left_out_loss(left_out, target)
    for _ in range(TRIALS):
        if not len(fit.variance) or not _wants_sharper(left_out, target, prior):
            break
        fit = refit(np.clip(FACTOR * fit.variance, *BOUNDS), fit)
        answer = learn(fit)
        loss_there, left_out = left_out_loss(answer.left_out, target), answer.left_out
        if not loss_there < loss - LEAST_GAIN:
            break
        best, loss = (fit, answer), loss_there
    return best


def left_out_loss(left_out: np.ndarray, target: Target) -> float:
    """Nats of all rows."""
    own = softmax(left_out)[np.arange(len(left_out)), target.label]
    return -float(target.weight @ np.log(own + LEAST))


def _wants_sharper(left_out: np.ndarray, target: Target, prior: float) -> bool:
    log_p = log_softmax(full_logits(left_out))
    return best_exponent(log_p, target.label, target.weight, prior, LOG_TEMPERATURES) > WANTED
