"""Every move over networks of three nodes leaves its target as it is: pi P = pi with P listed whole.

The plain twins are looked at; tests/kernels hold the native ones to them draw by draw.
"""

from functools import cache, lru_cache
from itertools import product

import numpy as np
import pytest
from branching import stand_in, transitions

from partita.kernels.net_contract import (
    CLASSES,
    GIVEN_ODDS,
    NO_SCORE,
    ORDERED_CLASSES,
    GraphTask,
    NetData,
    NodeSeats,
    list_sets,
)
from partita.kernels.reference import (
    net_block,
    net_classes,
    net_graph,
    net_graph_classes,
    net_graph_joint,
    net_graph_nodes,
    net_listed,
    net_ordered,
    net_orders,
    net_sums,
    net_walk,
)
from partita.kernels.reference.net_scores import score as plain_score
from partita.models.structure.candidates import candidate_sets
from partita.models.structure.knowledge import Knowledge
from partita.models.structure.tempered import Ladder
from partita.priors.graph import block_rule, ordered_partitions
from partita.priors.partition import enumerate_partitions, log_probability

N, ALPHA, B1, B2 = 3, 0.7, 0.8, 1.6
DATA = NetData.of(np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1], [1, 1, 0]], np.int32),
                  np.full(N, 2, np.int32), False, 0.5)  # fmt: skip


@pytest.fixture(autouse=True)
def _branches(monkeypatch):
    stand_in(monkeypatch)
    monkeypatch.setattr(net_graph_joint, "score", lambda data, j, parents: score(j, tuple(parents)))


@cache
def score(j, parents):
    return plain_score(DATA, j, parents)


def tables():
    table = np.full((N, 1 << N), NO_SCORE)
    for j in range(N):
        for P in range(1 << N):
            if not P >> j & 1:
                table[j, P] = score(j, tuple(i for i in range(N) if P >> i & 1))
    return table


def task_of(prior, known):
    """With `known` an edge is required, another forbidden, and a node has one parent at most."""
    allowed, required = 1 - np.eye(N, dtype=np.uint8), np.zeros((N, N), np.uint8)
    if known:
        allowed[2, 1], required[0, 2] = 0, 1
    odds = np.random.default_rng(0).normal(size=(N, N))
    most, seats = 1 if known else N - 1, NodeSeats.plain(N, ALPHA)
    return GraphTask(allowed, required, most, prior, prior != GIVEN_ODDS, seats, B1, B2, odds)


def partitions(prior):
    if prior == GIVEN_ODDS:
        return [(0,) * N]
    if prior == CLASSES:
        return [tuple(z) for z in enumerate_partitions(N).tolist()]
    return [tuple(z) for z in np.array(list(ordered_partitions(N))).tolist()]


def canonical(z):
    """Classes numbered as they appear: without an order their numbers mean nothing."""
    seen = {}
    return tuple(seen.setdefault(int(a), len(seen)) for a in z)


def graph_states(task):
    """(z, graph) of positive probability, and the target."""
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j]
    states, logs = [], []
    for bits in product((0, 1), repeat=len(pairs)):
        edge = np.zeros((N, N), np.uint8)
        for on, (i, j) in zip(bits, pairs):
            edge[i, j] = on
        if (edge & (1 - task.allowed)).any() or (task.required & (1 - edge)).any():
            continue
        for z in partitions(task.prior):
            value = net_graph_joint.log_joint([DATA], task, np.array(z), edge)
            if value > -np.inf:
                states.append((z, tuple(edge.ravel().tolist())))
                logs.append(value)
    return states, share(logs)


def share(logs):
    weight = np.exp(np.array(logs) - np.max(logs))
    return weight / weight.sum()


def _without_data(move):
    return lambda stream, data, *rest: move(stream, *rest)


GRAPH_MOVES = {
    "edge": (net_graph._edge, [(i, j) for i in range(N) for j in range(N)]),
    "reversal": (net_graph._reversal, [(0, 1), (0, 2), (1, 2)]),
    "exchange": (net_graph._exchange, [(0, 1), (0, 2), (1, 2)]),
    "reorder": (net_graph._reorder, [(0,), (1,)]),
    "parent_set": (net_graph._parent_set, [(j,) for j in range(N)]),
    "class": (_without_data(net_graph_classes.one_class), [(i,) for i in range(N)]),
    "split_merge": (_without_data(net_graph_classes.split_or_merge), [()]),
    "node": (net_graph_nodes.move_node, [()]),
}


