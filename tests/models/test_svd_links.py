"""Links and the coordinate sampler of the Bayesian SVD as chains run them: starts, kept draws, threads, refusals."""

import numpy as np
import pytest
from scipy.special import ndtr

from partita import BayesianSVD
from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import coordinate as svd_coordinate
from partita.models.matrices import ordinal as svd_ordinal
from partita.models.matrices.entries import Entries
from partita.models.matrices.features import Features
from partita.models.matrices.growth import grow
from partita.models.matrices.problem import Problem


def ratings(link, features=False, seed=0, shape=(60, 45)):
    """A problem whose truth has one component."""
    rng = np.random.default_rng(seed)
    signal = 1.5 * rng.normal(size=(shape[0], 1)) @ rng.normal(size=(1, shape[1]))
    row, column = np.nonzero(rng.random(shape) < 0.6)
    x, trials = signal[row, column] + rng.normal(size=len(row)), None
    if link == "ordinal":
        values = np.digitize(x, [-1.5, -0.5, 1.0]).astype(float)
    elif link == "binomial":
        trials = rng.integers(0, 30, len(row)).astype(float)
        values = rng.binomial(trials.astype(int), ndtr(signal[row, column])).astype(float)
    else:
        values = x
    sides = [Features.of(n, [rng.normal(size=(n, 2))] if features else []) for n in shape]
    coordinate = link == "coordinate"
    return Problem.of(
        Entries.of(row, column, values, *shape, trials), link="gaussian" if coordinate else link,
        n_levels=4 if link == "ordinal" else 0, prior="paper" if coordinate else "ard", offsets=not coordinate,
        unequal_noise=link == "ordinal", max_rank=4, row_features=sides[0], column_features=sides[1],
    ), signal  # fmt: skip


def swept(link, n, n_threads=1, burn_in=30, **given):
    problem, signal = ratings(link, **given)
    sampler = svd_coordinate if link == "coordinate" else svd_blocked
    rng = np.random.default_rng(1)
    state, kept = sampler.init(problem, rng), []
    for sweep in range(n):
        state, info = sampler.step(problem, rng, state, n_threads)
        assert np.isfinite(info["log_likelihood"])
        if sweep < burn_in:
            sampler.adapt(problem, rng, state, sweep < burn_in // 2, n_threads)
        else:
            kept.append(sampler.kept(problem, state))
    return problem, signal, state, kept


@pytest.mark.parametrize("link", ["ordinal", "binomial", "coordinate"])
def test_the_signal_is_found(link):
    _, signal, _, kept = swept(link, 80)
    row, column = np.indices(signal.shape).reshape(2, -1)
    found = np.mean([draw.fitted(row, column) for draw in kept], axis=0)
    assert np.corrcoef(found, signal.ravel())[0, 1] > 0.9
    if link != "coordinate":  # whose rank depends on its start
        assert np.median([draw.rank for draw in kept]) == 1


@pytest.mark.parametrize("link", ["ordinal", "binomial", "coordinate"])
def test_same_bytes_for_any_number_of_threads(link, monkeypatch):
    monkeypatch.setattr("partita.models.matrices.pieces.PIECE_WORK", 2000.0)  # pieces even of this small matrix
    one, two = (swept(link, 6, n_threads, burn_in=3)[2] for n_threads in (1, 2))
    for name in ("U", "V", "row_offset", "column_offset", "cuts", "latent", "s", "z"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_a_kept_draw_holds_the_effects_of_features():
    problem, _, state, kept = swept("coordinate", 40, features=True)
    row, column = problem.entries.row, problem.entries.column
    sweep = svd_coordinate.Sweep.begin(problem, np.random.default_rng(0), state)
    np.testing.assert_allclose(kept[-1].fitted(row, column), sweep.fitted(), atol=1e-4)
    # a row of known features has its own line of U as prior mean, where the features stand
    block, draw = problem.row_features.blocks[0], kept[-1]
    raw = block.rows @ block.axes.T
    mean = raw @ block.axes @ draw.row_coefficients[0]
    known = slice(draw.U.shape[1] - 4, draw.U.shape[1] - 2)
    np.testing.assert_allclose(mean[:, known], draw.U[:, known], atol=1e-4)


def test_a_grown_matrix_starts_its_effects_anew():
    _, _, state, _ = swept("coordinate", 5, features=True)
    bigger, _ = ratings("coordinate", features=True, shape=(62, 47))
    grown = grow(bigger, state, np.random.default_rng(0))
    assert grown.row_effects.shape == (62, 2) and grown.column_effects.shape == (47, 2)
    svd_coordinate.step(bigger, np.random.default_rng(0), grown)


def test_a_grown_ordinal_matrix_goes_on():
    _, _, state, _ = swept("ordinal", 5)
    bigger, _ = ratings("ordinal", shape=(62, 47))
    grown = grow(bigger, state, np.random.default_rng(0))
    after, info = svd_blocked.step(bigger, np.random.default_rng(0), grown)
    assert len(after.latent) == len(bigger.entries) and np.isfinite(info["log_likelihood"])


def test_steps_of_cut_points_follow_what_is_accepted():
    problem, _ = ratings("ordinal")
    state = svd_blocked.init(problem, np.random.default_rng(0))
    state.cut_taken, before = np.array([True, False, True]), state.cut_step.copy()
    svd_ordinal.adapt_steps(state)
    assert ((state.cut_step > before) == state.cut_taken).all()


def test_a_level_that_never_occurs_has_a_place():
    entries = Entries.of(np.arange(6), np.arange(6), np.array([0.0, 0, 3, 3, 3, 0]), 6, 6)
    cuts, step, latent = svd_ordinal.start(Problem.of(entries, link="ordinal", n_levels=4))
    assert (np.diff(cuts) > 0).all() and np.isfinite(latent).all() and (step > 0).all()


@pytest.mark.parametrize(
    "given, told",
    [
        ({"sampler": "coordinate"}, "prior='paper'"),
        ({"sampler": "coordinate", "prior": "paper", "unequal_noise": True}, "equal noise"),
        ({"link": "binomial", "unequal_noise": True}, "unequal_noise"),
    ],
)
def test_what_cannot_go_together_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        BayesianSVD(**given).fit(np.eye(3))
