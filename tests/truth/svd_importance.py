"""Exact posteriors of the Bayesian SVD on tiny matrices: draws of the prior, weighted by the likelihood of the cells.

No function of the samplers is used; the draws are independent, so the error of every average is known.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr
from svd_worlds import World, draw_theta

from partita.models.matrices.problem import NOISE_DFS

_CHUNK = 100_000


def prior_fits(rng: np.random.Generator, world: World, n: int) -> dict[str, np.ndarray]:
    """`n` draws of the fit (n, I, J), the precision of a cell, cut points and what has a name."""
    hyper, k, (rows, columns) = world.hyper, world.n_components, world.shape
    paper = world.prior == "paper"
    found: dict[str, np.ndarray] = {}
    if paper:
        alpha_s = rng.gamma(hyper.e, 1.0 / hyper.f, n)
        s = np.abs(rng.standard_normal((n, k))) / np.sqrt(alpha_s)[:, None]
        z = rng.random((n, k)) < hyper.a / (hyper.a + hyper.b * (k - 1))
        u = rng.standard_normal((n, rows, k)) / np.sqrt(rows) * (s * z)[:, None]
        v = rng.standard_normal((n, columns, k)) / np.sqrt(columns)
        found |= {"rank": z.sum(axis=1).astype(float), "log alpha_s": np.log(alpha_s)}
    else:
        theta = draw_theta(rng, world, (n, 1, k))
        u, v = (np.sqrt(theta) * rng.standard_normal((n, m, k)) for m in (rows, columns))
    fit = u @ v.transpose(0, 2, 1)
    if world.offsets:
        for axis, m in ((1, rows), (2, columns)):
            tau = rng.gamma(hyper.offset_shape, 1.0 / hyper.offset_rate, (n, 1))
            fit += np.expand_dims(rng.standard_normal((n, m)) / np.sqrt(tau), 3 - axis)
        if world.link != "ordinal":
            fit += hyper.mean_width * rng.standard_normal((n, 1, 1))
    shape, rate = (hyper.c, hyper.d) if paper else (hyper.noise_shape, hyper.noise_rate)
    alpha = rng.gamma(shape, 1.0 / rate, n) if world.link == "gaussian" else np.ones(n)
    noise = alpha[:, None, None] * np.ones((1, rows, columns))
    if world.unequal_noise:
        for shape_of in ((n, rows, 1), (n, 1, columns)):
            df = rng.choice(NOISE_DFS, (n, 1, 1))
            noise = noise * rng.gamma(np.broadcast_to(df, shape_of)) / df
    cuts = np.sort(hyper.cut_width * rng.standard_normal((n, world.n_levels - 1)), axis=1)
    return found | {"fit": fit, "noise": noise, "alpha": alpha, "cuts": cuts}


def log_likelihood(
    world: World, draws: dict[str, np.ndarray], values: np.ndarray, trials: np.ndarray | None
) -> np.ndarray:
    row, column = world.cells()
    fit, noise = draws["fit"][:, row, column], draws["noise"][:, row, column]
    if world.link == "gaussian":
        return 0.5 * (np.log(noise) - noise * (values - fit) ** 2).sum(axis=1)
    if world.link == "binomial":
        assert trials is not None
        return (values * log_ndtr(fit) + (trials - values) * log_ndtr(-fit)).sum(axis=1)
    infinite = np.full((len(fit), 1), np.inf)
    edges, level = np.concatenate([-infinite, draws["cuts"], infinite], axis=1), values.astype(int)
    above, below = ((edges[:, level + step] - fit) * np.sqrt(noise) for step in (1, 0))
    return np.log(np.maximum(ndtr(above) - ndtr(below), 1e-300)).sum(axis=1)


def answers(world: World, fit: np.ndarray, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What is compared, (n,) each; the fit at a seen cell and at the last, squared too, and what has a name."""
    row, column = world.cells()
    found = {"seen": fit[:, row[0], column[0]], "last": fit[:, -1, -1]}
    found |= {f"{name} squared": np.minimum(value**2, 50.0) for name, value in found.items()}
    found["unlike signs"] = (found["seen"] * found["last"] < 0).astype(float)
    if world.link == "gaussian":
        found["log alpha"] = np.log(draws["alpha"])
    if world.link == "ordinal":
        found |= {"first cut": draws["cuts"][:, 0], "last cut": draws["cuts"][:, -1]}
    return found | {name: draws[name] for name in ("rank", "log alpha_s") if name in draws}


def exact(
    rng: np.random.Generator, world: World, values: np.ndarray, trials: np.ndarray | None, n: int
) -> dict[str, tuple[float, float]]:
    """Posterior mean of every answer and its standard error."""
    logs, found = [], []
    for _ in range(n // _CHUNK):
        draws = prior_fits(rng, world, _CHUNK)
        logs.append(log_likelihood(world, draws, values, trials))
        found.append(answers(world, draws["fit"], draws))
    log = np.concatenate(logs)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    out = {}
    for name in found[0]:
        value = np.concatenate([part[name] for part in found])
        mean = float(weight @ value)
        out[name] = mean, float(np.sqrt((weight**2) @ (value - mean) ** 2))
    return out
