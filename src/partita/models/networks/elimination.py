"""Exact answers of a Bayesian network by eliminating variables, for many rows with the same missing cells at once.

Eliminating v multiplies the factors that hold it and sums v out. What is divided by that sum is the law of v given the
variables left, which serves three purposes on the way back: beliefs of every clique, and with them of every family;
joint draws; and, at the end, the probability of what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .network import Net

LARGEST_CLIQUE = 1 << 26
CELLS_AT_ONCE = 1 << 21  # of a clique's table over all rows of a part


@dataclass(frozen=True, eq=False)
class Factor:
    """values (rows or 1, levels of scope[0], ...), scope ascending."""

    scope: tuple[int, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Step:
    """One variable summed out: its law given `rest`, as (rows, levels of rest ..., levels of the variable).

    `used` are the factors multiplied; numbers below the number of given factors are those.
    """

    variable: int
    rest: tuple[int, ...]
    law: np.ndarray
    used: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Elimination:
    steps: list[Step]
    user: dict[int, int]  # factor -> the step that used it
    log_total: np.ndarray  # (rows,): log probability of what was seen
    n_given: int


def elimination_order(
    scopes: Iterable[Sequence[int]], arities: Sequence[int], free: Iterable[int]
) -> tuple[list[int], int]:
    """The better of two greedy orders, and the cells of its largest clique table.

    One takes the variable with the smallest table next, the other the one that joins the fewest strangers; which is
    better depends on the graph.
    """
    neighbours: dict[int, set[int]] = {v: set() for v in free}
    for scope in scopes:
        for v in scope:
            neighbours[v].update(w for w in scope if w != v)
    tries = [_greedy({v: set(near) for v, near in neighbours.items()}, arities, by_fill) for by_fill in (False, True)]
    return min(tries, key=lambda found: found[1])


def _greedy(neighbours: dict[int, set[int]], arities: Sequence[int], by_fill: bool) -> tuple[list[int], int]:
    def cost(v: int) -> tuple[int, int, int]:
        near = neighbours[v]
        cells = _cells(arities, (v, *near))
        return (sum(len(near - neighbours[w]) - 1 for w in near), cells, v) if by_fill else (cells, 0, v)

    costs = {v: cost(v) for v in neighbours}
    order, largest = [], 1
    while neighbours:
        v = min(costs, key=lambda v: costs[v])
        near = neighbours.pop(v)
        del costs[v]
        largest = max(largest, _cells(arities, (v, *near)))
        for w in near:
            neighbours[w] |= near
            neighbours[w] -= {v, w}
        # what a variable costs hangs on its neighbours and, by fill, on theirs
        touched = near.union(*(neighbours[w] for w in near)) if by_fill and near else near
        costs.update((w, cost(w)) for w in touched)
        order.append(v)
    return order, largest


def _cells(arities: Sequence[int], scope: Iterable[int]) -> int:
    cells = 1
    for v in scope:
        cells *= int(arities[v])
    return cells


def reduced_factors(net: Net, codes: np.ndarray, nodes: Sequence[int], free: set[int]) -> list[Factor]:
    """The tables of these nodes with the seen levels of every row put in (`codes`, one pattern of missing cells)."""
    factors = []
    for node in nodes:
        family = (*net.parents[node], node)
        seen = [axis for axis, v in enumerate(family) if v not in free]
        left = sorted((axis for axis, v in enumerate(family) if v in free), key=lambda axis: family[axis])
        table = net.tables[node].transpose(*seen, *left)
        values = table[tuple(codes[:, family[axis]] for axis in seen)] if seen else table[None]
        factors.append(Factor(tuple(family[axis] for axis in left), values))
    return factors


def eliminate(factors: Sequence[Factor], order: Sequence[int], n_rows: int) -> Elimination:
    """Sum the variables out in this order."""
    pool: dict[int, Factor] = dict(enumerate(factors))
    log_total = np.zeros(n_rows)
    steps: list[Step] = []
    user: dict[int, int] = {}
    number = len(factors)
    for v in order:
        used = tuple(k for k, factor in pool.items() if v in factor.scope)
        product, rest = _product([pool.pop(k) for k in used], v)
        total = product.sum(axis=-1)
        safe = np.where(total > 0, total, 1.0)
        user.update((k, len(steps)) for k in used)
        steps.append(Step(v, rest, product / safe[..., None], used))
        # each row's table is scaled by its largest cell, so that many small probabilities do not vanish
        axes = tuple(range(1, total.ndim))
        top = total.max(axis=axes) if axes else total
        with np.errstate(divide="ignore"):
            log_total += np.log(top)
        scale = np.where(top > 0, top, 1.0)
        pool[number] = Factor(rest, total / scale.reshape(-1, *[1] * len(axes)))
        number += 1
    for factor in pool.values():  # nothing is left in their scopes
        with np.errstate(divide="ignore"):
            log_total += np.log(factor.values)
    return Elimination(steps, user, log_total, len(factors))


def _product(factors: Sequence[Factor], v: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """The product with v as its last axis, and the other variables."""
    rest = tuple(sorted({w for factor in factors for w in factor.scope} - {v}))
    product: np.ndarray | None = None
    for factor in factors:
        aligned = _aligned(factor, (*rest, v))
        product = aligned if product is None else product * aligned
    assert product is not None, "every variable has a table of its own"
    return product, rest


def _aligned(factor: Factor, scope: Sequence[int]) -> np.ndarray:
    """The factor's values with one axis per variable of `scope`, of length 1 where it does not hold the variable."""
    axes = [factor.scope.index(w) + 1 for w in scope if w in factor.scope]
    values = factor.values.transpose(0, *axes)
    sizes = iter(values.shape[1:])
    return values.reshape(values.shape[0], *[next(sizes) if w in factor.scope else 1 for w in scope])


