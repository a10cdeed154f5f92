"""The variational bound of factor experts: it never falls, and where the evidence is known it is below or equal."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import beta, multivariate_t, norm

from partita.data.archive import read_archive, write_archive
from partita.inference.loop import run
from partita.models.factor.bound import divergence
from partita.models.factor.experts import FactorProblem, FactorSettings, begin, step
from partita.models.factor.rows import sweep
from partita.models.factor.scale import log_prior, scales
from partita.models.factor.state import FactorState
from partita.models.factor.updates import (
    rescale,
    update_experts,
    update_gates,
    update_loadings,
    update_selection,
    update_sticks,
)


def table(seed, n, p, n_classes, missing, unlabelled=0.0):
    """Rows of two clusters with two factors each, standardised; labels from a factor."""
    rng = np.random.default_rng(seed)
    cluster, s = rng.integers(0, 2, n), rng.standard_normal((n, 2))
    x = rng.standard_normal((2, p))[cluster] + s @ rng.standard_normal((2, p)) + rng.standard_normal((n, p))
    label = (s @ rng.normal(0, 2, (2, n_classes)) + rng.standard_normal((n, n_classes))).argmax(1)
    x = (x - x.mean(0)) / x.std(0)
    x[rng.random(x.shape) < missing] = np.nan
    label[rng.random(n) < unlabelled] = -1
    return x, label


def evaluate(problem, state):
    sums, _ = sweep(problem, state, loadings=False)
    return sums.log_rows - divergence(problem, state)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "n_classes, missing, unlabelled, weighted, k",
    [
        (2, 0, 0, 0, 1),
        (2, 0.4, 0, 0, 3),
        (2, 0.3, 0.5, 1, 2),
        (4, 0.3, 0, 0, 1),
        (3, 0.3, 0.4, 1, 2),
        (2, 0.2, 1, 0, 4),
    ],
)
def test_the_bound_never_falls(seed, n_classes, missing, unlabelled, weighted, k):
    x, label = table(seed, 40, 6, n_classes, missing, unlabelled)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(x)).astype(float) if weighted else np.ones(len(x))
    problem = FactorProblem.of(x, label, n_classes, weight, FactorSettings(n_factors=5, n_sticks=8))
    outcome = run(partial(step, problem), [begin(rng, problem, k)], [rng], 30)
    bounds = outcome.infos["bound"][0]
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:]))


@pytest.mark.parametrize("n_classes, unlabelled", [(2, 0.3), (4, 0.3)])
def test_every_single_update_is_an_ascent(n_classes, unlabelled):
    x, label = table(7, 40, 6, n_classes, 0.3, unlabelled)
    problem = FactorProblem.of(x, label, n_classes, settings=FactorSettings(n_factors=4))
    state = begin(np.random.default_rng(0), problem, 2)
    rng = np.random.default_rng(1)
    value = evaluate(problem, state)
    for _ in range(5):
        for updates, loadings in (
            ((update_loadings, rescale, update_experts, update_sticks), True),
            ((update_selection, update_gates, update_experts, update_sticks), False),
        ):
            for number in range(len(updates)):
                sums, latent = sweep(problem, state, loadings=loadings)
                state = updates[number](problem, replace(state, latent=latent), sums)
                after = evaluate(problem, state)
                assert after >= value - 1e-9 * abs(value), updates[number].__name__
                value = after
        state = replace(state, used=np.clip(state.used, 0.05 * rng.random(), 1.0))  # keep the selection undecided
        value = evaluate(problem, state)


def test_emptied_components_leave_without_loss():
    x, label = table(3, 60, 5, 2, 0.2)
    settings = FactorSettings(n_factors=3, n_sticks=20, merge=False)
    problem = FactorProblem.of(x, label, 2, settings=settings)
    rng = np.random.default_rng(0)
    state = begin(rng, problem, 9)
    first, bounds = state.n_components, []
    for _ in range(80):
        state, info = step(problem, rng, state)
        bounds.append(info["bound"])
    assert state.n_components < first and len(state.stick_first) == 20
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:]))


def test_a_row_of_weight_two_is_two_rows():
    x, label = table(1, 20, 5, 2, 0.3, 0.2)
    weight = np.where(np.arange(20) < 7, 2.0, 1.0)
    settings = FactorSettings(n_factors=3, merge=False)
    once = FactorProblem.of(x, label, 2, weight, settings)
    twice = FactorProblem.of(np.concatenate([x, x[:7]]), np.concatenate([label, label[:7]]), 2, None, settings)
    rng = np.random.default_rng(0)
    state = begin(rng, once, 1)
    other = state
    for _ in range(5):
        state, info = step(once, rng, state)
        other, other_info = step(twice, rng, other)
        np.testing.assert_allclose(info["bound"], other_info["bound"], rtol=1e-10)


def test_one_component_without_factors_or_labels_has_the_exact_evidence():
    """q is then exact: normal-gamma per component, one stick; the evidence is a Student density over all cells."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, 3))
    x[rng.random(x.shape) < 0.25] = np.nan
    settings = FactorSettings(n_factors=0, n_sticks=1, mean_count=0.7, noise_shape=1.3, noise_rate=0.8)
    problem = FactorProblem.of(x, np.full(6, -1), 2, settings=settings)
    state = begin(rng, problem, 1)
    for _ in range(3):
        state, info = step(problem, rng, state)
    columns = [x[~np.isnan(x[:, j]), j] for j in range(3)]
    n = sum(map(len, columns))
    scale = np.zeros((n, n))
    start = 0
    for column in columns:
        end = start + len(column)
        scale[start:end, start:end] = np.eye(len(column)) + 1.0 / settings.mean_count
        start = end
    df = 2 * settings.noise_shape
    exact = multivariate_t(np.zeros(n), scale * settings.noise_rate / settings.noise_shape, df).logpdf(
        np.concatenate(columns)
    )
    np.testing.assert_allclose(info["bound"], exact, rtol=1e-9)


