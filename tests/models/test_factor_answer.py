"""What factor experts say of rows equals the formulas of the joint normal law of cells and latents."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from partita.models.factor.answer import Predictive, answer, draw, expert_law, fill, sample, scores
from partita.models.factor.experts import FactorProblem, FactorSettings, begin
from partita.models.factor.rows import sweep
from partita.models.gated.predict import class_probabilities
from partita.models.gated.truncated_normal import (
    cone,
    cone_probabilities,
    independent_variances,
    strongly_tied,
    tied_cone_probabilities,
)

P, T, H = 6, 8, 2


def known_state(seed, n_classes=2):
    """A state whose parameters are as good as known: no uncertainty but of s. T >= P, so any covariance is reached."""
    rng = np.random.default_rng(seed)
    x, label = rng.standard_normal((12, P)), np.arange(12) % n_classes
    state = begin(rng, FactorProblem.of(x, label, n_classes, settings=FactorSettings(n_factors=P)), 1)
    c, many = state.n_experts, np.full(H, 1e13)
    return replace(
        state,
        loading=rng.standard_normal((P, T)),
        loading_cov=np.zeros((1, T, T)),
        energy=np.ones(T),
        used=(rng.random((H, T)) < 0.6).astype(float),
        mean=rng.standard_normal((H, P)),
        mean_count=np.full((H, P), 1e13),
        noise_shape=many,
        noise_rate=many * rng.gamma(3.0, 0.2, H),
        weight=rng.standard_normal((H, c, T + 1)),
        weight_cov=np.zeros((H, c, T + 1, T + 1)),
        count=np.ones(H),
        latent=np.zeros((0, H, c)),
    )


def joint(state, h):
    """Mean and covariance of (x, t_1 .. t_C) in component h: x has A diag((d o b)^2) A' + I / psi."""
    selected, slope = state.used[h] * state.loading, state.used[h] * state.weight[h][:, :-1]
    both = np.concatenate([selected, slope])
    noise = np.concatenate([np.full(P, state.noise_rate[h] / state.noise_shape[h]), np.ones(len(slope))])
    return np.concatenate([state.mean[h], state.weight[h][:, -1]]), both @ both.T + np.diag(noise)


def conditional(mean, covariance, x, seen, wanted):
    across = covariance[np.ix_(seen, wanted)]
    gain = np.linalg.solve(covariance[np.ix_(seen, seen)], across).T
    return mean[wanted] + gain @ (x[seen] - mean[seen]), covariance[np.ix_(wanted, wanted)] - gain @ across


def holed(seed, n):
    """Rows with holes: the first all missing, the second complete."""
    rng = np.random.default_rng(seed)
    x = 2.0 * rng.standard_normal((n, P))
    x[rng.random(x.shape) < 0.4] = np.nan
    x[0], x[1] = np.nan, 1.0
    return x


