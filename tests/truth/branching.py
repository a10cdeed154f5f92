"""Every way a move can go, with its probability: the whole transition matrix of a sampler's plain twin.

A `Branching` stream stands in for the random one. Its numbers are not drawn: each question asked of one (is it below
this? which of these weights does it pick?) splits the way in two or more, and the move is run again until all ways
have been gone. On three nodes that lists every transition exactly, and invariance of the target is a matter of one
product: pi P = pi.
"""

from __future__ import annotations

import math

import numpy as np

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
from partita.kernels.reference.draw import pick

MODULES = (
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


class Branching:
    """Answers by a script; beyond it the first answer that can be is taken, and the others are noted."""

    def __init__(self, script):
        self.script, self.asked, self.probability = list(script), [], 1.0

    def choose(self, chances):
        possible = [k for k, chance in enumerate(chances) if chance > 0]
        at = len(self.asked)
        k = self.script[at] if at < len(self.script) else possible[0]
        self.asked.append((k, possible))
        self.probability *= chances[k]
        return k

    def below(self, n):
        return self.choose([1.0 / n] * n)

    def uniform(self):
        return Uniform(self)

    def next_script(self):
        """The way after this one, or None: as an odometer counts."""
        for at in range(len(self.asked) - 1, -1, -1):
            k, possible = self.asked[at]
            later = possible[possible.index(k) + 1 :]
            if later:
                return [choice for choice, _ in self.asked[:at]] + [later[0]]
        return None


class Uniform:
    """scale * u, u uniform on (0, 1) and asked of once."""

    def __init__(self, stream, scale=1.0):
        self.stream, self.scale = stream, scale

    def __mul__(self, factor):
        return Uniform(self.stream, self.scale * factor)

    def __lt__(self, limit):
        chance = min(max(limit / self.scale, 0.0), 1.0)
        return bool(self.stream.choose([1.0 - chance, chance]))

    def __gt__(self, limit):
        assert limit == 0
        return True


class LogUniform:
    def __init__(self, uniform):
        self.uniform = uniform

    def __lt__(self, limit):
        return self.uniform < (math.exp(min(limit, 0.0)) if limit > -math.inf else 0.0)


def _log(x):
    return LogUniform(x) if isinstance(x, Uniform) else math.log(x)


def _pick(log_weight, uniform):
    if not isinstance(uniform, Uniform):
        return pick(log_weight, uniform)
    with np.errstate(under="ignore"):
        weight = np.exp(np.asarray(log_weight, float) - np.max(log_weight))
    return uniform.stream.choose(weight / weight.sum())


def stand_in(monkeypatch):
    """Plain twins take branching streams."""
    for module in MODULES:
        for name, other in (("pick", _pick), ("log", _log)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, other)


def ways(move):
    """All results of `move(stream)`, each with its probability."""
    script = []
    while script is not None:
        stream = Branching(script)
        result = move(stream)
        yield result, stream.probability
        script = stream.next_script()


def transitions(states, move):
    """The matrix P[s, t] of `move(stream, state) -> state` over hashable states."""
    place = {state: k for k, state in enumerate(states)}
    P = np.zeros((len(states), len(states)))
    for state, k in place.items():
        for after, probability in ways(lambda stream, state=state: move(stream, state)):
            P[k, place[after]] += probability
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
    return P
