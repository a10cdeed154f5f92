"""The networks of chapter 2 of Mansinghka's thesis, known in full: they draw rows and say how probable rows are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita import BayesianNetwork
from partita.datasets import fetch_network
from partita.models.networks.network import Net, family_shapes
from partita.models.networks.rows import draw_rows, log_probability

# The thesis takes the 21 variables of a figure of Onisko, Druzdzel and Wasyluk that is not printed there. Ours: five
# disorders, six risk factors, ten findings. In the second list fibrosis is the disorder whose one edge goes to another
# disorder, as the thesis says of one of its five.
DISORDERS = ("ChHepatitis", "Steatosis", "Cirrhosis", "Hyperbilirubinemia", "PBC")
RISKS = ("alcoholism", "obesity", "transfusion", "vh_amn", "sex", "age")
FINDINGS = (
    "fatigue", "alt", "ast", "ggtp", "bilirubin", "triglycerides", "spleen", "edema", "itching", "hbsag",
)  # fmt: skip
HEPAR = {
    "five disorders": (RISKS, DISORDERS, FINDINGS),
    "with fibrosis": (RISKS, ("fibrosis", "ChHepatitis", "Steatosis", "Cirrhosis", "PBC"), FINDINGS),
}


@dataclass(frozen=True)
class World:
    """A network in full, and the columns of it that are shown.

    shown    positions of the shown columns in `net`; names, graph (parent row, child column) and classes are of these.
    """

    net: Net
    shown: tuple[int, ...]
    names: tuple[str, ...]
    graph: np.ndarray
    classes: np.ndarray

    def draw(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """(n_rows, shown columns) levels as numbers from 0."""
        return draw_rows(self.net, n_rows, rng)[:, list(self.shown)]

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        """(n,) log probability of rows of the shown columns."""
        codes = np.full((len(rows), len(self.net)), -1)
        codes[:, list(self.shown)] = rows
        return log_probability(self.net, codes)

    @property
    def arities(self) -> list[int]:
        return [self.net.arities[k] for k in self.shown]


def whole(net: Net, graph: np.ndarray, classes: Any, names: Any = None) -> World:
    n = len(graph)
    named = tuple(str(k + 1) for k in range(n)) if names is None else tuple(names)
    return World(net, tuple(range(n)), named, graph.astype(int), np.asarray(classes))


def dirichlet_tables(graph: np.ndarray, rng: np.random.Generator, concentration: float = 0.5) -> Net:
    """Binary nodes whose tables are drawn from a symmetric Dirichlet law."""
    parents = tuple(tuple(np.flatnonzero(column).tolist()) for column in graph.T)
    shapes = family_shapes(parents, [2] * len(graph))
    tables = tuple(rng.dirichlet([concentration] * 2, size=shape[:-1]) for shape in shapes)
    return Net(parents, (2,) * len(graph), tables)


def layered(rng: np.random.Generator) -> World:
    """Figure 2-2: three layers of four, every node a parent of all of the next layer."""
    layer = np.repeat(np.arange(3), 4)
    graph = layer[None, :] == layer[:, None] + 1
    return whole(dirichlet_tables(graph, rng), graph, layer)


def sparse(rng: np.random.Generator, n: int = 12) -> World:
    """Figure 2-3: edges with probability .3 under a random order (the thesis rejects cyclic graphs), at most four in
    and out."""
    while True:
        order = rng.permutation(n)
        graph = np.zeros((n, n), bool)
        graph[np.ix_(order, order)] = np.triu(rng.random((n, n)) < 0.3, 1)
        if max(graph.sum(axis=0).max(), graph.sum(axis=1).max()) <= 4:
            return whole(dirichlet_tables(graph, rng), graph, np.zeros(n, int))


def diseases(rng: np.random.Generator, n_diseases: int = 10, n_symptoms: int = 20, density: float = 0.3) -> World:
    """Figure 2-4: symptoms by noisy-or of diseases; priors .1 to .3, causes show with .5 to .9, leak .05."""
    while True:
        causes = rng.random((n_diseases, n_symptoms)) < density
        if causes.any(axis=0).all() and causes.any(axis=1).all():
            break
    n = n_diseases + n_symptoms
    graph = np.zeros((n, n), bool)
    graph[:n_diseases, n_diseases:] = causes
    strength = rng.uniform(0.5, 0.9, causes.shape)
    parents = tuple(tuple(np.flatnonzero(column).tolist()) for column in graph.T)
    tables = []
    for j, of in enumerate(parents):
        if j < n_diseases:
            silent = np.array(1 - rng.uniform(0.1, 0.3))
        else:
            silent = np.full((2,) * len(of), 0.95)
            for axis, i in enumerate(of):
                silent = silent * np.array([1, 1 - strength[i, j - n_diseases]]).reshape(
                    [-1 if k == axis else 1 for k in range(len(of))]
                )
        tables.append(np.stack([silent, 1 - silent], axis=-1))
    classes = np.repeat([0, 1], [n_diseases, n_symptoms])
    return whole(Net(parents, (2,) * n, tuple(tables)), graph, classes)


def regulators(rng: np.random.Generator, n_genes: int = 10) -> World:
    """Figure 2-5: four regulators, of which two pairs act on each other (1 on 2, 3 on 4), and genes with one to three
    regulators each. The thesis prints its graph as a picture only."""
    n = 4 + n_genes
    graph = np.zeros((n, n), bool)
    graph[0, 1] = graph[2, 3] = True
    for gene in range(4, n):
        graph[rng.permutation(4)[: rng.integers(1, 4)], gene] = True
    return whole(dirichlet_tables(graph, rng), graph, np.repeat([0, 1], [4, n_genes]))


def published(name: str) -> World:
    """A network of the bnlearn repository; all nodes in one class, since none is known."""
    model = BayesianNetwork.read_bif(fetch_network(name))
    graph = np.zeros((len(model.parents_),) * 2, int)
    for child, of in enumerate(model.parents_):
        graph[list(of), child] = 1
    return whole(model._net, graph, np.zeros(len(graph), int), model.schema_.names)


def hepar(which: str = "five disorders") -> World:
    """Figure 2-6: 21 variables of HEPAR II with all edges among them; rows are drawn from the whole network."""
    full, groups = published("hepar2"), HEPAR[which]
    names = [name for group in groups for name in group]
    shown = tuple(full.names.index(name) for name in names)
    classes = np.repeat(np.arange(3), [len(group) for group in groups])
    return World(full.net, shown, tuple(names), full.graph[np.ix_(shown, shown)], classes)
