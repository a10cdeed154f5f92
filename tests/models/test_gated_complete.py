"""Complete tables against the formulas of complete data, and what must not change an answer."""

import numpy as np
import pytest
from gated_tables import ALL, REALS, bounds_of, frame, problem
from scipy.special import digamma, log_ndtr
from scipy.stats import multivariate_t

from partita.data.encode import encode, learn_schema
from partita.models.gated.expectations import expectations
from partita.models.gated.predict import GatedModel, answer


def test_a_complete_table_has_the_responsibilities_of_complete_data():
    table, label = frame(1)
    fit = problem(table[REALS], label, 2, "pooled")
    state, _ = bounds_of(fit, 3)
    now = expectations(state, fit.view)
    _, after = fit.sum_up(state, now)
    block, gates, experts = fit.blocks[0], state.gates, state.experts
    x = np.empty((len(label), 4))
    x[block.index] = block.x
    sign = np.where(label == 1, 1.0, -1.0)
    p, log_rho = 4, np.empty((len(label), state.n_components))
    log_pi = state.sticks.expected_log_weights()[state.sticks.places(state.n_components)]
    for h in range(state.n_components):
        precision = gates.nu[h] * np.linalg.inv(gates.scale[h])
        log_det = sum(digamma((gates.nu[h] - j) / 2) for j in range(p)) + p * np.log(2)
        log_det -= np.linalg.slogdet(gates.scale[h])[1]
        gap = x - gates.mean[h]
        gate = 0.5 * (log_det - p * np.log(2 * np.pi) - p / gates.kappa[h] - (gap @ precision * gap).sum(1))
        features = np.column_stack([x, np.ones(len(x))])
        doubt = (features @ experts.covariance[h] * features).sum(1)
        log_rho[:, h] = log_pi[h] + gate + log_ndtr(sign * (features @ experts.mean[h, 0])) - 0.5 * doubt
    rho = np.exp(log_rho - log_rho.max(1, keepdims=True))
    np.testing.assert_allclose(after.rho, rho / rho.sum(1, keepdims=True), atol=1e-9)


def test_gates_of_new_rows_are_students_t():
    table, label = frame(4, missing=0.3)
    fit = problem(table[REALS], label, 2, "own")
    state, _ = bounds_of(fit, 5)
    model = GatedModel.of(fit.view, 2, state)
    rows = fit.view.lens.rows(_encoded(table[REALS]))
    given = answer(model, rows)
    gates, x = model.gates, rows.reals[:, fit.view.reals]
    for i in range(12):
        seen = ~np.isnan(x[i])
        for h in range(model.n_components):
            degrees = gates.nu[h] - 4 + 1
            shape = gates.scale[h] * (gates.kappa[h] + 1) / (gates.kappa[h] * degrees)
            density = 0.0
            if seen.any():
                density = multivariate_t.logpdf(x[i, seen], gates.mean[h, seen], shape[np.ix_(seen, seen)], degrees)
            assert given.log_gate[i, h] == pytest.approx(np.log(model.weight[h]) + density, abs=1e-8)


def _encoded(table):
    return encode(table, learn_schema(table, None), "test")


@pytest.mark.parametrize(("experts", "n_classes"), [("pooled", 2), ("own", 3), (None, 2)])
def test_the_order_of_rows_and_columns_does_not_matter(experts, n_classes):
    table, label = frame(6, n_classes=n_classes, missing=0.2)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(table)), rng.permutation(len(ALL))
    kwargs = {"k": 1, "n_sticks": n_classes}  # one cluster a class: a start without chance
    state, bounds = bounds_of(problem(table[ALL], label, n_classes, experts, **kwargs), 15)
    shuffled = table[ALL].iloc[rows, columns].reset_index(drop=True)
    other, other_bounds = bounds_of(problem(shuffled, label[rows], n_classes, experts, **kwargs), 15)
    np.testing.assert_allclose(bounds, other_bounds, rtol=1e-8)
    np.testing.assert_allclose(state.rho[rows], other.rho, atol=1e-6)
