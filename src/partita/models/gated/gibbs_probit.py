"""The law of a probit expert given rows and labels, by expectation propagation [1].

A variational law of the same model is as narrow as if the latents were seen, so where the labels are easily told apart
it hardly overlaps with the posterior. All sites are updated at once.

[1] T. Minka (2001), Expectation propagation for approximate Bayesian inference, Uncertainty in Artificial Intelligence
17, 362-369.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from .truncated_normal import HALF_LOG_2PI

PASSES, DAMPING = 12, 0.8
LEAST_VARIANCE = 1e-12  # of a cavity, as a share of the site's own variance


def probit_law(
    features: np.ndarray, sign: np.ndarray, noise: np.ndarray, centre: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean (F,) and precision (F, F) of w ~ N(centre, 1 / spread) given labels of probability Phi(sign w'features /
    sqrt(noise)); features (m, F), sign and noise (m,)."""
    m = len(features)
    strength, pull = np.zeros(m), np.zeros(m)
    mean, precision = centre, np.diag(spread)
    for _ in range(PASSES if m else 0):
        own = np.maximum((np.linalg.solve(precision, features.T) * features.T).sum(axis=0), 1e-300)
        at = features @ mean
        apart = 1.0 / np.maximum(1.0 / own - strength, LEAST_VARIANCE / own)  # variance without the site
        about = apart * (at / own - pull)
        total = noise + apart
        a = sign * about / np.sqrt(total)
        ratio = np.exp(-0.5 * a * a - HALF_LOG_2PI - log_ndtr(a))
        cut = np.clip(ratio * (ratio + a), 1e-12, 1.0 - 1e-12)
        # what the label says of w'features: a normal of this precision, centred so that it explains the shift
        new = cut / (total - apart * cut)
        shift = about + sign * apart * ratio / np.sqrt(total)
        wanted = shift * (new + 1.0 / apart) - about / apart
        strength += DAMPING * (new - strength)
        pull += DAMPING * (wanted - pull)
        precision = np.diag(spread) + (features.T * strength) @ features
        mean = np.linalg.solve(precision, spread * centre + pull @ features)
    return mean, precision
