"""What draws say of cells, against the same computed cell by cell, by quadrature and by simulation."""

import numpy as np
import pytest
from scipy import integrate, stats
from svd_draws import N_COLUMNS, N_ROWS, make_posterior

from partita.models.matrices import predict as svd_predict
from partita.models.matrices.entries import Entries
from partita.models.matrices.laws import laws_at, laws_of_rows
from partita.models.matrices.missingness import Side, make_side
from partita.models.matrices.posterior import Newcomers, thinned
from partita.models.matrices.quantiles import binomial_mixture_quantile, level_quantile, normal_mixture_quantile
from partita.models.matrices.scores import log_densities

ROWS, COLUMNS = np.repeat(np.arange(N_ROWS), N_COLUMNS), np.tile(np.arange(N_COLUMNS), N_ROWS)


def by_hand(posterior, i, j):
    """Linear predictor and noise variance of a cell in every draw."""
    f = [d.mean + d.row_offset[i] + d.column_offset[j] + float(d.U[i] @ d.V[j]) for d in posterior.draws]
    noise = [1 / (d.alpha * d.row_noise[i] * d.column_noise[j]) for d in posterior.draws]
    return np.array(f, float), np.array(noise, float)


def test_means_and_deviations_of_reals():
    posterior = make_posterior(components=[2, 3] * 20)
    laws = laws_at(posterior, ROWS, COLUMNS)
    mean, std = svd_predict.expectation(laws, "gaussian", posterior.levels, noise=False)
    _, with_noise = svd_predict.expectation(laws, "gaussian", posterior.levels, noise=True)
    for p in (0, 7, 29):
        f, noise = by_hand(posterior, ROWS[p], COLUMNS[p])
        assert mean[p] == pytest.approx(f.mean(), rel=1e-5) and std[p] == pytest.approx(f.std(), rel=1e-5)
        assert with_noise[p] == pytest.approx(np.sqrt(f.var() + noise.mean()), rel=1e-5)


@pytest.mark.parametrize("link", ["gaussian", "ordinal", "binomial"])
@pytest.mark.parametrize("own", [False, True])
def test_whole_rows_are_their_cells(link, own):
    posterior = make_posterior(link, components=[2, 3] * 20, own=own and link == "ordinal")
    one, other = laws_at(posterior, ROWS[5:20], COLUMNS[5:20]), laws_of_rows(posterior, slice(1, 4))
    for name in ("f", "doubt", "noise", "cuts", "weight"):
        assert np.allclose(getattr(one, name), getattr(other, name), rtol=1e-5, atol=1e-5), name


@pytest.mark.parametrize("p", [1e-6, 0.05, 0.5, 0.95, 1 - 1e-6])
def test_quantiles_invert_the_mixture(p):
    rng = np.random.default_rng(3)
    # also laws of very different widths, and humps far apart
    mean = np.concatenate([rng.normal(size=(50, 20)), rng.normal(100, 1e-3, size=(30, 20))])
    sd = np.concatenate([rng.gamma(2.0, size=(50, 20)), np.full((30, 20), 1e-4)])
    x = normal_mixture_quantile(p, mean, sd)
    assert np.abs(stats.norm.cdf(x, mean, sd).mean(axis=0) - p).max() < 1e-7


def test_quantiles_of_one_normal_are_its_own():
    x = normal_mixture_quantile(0.975, np.array([[2.0, -1.0]]), np.array([[3.0, 1e-8]]))
    assert np.allclose(x, stats.norm.ppf(0.975, [2.0, -1.0], [3.0, 1e-8]))


def test_quantiles_of_successes():
    rng = np.random.default_rng(0)
    chance, trials = rng.random((30, 8)), np.array([1, 2, 10, 100, 1000, 5, 7, 10_000])
    for p in (0.05, 0.5, 0.95):
        k = binomial_mixture_quantile(p, chance, trials)
        assert (stats.binom.cdf(k, trials, chance).mean(axis=0) >= p - 1e-12).all()
        assert (stats.binom.cdf(k - 1, trials, chance).mean(axis=0) < p).all()


