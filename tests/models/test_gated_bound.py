"""The variational bound of gated experts: it never falls, and equals the evidence where the posterior is exact."""

import numpy as np
import pandas as pd
import pytest
from gated_tables import ALL, BESIDE, REALS, bounds_of, frame, problem
from scipy.integrate import quad
from scipy.stats import gamma, norm

from partita.kernels import reference
from partita.models.gated import forms as gate_forms
from partita.models.gated.state import Experts, Priors
from partita.models.gated.update import experts_divergence, first_experts, posterior_experts

KINDS = [("own", 2), ("pooled", 2), (None, 2), ("own", 3), ("pooled", 3), (None, 3)]


@pytest.mark.parametrize(("experts", "n_classes"), KINDS)
@pytest.mark.parametrize("columns", [REALS, ALL, BESIDE], ids=["real", "mixed", "beside"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_bound_never_falls(experts, n_classes, columns, missing):
    table, label = frame(n_classes, n_classes=n_classes, missing=missing)
    rng = np.random.default_rng(1)
    label = np.where(rng.random(len(label)) < 0.1, -1, label)
    weight = rng.uniform(0.2, 2.0, len(label))
    _, bounds = bounds_of(problem(table[columns], label, n_classes, experts, weight=weight), 40)
    assert np.diff(bounds).min() >= -1e-9 * abs(bounds[-1])
    assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("experts", ["own", "pooled", None])
def test_the_bound_does_not_fall_when_components_empty(experts):
    table, label = frame(5, n=40)
    state, bounds = bounds_of(problem(table[REALS], label, 2, experts, k=10, n_sticks=20), 150)
    assert state.n_components < 20
    assert np.diff(bounds).min() >= -1e-7 * abs(bounds[-1])


@pytest.mark.parametrize("experts", ["own", None])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_does_not_fall_when_a_full_truncation_loses_a_component(experts, seed):
    """Every stick is taken at the start: the last, which is 1, may have to be kept when another empties."""
    table, label = frame(seed, n=60, n_classes=3)
    _, bounds = bounds_of(problem(table[REALS], label, 3, experts, k=3, n_sticks=9), 120)
    assert np.diff(bounds).min() >= -1e-7 * abs(bounds[-1])


@pytest.mark.parametrize("columns", [REALS, ALL, BESIDE])
def test_one_component_without_experts_has_its_evidence_as_bound(columns):
    table, _ = frame(7, n=30)
    fit = problem(table[columns], np.zeros(30, int), 1, None, k=1, n_sticks=1)
    _, bounds = bounds_of(fit, 3)
    exact, view, rows = 0.0, fit.view, fit.blocks[0]
    if view.width:
        exact += float(fit.priors.gate.log_marginal(fit.priors.gate.statistics(rows.x)))
    for column, cells in zip(view.cells, rows.levels, strict=True):
        family = column.family(column.prior)
        exact += float(family.log_marginal(family.statistics(cells.astype(float if column.count else int))))
    assert bounds[-1] == pytest.approx(exact, abs=1e-8)


def test_an_expert_with_known_latents_has_the_evidence_of_its_regression():
    rng = np.random.default_rng(3)
    features, t = rng.normal(size=(12, 3)), rng.normal(size=12)
    prior = first_experts(1, 1, 3, Priors(gate=None, experts="own"))
    post = posterior_experts(prior, (features.T @ features)[None], (t @ features)[None, None])
    second = post.covariance[0] + np.outer(post.mean[0, 0], post.mean[0, 0])
    expected = -0.5 * (12 * np.log(2 * np.pi) + t @ t - 2 * t @ features @ post.mean[0, 0])
    expected -= 0.5 * (features @ second * features).sum()
    bound = expected - experts_divergence(post, Priors(gate=None, experts="own"))
    covariance = np.eye(12) + features @ features.T
    exact = -0.5 * (12 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + t @ np.linalg.solve(covariance, t))
    assert bound == pytest.approx(exact, abs=1e-9)


def test_the_divergence_of_pooled_experts_is_that_of_a_sample():
    rng = np.random.default_rng(5)
    priors = Priors(gate=None, experts="pooled", a_0=2.0, b_0=1.5, gamma_0=0.7)
    root = rng.normal(size=(2, 3, 3)) / 3
    covariance = root @ np.swapaxes(root, 1, 2) + 0.2 * np.eye(3)
    experts = Experts(
        rng.normal(size=(2, 1, 3)), covariance, np.linalg.slogdet(covariance)[1], rng.normal(size=(1, 3)), 2.7, 3.0,
        np.array([1.0, 2.0, 1.5]),
    )  # fmt: skip
    n = 400_000
    precision = rng.gamma(experts.shape, 1 / experts.rate, (n, 3))
    centre = experts.centre[0] + rng.normal(size=(n, 3)) / np.sqrt(experts.strength * precision)
    log_q = norm.logpdf(centre, experts.centre[0], 1 / np.sqrt(experts.strength * precision)).sum(1)
    log_p = norm.logpdf(centre, 0, 1 / np.sqrt(priors.gamma_0 * precision)).sum(1)
    log_q += gamma.logpdf(precision, experts.shape, scale=1 / experts.rate).sum(1)
    log_p += gamma.logpdf(precision, priors.a_0, scale=1 / priors.b_0).sum(1)
    for h in range(2):
        w = rng.multivariate_normal(experts.mean[h, 0], covariance[h], n)
        gap = w - experts.mean[h, 0]
        distance = (gap * np.linalg.solve(covariance[h], gap.T).T).sum(1)
        log_q -= 0.5 * (3 * np.log(2 * np.pi) + experts.log_det[h] + distance)
        log_p += norm.logpdf(w, centre, 1 / np.sqrt(precision)).sum(1)
    sample = log_q - log_p
    error = sample.std() / np.sqrt(n)
    assert abs(experts_divergence(experts, priors) - sample.mean()) < 4 * error


def test_the_bound_is_below_the_evidence_of_a_probit():
    """One component, one real column known, experts of prior N(0, I): the evidence of the labels by quadrature over
    both weights."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=8)
    label = (x + rng.normal(size=8) > 0).astype(int)
    table = pd.DataFrame({"a": x})
    fit = problem(table, label, 2, "own", k=1, n_sticks=1)
    alone = problem(table, np.zeros(8, int), 1, None, k=1, n_sticks=1)
    rows = fit.blocks[0]
    gates = float(fit.priors.gate.log_marginal(fit.priors.gate.statistics(alone.blocks[0].x)))
    sign = np.where(rows.label == 1, 1.0, -1.0)

    def likelihood(slope):
        def inner(intercept):
            return np.prod(norm.cdf(sign * (slope * rows.x[:, 0] + intercept))) * norm.pdf(intercept)

        return quad(inner, -6, 6)[0] * norm.pdf(slope)

    exact = gates + np.log(quad(likelihood, -6, 6)[0])
    _, bounds = bounds_of(fit, 60)
    assert exact - 1.0 < bounds[-1] < exact


@pytest.mark.parametrize(("experts", "n_classes"), [("own", 2), ("pooled", 3), (None, 2)])
def test_native_and_plain_kernels_give_the_same_fit(monkeypatch, experts, n_classes):
    table, label = frame(2, n=30, n_classes=n_classes, missing=0.3)
    fit = problem(table[ALL], label, n_classes, experts, k=2, n_sticks=6)
    fast, fast_bounds = bounds_of(fit, 4)
    monkeypatch.setattr(gate_forms, "kernel", reference)
    slow, slow_bounds = bounds_of(fit, 4)
    np.testing.assert_allclose(fast_bounds, slow_bounds, rtol=1e-10)
    np.testing.assert_allclose(fast.rho, slow.rho, atol=1e-8)
    np.testing.assert_allclose(fast.gates.scale, slow.gates.scale, rtol=1e-8, atol=1e-8)