@pytest.mark.parametrize("move", GRAPH_MOVES)
@pytest.mark.parametrize("prior", [GIVEN_ODDS, CLASSES, ORDERED_CLASSES])
@pytest.mark.parametrize("known", [False, True])
def test_moves_over_graphs(move, prior, known):
    order = ("exchange", "reorder")
    if move in {GIVEN_ODDS: ("class", "split_merge", "node", *order), CLASSES: order}.get(prior, ("reversal", "node")):
        return  # not a move of this prior
    task, (of, places) = task_of(prior, known), GRAPH_MOVES[move]
    states, pi = graph_states(task)
    for place in places:

        def step(stream, state, place=place):
            z, edge = np.array(state[0]), np.array(state[1], np.uint8).reshape(N, N)
            of(stream, [DATA], task, z, edge, *place)
            return tuple(z.tolist()) if prior == ORDERED_CLASSES else canonical(z), tuple(edge.ravel().tolist())

        P = transitions(states, step)
        np.testing.assert_allclose(pi @ P, pi, atol=1e-12)
        assert not np.allclose(P, np.eye(len(P))) or known or (place and place[:1] == place[1:])


def rule():
    return block_rule(N, ALPHA, B1, B2)


def masks(edge):
    return [sum(1 << i for i in range(N) if edge[i * N + j]) for j in range(N)]


def flat(parents):
    return tuple(int(parents[j]) >> i & 1 for i in range(N) for j in range(N))


@pytest.mark.parametrize("turn", ["gibbs", "swap", "split_merge", "relocate"])
def test_moves_over_ordered_classes(turn):
    score_table, of = tables(), rule()
    target = lru_cache(maxsize=None)(lambda classes: net_ordered.log_target(score_table, of, list(classes)))
    states = [tuple(net_ordered.classes_of(z)) for z in partitions(ORDERED_CLASSES)]
    pi = share([target(state) for state in states])

    def gibbs(stream, state, i):
        return tuple(net_ordered._node(stream, score_table, of, list(state), i))

    def metropolis(stream, state):
        kind = ("swap", "split_merge", "relocate").index(turn)
        return tuple(net_ordered._metropolis(stream, score_table, of, list(state), kind))

    steps = [lambda s, x, i=i: gibbs(s, x, i) for i in range(N)] if turn == "gibbs" else [metropolis]
    for step in steps:
        P = transitions(states, step)
        np.testing.assert_allclose(pi @ P, pi, atol=1e-12)
        assert np.abs(P - np.eye(len(P))).max() > 0.01


@pytest.mark.parametrize("heat", [1.0, 0.5])
def test_graphs_of_ordered_classes_are_drawn_exactly(heat):
    """Of every ordered partition: the graph that is drawn has the law it should have given the classes."""
    score_table, of, task = tables(), rule(), task_of(ORDERED_CLASSES, False)
    states, _ = graph_states(task)
    for z in partitions(ORDERED_CLASSES):
        classes = net_ordered.classes_of(z)
        mine = [state for state in states if state[0] == z]
        graphs = [np.array(e, np.uint8).reshape(N, N) for _, e in mine]
        logs = [net_graph_joint.log_joint([DATA], task, np.array(z), graph) for graph in graphs]
        likelihood = [sum(score_table[j, P] for j, P in enumerate(masks(e))) for _, e in mine]
        pi = share(np.array(logs) + (heat - 1.0) * np.array(likelihood))

        def draw(stream, state, classes=classes):
            parents, edges, odds, before = [0] * N, np.zeros((N, N)), np.zeros((N, N)), 0
            for b, members in enumerate(classes):
                net_ordered.draw_class(
                    stream, score_table, of, heat, members, classes[:b], -1, [before] * N, [0] * N, edges, odds, parents
                )  # fmt: skip
                before |= members
            return state[0], flat(parents)

        np.testing.assert_allclose(transitions(mine, draw), np.tile(pi, (len(mine), 1)), atol=1e-12)


def block_states(heat):
    """(z, graph) and the tempered target."""
    score_table = tables()
    states, _ = graph_states(task_of(CLASSES, False))
    logs = []
    for z, edge in states:
        likelihood = sum(score_table[j, P] for j, P in enumerate(masks(edge)))
        logs.append(heat * likelihood + net_block.log_prior(rule(), net_ordered.classes_of(z), masks(edge)))
    return states, share(logs)


@pytest.mark.parametrize("heat", [1.0, 0.4])
@pytest.mark.parametrize("move", ["layers", "class", "split_merge"])
def test_moves_over_classes_and_a_graph(heat, move, monkeypatch):
    score_table, of = tables(), rule()
    states, pi = block_states(heat)
    remember(monkeypatch, net_classes, "values_on_grid", (3, 4, 5, 6, 7))

    def step(stream, state):
        classes, parents = net_ordered.classes_of(state[0]), masks(state[1])
        if move == "layers":
            net_block._redraw_given_layers(stream, score_table, of, heat, classes, parents, np.zeros((N, N)))
        elif move == "split_merge":
            classes = net_block._split_or_merge(stream, of, classes, parents)
        else:
            classes = net_block._gibbs(stream, of, classes, parents)
        z = [0] * N
        net_ordered.number_classes(classes, z)
        return canonical(z), flat(parents)

    P = transitions(states, step)
    np.testing.assert_allclose(pi @ P, pi, atol=1e-11)
    assert np.abs(P - np.eye(len(P))).max() > 0.01


