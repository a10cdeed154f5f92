"""Log-linear models over regions of discrete attributes: what a region would add, look-ups, the loss of the classes."""

from __future__ import annotations

import numpy as np


def scan_regions(
    columns: np.ndarray, levels: np.ndarray, candidates: np.ndarray, fitted: np.ndarray, moments: np.ndarray,
    scales: np.ndarray, share: float, threshold: float, gain: np.ndarray, occupied: np.ndarray, best: np.ndarray,
) -> None:  # fmt: skip
    """Evidence gain of every candidate region, with the model held as it is.

    With g and h the sums of residuals y - p and of information p (1 - p) in a cell, cells being disjoint,

        gain = max over v of 1/2 sum over cells and logits of [g^2 / (h + 1/v) - rho log(1 + v h)],
        rho = max(1 - fitted / cells, 1/2 / cells) share,

    rho being the share of the region's dimensions that the model does not have yet. Where 1/2 sum g^2 / (h + 1/v_max),
    which the gain cannot exceed for any v, is at most `threshold`, -1 stands for the gain.

    columns (d, n) codes; levels (d,); candidates (m, order) columns; fitted (m,) dimensions already in the model;
    moments (n, 2 K) residuals, then information; scales (G,) the v tried, ascending; out, all (m,): the gain, the
    number of occupied cells, the position of the best v.
    """
    n_logits = moments.shape[1] // 2
    for c, region in enumerate(candidates):
        code = np.zeros(columns.shape[1], np.int64)
        for j in region:
            code = code * levels[j] + columns[j]
        cell = np.unique(code, return_inverse=True)[1]
        m = int(cell.max()) + 1
        sums = np.zeros((m, 2 * n_logits))
        np.add.at(sums, cell, moments)
        g, h = sums[:, :n_logits], sums[:, n_logits:]
        occupied[c], gain[c], best[c] = m, -1.0, 0
        if 0.5 * (g**2 * scales[-1] / (1 + scales[-1] * h)).sum() <= threshold:
            continue
        rho = max(1 - fitted[c] / m, 0.5 / m) * share
        score = [0.5 * (g**2 * v / (1 + v * h) - rho * np.log1p(v * h)).sum() for v in scales]
        best[c] = int(np.argmax(score))
        gain[c] = score[best[c]]


def look_up(cells: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    """out[i] += sum over blocks b of table[cells[i, b]]."""
    for b in range(cells.shape[1]):
        out += table[cells[:, b]]


def tally(cells: np.ndarray, values: np.ndarray, out: np.ndarray) -> None:
    """out[cells[i, b]] += values[i] for every row i and block b."""
    for b in range(cells.shape[1]):
        np.add.at(out, cells[:, b], values)


def softmax_loss(logits: np.ndarray, label: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> float:
    """Weighted negative log-likelihood of the labels; residual[:] = weight (p - y).

    One logit is that of label 1 against label 0.
    """
    full = np.hstack([np.zeros((len(logits), 1)), logits]) if logits.shape[1] == 1 else logits
    full = full - full.max(axis=1, keepdims=True)
    log_total = np.log(np.exp(full).sum(axis=1))
    p = np.exp(full - log_total[:, None])
    rows = np.arange(len(label))
    p[rows, label] -= 1.0
    residual[:] = weight[:, None] * (p[:, 1:] if logits.shape[1] == 1 else p)
    return float((weight * (log_total - full[rows, label])).sum())


def tempered_labels(against: np.ndarray, prior: np.ndarray, temperature: float, out: np.ndarray) -> None:
    """out[i] = mean over states of the probability of row i's label: its log odds against the other classes (others,
    states, rows) are tempered, those of the priors (others, rows) not.
    """
    odds = np.exp(np.minimum(temperature * against + prior[:, None], 700.0))
    out[:] = np.mean(1.0 / (1.0 + odds.sum(axis=0)), axis=0)


def pool_shares(
    likelihood: np.ndarray, weight: np.ndarray, prior: np.ndarray, rounds: int, tolerance: float, share: np.ndarray
) -> None:
    """EM for the shares of a linear pool, in place: members' likelihoods (members, rows), a Dirichlet prior in rows.

    Ends when no share moves by `tolerance`."""
    for _ in range(rounds):
        before = share.copy()
        credit = share * (likelihood @ (weight / (share @ likelihood)))
        share[:] = credit + prior
        share /= share.sum()
        if np.abs(share - before).max() < tolerance:
            break