@pytest.mark.parametrize("trials", [10**7, 10**9, 10**12])
def test_quantiles_of_very_many_successes(trials):
    """The usual distribution function gave .8 in place of .5 at a thousand million trials, and none beyond."""
    k = binomial_mixture_quantile(0.95, np.array([[0.3]]), np.array([float(trials)]))
    z = (k - 0.3 * trials) / np.sqrt(0.21 * trials)
    assert z == pytest.approx(stats.norm.ppf(0.95), abs=2e-3)


def test_quantiles_of_levels():
    levels, chance = np.array([1.0, 2.0, 5.0]), np.array([[0.05, 0.9, 0.05], [0.5, 0.2, 0.3]])
    assert level_quantile(0.5, chance, levels).tolist() == [2.0, 1.0]
    assert level_quantile(0.05, chance, levels).tolist() == [1.0, 1.0]
    assert level_quantile(0.951, chance, levels).tolist() == [5.0, 5.0]


@pytest.mark.parametrize("own", [False, True])
def test_levels_by_hand(own):
    posterior = make_posterior("ordinal", own=own)
    laws = laws_at(posterior, ROWS, COLUMNS)
    chance = svd_predict.level_probabilities(laws)
    assert np.allclose(chance.sum(axis=1), 1) and (chance >= 0).all()
    f, noise = by_hand(posterior, 2, 3)
    each = []
    for s, draw in enumerate(posterior.draws):
        low, middle, high = draw.cuts
        first, last = np.exp(draw.row_stretch[2]) if own else (1.0, 1.0)
        cuts = [middle - (middle - low) * first, middle, middle + (high - middle) * last, np.inf]
        below = stats.norm.cdf(cuts, f[s], np.sqrt(noise[s]))
        each.append(np.diff(below, prepend=0.0))
    each = np.array(each)
    p = 2 * N_COLUMNS + 3
    assert np.allclose(chance[p], each.mean(axis=0), atol=1e-6)
    mean, std = svd_predict.expectation(laws, "ordinal", posterior.levels, noise=False)
    values = each @ posterior.levels
    assert mean[p] == pytest.approx(values.mean(), rel=1e-5) and std[p] == pytest.approx(values.std(), rel=1e-4)
    _, wide = svd_predict.expectation(laws, "ordinal", posterior.levels, noise=True)
    law = each.mean(axis=0)
    assert wide[p] == pytest.approx(np.sqrt(law @ posterior.levels**2 - (law @ posterior.levels) ** 2), rel=1e-4)
    middle = svd_predict.median(laws, "ordinal", posterior.levels)
    assert middle[p] == posterior.levels[np.argmax(np.cumsum(law) >= 0.5)]


def test_cut_points_of_strangers_are_spread_as_those_of_rows():
    posterior = make_posterior("ordinal", own=True, n_draws=400)
    cuts = posterior.cuts_of_rows(np.array([N_ROWS, N_ROWS + 3, 0]))
    common = np.array([draw.cuts for draw in posterior.draws])
    stretch = np.log(np.diff(cuts[:, 0]) / np.diff(common))
    assert np.array_equal(cuts[:, 0], cuts[:, 1]) and not np.array_equal(cuts[:, 0], cuts[:, 2])
    assert np.abs(stretch.mean(axis=0)).max() < 0.01 and np.allclose(stretch.std(axis=0), 0.6, rtol=0.02)
    assert abs(np.corrcoef(stretch.T)[0, 1]) < 0.15


def test_successes_by_hand():
    posterior = make_posterior("binomial")
    laws = laws_at(posterior, ROWS, COLUMNS)
    f, _ = by_hand(posterior, 1, 4)
    chance = stats.norm.cdf(f)
    mean, std = svd_predict.expectation(laws, "binomial", posterior.levels, noise=False)
    assert mean[N_COLUMNS + 4] == pytest.approx(chance.mean(), rel=1e-5)
    assert std[N_COLUMNS + 4] == pytest.approx(chance.std(), rel=1e-4)
    low = svd_predict.quantile(0.1, laws, "binomial", posterior.levels, noise=False)
    assert low[N_COLUMNS + 4] == pytest.approx(np.quantile(chance, 0.1, method="hazen"), abs=1e-6)