def remember(monkeypatch, module, name, which):
    """The same answer for the same arguments (those at `which`), found once."""
    plain, known = getattr(module, name), {}

    def again(*args):
        key = repr([args[k] for k in which])
        if key not in known:
            known[key] = plain(*args)
        return known[key]

    monkeypatch.setattr(module, name, again)


@pytest.mark.parametrize("heat", [1.0, 0.4])
@pytest.mark.parametrize("move", ["orders", "parents", "reversal"])
def test_graphs_given_edge_probabilities(heat, move, monkeypatch):
    """Given classes and edge probabilities: the graph proposed by orders and accepted by their number, the parents of
    a node given those of the others, an edge turned round."""
    score_table, odds = tables(), np.random.default_rng(1).normal(size=(N, N))
    states = sorted({edge for _, edge in graph_states(task_of(CLASSES, False))[0]})
    modular = [
        sum(heat * score_table[j, P] + sum(odds[i, j] for i in range(N) if P >> i & 1) for j, P in enumerate(masks(e)))
        for e in states
    ]
    pi = share(modular)
    remember(monkeypatch, net_block, "order_weights", (1,))

    def step(stream, edge, place):
        parents = masks(edge)
        if move == "orders":
            net_block._redraw_by_orders(stream, score_table, heat, odds, parents, 1)
        elif move == "parents":
            net_sums.redraw_parents(stream, score_table, heat, odds, parents, place)
        else:
            net_sums.reverse_edge(stream, score_table, heat, odds, parents, *((0, 1), (0, 2), (1, 2))[place])
        return flat(parents)

    for place in range(1 if move == "orders" else N):
        P = transitions(states, lambda stream, edge, place=place: step(stream, edge, place))
        np.testing.assert_allclose(pi @ P, pi, atol=1e-12)
        np.testing.assert_allclose(pi[:, None] * P, (pi[:, None] * P).T, atol=1e-12)  # detailed balance


# ---- graphs by orders, over sets of some candidates


def listed_sets(width, most):
    nodes = np.array([[(j + k) % N for k in range(1, width + 1)] for j in range(N)], np.int32)
    known = Knowledge(~np.eye(N, dtype=bool), np.zeros((N, N), bool), N - 1)
    return candidate_sets(DATA, known, nodes, most)


def graphs_and_weights(heat, odds):
    """All graphs, and the log weights of edges that are independent beforehand."""
    states = sorted({edge for _, edge in graph_states(task_of(CLASSES, False))[0]})
    logs = [
        sum(heat * score(j, mine) + sum(odds[i, j] for i in mine) for j, mine in enumerate(parents_in(state)))
        for state in states
    ]
    return states, np.array(logs)


def parents_in(state):
    return net_walk.parents_of(np.array(state).reshape(N, N))


def edges_in(parents):
    edge = np.zeros((N, N), np.uint8)
    net_walk.store(parents, edge)
    return tuple(edge.ravel().tolist())


@pytest.mark.parametrize("heat", [1.0, 0.4])
@pytest.mark.parametrize(("width", "most"), [(2, 2), (2, 1), (1, 1)])
@pytest.mark.parametrize(("start", "size"), [(0, 3), (0, 2), (1, 2)])
def test_turns_over_orders(heat, width, most, start, size):
    odds, known = np.random.default_rng(1).normal(size=(N, N)), listed_sets(width, most)
    states, logs = graphs_and_weights(heat, odds)

    def step(stream, state):
        parents = parents_in(state)
        law = net_walk.walking_law(known, odds, heat, parents)
        return edges_in(net_orders.turn(stream, law, parents, start, size, 1))

    P, pi = transitions(states, step), share(logs)
    np.testing.assert_allclose(pi @ P, pi, atol=1e-12)
    assert np.abs(P - np.eye(len(P))).max() > 0.01


