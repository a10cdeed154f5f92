"""Naive Bayes in wide tables of numbers is judged by rows that its bins were cut without."""

from __future__ import annotations

import numpy as np
import pytest

from partita import KikuchiBayesClassifier
from partita.models.coded.cut_points import cut_points
from partita.models.evidence.naive import THETA
from partita.models.evidence.numerics import learn_numerics
from partita.models.evidence.recut import PARTS, answers_without_own_part, is_wide, parts_of


def loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize(("n", "d"), [(60, 1000), (40, 300)])
def test_a_wide_table_of_noise_is_not_believed(n, d):
    losses = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y, fresh, unseen = (rng.normal(size=(n, d)), rng.integers(0, 2, n), rng.normal(size=(400, d)),
                               rng.integers(0, 2, 400))  # fmt: skip
        losses.append(loss(KikuchiBayesClassifier(random_state=0).fit(X, y), fresh, unseen))
    assert np.mean(losses) < 0.75 and max(losses) < 0.8


def test_columns_that_tell_are_still_heard():
    rng = np.random.default_rng(1)
    y, unseen = rng.integers(0, 2, 60), rng.integers(0, 2, 400)
    X, fresh = rng.normal(size=(60, 500)), rng.normal(size=(400, 500))
    X[:, :10] += 2 * y[:, None]
    fresh[:, :10] += 2 * unseen[:, None]
    assert loss(KikuchiBayesClassifier(random_state=0).fit(X, y), fresh, unseen) < 0.15


def mixed(n=90):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, n).astype(np.int32)
    reals = rng.normal(size=(n, 30)) + label[:, None] * (np.arange(30) < 4)
    reals[rng.random(reals.shape) < 0.1] = np.nan
    codes = np.column_stack([rng.integers(0, 4, n), label * (rng.random(n) < 0.5), np.zeros((n, 30))])
    return codes.astype(np.int32), np.array([4, 3] + [1] * 30, np.int32), reals, label


def test_answers_are_those_of_counts_and_cuts_of_the_other_parts():
    codes, levels, reals, label = mixed()
    weight = np.random.default_rng(4).integers(1, 3, len(label)).astype(float)
    part = np.arange(len(label)) % PARTS
    got = answers_without_own_part(codes, [0, 1], levels, reals, part, label, weight, 3, False)
    for k in range(PARTS):
        rest = part != k
        columns = [(codes[:, 0], 4), (codes[:, 1], 3)]
        for x in reals.T:
            cuts = cut_points(x[rest], label[rest], 3, weight[rest])
            if len(cuts):
                cells = np.where(np.isnan(x), len(cuts) + 1, np.searchsorted(cuts, x))
                columns.append((cells, len(cuts) + 1 + int(np.isnan(x).any())))
        whole = np.bincount(label[rest], weight[rest], 3) + THETA / 3
        expected = np.tile(np.log(whole), ((~rest).sum(), 1))
        for cells, size in columns:
            for i, cell in enumerate(cells[~rest]):
                for c in range(3):
                    mine = rest & (label == c) & (cells == cell)
                    expected[i, c] += np.log((weight[mine].sum() + THETA / 3 / size) / whole[c])
        np.testing.assert_allclose(got[~rest], expected, atol=1e-10)


def test_parts_are_even_and_do_not_depend_on_any_order():
    _, _, reals, label = mixed()
    part = parts_of(learn_numerics(reals, np.ones(len(label)), 8, 600), reals, label)
    assert max(np.ptp(np.bincount(part[label == c], minlength=PARTS)) for c in range(3)) <= 1
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(len(label)), rng.permutation(reals.shape[1])
    turned = reals[rows][:, columns]
    again = parts_of(learn_numerics(turned, np.ones(len(label)), 8, 600), turned, label[rows])
    assert np.array_equal(again, part[rows])


def test_narrow_tables_are_left_out_one_by_one():
    assert is_wide(25, 100.0) and not is_wide(24, 100.0) and not is_wide(0, 0.0)
