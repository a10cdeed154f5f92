"""Probabilities of every training row's class with that row left out, in closed form from one fit.

What the row gave to the posterior of each component, its responsibility times its moments, is taken back: of the gate
by Sherman and Morrison's formula, of the columns beside it by subtraction. Of an expert by one Newton step: with the
slopes g_i and curvatures W_i of the rows' log probabilities at its mean, and H = <lambda> + sum_i rho_i W_i f_i f_i',
the mean of the latent of row i moves by -rho_i h_i g_i / (1 - rho_i h_i W_i), h_i = f_i'H^-1 f_i, and other rows'
latents follow.
Responsibilities, the experts' common prior and the start stay as they are, and expected cells count as seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .gate_forms import GateForm, in_front
from .gated_answer import Answer
from .gated_predict import GatedModel, Seen, class_probabilities, latent_moments, log_class, look, looks_of
from .gated_rows import Block
from .gated_state import GatedState
from .truncated_normal import cone, cut_at_zero

LEAST = 1e-3
LEAST_RHO = 1e-9
MOST_TAKEN = 0.95  # of what an expert knows of a row: beyond it the rest would be the prior or worse
# Curvature of a class probability p in its own latent, over p (1 - p): that of a probit of unit variance against one
# other latent, at p = 1/2.
CURVATURE = 4.0 / np.pi


@dataclass(eq=False)
class _Slopes:
    """Rows of a block before an expert: moments of the latents (b, H, K) and (b, H, K, K), doubt about w (b, H),
    slopes and curvatures (b, H, K) of log p(label)."""

    mean: np.ndarray
    covariance: np.ndarray
    doubt: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


def left_out(model: GatedModel, state: GatedState, blocks: list[Block], n_rows: int) -> Answer:
    """The answer for the training rows, each without itself."""
    n, p = model.n_components, model.view.width
    out = Answer(np.empty((n_rows, n)), np.empty((n_rows, n, model.n_classes)))
    form, degrees = model.gate_form() if p else (None, np.zeros(n))
    system = None if model.experts is None else _systems(model, state, blocks, form, degrees)
    for block in blocks:
        rho = state.rho[block.index] * block.weight[:, None]
        share = np.maximum(1.0 - rho / (state.counts + 0.1), LEAST)
        log_gate = np.log(model.weight) + np.log(share) + _beside(model, block, rho)
        seen, n_seen = _see(model, block, form, degrees), p - block.missing
        if seen is not None:
            log_gate += _gate(model, seen, n_seen, rho)
        out.log_gate[block.index] = log_gate
        if system is None:
            out.log_class[block.index] = log_class(model, block, seen, n_seen)
        else:
            out.log_class[block.index] = _classes(model, block, seen, n_seen, rho, system, log_gate)
    return out


def _see(model: GatedModel, block: Block, form: GateForm | None, degrees: np.ndarray) -> Seen | None:
    return None if form is None else look(model, block, form, degrees)


def _gate(model: GatedModel, seen: Seen, n_seen: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """(b, H) log density of the observed cells under gates without the row."""
    kappa = model.gates.kappa
    k, scale = n_seen[:, None], (1.0 + kappa) / (kappa * seen.degrees)
    rho = np.minimum(rho, 0.999 * kappa)
    own, left = seen.distance * scale, kappa - rho
    shrunk = np.maximum(1.0 - kappa * rho / left * own, LEAST)
    degrees = np.maximum(seen.degrees - rho, 1.0)
    new = (1.0 + left) / (left * degrees)
    distance = (kappa / left) ** 2 * own / shrunk / new
    log_det = seen.log_det - np.log(shrunk) - k * np.log(new / scale)
    constant = gammaln(0.5 * (degrees + k)) - gammaln(0.5 * degrees) - 0.5 * k * np.log(degrees * np.pi)
    return constant + 0.5 * log_det - 0.5 * (degrees + k) * np.log1p(distance / degrees)


def _beside(model: GatedModel, block: Block, rho: np.ndarray) -> np.ndarray:
    """(b, H) log probability of the cells beside the Gaussian block, the row's own taken out of the counts."""
    out = np.zeros(rho.shape)
    for column, posterior, cells in zip(model.view.cells, model.cells, block.levels, strict=True):
        seen = np.flatnonzero(cells >= 0)
        taken, shown = rho[seen], cells[seen]
        if column.count:
            left = np.stack([posterior[:, 0] - taken * shown[:, None], posterior[:, 1] - taken], axis=2)
            law = column.family(np.maximum(left, 1e-6))
            out[seen] += law.log_predictive(shown[:, None].astype(float))
        else:
            own = np.maximum(posterior.T[shown] - taken, 1e-6)
            out[seen] += np.log(own) - np.log(np.maximum(posterior.sum(axis=1) - taken, 1e-6))
    return out