def test_rungs_change_places():
    known, odds = listed_sets(2, 1), np.random.default_rng(1).normal(size=(N, N))
    prior, heats = net_orders.log_odds_of_sets(known, odds), (1.0, 0.4)
    laws = [net_orders.Law(known, prior, heat) for heat in heats]
    both = [graphs_and_weights(heat, odds) for heat in heats]
    some = [k for k, state in enumerate(both[0][0]) if np.array(state).reshape(N, N).sum(axis=0).max() <= 1]
    states = [(both[0][0][a], both[0][0][b]) for a in some for b in some]
    pi = share([both[0][1][a] + both[1][1][b] for a in some for b in some])

    def step(stream, state):
        graphs = [parents_in(graph) for graph in state]
        net_walk.swap(stream, laws, graphs, 0)
        return tuple(edges_in(graph) for graph in graphs)

    P = transitions(states, step)
    np.testing.assert_allclose(pi[:, None] * P, (pi[:, None] * P).T, atol=1e-12)


@pytest.mark.parametrize(("width", "most"), [(2, 2), (2, 1), (1, 1)])
def test_exchanges_with_the_foot_of_a_ladder(width, most):
    """Twice is as it was, and what it says that the joint grows by is so."""
    known, odds, z = listed_sets(width, most), np.random.default_rng(1).normal(size=(N, N)), np.array([0, 0, 1])
    task = task_of(CLASSES, False)
    ladder = Ladder(np.zeros((N, N), bool), known, odds, np.ones(1))
    weight = dict(zip(*graphs_and_weights(1.0, odds), strict=True))

    def log_prior(graph):
        return net_graph_classes.log_classes(task, z, graph)

    def log_both(graph, foot):
        return net_graph_joint.log_joint([DATA], task, z, graph) + weight[tuple(foot.ravel().tolist())]

    done = 0
    graphs = [np.array(state, np.uint8).reshape(N, N) for state in weight]
    feet = [foot for foot in graphs if ladder.propose(DATA, N, foot, foot, log_prior) is not None]
    feet = [foot for foot in feet if not (foot * (ladder.place == 0)).any()]
    for graph in graphs:
        for foot in feet:
            found = ladder.propose(DATA, N, graph, foot, log_prior)
            if found is None:
                continue
            other, core, gain = found
            assert gain == pytest.approx(log_both(other, core) - log_both(graph, foot), abs=1e-9)
            back, again, loss = ladder.propose(DATA, N, other, core, log_prior)
            assert (back == graph).all() and (again == foot).all() and loss == pytest.approx(-gain, abs=1e-9)
            done += abs(gain) > 0.1
    assert done > 20


# ---- ordered classes with edge probabilities and lists of sets; eta takes two values here, since its law enters the
# moves by fresh draws only

VALUES = (0.25, 0.6)


def listed_states():
    """(names in order of appearance, order of names, eta of pairs) as the place of every node and an upper triangle."""
    states = []
    for z in partitions(ORDERED_CLASSES):
        K = max(z) + 1
        for eta in product(VALUES, repeat=K * (K - 1) // 2):
            states.append((z, eta))
    return states


def listed(state, weight, most):
    z, upper = state
    K = max(z) + 1
    eta = np.full((K, K), 0.5)
    eta[np.triu_indices(K, 1)] = upper
    eta = np.triu(eta, 1) + np.triu(eta, 1).T + np.eye(K) / 2
    return net_listed._State([weight], most, NodeSeats.plain(N, ALPHA), z, eta)


def log_listed(state):
    """Log target of ordered classes and edge probabilities with graphs summed out."""
    sizes = np.bincount(state.name)
    return state.log_target() + float(log_probability(sizes[sizes > 0], ALPHA))


def unlisted(state):
    z = tuple(state.place(i) for i in range(N))
    K = len(state.order)
    return z, tuple(state.eta[state.order[a], state.order[b]] for a in range(K) for b in range(a + 1, K))


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("move", ["node", "relocate", "swap"])
def test_moves_over_listed_classes(most, move):
    sets = list_sets(N, most)
    weight = np.array([[0.0 if j in nodes else np.exp(score(j, nodes)) for nodes in sets] for j in range(N)])
    states = listed_states()
    pi = share([log_listed(listed(state, weight, most)) for state in states])
    # each value of eta is as likely as the other, so that the number of pairs counts
    pi = pi * np.array([0.5 ** len(eta) for _, eta in states])
    pi /= pi.sum()

    def step(stream, state, i=0):
        now = listed(state, weight, most)
        if move == "node":
            fresh = np.array([[VALUES[stream.below(2)] for _ in range(N - 1)]] * N)
            net_listed._node(stream, now, i, fresh)
        elif move == "relocate":
            net_listed._relocate(stream, now)
        else:
            net_listed._swap(stream, now)
        return unlisted(now)

    for i in range(N) if move == "node" else (0,):
        P = transitions(states, lambda stream, state, i=i: step(stream, state, i))
        np.testing.assert_allclose(pi @ P, pi, atol=1e-12)
        assert np.abs(P - np.eye(len(P))).max() > 0.01
