"""What fitted factor experts say of rows: gates, classes, missing cells, draws.

Given a component, (x, f_1 .. f_C) of a new row, f_c = w_c' [b o s; 1], is taken to be normal with the mean and the
covariance that the posterior gives it: covariance sum_t <b_t> g_t g_t' plus a diagonal of noise, the uncertainty of mu
and that of the loadings (rows of G are independent, so it is diagonal). That is a factor analyser with loadings
sqrt(<b_t>) g_t, exact where the parameters are known, and closed under leaving cells out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..gated.answer import Answer
from ..gated.predict import class_probabilities
from .beside import Beside
from .problem import Array
from .state import FactorState

_BLOCK = 2_000_000  # numbers of the largest array of a block
_LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Predictive:
    """The factor analyser of every component: log_weight (H,), mean and noise (H, P), loading (H, P, T).

    The share of the sticks without rows is spread over the occupied components in proportion.
    """

    log_weight: Array
    mean: Array
    noise: Array
    loading: Array

    @classmethod
    def of(cls, state: FactorState) -> Predictive:
        stick = state.stick_first / (state.stick_first + state.stick_second)
        stick[-1] = 1.0
        weight = (stick * np.concatenate([[1.0], np.cumprod(1.0 - stick[:-1])]))[: state.n_components]
        # <1 / psi>; its mean is infinite where the shape is at most one, which no component with a row has
        variance = state.noise_rate / np.maximum(state.noise_shape - 1.0, 0.5)
        own = np.diagonal(state.loading_cov, axis1=1, axis2=2)[state.pattern]
        return cls(
            log_weight=np.log(weight / weight.sum()),
            mean=state.mean,
            noise=variance[:, None] * (1.0 + 1.0 / state.mean_count) + state.used @ own.T,
            loading=np.sqrt(state.used)[:, None, :] * state.loading,
        )


@dataclass(frozen=True)
class Scores:
    """Posterior of the factors of some rows in one component: mean (n, T), covariance (n, T, T); log_density (n,)."""

    mean: Array
    covariance: Array
    log_density: Array


def scores(predictive: Predictive, h: int, values: Array, seen: Array) -> Scores:
    """Of rows with their missing cells at 0 in `values` and in `seen`."""
    mean, noise, loading = predictive.mean[h], predictive.noise[h], predictive.loading[h]
    n, t = len(values), loading.shape[1]
    scaled = loading / noise[:, None]
    outer = (scaled[:, :, None] * loading[:, None, :]).reshape(len(loading), t * t)
    precision = (seen @ outer).reshape(n, t, t)
    precision[:, np.arange(t), np.arange(t)] += 1.0
    covariance = np.linalg.inv(precision)
    away = (values - mean) * seen
    pull = away @ scaled
    factor = np.matmul(covariance, pull[:, :, None])[:, :, 0]
    log_det = 2.0 * np.log(np.diagonal(np.linalg.cholesky(precision), axis1=1, axis2=2)).sum(1)
    log_density = -0.5 * (seen @ (np.log(noise) + _LOG_2PI) + away**2 @ (1.0 / noise) + log_det)
    return Scores(factor, covariance, log_density + 0.5 * (pull * factor).sum(1))


def answer(state: FactorState, reals: Array, beside: Beside | None = None) -> Answer:
    """Gates and classes of rows; real cells are standardised as in training, NaN where missing."""
    predictive = Predictive.of(state)
    beside = Beside.nothing(len(reals)) if beside is None else beside
    weight = np.repeat(predictive.log_weight[None], len(reals), axis=0)
    if beside.columns:
        weight += beside.log_predictive(state.cells)
    n, h, c = len(reals), state.n_components, max(2, state.n_classes)
    log_gate, log_class = np.zeros((n, h)), np.zeros((n, h, c))
    for rows, values, seen in _blocks(state, reals):
        found = [scores(predictive, j, values, seen) for j in range(h)]
        log_gate[rows] = weight[rows] + np.stack([one.log_density for one in found], axis=1)
        looks = [beside.expected_features(state.cells, j, rows) for j in range(h)]
        law = [expert_law(state, j, one, *looks[j]) for j, one in enumerate(found)]
        mean, covariance = (np.stack(part, axis=1) for part in zip(*law, strict=True))
        log_class[rows] = class_probabilities(mean, covariance, log_gate[rows])
    return Answer(log_gate, log_class)


def expert_law(
    state: FactorState, h: int, found: Scores, looks: Array | None = None, doubts: Sequence[tuple] = ()
) -> tuple[Array, Array]:
    """Mean (n, C) and covariance (n, C, C) of the latent t of each expert, the uncertainty of s, of missing cells
    beside (`Beside.expected_features`) and of w in them."""
    n, t = found.mean.shape
    looks = np.ones((n, 1)) if looks is None else looks
    root = np.append(np.sqrt(state.used[h]), np.ones(looks.shape[1]))
    weight = state.weight[h] * root
    spread = state.weight_cov[h] * root[:, None] * root
    s = np.concatenate([found.mean, looks], axis=1)
    moment = s[:, :, None] * s[:, None, :]
    moment[:, :t, :t] += found.covariance
    slope = weight[:, :t]
    covariance = np.einsum("ct,ntu,du->ncd", slope, found.covariance, slope, optimize=True)
    for hidden, span, own in doubts:
        at = slice(t + span.start, t + span.stop)
        moment[hidden, at, at] += own
        covariance[hidden] += weight[:, at] @ own @ weight[:, at].T
    own = 1.0 + np.einsum("ctu,ntu->nc", spread, moment)
    c = np.arange(state.n_experts)
    covariance[:, c, c] += own
    return s @ weight.T, covariance


def fill(state: FactorState, reals: Array) -> tuple[Array, Array]:
    """Mean and variance of every cell given the observed cells of its row and the component, (n, H, P) each.

    An observed cell is itself, with variance 0.
    """
    predictive = Predictive.of(state)
    mean = np.zeros((len(reals), state.n_components, reals.shape[1]))
    variance = np.zeros_like(mean)
    for rows, values, seen in _blocks(state, reals):
        for h in range(state.n_components):
            found, loading = scores(predictive, h, values, seen), predictive.loading[h]
            t = loading.shape[1]
            outer = (loading[:, :, None] * loading[:, None, :]).reshape(len(loading), t * t)
            spread = found.covariance.reshape(len(values), t * t) @ outer.T + predictive.noise[h]
            mean[rows, h] = np.where(seen > 0, values, predictive.mean[h] + found.mean @ loading.T)
            variance[rows, h] = np.where(seen > 0, 0.0, spread)
    return mean, variance


def draw(state: FactorState, reals: Array, rng: np.random.Generator) -> Array:
    """The rows with their missing cells drawn from their joint law given the observed ones."""
    predictive = Predictive.of(state)
    completed = np.array(reals, dtype=float)
    pick = rng.random(len(reals))
    for rows, values, seen in _blocks(state, reals):
        found = [scores(predictive, h, values, seen) for h in range(state.n_components)]
        log_gate = predictive.log_weight + np.stack([one.log_density for one in found], axis=1)
        chance = np.exp(log_gate - np.logaddexp.reduce(log_gate, axis=1)[:, None]).cumsum(1)
        component = np.minimum((pick[rows, None] > chance).sum(1), state.n_components - 1)
        factor_noise = rng.standard_normal((len(values), state.n_active))
        cell_noise = rng.standard_normal(values.shape)
        for h in range(state.n_components):
            here = component == h
            root = np.linalg.cholesky(found[h].covariance[here])
            s = found[h].mean[here] + np.matmul(root, factor_noise[here][:, :, None])[:, :, 0]
            drawn = predictive.mean[h] + s @ predictive.loading[h].T + np.sqrt(predictive.noise[h]) * cell_noise[here]
            completed[np.flatnonzero(here) + rows.start] = np.where(seen[here] > 0, values[here], drawn)
    return completed


def sample(state: FactorState, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int32]]:
    """New rows and their classes, each row from the posterior predictive law of one row."""
    predictive = Predictive.of(state)
    component = rng.choice(state.n_components, n, p=np.exp(predictive.log_weight))
    s = rng.standard_normal((n, state.n_active))
    reals = np.sqrt(predictive.noise[component]) * rng.standard_normal((n, predictive.mean.shape[1]))
    label = np.zeros(n, dtype=np.int32)
    noise = rng.standard_normal((n, state.n_experts))
    for h in range(state.n_components):
        here = component == h
        reals[here] += predictive.mean[h] + s[here] @ predictive.loading[h].T
        none = Scores(s[here], np.zeros((int(here.sum()), state.n_active, state.n_active)), np.zeros(int(here.sum())))
        mean, covariance = expert_law(state, h, none)
        latent = mean + noise[here] * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        label[here] = latent[:, 0] > 0 if state.n_experts == 1 else latent.argmax(1)
    return reals, label


def _blocks(state: FactorState, reals: Array) -> Iterator[tuple[slice, Array, Array]]:
    """Rows in blocks: where they are, their cells with 0 for the missing, and 1 where observed."""
    t, c = max(1, state.n_active), state.n_experts
    size = max(8, _BLOCK // max(t * t, reals.shape[1], 64 * c * c))
    for start in range(0, len(reals), size):
        part = reals[start : start + size]
        seen = ~np.isnan(part)
        yield slice(start, start + len(part)), np.where(seen, part, 0.0), seen.astype(float)
