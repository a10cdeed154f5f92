"""Geweke's test of the chains over networks, and of every move of theirs by itself."""

from functools import partial

import numpy as np
import pytest
from net_prior import NetWorld, shifts
from networks import acyclic

from partita.kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES, GraphTask, NetData, NodeSeats
from partita.kernels.reference import net_block as plain_block
from partita.kernels.reference import net_graph, net_graph_classes, net_listed, net_ordered
from partita.kernels.reference.draw import Stream
from partita.models.structure.candidates import candidate_sets
from partita.models.structure.chains import BlockSampler, OrderedSampler, seed_of
from partita.models.structure.hyper import HyperGrid, SmallModel
from partita.models.structure.knowledge import Knowledge, score_tables, to_graph, to_masks
from partita.models.structure.large import GraphSampler
from partita.models.structure.listed import ListedSampler, Lists
from partita.models.structure.rows import Rows, Sheets
from partita.models.structure.state import Schedule
from partita.models.structure.tempered import Ladder
from partita.models.structure.walk import Walk, Walks
from partita.priors.graph import block_rule

LIMIT = 4.2  # standard errors; about one in a thousand runs of this file would pass it by chance
GRID = HyperGrid(np.array([0.3, 2.0]), np.array([[1.0, 1.0], [0.5, 2.5]]), np.array([0.3, 1.2]))
GRID_OF_GRAPHS = HyperGrid(GRID.alpha, GRID.beta, np.array([0.6]))  # gamma is learnt from tables only
SCHEDULE = Schedule(2, 0)


def known_of(world):
    classes = None if world.classes is None else np.array(world.classes, np.int32)
    return Knowledge(~np.eye(world.n, dtype=bool), np.zeros((world.n, world.n), bool), world.n - 1, classes)


def put(state, draw):
    state.z[0], state.graph[0] = draw.z, draw.graph
    state.cells[:] = draw.X[draw.mask]
    state.hyper[0] = draw.at


def take(state, draw):
    draw.z, draw.graph, draw.at = state.z[0].copy(), state.graph[0].copy(), state.hyper[0].copy()
    draw.X[draw.mask] = state.cells


def rows_of(world, draw):
    codes = draw.X.copy()
    codes[draw.mask] = -1
    return Sheets([Rows(codes, np.array(world.levels, np.int32), world.bdeu, world.pseudo)])


def walks_of(world, rng, draw):
    """Two candidates of every node, sets of at most two, and a ladder whose graphs are drawn from its laws."""
    data = NetData.of(draw.X, np.array(world.levels, np.int32), world.bdeu, world.pseudo)
    nodes = np.array([[(j + k) % world.n for k in (1, 2)] for j in range(world.n)], np.int32)
    sets = candidate_sets(data, known_of(world), nodes, 2)
    odds = np.full((world.n, world.n), 0.0 if world.prior == GIVEN_ODDS else -0.5)
    ladder = Ladder(known_of(world).required, sets, odds, np.array([1.0, 0.5]))
    score, prior = np.full((2, world.n, 4), -np.inf)
    for j in range(world.n):
        mine = slice(sets.first[j], sets.first[j + 1])
        score[j, sets.sets[mine]], prior[j, sets.sets[mine]] = sets.scores[mine], ladder.prior[mine]
    every = np.array(acyclic(world.n))
    listed = every[~(every * (ladder.place == 0)).any(axis=(1, 2))]
    at = np.arange(world.n), (listed * ladder.place).sum(axis=1)
    graphs = []
    for heat in ladder.heats:
        logs = (heat * score[at] + prior[at]).sum(axis=1)
        chance = np.exp(logs - logs.max())
        graphs.append(listed[int(rng.choice(len(listed), p=chance / chance.sum()))])
    return Walks(np.array([0, world.n]), [Walk(known_of(world), nodes, sets, ladder)]), np.array(graphs, np.uint8)


def by_orders(world, rng, draw):
    """Ladder, exchange and walk, without the sweep that follows."""
    sampler = GraphSampler(
        rows_of(world, draw), known_of(world), world.prior, world.alpha, world.beta1, world.beta2, SCHEDULE, 0
    )
    sampler.walks, graphs = walks_of(world, rng, draw)
    state = sampler.init(rng)
    put(state, draw)
    state.ladder[:] = graphs.ravel()
    sampler.data = sampler.rows.data(state.cells)
    sampler._by_orders(rng, state)
    take(state, draw)


def by_graphs(world, rng, draw, *, single):
    """Edges, reversals, sets of parents, classes."""
    sampler = GraphSampler(
        rows_of(world, draw), known_of(world), world.prior, world.alpha, world.beta1, world.beta2, SCHEDULE, 0, single,
        grid=world.grid,
    )  # fmt: skip
    state = sampler.init(rng)
    put(state, draw)
    for _ in range(2):
        sampler.step(rng, state)
    take(state, draw)


