"""Where a fit begins when another fit of the same columns and classes has been before it: in that one's components.

A row belongs to each component of the other fit with the probability that its observed cells and its label give it. A
variational fit begins with every row in its most probable component, a chain with one drawn for every row; whether the
other fit was variational or a chain makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.contract import Rows
from .answer import Speaker
from .gibbs_variates import choose


def log_shares(model: Speaker, rows: Rows, label: np.ndarray) -> np.ndarray:
    """(n, H) log probability of each component, up to a constant of the row; label (n,) is -1 where there is none."""
    given = model.answer(rows)
    known = np.flatnonzero(label >= 0)
    logs = given.log_gate.copy()
    logs[known] += np.maximum(given.log_class[known, :, label[known]], -700.0)
    return logs


def first_places(models: Sequence[Speaker], rows: Rows, label: np.ndarray, n_starts: int) -> list[np.ndarray]:
    """(n, H) log probabilities for each of several starts, of models spread over those that there are: the last of
    each part, since kept states of a chain follow each other."""
    last = [(k + 1) * len(models) // n_starts - 1 for k in range(n_starts)]
    return [log_shares(models[max(k, 0)], rows, label) for k in last]


def most_probable(logs: np.ndarray) -> np.ndarray:
    """(n,) the component of every row, those that hold rows numbered by falling size."""
    return by_size(logs.argmax(axis=1))


def drawn(logs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same, components drawn."""
    return by_size(choose(rng, logs)[0])


def by_size(component: np.ndarray) -> np.ndarray:
    _, number, counts = np.unique(component, return_inverse=True, return_counts=True)
    place = np.empty(len(counts), np.int64)
    place[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return place[number.ravel()]
