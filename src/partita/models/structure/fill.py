"""Missing cells of rows under a posterior over networks: every network fills, and what it thinks of a row's seen cells
is its weight there."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..networks.rows import draw_missing, draw_rows, log_probability, node_laws
from .predict import Networks


def distinct(networks: Networks) -> tuple[list[int], np.ndarray]:
    """Networks that differ, by number, and their weights: equal graphs are equal networks where no cell was missing."""
    if networks.missing.any():
        return list(range(len(networks.graphs))), networks.weight
    flat = networks.graphs.reshape(len(networks.graphs), -1)
    _, first, which = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return first.tolist(), np.bincount(which.ravel(), networks.weight, len(first))


def shares(networks: Networks, chosen: list[int], weight: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(networks, rows) posterior weight of each network given the seen cells of each row."""
    logs = np.array([log_probability(networks.net(k), codes) for k in chosen])
    with np.errstate(divide="ignore"):
        logs = logs + np.log(weight)[:, None]
    return np.exp(logs - logsumexp(logs, axis=0))


def fill_probable(networks: Networks, codes: np.ndarray) -> np.ndarray:
    """The codes with every missing cell at its most probable level given the row's seen cells."""
    out = codes.copy()
    holed = np.flatnonzero((codes < 0).any(axis=1))
    if not len(holed):
        return out
    rows = codes[holed]
    chosen, weight = distinct(networks)
    share = shares(networks, chosen, weight, rows)
    laws = [np.zeros((len(rows), int(size))) for size in networks.levels]
    for k, of in zip(chosen, share, strict=True):
        for node, where, law in node_laws(networks.net(k), rows):
            laws[node][where] += of[where, None] * law
    for node, law in enumerate(laws):
        hidden = rows[:, node] < 0
        out[holed[hidden], node] = law[hidden].argmax(axis=1)
    return out


def fill_drawn(networks: Networks, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The codes with the missing cells of each row drawn jointly: a network by its weight there, then its cells."""
    out = codes.copy()
    holed = np.flatnonzero((codes < 0).any(axis=1))
    if not len(holed):
        return out
    chosen, weight = distinct(networks)
    heights = np.cumsum(shares(networks, chosen, weight, codes[holed]), axis=0)
    of = (rng.random(len(holed)) * heights[-1] >= heights).sum(axis=0)
    for place in np.unique(of):
        rows = holed[of == place]
        out[rows] = draw_missing(networks.net(chosen[place]), codes[rows], rng)
    return out


def draw_mixed(networks: Networks, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Whole rows, each from a network drawn by its weight."""
    of = rng.choice(len(networks.graphs), n_rows, p=networks.weight)
    out = np.empty((n_rows, len(networks.levels)), dtype=np.int32)
    for k in np.unique(of):
        out[of == k] = draw_rows(networks.net(int(k)), int((of == k).sum()), rng)
    return out
