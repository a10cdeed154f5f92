"""New rows given their cells: per draw the law is that of the model, by closed form, quadrature and long chains."""

import numpy as np
import pytest
from scipy import stats
from svd_draws import N_COLUMNS, N_ROWS, make_draw

from partita.models.matrices.fold_in import NewRow, fold_in
from partita.models.matrices.fold_in_levels import truncated_normal
from partita.models.matrices.posterior import Posterior

N = 4000  # the same draw many times over: folding in then samples one conditional law


def repeated(link, noise_df, k=1, offsets=True, seed=5, own=False):
    df = float("nan") if noise_df is None else noise_df
    draw = make_draw(np.random.default_rng(seed), link, k, df=df, own=own)
    levels = np.arange(4.0) if link == "ordinal" else np.zeros(0)
    return Posterior((draw,) * N, levels, offsets), draw


def fold(posterior, partners, values, trials=None, mean=0.3, side="row"):
    k = posterior.draws[0].U.shape[1]
    means = [np.full((1, k + 1), mean)] * N
    new = NewRow(np.array(partners), np.array(values, float), trials, np.random.default_rng(11))
    grown = fold_in(posterior, side, [new], means)
    factors = np.array([(d.U if side == "row" else d.V)[-1] for d in grown.draws])
    offset = np.array([(d.row_offset if side == "row" else d.column_offset)[-1] for d in grown.draws])
    noise = np.array([(d.row_noise if side == "row" else d.column_noise)[-1] for d in grown.draws])
    return factors, offset, noise, grown


def grid_law(log_density, width=6.0, n=241):
    """Means and variances of (u, b) under a density on a grid."""
    u, b = np.meshgrid(np.linspace(-width, width, n), np.linspace(-width, width, n), indexing="ij")
    p = log_density(u, b)
    p = np.exp(p - p.max())
    p /= p.sum()
    mean = np.array([(p * u).sum(), (p * b).sum()])
    return mean, np.array([(p * (u - mean[0]) ** 2).sum(), (p * (b - mean[1]) ** 2).sum()])


def prior(draw, u, b, mean=0.3):
    return -0.5 * (u - mean) ** 2 / draw.theta[0] - 0.5 * draw.tau_row * (b - mean) ** 2


def close(drawn, mean, variance):
    """Within four standard errors, of the mean and of the variance."""
    assert np.abs(drawn.mean() - mean) < 4 * np.sqrt(variance / N)
    assert drawn.var() == pytest.approx(variance, rel=4 * np.sqrt(3 / N))


@pytest.mark.parametrize("side", ["row", "column"])
def test_equal_noise_is_the_normal_law(side):
    posterior, draw = repeated("gaussian", None, k=2)
    partners, values = [0, 2, 3], [1.0, -0.5, 2.0]
    factors, offset, noise, _ = fold(posterior, partners, values, side=side)
    other, base, weight = (
        (draw.V, draw.column_offset, draw.column_noise) if side == "row" else (draw.U, draw.row_offset, draw.row_noise)
    )
    theta, tau = (draw.theta, draw.tau_row) if side == "row" else (draw.column_theta, draw.tau_column)
    x = np.column_stack([other[partners], np.ones(3)]).astype(float)
    w = draw.alpha * weight[partners].astype(float)
    p0 = np.append(1 / theta.astype(float), tau)
    precision = np.diag(p0) + x.T @ (w[:, None] * x)
    mean = np.linalg.solve(precision, p0 * 0.3 + x.T @ (w * (np.array(values) - draw.mean - base[partners])))
    drawn = np.column_stack([factors, offset])
    assert (noise == 1).all()
    covariance = np.linalg.inv(precision)
    for k in range(3):
        close(drawn[:, k], mean[k], covariance[k, k])
    assert np.allclose(np.cov(drawn.T), covariance, atol=0.05 * np.sqrt(np.outer(*[np.diag(covariance)] * 2)).max())


def test_noise_of_its_own_by_quadrature():
    """g integrated out, a row's errors are Student's t together."""
    nu = 3.0
    posterior, draw = repeated("gaussian", nu)
    partners, values = [0, 1, 4], np.array([1.0, 6.0, -2.0])
    factors, offset, _, _ = fold(posterior, partners, values)
    w = draw.alpha * draw.column_noise[partners].astype(float)

    def log_density(u, b):
        square = sum(
            w[k] * (values[k] - draw.mean - draw.column_offset[j] - b - u * draw.V[j, 0]) ** 2
            for k, j in enumerate(partners)
        )
        return prior(draw, u, b) - (nu + len(values) / 2) * np.log(nu + 0.5 * square)

    mean, variance = grid_law(log_density)
    close(factors[:, 0], mean[0], variance[0])
    close(offset, mean[1], variance[1])


def stretched(cuts, first, last):
    """Three cut points, the middle one held."""
    below, above = np.diff(cuts) * [first, last]
    return np.array([-np.inf, cuts[1] - below, cuts[1], cuts[1] + above, np.inf])


def of_level(ends, code, f, root):
    return stats.norm.cdf((ends[code + 1] - f) * root) - stats.norm.cdf((ends[code] - f) * root)


