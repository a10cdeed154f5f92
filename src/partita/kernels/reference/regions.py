"""Tables, potentials and gains of Kikuchi-Bayes regions, region by region and subset by subset."""

from __future__ import annotations

import itertools

import numpy as np

from ..contract import CodedRows, Moments, Regions

SMALLEST = 1e-300


def cells_of(rows: CodedRows, member: np.ndarray) -> np.ndarray:
    """(n,) cell of every row in a region, last member fastest."""
    cell = np.zeros(rows.codes.shape[1], np.int64)
    for j in member:
        cell = cell * rows.levels[j] + rows.codes[j]
    return cell


def region_sums(rows: CodedRows, regions: Regions, vectors: np.ndarray, out: np.ndarray) -> None:
    """out[cell, v] = sum over the rows in the cell of vectors[i, v]."""
    for j, member in enumerate(regions.members):
        table = out[regions.offset[j] : regions.offset[j + 1]]
        table[:] = 0.0
        np.add.at(table, cells_of(rows, member), vectors)


def region_sums_of_moments(rows: CodedRows, regions: Regions, moments: Moments, out: np.ndarray) -> None:
    """The tables of `region_sums` from moments: place 0 of an axis first holds "any level", in the end level 0."""
    for j, member in enumerate(regions.members):
        sizes = [int(rows.levels[i]) for i in member]
        table = out[regions.offset[j] : regions.offset[j + 1]].reshape(*sizes, -1)
        for place in itertools.product(*map(range, sizes)):
            columns = [moments.first[i] + level - 1 for i, level in zip(member, place, strict=True) if level]
            match len(columns):
                case 0:
                    table[place] = moments.zero
                case 1:
                    table[place] = moments.one[:, columns[0]]
                case 2:
                    table[place] = moments.two[:, columns[0], columns[1]]
                case 3:
                    table[place] = moments.three[:, place[0] - 1, columns[1], columns[2]]
        for axis in range(len(sizes)):
            levels = np.moveaxis(table, axis, 0)
            levels[0] -= levels[1:].sum(axis=0)


def region_potentials(
    rows: CodedRows, regions: Regions, fresh: np.ndarray, counts: np.ndarray, theta: float, out: np.ndarray
) -> None:
    """out[cell, c] = log odds, of class c against the last, of the product of phi_T over the new subsets T.

    Bit t of fresh[j] says whether the subset t of region j is new; bit k of t stands for the member k.
    log phi_T = sum over U in T of (-1)^(|T| - |U|) log P(x_U, y)  (eq. 2 unrolled).
    """
    for j, member in enumerate(regions.members):
        sizes = [int(rows.levels[i]) for i in member]
        n_classes = counts.shape[1]
        own = counts[regions.offset[j] : regions.offset[j + 1]].reshape(*sizes, n_classes)
        total = np.zeros_like(own)
        for new in range(1 << len(member)):
            if not int(fresh[j]) >> new & 1:
                continue
            for part in range(1 << len(member)):
                if part & new == part:
                    sign = -1 if (part ^ new).bit_count() % 2 else 1
                    total += sign * _log_submodel(own, part, theta)
        odds = total[..., :-1] - total[..., -1:]
        out[regions.offset[j] : regions.offset[j + 1]] = odds.reshape(-1, n_classes - 1)


def _log_submodel(counts: np.ndarray, part: int, theta: float) -> np.ndarray:
    """log of the count plus the even share of theta (eq. 4), of the subset `part`, ready to be added to all cells."""
    away = tuple(k for k in range(counts.ndim - 1) if not part >> k & 1)
    marginal = counts.sum(axis=away, keepdims=True)
    return np.log(marginal + theta / marginal.size)


def region_normalisers(
    rows: CodedRows, weight: np.ndarray, proba: np.ndarray, regions: Regions, potentials: np.ndarray, out: np.ndarray
) -> None:
    """out[j] = sum_i w_i log sum_c P(c | x_i) E_c(x_i), E the potentials of region j (1 for the last class)."""
    for j, member in enumerate(regions.members):
        table = potentials[regions.offset[j] : regions.offset[j + 1]]
        odds = np.hstack([table, np.zeros((len(table), 1))])[cells_of(rows, member)]
        shift = odds.max(axis=1)
        sums = np.maximum((proba * np.exp(odds - shift[:, None])).sum(axis=1), SMALLEST)
        out[j] = weight @ (shift + np.log(sums))
