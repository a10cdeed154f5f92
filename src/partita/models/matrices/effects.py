"""Features as extra columns of the factorisation, as in (5.14) of [1]: Y = U S V' + R G_R' + G_C C' + E.

R are features of rows, G_R what they do in each column; C are features of columns, G_C what they do in each row. A
feature here is a singular direction of a block of features, scaled to mean square 1, so that the precisions of all
features are in the same units. Unlike [1], which gives them no prior: an entry of feature f of G_R or G_C is
N(0, 1 / lambda_f), lambda_f ~ Gamma(ridge_shape, ridge_rate spread^2).

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 5.
"""

from __future__ import annotations

import numpy as np

from .features import Features
from .problem import Problem
from .sides import SIDES
from .state import State

_FIRST_PRECISION = 10.0  # of effects at the start, in units of the values' spread


def start_effects(problem: Problem, state: State) -> None:
    """Features say nothing yet."""
    for side in SIDES:
        n, count = side.size(problem), side.other.features(problem).n_coefficients
        setattr(state, f"{side.name}_effects", np.zeros((n, count)))
        setattr(state, f"{side.name}_effect_precision", np.full(count, _FIRST_PRECISION / problem.spread**2))


def scaled_features(features: Features, n: int) -> np.ndarray:
    """(n, F) singular directions of all blocks, of mean square 1."""
    return np.concatenate([np.zeros((n, 0)), *(np.sqrt(n) * block.left for block in features.blocks)], axis=1)


def coefficients_of(features: Features, n: int) -> list[np.ndarray]:
    """Per block (r, F): what turns a new row's `features @ block.axes` into its row of `scaled_features`."""
    parts, first, total = [], 0, features.n_coefficients
    for block in features.blocks:
        part = np.zeros((len(block), total))
        part[:, first : first + len(block)] = np.diag(np.sqrt(n) / block.size)
        parts.append(part)
        first += len(block)
    return parts


def draw_precisions(rng: np.random.Generator, problem: Problem, effects: np.ndarray) -> np.ndarray:
    """(F,) lambda given the effects (n, F) of features on the other side's rows."""
    hyper, n = problem.hyper, len(effects)
    rate = hyper.ridge_rate * problem.spread**2 + 0.5 * (effects**2).sum(axis=0)
    return rng.gamma(hyper.ridge_shape + 0.5 * n, size=effects.shape[1]) / rate
