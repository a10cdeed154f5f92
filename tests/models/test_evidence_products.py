"""Products of numeric columns where all of them are many: those that promise most are found, and noise has none."""

from __future__ import annotations

import numpy as np
import pytest

from partita.models.evidence.learn import Evidence, fit_evidence
from partita.models.evidence.numerics import LEAST_SPREAD, learn_numerics, use_products
from partita.models.evidence.products import promising_products
from partita.models.evidence.search import GRID, Field
from partita.models.evidence.settings import Settings
from partita.models.evidence.soundness import check_evidence

Q = 45


def planted(n=500, seed=0, n_classes=2, holes=False):
    """Columns 3 and 30 act together, so does the square of column 12; the slopes say little."""
    rng = np.random.default_rng(seed)
    reals = rng.normal(size=(n, Q))
    score = 2 * reals[:, 3] * reals[:, 30] + 1.5 * (reals[:, 12] ** 2 - 1) + 0.5 * reals[:, 0]
    y = np.digitize(score, [0.0] if n_classes == 2 else [-1.0, 1.0]).astype(np.int32)
    if holes:
        reals[rng.random(reals.shape) < 0.02] = np.nan
    return reals, y


def fit(reals, y, n_classes=2, **settings):
    codes, levels = np.zeros((len(y), Q), np.int32), np.ones(Q, np.int32)
    return fit_evidence(codes, levels, reals, y, n_classes, settings=Settings(**settings), binned=range(Q))


def loss(model, reals, y):
    log_p = model.log_proba(np.zeros((len(y), Q), np.int32), reals)
    return -log_p[np.arange(len(y)), y].mean()


@pytest.mark.parametrize("n_logits", [1, 3])
def test_gains_are_those_of_each_product_alone(n_logits):
    rng = np.random.default_rng(1)
    reals, weight = rng.normal(size=(80, 5)), rng.integers(1, 3, 80).astype(float)
    numerics = learn_numerics(reals, weight, 8, 600)
    z = numerics.raw_products(reals)
    share = weight / weight.sum()
    mean = share @ z
    z = (z - mean) / (np.sqrt(share @ z**2 - mean**2) + LEAST_SPREAD)
    pull = rng.normal(size=(80, n_logits)) * (1 + 2 * (reals[:, :1] * reals[:, 3:4] > 0))
    field = Field(np.zeros((5, 80), np.int32), np.ones(5, np.int32), np.hstack([pull, rng.random((80, n_logits))]), 1)
    g, h = z.T @ field.moments[:, :n_logits], (z**2).T @ field.moments[:, n_logits:]
    gain = np.max([0.5 * (g**2 / (h + 1 / v) - field.share * np.log1p(v * h)).sum(axis=1) for v in GRID], axis=0)
    found = promising_products(numerics, reals, weight, np.ones(5), field, 0.0, 10**6, 4)
    rows = {tuple(pair) for pair in numerics.pairs[np.argsort(-gain)[:4]].tolist()}
    assert set(map(tuple, found.tolist())) <= rows


@pytest.mark.parametrize(("n_classes", "product_work"), [(2, 1e9), (2, 0.0), (3, 0.0)])
def test_planted_products_are_found_and_used(n_classes, product_work):
    reals, y = planted(n_classes=n_classes)
    model = fit(reals, y, n_classes, product_work=product_work)
    pairs = model.numerics.pairs
    chosen = {tuple(p) for p in (pairs[model.numerics.chosen] if product_work else pairs).tolist()}
    assert {(3, 30), (12, 12)} <= chosen and len(chosen) < 12
    assert len(pairs) == (Q * (Q + 1) // 2 if product_work else len(chosen))
    fresh = planted(2000, 1, n_classes)
    assert loss(model, *fresh) < 0.6 * loss(fit(reals, y, n_classes, max_products=0, product_work=0.0), *fresh)


def test_noise_has_no_chosen_products():
    kept = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        model = fit(rng.normal(size=(400, Q)), rng.integers(0, 2, 400).astype(np.int32))
        kept.append(len(model.numerics.chosen))
        assert loss(model, rng.normal(size=(1000, Q)), rng.integers(0, 2, 1000)) < 0.76
    assert sorted(kept)[3] == 0


def test_few_columns_have_all_products_and_no_choice():
    rng = np.random.default_rng(0)
    reals = rng.normal(size=(100, 4))
    numerics = learn_numerics(reals, np.ones(100), 8, 600)
    assert len(numerics.pairs) == 10 and not len(numerics.chosen)
    part = learn_numerics(reals, np.ones(100), 8, 0)
    use_products(part, reals, np.ones(100), numerics.pairs[[2, 5]])
    np.testing.assert_array_equal(part.products(reals), numerics.products(reals)[:, [2, 5]])


@pytest.mark.parametrize("holes", [False, True])
def test_contributions_and_files(holes):
    reals, y = planted(holes=holes)
    model = fit(reals, y)
    codes = np.zeros((20, Q), np.int32)
    told = model.explain(codes, reals[:20])
    assert ("chosen products",) in told.keys
    log_p = model.log_proba(codes, reals[:20])
    total = told.contributions.sum(axis=1) + told.intercept + told.pooling
    np.testing.assert_allclose(total, log_p - log_p.mean(axis=1, keepdims=True), atol=1e-9)
    again = Evidence.from_tree(model.to_tree())
    check_evidence(again, again.levels, Q, 2)
    assert again.log_proba(codes, reals[:20]).tobytes() == log_p.tobytes()
    again.numerics.chosen[0] = len(again.numerics.pairs)
    with pytest.raises(ValueError):
        check_evidence(again, again.levels, Q, 2)


def test_rows_and_columns_in_any_order():
    reals, y = planted()
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(y)), rng.permutation(Q)
    model, turned = fit(reals, y), fit(reals[rows][:, columns], y[rows])
    fresh = planted(50, 3)[0]
    codes = np.zeros((50, Q), np.int32)
    a, b = model.log_proba(codes, fresh), turned.log_proba(codes, np.ascontiguousarray(fresh[:, columns]))
    np.testing.assert_allclose(a, b, atol=0.02)
