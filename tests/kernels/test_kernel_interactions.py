"""Kernels of log-linear models over regions: native and plain twins agree; bounds prune nothing that matters."""

import numpy as np
import pytest

from partita.kernels import reference

native = pytest.importorskip("partita.kernels._native")
GRID = np.array([0.02, 0.1, 0.5, 2.5, 12.0])


def field(rng, n, levels, n_logits):
    columns = np.stack([rng.integers(0, k, n) for k in levels]).astype(np.int32)
    residual = rng.normal(size=(n, n_logits))
    information = rng.uniform(0.01, 0.25, (n, n_logits))
    return columns, np.array(levels, np.int32), np.hstack([residual, information])


def scanned(module, columns, levels, candidates, moments, threshold):
    m = len(candidates)
    gain, occupied, best = np.empty(m), np.empty(m, np.int32), np.empty(m, np.int32)
    fitted = np.linspace(1.0, 4.0, m)
    module.scan_regions(columns, levels, candidates, fitted, moments, GRID, 0.75, threshold, gain, occupied, best)
    return gain, occupied, best


@pytest.mark.parametrize("n_logits", [1, 3])
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("levels", [[2, 3, 4, 2, 1], [40, 60, 3, 50, 2]])  # few cells; far more cells than rows
def test_scan_equals_its_twin(n_logits, order, levels):
    rng = np.random.default_rng(order)
    columns, levels, moments = field(rng, 150, levels, n_logits)
    candidates = np.array([sorted(rng.choice(5, order, replace=False)) for _ in range(40)], np.int32)
    ours = scanned(native, columns, levels, candidates, moments, 0.0)
    theirs = scanned(reference, columns, levels, candidates, moments, 0.0)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-10)
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(ours[2], theirs[2])


@pytest.mark.parametrize("module", [native, reference])
def test_pruned_candidates_have_no_more_gain_than_the_threshold(module):
    rng = np.random.default_rng(3)
    columns, levels, moments = field(rng, 300, [3, 2, 4, 3, 2, 5], 2)
    moments[:, 0] += 0.4 * (columns[0] == columns[3])
    candidates = np.array([(i, j) for i in range(6) for j in range(i + 1, 6)], np.int32)
    full = scanned(module, columns, levels, candidates, moments, -np.inf)[0]
    threshold = float(np.median(full))
    pruned = scanned(module, columns, levels, candidates, moments, threshold)[0]
    skipped = pruned == -1
    assert (full[skipped] <= threshold).all()
    np.testing.assert_array_equal(full[~skipped], pruned[~skipped])
    assert set(np.flatnonzero(full > threshold)) <= set(np.flatnonzero(~skipped))


@pytest.mark.parametrize("width", [1, 4])
def test_look_up_and_tally_equal_their_twins_and_are_transposes(width):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 12, (70, 5)).astype(np.int32)
    table, values = rng.normal(size=(12, width)), rng.normal(size=(70, width))
    outs = []
    for module in (native, reference):
        rows, sums = np.zeros((70, width)), np.zeros((12, width))
        module.look_up(cells, table, rows)
        module.tally(cells, values, sums)
        np.testing.assert_allclose((rows * values).sum(), (sums * table).sum(), rtol=1e-10)
        outs.append((rows, sums))
    np.testing.assert_allclose(outs[0][0], outs[1][0], atol=1e-12)
    np.testing.assert_allclose(outs[0][1], outs[1][1], atol=1e-12)


@pytest.mark.parametrize("n_logits", [1, 3, 30])
def test_loss_equals_its_twin_also_far_out(n_logits):
    rng = np.random.default_rng(n_logits)
    logits = rng.normal(size=(90, n_logits)) * np.repeat([1.0, 30.0, 800.0], 30)[:, None]
    label = rng.integers(0, max(2, n_logits), 90).astype(np.int32)
    weight = rng.uniform(0.1, 3.0, 90)
    ours, theirs = np.empty_like(logits), np.empty_like(logits)
    a = native.softmax_loss(logits, label, weight, ours)
    b = reference.softmax_loss(logits, label, weight, theirs)
    assert np.isfinite(a)
    np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("n_rows", [5, 64, 131])
def test_tempered_labels_equal_their_twin_and_the_softmax(n_rows):
    rng = np.random.default_rng(n_rows)
    density = rng.normal(size=(4, n_rows, 3)) * np.repeat([1.0, 30.0, 800.0, 3000.0], 1)[:, None, None]
    label, log_prior = rng.integers(0, 3, n_rows), np.log(np.array([0.2, 0.3, 0.5]))
    rows, others = np.arange(n_rows), [(label + k) % 3 for k in (1, 2)]
    against = np.stack([density[:, rows, c] - density[:, rows, label] for c in others])
    prior = np.stack([log_prior[c] - log_prior[label] for c in others])
    for t in (0.1, 1.0, 1.5):
        ours, theirs = np.empty(n_rows), np.empty(n_rows)
        native.tempered_labels(against, prior, t, ours)
        reference.tempered_labels(against, prior, t, theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
        joint = t * density + log_prior
        p = np.exp(joint - joint.max(axis=2, keepdims=True))
        p = (p / p.sum(axis=2, keepdims=True))[:, rows, label].mean(axis=0)
        np.testing.assert_allclose(ours, p, rtol=1e-9)