def test_density_and_missing_cells_are_those_of_the_full_covariance():
    state, x = known_state(0), holed(1, 8)
    found, (mean, variance) = answer(state, x), fill(state, x)
    weight = Predictive.of(state).log_weight
    assert np.isclose(np.exp(weight).sum(), 1.0)
    for h in range(H):
        m, s = joint(state, h)
        for i, row in enumerate(x):
            seen, gone = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
            expected = multivariate_normal(m[seen], s[np.ix_(seen, seen)]).logpdf(row[seen]) if len(seen) else 0.0
            np.testing.assert_allclose(found.log_gate[i, h] - weight[h], expected, rtol=1e-8, atol=1e-8)
            centre, spread = conditional(m, s, row, seen, gone)
            np.testing.assert_allclose(mean[i, h, gone], centre, atol=1e-7)
            np.testing.assert_allclose(variance[i, h, gone], np.diag(spread), atol=1e-7)
            np.testing.assert_array_equal(mean[i, h, seen], row[seen])
            assert np.all(variance[i, h, seen] == 0.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_those_of_the_joint_normal_law(n_classes):
    state, x = known_state(2, n_classes), holed(3, 6)
    log_class = answer(state, x).log_class
    rng = np.random.default_rng(0)
    for h in range(H):
        m, s = joint(state, h)
        for i, row in enumerate(x):
            centre, spread = conditional(m, s, row, np.flatnonzero(~np.isnan(row)), np.arange(P, len(m)))
            if n_classes == 2:
                expected = norm.logcdf(np.array([-1.0, 1.0]) * centre[0] / np.sqrt(spread[0, 0]))
                np.testing.assert_allclose(log_class[i, h], expected, rtol=1e-6, atol=1e-8)
            else:
                drawn = rng.multivariate_normal(centre, spread, 40_000).argmax(1)
                share = np.bincount(drawn, minlength=n_classes) / len(drawn)
                np.testing.assert_allclose(np.exp(log_class[i, h]), share, atol=0.012)


def test_the_posterior_of_the_factors_is_that_of_the_joint_law():
    state, x = known_state(4), holed(5, 5)
    seen = ~np.isnan(x)
    found = scores(Predictive.of(state), 0, np.where(seen, x, 0.0), seen.astype(float))
    selected, noise = state.used[0] * state.loading, state.noise_rate[0] / state.noise_shape[0]
    mean = np.concatenate([state.mean[0], np.zeros(T)])
    covariance = np.block([[selected @ selected.T + noise * np.eye(P), selected], [selected.T, np.eye(T)]])
    for i, row in enumerate(x):
        centre, spread = conditional(mean, covariance, row, np.flatnonzero(seen[i]), np.arange(P, P + T))
        np.testing.assert_allclose(found.mean[i], centre, atol=1e-7)
        np.testing.assert_allclose(found.covariance[i], spread, atol=1e-7)


def test_the_inference_sees_the_same_law():
    """With parameters as good as known, ln Z of a row is ln of weight times density times class probability."""
    state, x = known_state(6), holed(7, 9)
    label = np.array([0, 1, 0, 1, -1, 1, 0, -1, 1])
    for i in range(len(x)):
        problem = FactorProblem.of(x[i : i + 1], label[i : i + 1], 2, settings=FactorSettings(n_factors=T))
        here = replace(state, pattern=problem.pattern, loading_cov=np.zeros((problem.group_seen.shape[1], T, T)))
        sums, _ = sweep(problem, here, loadings=False)
        found = answer(here, x[i : i + 1])
        log_z = found.log_gate - Predictive.of(here).log_weight
        log_z = log_z + here.sticks(0.05, 0.05).expected_log_weights()[:H]
        if label[i] >= 0:
            log_z = log_z + found.log_class[:, :, label[i]]
        np.testing.assert_allclose(sums.log_rows, np.logaddexp.reduce(log_z[0]), rtol=1e-7)


def test_uncertain_weights_widen_the_latent():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((T + 1, T + 1)) * 0.3
    state = replace(known_state(8), weight_cov=np.broadcast_to(root @ root.T, (H, 1, T + 1, T + 1)))
    x = holed(9, 3)
    seen = ~np.isnan(x)
    found = scores(Predictive.of(state), 1, np.where(seen, x, 0.0), seen.astype(float))
    mean, variance = expert_law(state, 1, found)
    for i in range(3):
        s = rng.multivariate_normal(found.mean[i], found.covariance[i], 100_000)
        w = rng.multivariate_normal(state.weight[1, 0], root @ root.T, 100_000)
        t = (w[:, :T] * state.used[1] * s).sum(1) + w[:, T] + rng.standard_normal(100_000)
        assert abs(t.mean() - mean[i, 0]) < 6 * t.std() / np.sqrt(1e5)
        np.testing.assert_allclose(t.var(), variance[i, 0, 0], rtol=0.03)


def test_uncertain_parameters_widen_the_cells():
    """The predictive law has the covariance of a row drawn with its own G, b, mu and psi."""
    rng = np.random.default_rng(1)
    state = known_state(10)
    root = 0.3 * rng.standard_normal((T, T))
    state = replace(
        state,
        loading_cov=(root @ root.T)[None],
        used=rng.random((H, T)),
        mean_count=np.full((H, P), 3.0),
        noise_shape=np.full(H, 8.0),
        noise_rate=np.full(H, 4.0),
    )
    n = 200_000
    g = state.loading + rng.standard_normal((n, P, T)) @ root.T
    bs = (rng.random((n, T)) < state.used[0]) * rng.standard_normal((n, T))
    sd = 1.0 / np.sqrt(rng.gamma(8.0, 1.0 / 4.0, n))[:, None]
    x = state.mean[0] + sd * rng.standard_normal((n, P)) / np.sqrt(3.0) + sd * rng.standard_normal((n, P))
    x += np.einsum("npt,nt->np", g, bs)
    predictive = Predictive.of(state)
    expected = predictive.loading[0] @ predictive.loading[0].T + np.diag(predictive.noise[0])
    np.testing.assert_allclose(np.cov(x.T), expected, atol=0.04 * expected.max())


def test_draws_and_samples_have_the_moments_of_the_fill():
    state, rng = known_state(10), np.random.default_rng(0)
    row = holed(11, 3)[2:3]
    drawn = draw(state, np.repeat(row, 20_000, axis=0), rng)
    found = answer(state, row)
    r = np.exp(found.log_gate[0] - found.log_density()[0])
    mean, variance = (part[0] for part in fill(state, row))
    centre = r @ mean
    np.testing.assert_allclose(drawn.mean(0), centre, atol=0.1)
    np.testing.assert_allclose(drawn.var(0), r @ (variance + mean**2) - centre**2, rtol=0.06, atol=1e-12)
    reals, label = sample(state, 40_000, rng)
    empty = np.full((1, P), np.nan)
    assert abs(label.mean() - answer(state, empty).probabilities()[0, 1]) < 0.015
    weight = np.exp(Predictive.of(state).log_weight)
    np.testing.assert_allclose(reals.mean(0), weight @ fill(state, empty)[0][0], atol=0.1)


def test_the_cone_against_draws_and_derivatives():
    rng = np.random.default_rng(0)
    mean = np.array([0.3, -0.5, 1.2, 0.1])
    t = mean + rng.standard_normal((400_000, 4))
    inside = t[t.argmax(1) == 1]
    log_p, moved = cone(mean, np.array(1))
    np.testing.assert_allclose(np.exp(log_p), len(inside) / len(t), rtol=0.02)
    np.testing.assert_allclose(moved, inside.mean(0), atol=0.02)
    pairs = np.array([[0.0, 30.0], [0.0, -3.0]])
    expected = norm.logcdf((pairs[:, 0] - pairs[:, 1]) / np.sqrt(2))
    np.testing.assert_allclose(cone(pairs, np.array([0, 0]))[0], expected, rtol=1e-10)
    for c in range(4):
        up, down = (cone(mean + sign * 1e-5 * np.eye(4)[c], np.array(2))[0] for sign in (1, -1))
        np.testing.assert_allclose(cone(mean, np.array(2))[1][c] - mean[c], (up - down) / 2e-5, atol=1e-8)
    assert np.all(np.isfinite(cone(np.array([[-200.0, 200.0, 0.0]]), np.array([0]))[1]))


def test_independent_variances_keep_the_differences():
    rng = np.random.default_rng(0)
    root = 0.4 * rng.standard_normal((3, 3))
    covariance = root @ root.T + np.eye(3)
    variance = independent_variances(covariance)
    for c, j in ((0, 1), (0, 2), (1, 2)):
        difference = covariance[c, c] + covariance[j, j] - 2 * covariance[c, j]
        np.testing.assert_allclose(variance[[c, j]].sum(), difference, rtol=1e-9)
    np.testing.assert_allclose(np.exp(cone_probabilities(np.zeros(3), np.ones(3))), 1 / 3)


@pytest.mark.parametrize("k", [4, 6])
def test_classes_whose_latents_share_factors_against_draws(k):
    rng = np.random.default_rng(k)
    for strength in (0.5, 1.5, 4.0):
        shared = strength * rng.normal(size=(k, 2))
        covariance, mean = shared @ shared.T + 1.3 * np.eye(k), rng.normal(size=k)
        drawn = mean + rng.normal(size=(200_000, 2)) @ shared.T + np.sqrt(1.3) * rng.normal(size=(200_000, k))
        share = np.bincount(drawn.argmax(axis=1), minlength=k) / len(drawn)
        got = np.exp(class_probabilities(mean[None, None], covariance[None, None], np.zeros((1, 1))))[0, 0]
        np.testing.assert_allclose(got, share, atol=0.01)
        np.testing.assert_allclose(got.sum(), 1.0)


def test_classes_of_independent_latents_are_the_same_both_ways():
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(size=(5, 4)), 1.0 + rng.random((5, 4))
    covariance = variance[:, :, None] * np.eye(4)
    assert not strongly_tied(covariance).any()
    tied = np.exp(tied_cone_probabilities(mean, covariance))
    np.testing.assert_allclose(tied, np.exp(cone_probabilities(mean, variance)), atol=5e-3)