@pytest.mark.parametrize("link", ["gaussian", "ordinal", "binomial"])
def test_log_densities(link):
    posterior = make_posterior(link)
    laws = laws_at(posterior, ROWS[:4], COLUMNS[:4])
    if link == "gaussian":
        values = np.array([0.3, -1.0, 2.0, 50.0])
        expected = [
            np.log(stats.norm.pdf(v, f, np.sqrt(noise)).mean())
            for v, (f, noise) in zip(values[:3], (by_hand(posterior, ROWS[k], COLUMNS[k]) for k in range(3)))
        ]
        said = log_densities(laws, link, values, None)
        assert np.allclose(said[:3], expected, rtol=1e-5) and np.isfinite(said[3])
    elif link == "ordinal":
        said = log_densities(laws, link, np.array([0.0, 1.0, 2.0, 3.0]), None)
        assert np.allclose(np.exp(said), svd_predict.level_probabilities(laws)[range(4), range(4)])
    else:
        total = np.zeros(4)
        for k in range(8):
            total += np.exp(log_densities(laws, link, np.full(4, float(k)), np.full(4, 7.0)))
        assert np.allclose(total, 1)


# ---- rows and columns that training did not see ----


@pytest.mark.parametrize("link", ["gaussian", "ordinal", "binomial"])
@pytest.mark.parametrize("who", ["row", "column", "both"])
def test_strangers_by_simulation(link, who):
    """Prior means at random; the law of the cell is simulated from the prior of the new row and column."""
    posterior = make_posterior(link, n_draws=3, noise_df=None)
    rng = np.random.default_rng(8)
    means = [tuple(rng.normal(size=(1, d.U.shape[1] + 1)) for d in posterior.draws) for _ in range(2)]
    new_rows = Newcomers(means[0]) if who != "column" else None
    new_columns = Newcomers(means[1]) if who != "row" else None
    i, j = (0 if who == "column" else N_ROWS), (0 if who == "row" else N_COLUMNS)
    laws = laws_at(posterior, np.array([i]), np.array([j]), new_rows, new_columns)
    mean, std = svd_predict.expectation(laws, link, posterior.levels, noise=False)
    values, n = [], 200_000
    for s, d in enumerate(posterior.draws):
        u, b = np.broadcast_to(d.U[0], (n, 2)), d.row_offset[0]
        v, c = np.broadcast_to(d.V[0], (n, 2)), d.column_offset[0]
        if who != "column":
            m = means[0][s][0]
            u, b = m[:-1] + np.sqrt(d.theta) * rng.normal(size=(n, 2)), m[-1] + rng.normal(size=n) / d.tau_row**0.5
        if who != "row":
            m = means[1][s][0]
            v = m[:-1] + np.sqrt(d.column_theta) * rng.normal(size=(n, 2))
            c = m[-1] + rng.normal(size=n) / d.tau_column**0.5
        f = d.mean + b + c + (u * v).sum(axis=1)
        noise = 1 / (d.alpha * (d.row_noise[0] if i == 0 else 1) * (d.column_noise[0] if j == 0 else 1))
        if link == "gaussian":
            values.append(f)
        elif link == "binomial":
            values.append(stats.norm.cdf(f))
        else:
            below = stats.norm.cdf((np.append(d.cuts, np.inf)[:, None] - f) / np.sqrt(noise))
            values.append(posterior.levels @ np.diff(below, axis=0, prepend=0.0))
    values = np.concatenate(values)
    # the product of two unknown factors is not normal: of it only mean and variance are those of the model
    slack = 0.02 if who != "both" or link == "gaussian" else 0.08
    assert mean[0] == pytest.approx(values.mean(), abs=slack)
    assert std[0] == pytest.approx(values.std(), rel=0.01 if who != "both" else 0.1)


