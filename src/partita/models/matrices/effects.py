"""Features as extra columns of the factorisation, as in (5.14) of [1]: Y = U S V' + R G_R' + G_C C' + E.

R are features of rows, G_R what they do in each column; C are features of columns, G_C what they do in each row. R and
C hold the features as they are given (0 and 1 as such, numbers standardised); of a block that is cut to its leading
singular vectors, the mask, they hold those vectors, as [1] does. A constant has no place among them: it would be an
offset. Unlike [1], which gives them no prior: an entry of feature f of G_R or G_C is N(0, 1 / lambda_f), lambda_f ~
Gamma(effect_shape, effect_rate spread^2), as vague as all other precisions of [1].

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 5.
"""

from __future__ import annotations

import numpy as np

from .features import Block, Features
from .problem import Problem
from .sides import SIDES
from .state import State

_FIRST_PRECISION = 100.0  # of effects at the start, in units of the values' spread: small, and free to grow
_CONSTANT = 1e-9  # range of a feature that is constant, as a share of its size


def start_effects(problem: Problem, state: State) -> None:
    """Features say nothing yet."""
    for side in SIDES:
        n, count = side.size(problem), n_effects(side.other.features(problem))
        setattr(state, f"{side.name}_effects", np.zeros((n, count)))
        setattr(state, f"{side.name}_effect_precision", np.full(count, _FIRST_PRECISION / problem.spread**2))


def n_effects(features: Features) -> int:
    """Features that have effects."""
    return sum(_from_rows(block).shape[1] for block in features.blocks)


def feature_columns(features: Features, n: int) -> np.ndarray:
    """(n, F) R or C, of a side with n rows."""
    parts = [block.rows @ _from_rows(block) for block in features.blocks]
    return np.concatenate([np.zeros((n, 0)), *parts], axis=1)


def coefficients_of(features: Features) -> list[np.ndarray]:
    """Per block (r, F): what turns a new row's `features @ block.axes` into its row of `feature_columns`."""
    maps, first, total = [], 0, n_effects(features)
    for block in features.blocks:
        own = _from_rows(block)
        padded = np.zeros((len(block), total))
        padded[:, first : first + own.shape[1]] = own
        maps.append(padded)
        first += own.shape[1]
    return maps


def _from_rows(block: Block) -> np.ndarray:
    """(r, F) what turns `block.rows` into its columns of R or C; singular vectors get mean square 1."""
    if not block.whole:
        return np.diag(np.sqrt(len(block.left)) / block.size)
    given = block.rows @ block.axes.T
    varies = np.ptp(given, axis=0) > _CONSTANT * np.abs(given).max(axis=0, initial=0.0)
    return block.axes.T[:, varies]


def draw_precisions(rng: np.random.Generator, problem: Problem, effects: np.ndarray) -> np.ndarray:
    """(F,) lambda given the effects (n, F) of features on the other side's rows."""
    hyper, n = problem.hyper, len(effects)
    rate = hyper.effect_rate * problem.spread**2 + 0.5 * (effects**2).sum(axis=0)
    return rng.gamma(hyper.effect_shape + 0.5 * n, size=effects.shape[1]) / rate
