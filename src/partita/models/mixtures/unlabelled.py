"""Rows without a label: where their labels begin, and the moves that change them."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from ...kernels import kernel
from ...kernels.contract import CLASS_ONLY, CORRELATED, FIRST_RESTAURANT, Chain, Layout, Predictive
from .problem import CLASS_PSEUDO_COUNT, Problem, initial_hyper, make_room


def first_labels(rng: np.random.Generator, problem: Problem) -> np.ndarray:
    """The labels, the missing ones drawn given those that are there, each class taken as a single group.

    Labels drawn at random would make all classes look alike, and one group given the wrong name rarely finds the
    right one.
    """
    label = problem.label.astype(np.int32)
    missing = np.flatnonzero(label < 0)
    if not len(missing):
        return label
    layout, C = problem.layout, problem.settings.n_classes
    hyper, at = initial_hyper(layout, problem.settings)
    known = problem.labelled
    simple = Chain(
        hyper=hyper, at=at, view=np.full(layout.n_columns, CLASS_ONLY, np.int32), label=label[known],
        z=np.zeros((1, len(known)), np.int32), used=np.zeros((1, C), np.int32), size=np.zeros((1, C, 8)),
        alpha=np.ones((1, C)), stats=np.zeros((C, 8, layout.n_stats)), table=np.zeros((C, layout.n_table, 8)),
        filled=np.zeros((len(known), int(layout.levels[layout.kind == CORRELATED].sum()))), cap=1,
    )  # fmt: skip
    kernel.rebuild(layout, problem.rows.take(known), simple)
    state = Predictive(
        simple.view, hyper, simple.stats, simple.table, np.full((1, C, 8), -np.inf), np.zeros((1, C), np.int32)
    )
    logp = np.empty((len(missing), C))
    kernel.log_density(layout, problem.rows.take(missing), state, logp)
    logp += np.log(np.bincount(label[known], minlength=C) + CLASS_PSEUDO_COUNT) + rng.gumbel(size=logp.shape)
    label[missing] = logp.argmax(axis=1)
    return label


def sweep_unlabelled(rng: np.random.Generator, problem: Problem, chain: Chain) -> None:
    """Labels and groups of the rows without a label."""
    order = rng.permutation(np.flatnonzero(problem.label < 0))
    uniforms = rng.random((len(order), 1 + chain.z.shape[0]))
    counts = np.bincount(chain.label, minlength=problem.settings.n_classes).astype(float)
    while len(order):
        done = kernel.relabel_sweep(problem.layout, problem.rows, chain, counts, CLASS_PSEUDO_COUNT, order, uniforms)
        order, uniforms = order[done:], uniforms[done:]
        if len(order):
            make_room(problem.layout, chain, 2 * chain.capacity)
    make_room(problem.layout, chain, int(chain.used.max()) + 1)


def rename_groups(rng: np.random.Generator, problem: Problem, chain: Chain) -> int:
    """The class of every group that holds no row with a label, drawn given all else; returns how many changed.

    Row by row such a group would have to be torn down and built up again in another class. Moved as a whole its cells
    cost nothing, since the columns' priors are shared by the classes: only the sizes of classes and groups decide.
    """
    # with several seatings a set of rows is no group in the others; class-only columns would change with the class
    if chain.z.shape[0] > 1 or (chain.view != FIRST_RESTAURANT).any():
        return 0
    layout, C, moved = problem.layout, problem.settings.n_classes, 0
    unlabelled = problem.label < 0
    free = []  # all of them first: each is drawn once, whatever becomes of the others
    for c in range(C):
        groups = [np.flatnonzero((chain.label == c) & (chain.z[0] == g)) for g in range(int(chain.used[0, c]))]
        free += [rows for rows in groups if len(rows) and unlabelled[rows].all()]
    for rows in free:
        c = int(chain.label[rows[0]])
        k = _draw_class(rng, chain, c, len(rows))
        if k != c:
            _move_group(layout, chain, rows, c, k)
            moved += 1
    if moved:
        kernel.refresh_tables(layout, chain)
    return moved


def _draw_class(rng: np.random.Generator, chain: Chain, c: int, m: int) -> int:
    """The class of a group of m rows that is in c now: Dirichlet prior of the labels times the restaurants' priors."""
    n = chain.size[0].sum(axis=1)
    n[c] -= m
    alpha, less, groups = chain.alpha[0], chain.discount[0], chain.used[0] - (np.arange(len(n)) == c)
    logp = gammaln(n + m + CLASS_PSEUDO_COUNT) - gammaln(n + CLASS_PSEUDO_COUNT)
    with np.errstate(divide="ignore"):
        logp += np.log(np.where(groups < chain.cap, alpha + less * groups, 0.0))
    logp += gammaln(m - less) - gammaln(1.0 - less) + gammaln(alpha + n) - gammaln(alpha + n + m)
    return int(np.argmax(logp + rng.gumbel(size=len(logp))))


def _move_group(layout: Layout, chain: Chain, rows: np.ndarray, c: int, k: int) -> None:
    make_room(layout, chain, int(chain.used[0, k]) + 2)
    g, new, last = int(chain.z[0, rows[0]]), int(chain.used[0, k]), int(chain.used[0, c]) - 1
    chain.stats[k, new], chain.size[0, k, new] = chain.stats[c, g], chain.size[0, c, g]
    chain.label[rows], chain.z[0, rows] = k, new
    if g != last:  # the last group takes the place that is free now
        chain.stats[c, g], chain.size[0, c, g] = chain.stats[c, last], chain.size[0, c, last]
        chain.z[0, (chain.label == c) & (chain.z[0] == last)] = g
    chain.stats[c, last], chain.size[0, c, last] = 0.0, 0.0
    chain.stats[k, new + 1] = 0.0
    chain.used[0, k] += 1
    chain.used[0, c] -= 1
