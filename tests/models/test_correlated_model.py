"""The correlated block from the table to held-out densities: the lens that makes it, and chains that learn it."""

from __future__ import annotations

import numpy as np
import pytest

from partita.data.archive_tree import decode, encode
from partita.data.encode import encode as encode_table
from partita.data.encode import learn_schema
from partita.kernels.contract import CORRELATED, COUNT
from partita.models.lens import Lens, plain_lens
from partita.models.mixtures import mixture, predictive
from partita.models.mixtures.problem import Problem, Settings

KINDS = ["real", "count", "real", "binary", "real"]


def make_table(seed, n, missing):
    """Three real columns on a plane, in units far from one, a count between them."""
    rng = np.random.default_rng(seed)
    plane = rng.standard_normal((n, 2)) @ np.array([[100.0, 0.5, 7.0], [-50.0, 0.5, 7.0]])
    plane += rng.standard_normal((n, 3)) * [5.0, 0.05, 1.0] + [1e4, 0.0, -3.0]
    x = np.column_stack([plane[:, 0], rng.poisson(3.0, n), plane[:, 1], rng.integers(0, 2, n), plane[:, 2]])
    x[rng.random(x.shape) < missing] = np.nan
    return x


@pytest.fixture(scope="module")
def tables():
    train, test = make_table(0, 150, 0.2), make_table(1, 200, 0.2)
    schema = learn_schema(train, KINDS)
    return encode_table(train, schema), encode_table(test, schema)


def test_lens_puts_the_real_columns_side_by_side(tables):
    table, _ = tables
    lens = plain_lens(table, correlated=True)
    kinds = lens.layout.kind.tolist()
    assert kinds.count(CORRELATED) == 1 and kinds.count(COUNT) == 1 and len(kinds) == 3
    block = kinds.index(CORRELATED)
    first = lens.layout.source[block]
    np.testing.assert_array_equal(lens.rows(table).reals[:, first : first + 3], table.reals[:, [0, 2, 3]])
    assert lens.sights[block].columns == (0, 2, 4)
    np.testing.assert_allclose(lens.log_jacobian(lens.rows(table)), table.schema.log_jacobian(table))


def test_lens_survives_the_archive(tables):
    table, _ = tables
    lens, arrays = plain_lens(table, correlated=True), []
    tree = encode(lens.to_tree(), arrays)
    again = Lens.from_tree(decode(tree, dict(enumerate(arrays))))
    for name in ("codes", "reals"):
        np.testing.assert_array_equal(getattr(again.rows(table), name), getattr(lens.rows(table), name))
    np.testing.assert_array_equal(again.layout.stat_first, lens.layout.stat_first)
    np.testing.assert_array_equal(again.log_jacobian(again.rows(table)), lens.log_jacobian(lens.rows(table)))


def held_out(tables, correlated, **options):
    """Mean log density of the test rows, averaged over the second half of a chain."""
    train, test = tables
    lens, rng = plain_lens(train, correlated=correlated), np.random.default_rng(2)
    settings = Settings(start=10, split_merge=2, **options)
    problem = Problem(lens.layout, lens.rows(train), np.zeros(len(train), np.int32), settings)
    chain, logs = mixture.init(rng, problem), []
    for t in range(40):
        chain, _ = mixture.step(rng, chain, problem)
        if t >= 20:
            state = predictive.snapshot(lens.layout, chain)
            logs.append(predictive.log_density(lens.layout, lens.rows(test), state)[:, 0])
    return (np.logaddexp.reduce(logs, axis=0) - np.log(len(logs)) + lens.log_jacobian(lens.rows(test))).mean()


@pytest.mark.parametrize("views", [1, 2])
def test_correlated_reals_are_learnt(tables, views):
    apart = held_out(tables, correlated=False, n_restaurants=views)
    assert held_out(tables, correlated=True, n_restaurants=views) > apart + 0.3
