"""Rows with holes: what is summed, how often, and what happens where the sums are too large."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from partita.data.validate import DataWarning
from partita.models.kikuchi import learnt as kikuchi
from partita.models.kikuchi import missing as kikuchi_missing
from partita.models.kikuchi.learnt import Factor, Kikuchi
from partita.models.kikuchi.missing import elimination_order, log_products, summable

D = 7


def model(n_stages=12, seed=0, levels=(2, 3, 2, 2, 3, 2, 2), weights=None):
    """Random factors over one to three attributes, and three classes."""
    rng, levels = np.random.default_rng(seed), np.array(levels, np.int32)
    regions = [(), *(tuple(sorted(rng.choice(D, rng.integers(1, 4), replace=False).tolist())) for _ in range(n_stages))]
    factors = [Factor(k, r, rng.normal(size=(*levels[list(r)], 3))) for k, r in enumerate(regions)]
    weights = np.full(len(regions), 1 / len(regions)) if weights is None else weights
    return Kikuchi(regions, weights, factors, levels, 3)


def rows(levels, n=30, share=0.5, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, k, n) for k in levels]).astype(np.int32)
    codes[rng.random((n, D)) < share] = -1
    return codes


def enumerated(built, stage, row):
    """log P(y | x) of a stage by the sum over all ways to fill a row."""
    ways = [range(k) if code < 0 else [code] for code, k in zip(row, built.levels)]
    filled = np.array(list(itertools.product(*ways)))
    terms = [f.table[tuple(filled[:, j] for j in f.region)] for f in built.factors if f.stage <= stage]
    total = logsumexp(sum(np.broadcast_to(t, (len(filled), 3)) for t in terms), axis=0)
    return total - logsumexp(total)


@pytest.mark.parametrize("at_once", [1, 500, 2_000_000])
def test_sums_are_enumerations_in_parts_of_any_size(monkeypatch, at_once):
    monkeypatch.setattr(kikuchi_missing, "MOST_NUMBERS", at_once)
    built = model()
    codes = rows(built.levels)
    codes[0] = -1
    got = built.log_proba_by_stage(codes)
    for stage, (i, row) in itertools.product(range(len(built.regions)), enumerate(codes)):
        np.testing.assert_allclose(got[stage, i], enumerated(built, stage, row), atol=1e-10)


def test_stages_without_weight_are_not_summed(monkeypatch):
    weights = np.zeros(13)
    weights[[4, 9]] = 0.25, 0.75
    built, asked = model(weights=weights), []

    def watched(factors, stages, *rest):
        asked.append(stages.tolist())
        return log_products(factors, stages, *rest)

    monkeypatch.setattr(kikuchi, "log_products", watched)
    codes = rows(built.levels, 5)
    proba = built.proba(codes)
    assert all(stages == [4, 9] for stages in asked)
    for i, row in enumerate(codes):
        expected = 0.25 * np.exp(enumerated(built, 4, row)) + 0.75 * np.exp(enumerated(built, 9, row))
        np.testing.assert_allclose(proba[i], expected, rtol=1e-9)


def test_all_stages_are_summed_in_one_pass_over_each_pattern(monkeypatch):
    built, sums = model(40), []
    log_sum = kikuchi_missing._log_sum
    monkeypatch.setattr(kikuchi_missing, "_log_sum", lambda *a: sums.append(1) or log_sum(*a))
    codes = np.repeat(rows(built.levels, 1, 0.0), 50, axis=0)
    codes[:, [1, 4, 5]] = -1
    built.proba(codes)
    assert len(sums) == 3  # once for each missing attribute, whatever the number of stages and rows


def test_an_attribute_in_no_factor_may_be_missing():
    built = Kikuchi([(), (0,)], np.array([0.5, 0.5]), [], np.full(D, 2, np.int32), 2)
    built.factors = [Factor(0, (), np.log([0.3, 0.7])), Factor(1, (0,), np.array([[0.0, 1.0], [1.0, 0.0]]))]
    codes = np.zeros((2, D), np.int32)
    codes[1, 1:] = -1
    proba = built.proba(codes)
    np.testing.assert_array_equal(proba[0], proba[1])


def test_the_path_is_cut_short_where_sums_would_be_too_large(monkeypatch):
    monkeypatch.setattr(kikuchi_missing, "MOST_CELLS", 12)
    built = model(14, 3)
    codes = rows(built.levels, 20, 0.6)
    with pytest.warns(DataWarning, match="as if the path ended earlier"):
        got = built.log_proba_by_stage(codes)
    factors = [(f.stage, f.region, f.table) for f in built.factors]
    limits = [summable(factors, row < 0, built.levels) for row in codes]
    assert min(limits) < 14 and len(set(limits)) > 2
    for stage, (i, row) in itertools.product(range(15), enumerate(codes)):
        np.testing.assert_allclose(got[stage, i], enumerated(built, min(stage, limits[i]), row), atol=1e-10)
    for limit, row in zip(limits, codes):
        scopes = [[tuple(j for j in r if row[j] < 0) for r in built.regions[: k + 1]] for k in (limit, limit + 1)]
        assert elimination_order(scopes[0], built.levels)[1] <= 12
        assert limit == 14 or elimination_order(scopes[1], built.levels)[1] > 12


def test_the_order_of_a_chain_keeps_tables_small():
    chain = [(j, j + 1) for j in range(30)]
    order, widest = elimination_order(chain, np.full(31, 3))
    assert sorted(order) == list(range(31)) and widest == 9
    assert elimination_order([], np.zeros(0)) == ([], 1)


def test_factors_out_of_order_are_refused():
    tree = model().to_tree()
    with pytest.raises(ValueError, match="order of their stages"):
        Kikuchi.from_tree({**tree, "factors": tree["factors"][::-1]})