def beliefs(done: Elimination) -> list[np.ndarray]:
    """Of every step: the posterior of its variable and the rest, axes (rows, rest ..., variable)."""
    found: list[np.ndarray] = [np.empty(0)] * len(done.steps)
    for k in range(len(done.steps) - 1, -1, -1):
        step = done.steps[k]
        law = step.law
        if step.rest:
            above = done.user[done.n_given + k]
            law = law * marginal(found[above], _scope(done.steps[above]), step.rest)[..., None]
        found[k] = law
    return found


def _scope(step: Step) -> tuple[int, ...]:
    return (*step.rest, step.variable)


def marginal(belief: np.ndarray, scope: Sequence[int], wanted: Sequence[int]) -> np.ndarray:
    """The belief summed over all but `wanted`, whose axes come in that order."""
    drop = tuple(axis + 1 for axis, w in enumerate(scope) if w not in wanted)
    kept = [w for w in scope if w in wanted]
    summed = belief.sum(axis=drop) if drop else belief
    return summed.transpose(0, *[kept.index(w) + 1 for w in wanted])


def family_beliefs(done: Elimination, factors: Sequence[Factor]) -> list[np.ndarray]:
    """Of every given factor: the posterior of its scope; ones where its scope is empty."""
    found = beliefs(done)
    n_rows = len(done.log_total)
    out = []
    for k, factor in enumerate(factors):
        if not factor.scope:
            out.append(np.ones(n_rows))
            continue
        step = done.user[k]
        belief = marginal(found[step], _scope(done.steps[step]), factor.scope)
        out.append(np.broadcast_to(belief, (n_rows, *belief.shape[1:])))
    return out


def draw(done: Elimination, uniforms: np.ndarray, codes: np.ndarray) -> None:
    """Draw the variables jointly, the last one summed out first; `uniforms` and `codes` are (rows, nodes)."""
    rows = np.arange(len(codes))
    for step in reversed(done.steps):
        law = np.broadcast_to(step.law, (len(codes), *step.law.shape[1:]))
        law = law[(rows, *(codes[:, w] for w in step.rest))]
        heights = np.cumsum(law, axis=1)
        level = (uniforms[:, [step.variable]] * heights[:, -1:] >= heights).sum(axis=1)
        codes[:, step.variable] = np.minimum(level, law.shape[1] - 1)