def test_the_bound_is_below_the_evidence_of_one_cell():
    """One row of one cell and one factor: the evidence is a two-dimensional integral."""
    value = 1.7
    settings = FactorSettings(n_factors=1, n_sticks=1, noise_shape=2.0, noise_rate=1.5, mean_count=0.5)
    problem = FactorProblem.of(np.array([[value]]), np.array([-1]), 2, settings=settings)
    state = begin(np.random.default_rng(0), problem, 0)
    for _ in range(100):
        state, info = step(problem, np.random.default_rng(0), state)

    # ln v and ln psi on a grid, s by the trapezoidal rule: given them the cell is normal
    u, log_psi, s = np.linspace(-40, 30, 281), np.linspace(-12, 4, 129), np.linspace(0.0, 9.0, 400)
    psi = np.exp(log_psi)
    variance = 3.0 / psi[:, None] + np.exp(u)[:, None, None] * s**2
    given = np.exp(-0.5 * (value**2 / variance + np.log(2 * np.pi * variance))) * 2.0 * norm.pdf(s)
    density = np.exp(2.0 * np.log(1.5) - gammaln(2.0) + 2.0 * log_psi - 1.5 * psi)
    inner = np.trapezoid(np.trapezoid(given, s, axis=2) * density, log_psi, axis=1)
    evidence = np.log(np.trapezoid(inner * np.exp(log_prior(u, 1.0, 1.0)), u))
    bound = info["bound"]
    assert bound <= evidence + 1e-6 and bound > evidence - 1.5


def test_the_law_of_a_scale_is_that_of_the_square_of_d():
    u = np.linspace(-60, 60, 4001)
    for shape, rate in ((1.0, 1.0), (0.3, 2.0)):
        density = np.exp(log_prior(u, shape, rate))
        np.testing.assert_allclose(np.trapezoid(density, u), 1.0, atol=1e-6)
        rng = np.random.default_rng(0)
        v = rng.standard_normal(200_000) ** 2 / rng.gamma(shape, 1.0 / rate, 200_000)
        below = np.trapezoid(density[u <= 0.0], u[u <= 0.0])
        assert abs(np.mean(v <= 1.0) - below) < 0.005


@pytest.mark.parametrize("n_columns, energy", [(1, 0.3), (5, 1e-6), (1000, 200.0), (30, 1e4)])
def test_moments_of_a_scale_by_quadrature(n_columns, energy):
    found = scales(np.array([energy]), n_columns, 1.0, 1.0)
    middle = np.log(energy)

    def integral(f):
        def density(u):
            return np.exp(log_prior(u, 1.0, 1.0) - 0.5 * n_columns * (u - middle + np.exp(middle - u) - 1.0))

        ends = {"limit": 500, "points": [middle, middle + 1], "epsabs": 0.0, "epsrel": 1e-11}
        return quad(lambda u: f(u) * density(u), middle - 6, middle + 70, **ends)[0]

    total = integral(lambda u: 1.0)
    log_normaliser = np.log(total) - 0.5 * n_columns * (middle + 1.0)
    np.testing.assert_allclose(found.log_normaliser[0], log_normaliser, rtol=1e-7)
    np.testing.assert_allclose(found.precision[0], integral(lambda u: np.exp(-u)) / total, rtol=1e-6)
    np.testing.assert_allclose(found.log[0], integral(lambda u: u) / total, rtol=1e-6, atol=1e-6)


def test_selection_integrates_its_chance_out():
    """b ~ Bern(pi), pi ~ Beta(a / T, b (T - 1) / T): P(b = 1) = a / (a + b (T - 1))."""
    from partita.models.factor.updates import prior_use

    problem = FactorProblem.of(np.zeros((2, 2)), np.zeros(2), 2, settings=FactorSettings(used_a=2.0, used_b=3.0))
    np.testing.assert_allclose(prior_use(problem, 5), beta(2.0 / 5, 3.0 * 4 / 5).mean())


def test_a_state_is_a_tree_and_goes_on_as_it_was(tmp_path):
    x, label = table(2, 30, 5, 3, 0.3)
    problem = FactorProblem.of(x, label, 3)
    rng = np.random.default_rng(0)
    state, _ = step(problem, rng, begin(rng, problem, 1))
    write_archive(tmp_path / "state", "test", state.to_tree())
    again = FactorState.from_tree(read_archive(tmp_path / "state", "test"))
    assert step(problem, rng, state)[1] == step(problem, rng, again)[1]
    assert abs(state.n_factors_posterior().sum() - 1.0) < 1e-12