def by_lists(world, rng, draw):
    sampler = ListedSampler(
        rows_of(world, draw), known_of(world), world.alpha, world.beta1, world.beta2, SCHEDULE, 0, 3, grid=world.grid
    )
    state = sampler.init(rng)
    put(state, draw)
    upper = np.triu(draw.eta, 1)
    state.template = np.clip(upper + upper.T, 1e-12, 1.0 - 1e-12) + np.eye(len(upper)) / 2
    sampler.step(rng, state)
    take(state, draw)


def tables_of(world, draw, pseudo=None):
    return score_tables(
        draw.X, np.array(world.levels, np.int32), world.bdeu, world.pseudo if pseudo is None else pseudo,
        known_of(world)
    )  # fmt: skip


def by_tables(world, rng, draw, *, kind, alpha=None):
    """Graphs summed out, or drawn as a whole."""
    model = None
    if world.grid is not None:
        model = SmallModel(world.grid, world.n, partial(tables_of, world, draw))
    more = {"temperatures": np.ones(1)} if kind is BlockSampler else {}
    rule = block_rule(world.n, world.alpha if alpha is None else alpha, world.beta1, world.beta2)
    sampler = kind(tables_of(world, draw), rule, known_of(world), SCHEDULE, 0, model=model, **more)
    state = sampler.init(rng)
    put(state, draw)
    sampler.step(rng, state)
    take(state, draw)


THESIS, ALL = partial(by_graphs, single=True), partial(by_graphs, single=False)
ORDERED, BLOCK = partial(by_tables, kind=OrderedSampler), partial(by_tables, kind=BlockSampler)
WORLDS = {
    "edges": (NetWorld(GIVEN_ODDS), THESIS),
    "edges-reversals-sets": (NetWorld(GIVEN_ODDS, bdeu=True), ALL),
    "edges-classes": (NetWorld(CLASSES), THESIS),
    "edges-reversals-sets-classes": (NetWorld(CLASSES), ALL),
    "orders": (NetWorld(GIVEN_ODDS), by_orders),
    "orders-classes": (NetWorld(CLASSES), by_orders),
    "orders-given": (NetWorld(CLASSES, classes=(0, 0, 1, 0), bdeu=True), by_orders),
    "holes": (NetWorld(CLASSES, holes=True, bdeu=True), ALL),
    "hyper": (NetWorld(CLASSES, grid=GRID_OF_GRAPHS), ALL),
    "ordered-edges-classes": (NetWorld(ORDERED_CLASSES), THESIS),
    "ordered-all": (NetWorld(ORDERED_CLASSES), ALL),
    "ordered-given": (NetWorld(ORDERED_CLASSES, classes=(0, 0, 1, 2)), THESIS),
    "lists": (NetWorld(ORDERED_CLASSES), by_lists),
    "lists-holes": (NetWorld(ORDERED_CLASSES, holes=True), by_lists),
    "lists-given": (NetWorld(ORDERED_CLASSES, classes=(0, 1, 1, 2)), by_lists),
    "ordered-sums": (NetWorld(ORDERED_CLASSES), ORDERED),
    "ordered-sums-hyper": (NetWorld(ORDERED_CLASSES, grid=GRID), ORDERED),
    "ordered-sums-given": (NetWorld(ORDERED_CLASSES, classes=(0, 1, 1, 2), bdeu=True), ORDERED),
    "block": (NetWorld(CLASSES), BLOCK),
    "block-hyper": (NetWorld(CLASSES, grid=GRID), BLOCK),
    "block-given": (NetWorld(CLASSES, classes=(0, 0, 1, 1), bdeu=True), BLOCK),
}


def farthest(name, n_draws, seed=0):
    world, move = WORLDS[name]
    return np.abs(shifts(np.random.default_rng(seed), world, partial(move, world), n_draws)).max()


@pytest.mark.parametrize("name", WORLDS)
def test_chains_leave_the_joint_prior_as_it_is(name):
    assert farthest(name, 500) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_long_runs_leave_the_joint_prior_as_it_is(name):
    assert farthest(name, 40_000, 1) < LIMIT


@pytest.mark.parametrize("kind", [OrderedSampler, BlockSampler])
def test_a_wrong_concentration_is_noticed(kind):
    world = NetWorld(ORDERED_CLASSES if kind is OrderedSampler else CLASSES)
    move = partial(by_tables, world, kind=kind, alpha=2.0)
    assert np.abs(shifts(np.random.default_rng(0), world, move, 600)).max() > 6.0


# ---- every move by itself, in the plain twins


def plain_task(world):
    n = world.n
    return GraphTask(
        1 - np.eye(n, dtype=np.uint8), np.zeros((n, n), np.uint8), n - 1, world.prior, True,
        NodeSeats.plain(n, world.alpha), world.beta1, world.beta2, np.zeros((n, n)),
    )  # fmt: skip


def of_graph(move, world, rng, draw):
    data = NetData.of(draw.X, np.array(world.levels, np.int32), world.bdeu, world.pseudo)
    stream, n = Stream(seed_of(rng)), world.n
    two = tuple(sorted(rng.choice(n, 2, replace=False).tolist()))
    place = {
        "_edge": (*rng.permutation(n)[:2].tolist(),), "_parent_set": (int(rng.integers(n)),),
        "_reorder": (int(rng.integers(n)),), "move_node": (),
    }.get(move, two)  # fmt: skip
    getattr(net_graph, move)(stream, [data], plain_task(world), draw.z, draw.graph, *place)