@pytest.mark.parametrize("own", [False, True])
def test_levels_by_quadrature(own):
    """With gaps of the row's own, these are integrated out too."""
    posterior, draw = repeated("ordinal", None, own=own)
    partners, codes = [0, 1, 2, 3], np.array([0, 3, 1, 3])
    factors, offset, _, grown = fold(posterior, partners, codes)
    node, mass = np.polynomial.hermite_e.hermegauss(7 if own else 1)
    spread = float(draw.stretch_spread[0]) if own else 0.0
    gaps = [(np.exp(spread * a), np.exp(spread * b), p * q) for a, p in zip(node, mass) for b, q in zip(node, mass)]

    def log_density(u, b):
        total = np.zeros(u.shape)
        for first, last, weight in gaps:
            ends, chance = stretched(draw.cuts, first, last), weight / mass.sum() ** 2
            for code, j in zip(codes, partners):
                f, root = draw.mean + draw.column_offset[j] + b + u * draw.V[j, 0], np.sqrt(draw.column_noise[j])
                chance = chance * of_level(ends, code, f, root)
            total = total + chance
        return prior(draw, u, b) + np.log(np.maximum(total, 1e-300))

    mean, variance = grid_law(log_density, n=121)
    close(factors[:, 0], mean[0], variance[0])
    close(offset, mean[1], variance[1])
    assert grown.draws[0].row_stretch.shape == (N_ROWS + 1, 2 if own else 0)


def test_a_new_column_meets_rows_with_cut_points_of_their_own():
    posterior, draw = repeated("ordinal", None, own=True)
    partners, codes = [0, 2, 3, 5], np.array([1, 2, 1, 3])
    factors, offset, _, _ = fold(posterior, partners, codes, side="column")

    def log_density(v, c):
        total = -0.5 * (v - 0.3) ** 2 / draw.column_theta[0] - 0.5 * draw.tau_column * (c - 0.3) ** 2
        for code, i in zip(codes, partners):
            ends = stretched(draw.cuts, *np.exp(draw.row_stretch[i]))
            f, root = draw.mean + draw.row_offset[i] + c + v * draw.U[i, 0], np.sqrt(draw.row_noise[i])
            total = total + np.log(np.maximum(of_level(ends, code, f, root), 1e-300))
        return total

    mean, variance = grid_law(log_density)
    close(factors[:, 0], mean[0], variance[0])
    close(offset, mean[1], variance[1])


@pytest.mark.parametrize("trials", [[1.0, 2.0, 1.0], [400.0, 30.0, 2000.0]])
def test_successes_by_quadrature(trials):
    posterior, draw = repeated("binomial", None)
    partners, trials = [0, 1, 2], np.array(trials)
    f = draw.mean + draw.column_offset[partners] + 0.7 * draw.V[partners, 0] - 0.2
    hits = np.rint(trials * stats.norm.cdf(f + np.array([0.1, -0.2, 0.0])))
    factors, offset, _, _ = fold(posterior, partners, hits, trials)

    def log_density(u, b):
        total = prior(draw, u, b)
        for s, n, j in zip(hits, trials, partners):
            f = draw.mean + draw.column_offset[j] + b + u * draw.V[j, 0]
            total = total + s * stats.norm.logcdf(f) + (n - s) * stats.norm.logcdf(-f)
        return total

    mean, variance = grid_law(log_density, width=4.0, n=301 if trials.sum() < 10 else 901)
    close(factors[:, 0], mean[0], variance[0])
    close(offset, mean[1], variance[1])


@pytest.mark.parametrize("link", ["gaussian", "ordinal", "binomial"])
def test_without_cells_the_prior_is_drawn(link):
    posterior, draw = repeated(link, None if link == "binomial" else 3.0)
    factors, offset, noise, _ = fold(posterior, np.zeros(0, int), [], np.zeros(0))
    close(factors[:, 0], 0.3, float(draw.theta[0]))
    close(offset, 0.3, 1 / draw.tau_row)
    if link != "binomial":
        close(noise, 1.0, 1 / 3)


def test_draws_of_different_sizes_and_without_offsets():
    rng = np.random.default_rng(0)
    draws = tuple(make_draw(rng, k=k, df=3.0) for k in (1, 3, 2, 0))
    posterior = Posterior(draws, np.zeros(0), False)
    means = [np.zeros((2, d.U.shape[1] + 1)) for d in draws]
    new = [NewRow(np.array([0, 1]), np.array([1.0, 2.0]), None, np.random.default_rng(k)) for k in range(2)]
    grown = fold_in(posterior, "column", new, means)
    for before, after in zip(draws, grown.draws):
        assert after.V.shape == (N_COLUMNS + 2, before.V.shape[1]) and np.array_equal(after.V[:N_COLUMNS], before.V)
        assert (after.column_offset[N_COLUMNS:] == 0).all() and after.U is before.U and len(after.U) == N_ROWS


def test_truncated_normals_far_out():
    u = np.linspace(0.001, 0.999, 999)
    for low, high in ((-np.inf, -30.0), (30.0, np.inf), (8.0, 8.001), (-1.0, 2.0), (-np.inf, np.inf), (-40.0, -39.0)):
        x = truncated_normal(np.full(999, low), np.full(999, high), u)
        assert np.isfinite(x).all() and (x >= low).all() and (x <= high).all()
    x = truncated_normal(np.full(999, -1.0), np.full(999, 2.0), u)
    assert np.allclose(np.sort(x), stats.truncnorm.ppf(u, -1.0, 2.0))
