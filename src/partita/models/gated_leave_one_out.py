"""Probabilities of every training row's class with that row left out, in closed form from one fit.

What the row gave to the posterior of each component, its responsibility times its moments, is taken back: of the gate by
Sherman and Morrison's formula, of the columns beside it by subtraction, of the expert as in a cavity. Responsibilities
and the start stay as they are, and expected cells count as seen: optimistic where much is missing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from .gated_answer import Answer
from .gated_predict import GatedModel, Seen, class_probabilities, latent_moments, log_class, look
from .gated_rows import Block
from .gated_state import GatedState

LEAST = 1e-3
MOST_TAKEN = 0.95  # of an expert's certainty about a row: beyond it the cavity would be the prior or worse


def left_out(model: GatedModel, state: GatedState, blocks: list[Block], n_rows: int) -> Answer:
    """The answer for the training rows, each without itself."""
    n, p = model.n_components, model.view.width
    out = Answer(np.empty((n_rows, n)), np.empty((n_rows, n, model.n_classes)))
    form, degrees = model.gate_form() if p else (None, np.zeros(n))
    log_weight = np.log(model.weight)
    for block in blocks:
        rho = state.rho[block.index] * block.weight[:, None]
        share = np.maximum(1.0 - rho / (state.counts + 0.1), LEAST)
        log_gate = log_weight + np.log(share) + _beside(model, block, rho)
        seen, n_seen = None, p - block.missing
        if form is not None:
            seen = look(model, block, form, degrees)
            log_gate += _gate(model, seen, n_seen, rho)
        out.log_gate[block.index] = log_gate
        latent = None if state.latent is None else state.latent[block.index]
        out.log_class[block.index] = _classes(model, block, seen, n_seen, rho, latent)
    return out


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


def _classes(
    model: GatedModel, block: Block, seen: Seen | None, n_seen: np.ndarray, rho: np.ndarray, latent: np.ndarray | None
) -> np.ndarray:
    """(b, H, C) log probabilities of the classes, each expert without what the row's label taught it."""
    if model.experts is None:
        return log_class(model, block, seen, n_seen)
    assert latent is not None
    mean, covariance, doubt = latent_moments(model, block, seen, n_seen)
    taken = np.where(block.label >= 0, 1.0, 0.0)[:, None] * rho
    kept = np.maximum(1.0 - taken * doubt, 1.0 - MOST_TAKEN)
    mean = (mean - (taken * doubt)[:, :, None] * latent) / kept[:, :, None]
    wider = doubt / kept - doubt
    return class_probabilities(mean, covariance + wider[:, :, None, None] * np.eye(covariance.shape[-1]))
