"""Naive Bayes as a stage: the closed form, left-out rows by leaving them out, exponents by the loss."""

import numpy as np
import pytest
from evidence_tables import table

from partita.models.evidence.map import Target
from partita.models.evidence.naive import THETA, fit_naive
from partita.models.evidence.pool import full_logits, log_softmax


def problem(n_classes, weighted):
    codes, levels, _, label = table(n=120, n_classes=n_classes, n_reals=0)
    weight = np.random.default_rng(1).integers(1, 4, len(label)).astype(float) if weighted else np.ones(len(label))
    first = np.concatenate([[0], np.cumsum(levels)]).astype(np.int64)
    return np.ascontiguousarray(codes + first[:-1], np.int32), first, label, weight


def plain(cells, first, label, weight, n_classes, row):
    """log P(y) + sum of log P(x_j | y), by counting."""
    whole = np.array([weight[label == y].sum() + THETA / n_classes for y in range(n_classes)])
    out = np.log(whole)
    for j, size in enumerate(np.diff(first)):
        inside = [weight[(label == y) & (cells[:, j] == row[j])].sum() for y in range(n_classes)]
        out = out + np.log((np.array(inside) + THETA / n_classes / size) / whole)
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logits_are_those_of_counting_with_and_without_a_row(n_classes, weighted):
    cells, first, label, weight = problem(n_classes, weighted)
    target = Target(label, weight, 1 if n_classes == 2 else n_classes)
    rows = np.arange(0, 120, 7)
    fit = fit_naive(cells, first, target, rows, n_classes)
    w = full_logits(fit.w)
    got = w[0] + w[1:][cells[rows]].sum(axis=1)
    left_out = full_logits(fit.left_out)
    exponents = []
    for k, i in enumerate(rows):
        fewer = weight.copy()
        fewer[i] -= 1.0
        for mine, counted in ((got[k], weight), (left_out[k], fewer)):
            truth = plain(cells, first, label, counted, n_classes, cells[i])
            ratio = (mine - mine[0])[1:] / (truth - truth[0])[1:]
            exponents += ratio.tolist()
    np.testing.assert_allclose(exponents, exponents[0], rtol=1e-9)  # one exponent for all
    assert 0.04 < exponents[0] < 2.1


def test_doubled_attributes_are_taken_back_by_the_exponent():
    cells, first, label, weight = problem(2, False)
    target = Target(label, weight, 1)
    once = fit_naive(cells, first, target, slice(None), 2)
    two = np.ascontiguousarray(np.hstack([cells, cells + np.int32(first[-1])]))
    twice = fit_naive(two, np.concatenate([first, first[-1] + first[1:]]), target, slice(None), 2)
    a, b = (log_softmax(full_logits(fit.left_out))[np.arange(120), label].mean() for fit in (once, twice))
    assert abs(a - b) < 0.02


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_attributes_it_is_the_frequencies_of_the_classes(n_classes):
    _, _, label, weight = problem(n_classes, True)
    target = Target(label, weight, 1 if n_classes == 2 else n_classes)
    fit = fit_naive(np.zeros((120, 0), np.int32), np.zeros(1, np.int64), target, slice(None), n_classes)
    counts = np.bincount(label, weight, n_classes) + THETA / n_classes
    t = np.ptp(full_logits(fit.w)[0]) / np.ptp(np.log(counts))  # the one exponent
    np.testing.assert_allclose(log_softmax(full_logits(fit.w))[0], log_softmax(t * np.log(counts)[None])[0], atol=1e-12)
    for i in (0, 50, 119):
        fewer = counts - min(weight[i], 1.0) * (np.arange(n_classes) == label[i])
        mine = log_softmax(full_logits(fit.left_out[i : i + 1]))[0]
        np.testing.assert_allclose(mine, log_softmax(t * np.log(fewer)[None])[0], atol=1e-12)
