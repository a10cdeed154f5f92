"""The particle filter against all partitions of eight rows: posterior, evidence, every resampling scheme."""

from functools import cache

import numpy as np
import pytest
from enumeration import Exact, exact_posterior
from small_tables import TABLES, clustered_table, fixed_hyper

from partita.kernels.contract import MULTINOMIAL, RESIDUAL, STRATIFIED, SYSTEMATIC, Filter
from partita.models.mixtures.filter import new_filter, seat_rows, weights

ALPHA, SEED, ROWS = 1.0, 1, 8
SCHEMES = {"systematic": SYSTEMATIC, "stratified": STRATIFIED, "residual": RESIDUAL, "multinomial": MULTINOMIAL}


@cache
def exact(name: str, cap: int | None = None) -> Exact:
    layout, rows = clustered_table(name, SEED)
    return exact_posterior(layout, rows, fixed_hyper(layout), ALPHA, cap)


def filtered(
    name: str, rng: np.random.Generator, n_particles: int, threshold: float, scheme: int = SYSTEMATIC, cap: int = 50
) -> Filter:
    """A filter that has seen all rows, the seats of all of them in its window."""
    layout, rows = clustered_table(name, SEED)
    f = new_filter(layout, n_particles, ALPHA, cap, ROWS)
    uniforms, order = rng.random((ROWS, n_particles + 1)), np.arange(ROWS)
    seat_rows(layout, fixed_hyper(layout), rows, f, order, order, uniforms, threshold=threshold, scheme=scheme)
    return f


@pytest.mark.parametrize("name", TABLES)
def test_many_particles_have_the_exact_posterior(name):
    n_particles = 60_000
    f = filtered(name, np.random.default_rng(0), n_particles, 0.5)
    assert exact(name).distance(f.history, weights(f)) < exact(name).tolerance(n_particles)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_resampling_scheme_keeps_the_posterior(scheme):
    """Resampled after every row."""
    n_particles = 60_000
    f = filtered("mixed", np.random.default_rng(1), n_particles, 1.0, SCHEMES[scheme])
    assert f.totals[2] >= ROWS - 2
    assert exact("mixed").distance(f.history, weights(f)) < exact("mixed").tolerance(n_particles)


@pytest.mark.parametrize("cap", [2, 3])
@pytest.mark.parametrize("name", ["binary", "mixed"])
def test_capped_particles_have_the_law_cut_off_at_the_cap(name, cap):
    """The law of `priors.partition`, which chains sample."""
    n_particles = 60_000
    f = filtered(name, np.random.default_rng(0), n_particles, 0.5, cap=cap)
    assert exact(name, cap).distance(f.history, weights(f)) < exact(name, cap).tolerance(n_particles)


def test_particles_without_their_weights_are_told_apart():
    """The control: the same particles, never resampled, are far from the posterior until they are weighted."""
    n_particles, truth = 60_000, exact("mixed")
    f = filtered("mixed", np.random.default_rng(2), n_particles, 0.0)
    assert f.totals[2] == 0
    assert truth.distance(f.history, weights(f)) < truth.tolerance(n_particles) < truth.distance(f.history) / 2


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", TABLES)
def test_evidence_is_unbiased(name, scheme):
    """The mean over many small filters of the evidence, not of its logarithm, is the exact one (factorials and all)."""
    layout, rows = clustered_table(name, SEED)
    rng, n_particles, order, hyper = np.random.default_rng(3), 8, np.arange(ROWS), fixed_hyper(layout)
    ratio = np.empty(2000)
    for k in range(len(ratio)):
        f = new_filter(layout, n_particles, ALPHA, 50, ROWS)
        uniforms = rng.random((ROWS, n_particles + 1))
        seat_rows(layout, hyper, rows, f, order, order, uniforms, threshold=0.9, scheme=SCHEMES[scheme])
        ratio[k] = np.exp(f.totals[1] - exact(name).log_evidence)
    error = ratio.std() / np.sqrt(len(ratio))
    assert error < 0.05
    assert abs(ratio.mean() - 1.0) < 3 * error