def test_the_noise_of_a_stranger_is_averaged_over_its_prior():
    posterior = make_posterior(n_draws=400)
    g, d = posterior.stranger_noise["row"], posterior.stranger_noise["column"]
    for x in (g, d):
        assert x.mean() == pytest.approx(1.0, abs=0.01) and x.var() == pytest.approx(1 / 3, rel=0.05)
        assert abs(np.corrcoef(x, np.arange(400))[0, 1]) < 0.1
    assert abs(np.corrcoef(g, d)[0, 1]) < 0.1


def test_doubt_becomes_nodes():
    laws = laws_at(make_posterior("binomial", n_draws=1), np.array([N_ROWS]), np.array([0]),
                   make_posterior("binomial", n_draws=1).strangers("row", 1))  # fmt: skip
    f, v = float(laws.f[0, 0]), float(laws.doubt[0, 0])
    exact = integrate.quad(lambda x: stats.norm.cdf(f + np.sqrt(v) * x) ** 2 * stats.norm.pdf(x), -9, 9)[0]
    wide = laws.spread()
    assert wide.weight @ wide.chances()[:, 0] ** 2 == pytest.approx(exact, abs=1e-4)
    assert wide.weight @ wide.chances()[:, 0] == pytest.approx(float(laws.chances()[0, 0]), abs=1e-4)


def test_thinning_keeps_the_ends():
    posterior = make_posterior(n_draws=10)
    few = thinned(posterior, 4)
    assert few.draws[0] is posterior.draws[0] and few.draws[-1] is posterior.draws[-1] and len(few.draws) == 4
    assert thinned(posterior, 10) is posterior


# ---- features of new rows ----


def holed(seed=0, n=40, p=30, structured=True):
    rng = np.random.default_rng(seed)
    chance = np.where((np.arange(n)[:, None] % 2) == (np.arange(p) % 2), 0.6, 0.1) if structured else 0.35
    row, column = np.nonzero(rng.random((n, p)) < chance)
    return Entries.of(row, column, rng.normal(size=len(row)), n, p)


@pytest.mark.parametrize("side", ["row", "column"])
@pytest.mark.parametrize("missingness", [0, 5, "auto"])
@pytest.mark.parametrize("given", [None, 3])
def test_a_training_row_seen_as_new_has_its_own_features(side, missingness, given):
    entries = holed()
    n = entries.n_rows if side == "row" else entries.n_columns
    features = None if given is None else np.random.default_rng(1).normal(size=(n, given))
    known = Side.from_tree(make_side(entries, side, features, missingness).to_tree())
    own, other = (entries.row, entries.column) if side == "row" else (entries.column, entries.row)
    matrices = known.matrices(features, [np.sort(other[own == k]) for k in range(n)])
    assert len(matrices) == len(known.features.blocks)
    assert len(matrices) == (given is not None or missingness == 5) + (missingness != 0)
    for matrix, block in zip(matrices, known.features.blocks):
        assert np.allclose(matrix @ block.axes, block.rows)


def test_a_mask_that_chance_could_have_made_gives_no_features():
    assert not make_side(holed(structured=False), "row", None, "auto").features.blocks
    assert make_side(holed(structured=True), "row", None, "auto").vectors
    whole = Entries.of(np.repeat(range(10), 10), np.tile(range(10), 10), np.zeros(100), 10, 10)
    assert not make_side(whole, "row", None, "auto").features.blocks


def test_unknown_features_count_as_the_mean():
    given = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0], [5.0, 0.0]])
    side = make_side(Entries.of([0, 1], [0, 0], [1.0, 2.0], 4, 2), "row", given, 0)
    assert side.centre.tolist() == [3.0, 0.0] and side.scale[1] == 1.0
    (block,) = side.matrices(np.array([[np.nan, np.nan]]), [np.zeros(0, int)])
    assert block.tolist() == [[1.0, 0.0, 0.0]]
