"""What the kernels of discrete networks take and give.

Symbols: n columns (nodes), N rows. Sets of nodes are bit masks (node i is the bit 1 << i) where n is at most 16. A
table of scores is float64 (n, 2^n): the log score of node j with the parents P at [j, P], NO_SCORE where they are not
allowed. Scores are log marginal likelihoods of a column given its parents, Dirichlet-multinomial: with the
pseudo-count `pseudo` in every cell, or `pseudo` spread evenly over all cells of a column and its parents (BDeu).

`net_scores(data, child, first, parents, out)` scores children with parents[first[q] : first[q + 1]];
`net_score_table(data, child, max_parents, out)` all sets of parents as bit masks;
`net_score_sets(data, child, candidates, max_parents, out)` all sets of at most so many candidates, each before those
that extend it, and returns how many there are;
`net_dag_sum(weight, edges)` sums a modular weight (n, 2^n; it is overwritten) over all acyclic graphs and returns
the log; P(i -> j) goes to edges[i, j], unless `edges` is empty;
`net_block_sum(score, rule, z, edges)` sums over all acyclic graphs with classes z (int32, n) given and edge
probabilities integrated out, as (2.5) has it, and returns the log; P(i -> j) goes to edges;
`net_order_draws(score, log_odds, parents, n_tries, seed)` fills parents (int32 bit masks, k x n) with a chain of graphs
of the modular law exp(score) x odds: independent proposals by orders, `n_tries` between one and the next; the chain
begins with the first row of parents, or afresh where that holds -1;
`net_class_sum(score, rule, heat, members, from, own, within, hit)` sums over all graphs into one class, see `native/
net_classes.hpp`; `net_ordered_target(score, rule, cache, z)` is the log target of ordered classes;
`net_ordered_sweep(score, rule, cache, z, move_classes, seed, edges, parents, weights)` and `net_block_sweep(score,
rule, heat, z, parents, move_classes, n_draws, n_splits, seed, edges, weights)` are one sweep of the chains over
classes: z (int32, n) and the graph `parents` (int32 bit masks, n) change in place, edge probabilities are added to
`edges` (n, n); `weights` are the ScoreWeights of the scores at that heat, which the plain twins do not need. They
return the log target of the ordered classes, and the log prior of classes and graph.

For any number of nodes, of one data set or several whose nodes follow one another, graphs being uint8 (n, n), parent
row and child column:
`net_graph_sweep(data, task: GraphTask, cache, z, edge, seed, chances)` is one sweep over single edges, reversals, sets
of parents and classes, in place; `data` has one NetData for every data set. The chance of every edge given all else is
added to `chances` (n, n), or where a change is rarer than one in a hundred what was drawn; an empty array: not wanted.
It returns the log joint, up to the normaliser over acyclic graphs;
`net_order_walk(known: CandidateSets, log_odds, heat, edge, n_turns, seed)` redraws a graph by orders of its nodes,
given log odds (n, n) of edges; scores count `heat` times. It returns how many turns were accepted;
`net_graph_ladder(known, prior, sums, heats, graphs, n_rounds, seed)` does so for graphs (R, n, n) of listed sets whose
scores count heats[r] times, and lets neighbours change places; `net_set_sums(known, log_odds, heats, prior, sums)`
makes what it needs: log odds of every listed set, and (R, n, 2^width) log sums over listed sets within any candidates;
`net_fill(codes, levels, edge, bdeu, pseudo, cells, uniforms)` draws the cells (row, column) of a table anew one by
one, each given all others;
`net_score_lists(data, child, most, out)` scores all sets of at most `most` (0 .. 4) parents, see `list_sets`;
`net_listed_sweep(weight, most, seating, z, eta, fresh, move_classes, n_swaps, seed, edges, graph)` is one sweep over
ordered classes given edge probabilities: weight has an array (nodes, sets) of scores on a linear scale for every data
set, eta (n, n; the first K rows and columns count) is of an edge from the earlier to the later of two classes, fresh
(n, n) draws of eta from its prior for a class that a node opens. z, eta and shares change in place, P(i -> j | classes,
eta) is added to `edges`, a graph is drawn. It returns the log of the product of the nodes' sums;
`net_bridge_sweep(rise, rest, whole, log_room, seating, graph, move_nodes, z, seed)` is one sweep over classes in order
given a graph, on a rung of `priors/ladder`: e edges among m pairs weigh rise[kind, e] + rest[m - e] - whole[kind, m],
kind 0 where the second class is later, else 1, and every class but the first log_room. z and shares change in place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import gammaln

NO_SCORE = -1e300
MOST_NODES = 16  # of tables over all sets of parents


@dataclass
class NetData:
    """A complete table of levels, as bit planes and by columns, and the tables of log Gamma that its scores need."""

    planes: np.ndarray  # uint64 (sum of levels, ceil(N / 64)): the rows in which a column shows a level
    first: np.ndarray  # int64 (n + 1,): the planes of column j begin at first[j]
    levels: np.ndarray  # int32 (n,)
    cells: np.ndarray  # int32 (n, N)
    bdeu: bool
    pseudo: float
    rise_cell: np.ndarray  # (N + 1,): log Gamma(a + m) - log Gamma(a), a = pseudo
    rise_row: np.ndarray  # (different numbers of levels, N + 1): the same of a = levels * pseudo
    row_of: np.ndarray  # int32 (n,): the row of rise_row that a column uses

    @classmethod
    def of(cls, codes: np.ndarray, levels: np.ndarray, bdeu: bool, pseudo: float) -> NetData:
        """From codes (N, n) without missing cells."""
        levels = np.asarray(levels, np.int32)
        assert len(codes) == 0 or ((codes >= 0).all() and (codes < levels).all())
        n_rows = len(codes)
        first = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
        planes = np.zeros((int(first[-1]), max(-(-n_rows // 64), 1)), np.uint64)
        for j, column in enumerate(codes.T):
            shown = column[None, :] == np.arange(levels[j])[:, None]
            packed = np.packbits(shown, axis=1, bitorder="little")
            planes[first[j] : first[j + 1]].view(np.uint8)[:, : packed.shape[1]] = packed
        sizes, row_of = np.unique(levels, return_inverse=True)
        count = np.arange(n_rows + 1)
        return cls(
            planes, first, levels, np.ascontiguousarray(codes.T, np.int32), bool(bdeu), float(pseudo),
            gammaln(pseudo + count) - gammaln(pseudo),
            gammaln(sizes[:, None] * pseudo + count) - gammaln(sizes[:, None] * pseudo), row_of.astype(np.int32),
        )  # fmt: skip


ROOM = 600.0  # nats that doubles hold with room for the odds of edges


@dataclass
class ScoreWeights:
    """A table of scores on a linear scale, exp(heat * score - shift) with the best of every node at one; without rows
    where that would lose scores that are allowed. Native sweeps are faster with it and mean the same."""

    weight: np.ndarray  # (n, 2^n) or (0, 0)
    shift: np.ndarray  # (n,)

    @classmethod
    def of(cls, score: np.ndarray, heat: float = 1.0) -> ScoreWeights:
        best = score.max(axis=1, keepdims=True)
        allowed = score > NO_SCORE / 10
        if np.where(allowed, heat * (best - score), 0.0).max(initial=0.0) > ROOM:
            return cls.none()
        with np.errstate(under="ignore"):
            return cls(np.where(allowed, np.exp(heat * (score - best)), 0.0), heat * best[:, 0])

    @classmethod
    def none(cls) -> ScoreWeights:
        return cls(np.zeros((0, 0)), np.zeros(0))


@dataclass
class BlockRule:
    """Chinese restaurant of concentration alpha, edges of probability eta ~ Beta(beta1, beta2): row D of nodes and
    weights is the Gauss-Jacobi rule of D points for that law, exact for polynomials in eta of degree 2 D - 1."""

    alpha: float
    beta1: float
    beta2: float
    nodes: np.ndarray
    weights: np.ndarray


@dataclass
class HashedValues:
    """Values found again by a key of 64 bits, in bounded memory: a later value takes the place of an earlier one."""

    keys: np.ndarray  # uint64, a power of two
    values: np.ndarray

    @classmethod
    def room(cls, bits: int) -> HashedValues:
        return cls(np.zeros(1 << bits, np.uint64), np.zeros(1 << bits))

    def forget(self) -> None:
        self.keys[:] = 0


@dataclass
class NodeSeats:
    """How nodes choose classes: a node of data set t joins class k with weight n_tk + alpha share[k], n_tk the nodes of
    its data set that are there, and opens a class with alpha share[n].

    A plain restaurant is one data set with no shares but share[n] = 1. In a franchise (`top`, its concentration, above
    0) shares are those of `priors/franchise`, and the class that node i opens takes stick[i] of share[n].
    """

    alpha: float
    top: float
    share: np.ndarray  # (n + 1,)
    stick: np.ndarray  # (n,)
    first: np.ndarray  # int32 (T + 1,): the nodes of data set t are first[t] .. first[t + 1] - 1

    @classmethod
    def plain(cls, n: int, alpha: float) -> NodeSeats:
        return cls(float(alpha), 0.0, np.append(np.zeros(n), 1.0), np.zeros(n), np.array([0, n], np.int32))


@dataclass
class CandidateSets:
    """Sets of parents that a walk over orders knows: bit c of a set of node j stands for the candidate nodes[j, c]. The
    sets of node j and their log scores are those from first[j] to first[j + 1], the highest scores first."""

    nodes: np.ndarray  # int32 (n, width), -1 where a node has fewer candidates
    first: np.ndarray  # int64 (n + 1,)
    sets: np.ndarray  # int32
    scores: np.ndarray


GIVEN_ODDS, CLASSES, ORDERED_CLASSES = 0, 1, 2  # priors of a graph sweep


@dataclass
class GraphTask:
    """What a graph sweep is given beside the data: edges that may and must be (uint8, n x n), the prior, and with
    GIVEN_ODDS the log odds (n, n) of edges that are independent beforehand. `single_edges`: one edge at a time and
    classes of single nodes, nothing else. The joint is raised to the power `heat`, above 1 to find its greatest value;
    `n_splits` splits or merges of classes; `n_nodes` nodes may change their class together with their edges, where
    classes have no order."""

    allowed: np.ndarray
    required: np.ndarray
    max_parents: int
    prior: int
    move_classes: bool
    seating: NodeSeats
    beta1: float
    beta2: float
    log_odds: np.ndarray
    single_edges: bool = False
    heat: float = 1.0
    n_splits: int = 0
    n_nodes: int = 0


def list_sets(n: int, most: int) -> list[tuple[int, ...]]:
    """The sets of a list in order: the empty one, single nodes, pairs and so on, each sort in ascending order."""
    return [nodes for size in range(most + 1) for nodes in combinations(range(n), size)]
