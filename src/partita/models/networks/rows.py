"""What a Bayesian network says of rows with missing cells: rows with the same missing cells go together, in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .elimination import (
    CELLS_AT_ONCE,
    LARGEST_CLIQUE,
    Elimination,
    Factor,
    draw,
    eliminate,
    elimination_order,
    family_beliefs,
    reduced_factors,
)
from .graph import ancestors, topological_order
from .network import Net, family_shapes

LARGEST_JOINT = 1 << 22  # cells of a joint table that is asked for


class TooWide(ValueError):
    """The graph joins too many variables for an exact answer."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows that miss the same cells: which, what their nodes' tables say, and the elimination."""

    rows: np.ndarray
    nodes: list[int]
    free: list[int]
    factors: list[Factor]
    done: Elimination


def parts(net: Net, codes: np.ndarray, wanted: Sequence[int] | None = None) -> Iterator[Part]:
    """All rows. Nodes that neither show a cell nor are `wanted` (None: all are) and lie above none are left out."""
    if not len(codes):
        return
    patterns, which = np.unique(codes >= 0, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    for pattern, start, end in zip(patterns, [0, *ends[:-1]], ends):
        rows = order[start:end]
        held = set(np.flatnonzero(pattern).tolist())
        nodes = sorted(range(len(net)) if wanted is None else ancestors(net.parents, held | set(wanted)))
        free = [node for node in nodes if node not in held]
        scopes = [[v for v in (*net.parents[node], node) if v not in held] for node in nodes]
        sequence, largest = elimination_order(scopes, net.arities, free)
        if largest > LARGEST_CLIQUE:
            raise TooWide(
                f"the graph joins variables into a table of {largest:.3g} cells, beyond the {LARGEST_CLIQUE:.3g} that "
                "are tried: give more evidence, ask for fewer variables, or use a sparser graph"
            )
        step = max(1, CELLS_AT_ONCE // largest)
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            factors = reduced_factors(net, codes[some], nodes, set(free))
            yield Part(some, nodes, free, factors, eliminate(factors, sequence, len(some)))


def log_probability(net: Net, codes: np.ndarray) -> np.ndarray:
    """(n,) log probability of the seen cells of every row."""
    out = np.empty(len(codes))
    for part in parts(net, codes, ()):
        out[part.rows] = part.done.log_total
    return out


def posterior_of(net: Net, codes: np.ndarray, node: int) -> np.ndarray:
    """(n, levels) law of one node given the other seen cells of every row; its own cell is not looked at.

    A row that the network holds for impossible gets NaN.
    """
    hidden = codes.copy()
    hidden[:, node] = -1
    out = np.empty((len(codes), net.arities[node]))
    for part in parts(net, hidden, (node,)):
        out[part.rows] = _node_law(part, node)
    return out


def _node_law(part: Part, node: int) -> np.ndarray:
    law = _own_law(part, family_beliefs(part.done, part.factors), node)
    return np.where(np.isneginf(part.done.log_total)[:, None], np.nan, law)


def _own_law(part: Part, laws: Sequence[np.ndarray], node: int) -> np.ndarray:
    """The law of a free node: the belief of its own table, summed over its free parents."""
    k = part.nodes.index(node)
    axis = part.factors[k].scope.index(node) + 1
    return laws[k].sum(axis=tuple(a for a in range(1, laws[k].ndim) if a != axis))


def node_laws(net: Net, codes: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """A node, rows that miss it, and its law (those rows, levels) given their seen cells; all such."""
    for part in parts(net, codes):
        laws = family_beliefs(part.done, part.factors)
        for node in part.free:
            yield node, part.rows, _own_law(part, laws, node)


def most_probable(net: Net, codes: np.ndarray) -> np.ndarray:
    """The codes with every missing cell at its most probable level given the seen cells of the row."""
    out = codes.copy()
    for node, rows, law in node_laws(net, codes):
        out[rows, node] = law.argmax(axis=1)
    return out


def draw_rows(net: Net, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Whole rows, parents before their children."""
    codes = np.empty((n_rows, len(net)), dtype=np.int32)
    uniforms = rng.random(codes.shape)
    for node in topological_order(net.parents):
        heights = np.cumsum(net.tables[node], axis=-1)[tuple(codes[:, parent] for parent in net.parents[node])]
        level = (uniforms[:, [node]] * heights[..., -1:] >= heights).sum(axis=-1)
        codes[:, node] = np.minimum(level, net.arities[node] - 1)
    return codes


def draw_missing(net: Net, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The codes with the missing cells of each row drawn jointly given its seen ones."""
    out = codes.copy()
    uniforms = rng.random(codes.shape)
    for part in parts(net, codes):
        some = out[part.rows]
        draw(part.done, uniforms[part.rows], some)
        out[part.rows] = some
    return out


def expected_counts(net: Net, codes: np.ndarray, weight: np.ndarray) -> tuple[list[np.ndarray], float]:
    """Of every family: how often each cell is expected, missing cells by their posterior; and the log probability."""
    shapes = family_shapes(net.parents, net.arities)
    counts = [np.zeros(int(np.prod(shape))) for shape in shapes]
    total = 0.0
    for part in parts(net, codes):
        total += float(weight[part.rows] @ part.done.log_total)
        for node, factor, belief in zip(part.nodes, part.factors, family_beliefs(part.done, part.factors)):
            _add(counts[node], shapes[node], net, node, factor, belief, codes[part.rows], weight[part.rows])
    return [count.reshape(shape) for count, shape in zip(counts, shapes)], total


def _add(
    count: np.ndarray, shape: tuple[int, ...], net: Net, node: int, factor: Factor, belief: np.ndarray,
    codes: np.ndarray, weight: np.ndarray,
) -> None:  # fmt: skip
    """Add the beliefs of rows to a family's counts: cells of seen levels by their place, free ones side by side."""
    family = (*net.parents[node], node)
    strides = dict(zip(family, np.cumprod([1, *shape[:0:-1]])[::-1].tolist()))
    place = np.zeros(len(codes), dtype=np.int64)
    for v in family:
        if v not in factor.scope:
            place += codes[:, v].astype(np.int64) * strides[v]
    offset = np.zeros(1, dtype=np.int64)
    for v in factor.scope:
        offset = (offset[:, None] + np.arange(net.arities[v]) * strides[v]).ravel()
    cells = place[:, None] + offset
    shares = belief.reshape(len(codes), -1) * weight[:, None]
    count += np.bincount(cells.ravel(), shares.ravel(), len(count))


def joint_cells(nodes: Sequence[int], arities: Sequence[int] | np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """A row of evidence (-1: not seen) with every combination of levels of these nodes, the last changing fastest."""
    sizes = [int(arities[v]) for v in nodes]
    if np.prod(sizes, dtype=float) > LARGEST_JOINT:
        raise TooWide(f"the joint table of these variables has {np.prod(sizes, dtype=float):.3g} cells; ask for fewer")
    rows = np.repeat(evidence[None], int(np.prod(sizes)), axis=0)
    rows[:, list(nodes)] = np.indices(sizes).reshape(len(sizes), -1).T
    return rows


def joint_of(net: Net, nodes: Sequence[int], evidence: np.ndarray) -> np.ndarray:
    """The joint law of these free nodes given one row of evidence (-1: not seen); NaN where the evidence cannot be."""
    shape = [net.arities[v] for v in nodes]
    logs = log_probability(net, joint_cells(nodes, net.arities, evidence))
    if np.isneginf(logs).all():
        return np.full(shape, np.nan)
    law = np.exp(logs - logs.max())
    return (law / law.sum()).reshape(shape)
