"""Small made-up tables for gated experts, and fits of them step by step."""

import numpy as np
import pandas as pd

from partita.data.encode import encode, learn_schema
from partita.models.gated.fit import GatedProblem, gate_prior
from partita.models.gated.rows import make_view
from partita.models.gated.state import Priors
from partita.models.lens import plain_lens

REALS, ALL, BESIDE = list("abcd"), [*"abcd", "level", "count", "flag"], ["level", "count", "flag"]


def frame(seed, n=90, n_classes=2, missing=0.0):
    """Three groups over four real columns, a column of four levels, a count and a flag; labels by group and column."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    centres = rng.normal(0, 2.5, (3, 4))
    x = centres[group] + rng.normal(size=(n, 4))
    table = pd.DataFrame(x, columns=REALS)
    level = (rng.random(n) < 0.3 + 0.2 * (group == 1)).astype(int) + (group == 2) * rng.integers(0, 2, n)
    table["level"] = pd.Series(np.array(list("uvwx"))[level], dtype=object)
    table["count"] = rng.poisson(2 + 3 * (group == 0)).astype(float)
    table["flag"] = rng.integers(0, 2, n).astype(float)
    label = (group + (x[:, 0] > centres[group, 0])) % n_classes
    return table.mask(rng.random(table.shape) < missing), label


def problem(table, label, n_classes, experts, k=3, n_sticks=12, weight=None, rows_worth=3.0):
    schema = learn_schema(table, {"count": "count"} if "count" in table.columns else None)
    encoded = encode(table, schema, "test")
    lens = plain_lens(encoded)
    rows = lens.rows(encoded)
    weight = np.ones(len(label)) if weight is None else weight
    view = make_view(lens, rows, weight, 2.0)
    label = np.asarray(label, np.int64)
    gate = gate_prior(rows.reals[:, view.reals], label, weight, rows_worth, 0.1)
    return GatedProblem.make(view, rows, label, weight, n_classes, Priors(gate, experts, n_sticks), k)


def bounds_of(fit, n_steps, seed=0):
    rng = np.random.default_rng(seed)
    state, bounds = fit.init(rng), []
    for _ in range(n_steps):
        state, info = fit.step(rng, state)
        bounds.append(info["bound"])
    return state, np.array(bounds)
