"""Classes that data sets share: the weight of any seating, also of some of the nodes."""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from ..net_contract import NodeSeats


def homes(seating: NodeSeats) -> np.ndarray:
    """The data set of every node."""
    return np.repeat(np.arange(len(seating.first) - 1), np.diff(seating.first))


def log_prior(seating: NodeSeats, z) -> float:
    """Log probability of classes z (-1: not seated), and of the shares where there are some."""
    z, home, total = np.asarray(z), homes(seating), 0.0
    K, n = int(z.max(initial=-1)) + 1, len(z)
    for t in range(len(seating.first) - 1):
        total += lgamma(seating.alpha) - lgamma(seating.alpha + int((home == t).sum()))
        for k in range(K):
            here, prior = int(((z == k) & (home == t)).sum()), seating.alpha * seating.share[k]
            if here and seating.top > 0:
                total += lgamma(prior + here) - lgamma(prior)
            elif here:
                total += log(seating.alpha) + lgamma(here)
    if seating.top > 0:
        total += (seating.top - 1.0) * log(seating.share[n])
        total += sum(log(seating.top) - log(seating.share[k]) for k in range(K))
    return total


def log_seat(seating: NodeSeats, others, i: int, k: int | None) -> float:
    """Log weight of node i in class k, or in a class of its own, beside those of `others` that are seated."""
    if k is None:
        return log(seating.alpha * seating.share[-1])
    home = homes(seating)
    here = (np.asarray(others) == k) & (home == home[i]) & (np.arange(len(home)) != i)
    return log(int(here.sum()) + seating.alpha * seating.share[k])


def open_class(seating: NodeSeats, place: int, n_classes: int, part: float) -> None:
    n = len(seating.stick)
    taken = part * seating.share[n]
    seating.share[: n_classes + 1] = np.insert(seating.share[:n_classes], place, taken)
    seating.share[n] -= taken


def without(seating: NodeSeats, z, i: int):
    """Classes of all nodes but i (-1), and how many there are; a class that had i alone is closed."""
    others, K = z.copy(), int(z.max()) + 1
    others[i] = -1
    if not (others == z[i]).any():
        close_class(seating, int(z[i]), K)
        others[others > z[i]] -= 1
        K -= 1
    return others, K


def close_class(seating: NodeSeats, place: int, n_classes: int) -> None:
    n = len(seating.stick)
    seating.share[n] += seating.share[place]
    seating.share[: n_classes - 1] = np.delete(seating.share[:n_classes], place)
