"""Made-up tables whose network is known: diseases that cause symptoms, and layers that feed forward."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partita.data.files import need_pandas


def make_diseases(
    n_rows: int = 200, n_diseases: int = 4, n_symptoms: int = 8, *, density: float = 0.4, missing: float = 0.0,
    random_state: Any = None,
) -> Bunch:  # fmt: skip
    """Patients with diseases and symptoms: a symptom shows by noisy-or of the diseases that cause it.

    A disease is there with a probability between .1 and .3, a cause shows with one between .5 and .9, and a symptom
    without a cause with .05. Columns come in random order.

    Parameters
    ----------
    n_rows, n_diseases, n_symptoms : sizes.
    density : share of the pairs of disease and symptom that are causes; every disease and every symptom has one.
    missing : share of cells that are removed.
    random_state : seed.

    Returns a Bunch with data (frame of 0, 1 and missing), edges (array, parent row and child column), classes (array,
    0 for diseases and 1 for symptoms), and description.
    """
    pd = need_pandas("make_diseases")
    rng = np.random.default_rng(random_state)
    causes = _causes(rng, n_diseases, n_symptoms, density)
    strength = rng.uniform(0.5, 0.9, causes.shape) * causes
    ill = rng.random((n_rows, n_diseases)) < rng.uniform(0.1, 0.3, n_diseases)
    silent = 0.95 * np.prod(1.0 - ill[:, :, None] * strength, axis=1)
    cells = np.hstack([ill, rng.random(silent.shape) > silent]).astype(float)
    n = n_diseases + n_symptoms
    edges = np.zeros((n, n), dtype=int)
    edges[:n_diseases, n_diseases:] = causes
    names = [f"disease {k + 1}" for k in range(n_diseases)] + [f"symptom {k + 1}" for k in range(n_symptoms)]
    order = rng.permutation(n)
    cells[rng.random(cells.shape) < missing] = np.nan
    return Bunch(
        data=pd.DataFrame(cells[:, order], columns=[names[k] for k in order]),
        edges=edges[np.ix_(order, order)],
        classes=np.repeat([0, 1], [n_diseases, n_symptoms])[order],
        description="made-up patients: symptoms by noisy-or of the diseases that cause them",
    )


def _causes(rng: np.random.Generator, n_diseases: int, n_symptoms: int, density: float) -> np.ndarray:
    """Which disease causes which symptom; each has at least one."""
    causes = rng.random((n_diseases, n_symptoms)) < density
    for symptom in np.flatnonzero(~causes.any(axis=0)):
        causes[rng.integers(n_diseases), symptom] = True
    for disease in np.flatnonzero(~causes.any(axis=1)):
        causes[disease, rng.integers(n_symptoms)] = True
    return causes


def make_layers(
    n_rows: int = 75, sizes: tuple[int, ...] = (4, 4, 4), *, concentration: float = 0.5, missing: float = 0.0,
    random_state: Any = None,
) -> Bunch:  # fmt: skip
    """Binary columns in layers, every column depending on all of the layer before: figure 2-2 of Mansinghka's thesis.

    Parameters
    ----------
    n_rows : rows.
    sizes : columns of each layer.
    concentration : tables are drawn from a symmetric Dirichlet law of this parameter.
    missing : share of cells that are removed.
    random_state : seed.

    Returns a Bunch with data (frame), edges (array, parent row and child column), classes (array, layers from 0), and
    description.
    """
    pd = need_pandas("make_layers")
    rng = np.random.default_rng(random_state)
    layer = np.repeat(np.arange(len(sizes)), sizes)
    edges = (layer[None, :] == layer[:, None] + 1).astype(int)
    cells = np.zeros((n_rows, len(layer)))
    for node in range(len(layer)):
        parents = np.flatnonzero(edges[:, node])
        table = rng.dirichlet([concentration] * 2, size=1 << len(parents))
        at = cells[:, parents].astype(int) @ (1 << np.arange(len(parents)))
        cells[:, node] = rng.random(n_rows) < table[at, 1]
    order = rng.permutation(len(layer))
    cells[rng.random(cells.shape) < missing] = np.nan
    return Bunch(
        data=pd.DataFrame(cells[:, order], columns=[f"node {k + 1}" for k in order]),
        edges=edges[np.ix_(order, order)],
        classes=layer[order],
        description="made-up columns in layers, each depending on all of the layer before",
    )