def of_seats(move, world, rng, draw):
    """Classes of any prior, given the graph."""
    place = (int(rng.integers(world.n)),) if move == "one_class" else ()
    getattr(net_graph_classes, move)(Stream(seed_of(rng)), plain_task(world), draw.z, draw.graph, *place)


def of_classes(move, world, rng, draw):
    """Classes without order, given the graph."""
    rule, stream = block_rule(world.n, world.alpha, world.beta1, world.beta2), Stream(seed_of(rng))
    classes = getattr(plain_block, move)(stream, rule, net_ordered.classes_of(draw.z), to_masks(draw.graph).tolist())
    net_ordered.number_classes(classes, draw.z)


def of_order(turn, world, rng, draw):
    """Ordered classes, graphs summed out; the graph is drawn anew by the exact law that the matrices check."""
    rule, stream = block_rule(world.n, world.alpha, world.beta1, world.beta2), Stream(seed_of(rng))
    tables = tables_of(world, draw)
    classes = net_ordered.classes_of(draw.z)
    if turn == "node":
        classes = net_ordered._node(stream, tables, rule, classes, int(rng.integers(world.n)))
    else:
        kind = ("swap", "split_merge", "relocate").index(turn)
        classes = net_ordered._metropolis(stream, tables, rule, classes, kind)
    parents, edges, odds, before = [0] * world.n, np.zeros((world.n,) * 2), np.zeros((world.n,) * 2), 0
    for b, members in enumerate(classes):
        net_ordered.draw_class(
            stream, tables, rule, 1.0, members, classes[:b], -1, [before] * world.n, [0] * world.n, edges, odds, parents
        )
        before |= members
    net_ordered.number_classes(classes, draw.z)
    draw.graph = to_graph(np.array(parents, np.int32))


def of_lists(move, world, rng, draw):
    data = NetData.of(draw.X, np.array(world.levels, np.int32), world.bdeu, world.pseudo)
    lists, n, K = Lists.of(data, known_of(world), 3), world.n, int(draw.z.max()) + 1
    eta = np.clip(np.triu(draw.eta, 1) + np.triu(draw.eta, 1).T, 1e-9, 1 - 1e-9) + np.eye(K) / 2
    stream, seats = Stream(seed_of(rng)), NodeSeats.plain(n, world.alpha)
    state = net_listed._State([lists.weight], 3, seats, draw.z, eta)
    if move == "_node":
        fresh = rng.beta(world.beta1, world.beta2, (n, n))
        net_listed._node(stream, state, int(rng.integers(n)), fresh)
    else:
        getattr(net_listed, move)(stream, state)
    for j in range(n):
        terms = np.array([weight for weight, _ in state.terms(j)])
        draw.graph[:, j] = 0
        draw.graph[state.terms(j)[int(rng.choice(len(terms), p=terms / terms.sum()))][1], j] = 1
    draw.z = np.array([state.place(i) for i in range(n)], np.int32)


MOVES = {
    **{f"edge-{prior}": (prior, of_graph, "_edge") for prior in (GIVEN_ODDS, CLASSES, ORDERED_CLASSES)},
    **{f"set-{prior}": (prior, of_graph, "_parent_set") for prior in (GIVEN_ODDS, CLASSES, ORDERED_CLASSES)},
    **{f"reversal-{prior}": (prior, of_graph, "_reversal") for prior in (GIVEN_ODDS, CLASSES)},
    **{f"class-{prior}": (prior, of_seats, "one_class") for prior in (CLASSES, ORDERED_CLASSES)},
    **{f"split-merge-{prior}": (prior, of_seats, "split_or_merge") for prior in (CLASSES, ORDERED_CLASSES)},
    "node": (CLASSES, of_graph, "move_node"),
    "exchange": (ORDERED_CLASSES, of_graph, "_exchange"),
    "reorder": (ORDERED_CLASSES, of_graph, "_reorder"),
    "block-classes": (CLASSES, of_classes, "_gibbs"),
    "block-split-merge": (CLASSES, of_classes, "_split_or_merge"),
    **{f"order-{turn}": (ORDERED_CLASSES, of_order, turn) for turn in ("node", "swap", "split_merge", "relocate")},
    **{f"list{move}": (ORDERED_CLASSES, of_lists, move) for move in ("_node", "_swap", "_relocate")},
}


def farthest_move(name, n_draws, levels, seed=0):
    prior, move, which = MOVES[name]
    world = NetWorld(prior, levels=levels, n_rows=5)
    return np.abs(shifts(np.random.default_rng(seed), world, partial(move, which, world), n_draws)).max()


@pytest.mark.parametrize("name", MOVES)
def test_moves_leave_the_joint_prior_as_it_is(name):
    assert farthest_move(name, 250, (2, 2, 3, 2)) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_long_runs_of_moves_leave_the_joint_prior_as_it_is(name):
    assert farthest_move(name, 8_000, (2, 2, 3, 2), 1) < LIMIT
