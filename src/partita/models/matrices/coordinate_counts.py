"""Binomial cells in the sampler of [1] that draws one number at a time.

[1] has a normal latent behind every trial (section 5.4.3). Here they are integrated out, so that millions of trials are
as cheap as one: a number moves by a Metropolis step whose proposal lies around one Newton step of its own conditional
law, and the density of the way back enters the acceptance. All rows of a side move at once, since given the other side
they are independent.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from .problem import Problem
from .sides import ROWS, Side

_TAIL = 8.0  # degrees of freedom of proposals: one number, so a heavy tail costs little and finds back from afar
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


@dataclass
class Cells:
    """What the cells say at the fit f (m,): log-likelihood, slope and observed curvature in f, cell by cell."""

    fit: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray

    @classmethod
    def at(cls, problem: Problem, fit: np.ndarray) -> Cells:
        hits, trials = problem.entries.values, problem.entries.trials
        assert trials is not None
        up, down, density = log_ndtr(fit), log_ndtr(-fit), -0.5 * fit**2 - _LOG_ROOT
        won, lost = np.exp(density - up), np.exp(density - down)  # inverse Mills ratios
        misses = trials - hits
        return cls(
            fit,
            hits * up + misses * down,
            hits * won - misses * lost,
            hits * np.clip(won * (won + fit), 0.0, 1.0) + misses * np.clip(lost * (lost - fit), 0.0, 1.0),
        )

    def where(self, taken: np.ndarray, other: Cells) -> Cells:
        """Those of `other` in the cells `taken`."""
        return Cells(*(np.where(taken, getattr(other, name), mine) for name, mine in vars(self).items()))


@dataclass(frozen=True)
class Step:
    """Where one number of every row stands: log density, centre and precision of a proposal from there."""

    log_density: np.ndarray
    centre: np.ndarray
    precision: np.ndarray

    @classmethod
    def of(cls, cells: Cells, row: np.ndarray, by: np.ndarray, x: np.ndarray, own: float) -> Step:
        """x (n,): the numbers, N(0, 1 / own) a priori; by (m,): what a cell multiplies the number of its row by."""
        n = len(x)
        value, slope = np.bincount(row, cells.value, n), np.bincount(row, cells.slope * by, n)
        precision = own + np.bincount(row, cells.curvature * by**2, n)
        return cls(value - 0.5 * own * x**2, x + (slope - own * x) / precision, precision)

    def log_proposal(self, x: np.ndarray) -> np.ndarray:
        """Of a proposal at x, up to a constant."""
        away = (x - self.centre) ** 2 * self.precision
        return 0.5 * np.log(self.precision) - 0.5 * (_TAIL + 1.0) * np.log1p(away / _TAIL)


def move_numbers(
    problem: Problem, rng: np.random.Generator, side: Side, own: np.ndarray, met: np.ndarray, weight: np.ndarray,
    precision: np.ndarray, fit: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """One step of every number of `own` (n, q), column by column, in place; returns the fit (m,) after it.

    met (others, q), weight (q,)    the fit is a sum over q of weight own[row] met[other]
    precision (q,)                  of the normal priors, whose means are 0
    """
    entries = problem.entries
    row, other = (entries.row, entries.column) if side is ROWS else (entries.column, entries.row)
    cells, n = Cells.at(problem, fit), len(own)
    for q in range(own.shape[1]):
        by, x = weight[q] * met[other, q], own[:, q].copy()
        here = Step.of(cells, row, by, x, precision[q])
        far = rng.standard_normal(n) * np.sqrt(_TAIL / rng.chisquare(_TAIL, n))
        asked = here.centre + far / np.sqrt(here.precision)
        moved = Cells.at(problem, cells.fit + by * (asked - x)[row])
        there = Step.of(moved, row, by, asked, precision[q])
        gain = there.log_density - here.log_density + there.log_proposal(x) - here.log_proposal(asked)
        taken = np.log1p(-rng.random(n)) < gain
        own[:, q] = np.where(taken, asked, x)
        cells = cells.where(taken[row], moved)
    return cells.fit
