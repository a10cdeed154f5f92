"""How likely a component's rows are with everything integrated out that is drawn for them: missing Gaussian cells, the
latents of two classes, and the component's gate and expert.

An estimate without bias, by annealed importance sampling [1]. The expert is drawn from a law fitted to the rows. Given
it, missing cells are drawn as a fixed gate has them, that of a variational fit, and moved in steps to where the gate is
integrated out: at step b of 0 .. 1 their law is N(x | fixed gate)^(1 - b) times the integral over gates of
N(x | gate)^b, times what the labels say. A step draws a gate given the cells and the cells given the gate. Where cells
and expert are already a draw from the posterior, the path is walked back from them; then moves that accept by ratios
of such estimates are exact [2].

Cells beside the Gaussian block, and the latents of many classes, stand as they do in the state.

[1] R. M. Neal (2001), Annealed importance sampling, Statistics and Computing 11, 125-139.
[2] G. Karagiannis and C. Andrieu (2013), Annealed importance sampling reversible jump MCMC algorithms, Journal of
Computational and Graphical Statistics 22, 623-648.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .expectations import LOG_2PI
from .gibbs_fits import Expert, Fit, Part
from .gibbs_rows import complete
from .update import posterior_gates

PASSES = 10  # of the variational fit


@dataclass(eq=False)
class Sums:
    """How many cells' rows there are, their sum and sum of outer products."""

    count: float
    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray) -> Sums:
        return cls(float(len(x)), x.sum(axis=0), x.T @ x)

    def scaled(self, share: float) -> np.ndarray:
        """Statistics of the family of the gates."""
        return share * np.concatenate([[self.count], self.first, self.second.ravel()])


@dataclass(eq=False)
class Path:
    """From the fixed gate (mean, precision) to all gates, for the rows of a part and an expert w."""

    part: Part
    mean: np.ndarray
    precision: np.ndarray
    w: np.ndarray

    def fixed(self, sums: Sums) -> float:
        """Log density of completed rows by the fixed gate."""
        p, mean, n = len(self.mean), self.mean, sums.count
        about = sums.second - np.outer(sums.first, mean) - np.outer(mean, sums.first) + n * np.outer(mean, mean)
        log_det = np.linalg.slogdet(self.precision)[1]
        return float(0.5 * (n * (log_det - p * LOG_2PI) - (self.precision * about).sum()))

    def rise(self, x: np.ndarray, before: float, after: float) -> float:
        """By how much the log law of the completed rows differs between two steps."""
        sums, gate = Sums.of(x), self.part.given.priors.gate
        logs = gate.log_marginal(np.array([sums.scaled(before), sums.scaled(after)]).reshape(2, -1))
        return float(logs[1] - logs[0] - (after - before) * self.fixed(sums))

    def move(self, rng: np.random.Generator, x: np.ndarray, step: float) -> np.ndarray:
        """A gate given the cells, and the cells given the gate."""
        sums = Sums.of(x)
        counts = np.array([sums.count])
        gates = posterior_gates(
            self.part.given.priors.gate, step * counts, step * sums.first[None], step * sums.second[None]
        )
        mean, covariance = (drawn[0] for drawn in gates.sample_parameters(rng))
        own = np.linalg.inv(covariance)
        precision = step * 0.5 * (own + own.T) + (1.0 - step) * self.precision
        pull = step * own @ mean + (1.0 - step) * self.precision @ self.mean
        return self.drawn(rng, np.linalg.solve(precision, pull), precision)[0]

    def drawn(self, rng: np.random.Generator, mean: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, float]:
        """Completed rows given a gate, and the log density of what is observed."""
        x, total = np.empty((len(self.part.latent), len(mean))), 0.0
        sight = self.part.sight(mean, precision, self.w)
        for block, scores in self.part.scores(sight):
            x[block.index] = complete(rng, block, sight, scores, np.zeros(len(block), np.int32))[0]
            total += float(scores.log_weight.sum())
        return x, total


def log_evidence(
    rng: np.random.Generator, part: Part, prior: Expert, steps: int,
    now: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, np.ndarray, np.ndarray]:  # fmt: skip
    """The estimate, and completed rows (m, P) and an expert (K, F) that go with it; `now`: those that there are. The
    path has an eighth of the `steps`, and `steps` times the share of missing cells."""
    fit, ones = Fit.begin(part, prior, 1), np.ones((len(part.latent), 1))
    for _ in range(PASSES):
        fit = fit.passed(ones)
    law = fit.expert()
    w = law.draw(rng) if now is None else now[1]
    path = Path(part, *fit.gate(), w)
    x, total = path.drawn(rng, path.mean, path.precision)
    total += prior.log_density(w) - law.log_density(w)
    if not part.given.view.width:
        return total, x, w
    n_steps = max(round(steps * (0.125 + part.missing)), 1) if part.missing else 1
    pairs = list(pairwise(np.linspace(0.0, 1.0, n_steps + 1)))
    if now is None:
        for before, after in pairs:
            total += path.rise(x, before, after)
            if after < 1.0:
                x = path.move(rng, x, after)
        return total, x, w
    x = now[0]
    for before, after in reversed(pairs):
        total += path.rise(x, before, after)
        if before > 0.0:
            x = path.move(rng, x, before)
    return total, *now