def _slopes(model: GatedModel, block: Block, seen: Seen | None, n_seen: np.ndarray, rho: np.ndarray) -> _Slopes:
    mean, covariance, doubt = latent_moments(model, block, seen, n_seen)
    known = block.label >= 0
    slope, curvature = np.zeros(mean.shape), np.zeros(mean.shape)
    if known.any():
        own = mean[known]
        if own.shape[2] == 1:
            variance = covariance[known][:, :, 0, 0] - doubt[known]
            sign = np.where(block.label[known] == 1, 1.0, -1.0)[:, None]
            _, expected, spread = cut_at_zero(own[:, :, 0], variance, sign)
            slope[known] = ((expected - own[:, :, 0]) / variance)[:, :, None]
            curvature[known] = ((1.0 - spread / variance) / variance)[:, :, None]
        else:
            row, component = np.nonzero((rho > LEAST_RHO) & known[:, None])  # elsewhere a label has taught nothing
            own = mean[row, component]
            slope[row, component] = cone(own, block.label[row])[1] - own
            proba = np.exp(class_probabilities(own, covariance[row, component]))
            curvature[row, component] = CURVATURE * proba * (1.0 - proba)
    return _Slopes(mean, covariance, doubt, slope, curvature)


def _systems(
    model: GatedModel, state: GatedState, blocks: list[Block], form: GateForm | None, degrees: np.ndarray
) -> np.ndarray:
    """H^-1 of every component and latent, (H, K, F, F)."""
    experts, p = model.experts, model.view.width
    assert experts is not None
    n, n_latents, f = experts.mean.shape
    system = np.zeros((n, n_latents, f, f)) + np.diag(experts.precision)
    for block in blocks:
        seen = _see(model, block, form, degrees)
        rho = state.rho[block.index] * block.weight[:, None]
        slopes = _slopes(model, block, seen, p - block.missing, rho)
        for h, features in enumerate(looks_of(model, block, None if seen is None else in_front(seen.x, n))):
            for k in range(n_latents):
                weight = rho[:, h] * slopes.curvature[:, h, k]
                system[h, k] += (weight[:, None] * features).T @ features
    return np.linalg.inv(system)


def _classes(
    model: GatedModel, block: Block, seen: Seen | None, n_seen: np.ndarray, rho: np.ndarray, system: np.ndarray,
    log_gate: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """(b, H, C) log probabilities of the classes, each expert without what the row's label taught it."""
    slopes = _slopes(model, block, seen, n_seen, rho)
    n, n_latents = system.shape[:2]
    reach = np.empty((len(block), n, n_latents))
    for h, features in enumerate(looks_of(model, block, None if seen is None else in_front(seen.x, n))):
        for k in range(n_latents):
            reach[:, h, k] = ((features @ system[h, k]) * features).sum(axis=1)
    taken = rho[:, :, None] * reach
    mean = slopes.mean - taken * slopes.slope / np.maximum(1.0 - taken * slopes.curvature, 1.0 - MOST_TAKEN)
    known = np.where(block.label >= 0, 1.0, 0.0)[:, None] * rho
    wider = slopes.doubt / np.maximum(1.0 - known * slopes.doubt, 1.0 - MOST_TAKEN) - slopes.doubt
    covariance = slopes.covariance + wider[:, :, None, None] * np.eye(n_latents)
    return class_probabilities(mean, covariance, log_gate, tied=False)
