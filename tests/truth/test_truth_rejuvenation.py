"""Streams whose particles are seated anew from a reservoir: they keep the exact posterior over partitions."""

import numpy as np
import pytest
from enumeration import co_assignment, exact_posterior, total_variation
from small_tables import USUAL_GRIDS, clustered_table, fixed_hyper

from partita.kernels.contract import Layout, Rows
from partita.models.mixtures import rejuvenation, stream
from partita.models.mixtures.bank import Bank, Reservoir, Rule
from partita.models.mixtures.filter import weights
from partita.models.mixtures.problem import Settings

ALPHA, SEED, ROWS = 1.0, 1, 8


def learnt(
    layout: Layout, rows: Rows, rule: Rule, seed: int, n_banks: int = 1
) -> tuple[list[Bank], Reservoir, list[np.random.Generator]]:
    """Banks with fixed hyper-parameters that have learnt all rows."""
    banks, reservoir = stream.open_stream(layout, rows, rule, n_banks)
    for bank in banks:
        bank.hyper[:] = fixed_hyper(layout)
    *streams, chooser = np.random.default_rng(seed).spawn(n_banks + 1)
    stream.learn(layout, rows, np.zeros(ROWS, np.int32), rule, banks, reservoir, streams, chooser)
    return banks, reservoir, streams


def rule_of(n_particles: int, n_sweeps: int, window: int = ROWS, alpha: float = ALPHA, cap: int = 50) -> Rule:
    settings = Settings(cap=cap, alpha=alpha, column_prior=0.5)
    return Rule(1, n_particles, n_sweeps, window=window, block=4, settings=settings)


def rejuvenated(name: str, draws: int, alpha: float = ALPHA) -> np.ndarray:
    """Groups (draws, rows) of a single particle after each of many rejuvenations."""
    layout, rows = clustered_table(name, SEED)
    rule = rule_of(1, 2, alpha=alpha)
    (bank,), reservoir, (rng,) = learnt(layout, rows, rule, 0)
    z = np.empty((draws, ROWS), int)
    for t in range(draws):
        rejuvenation.rejuvenate(layout, rule, bank, reservoir, rng)
        z[t] = bank.filters[0].history[0]
    return z


@pytest.mark.parametrize("name", ["mixed", "real"])
def test_a_single_particle_comes_to_the_exact_posterior(name):
    layout, rows = clustered_table(name, SEED)
    truth, draws = exact_posterior(layout, rows, fixed_hyper(layout), ALPHA), 10_000
    assert truth.distance(rejuvenated(name, draws)) < truth.tolerance(draws)
    assert truth.distance(rejuvenated(name, 3000, 3 * ALPHA)) > truth.tolerance(draws)  # the control


def test_short_streams_end_at_the_exact_posterior():
    """Independent streams of eight rows in two blocks, sweeps after each: their last states are posterior draws."""
    layout, rows = clustered_table("mixed", SEED)
    truth, draws = exact_posterior(layout, rows, fixed_hyper(layout), ALPHA), 1500
    banks, *_ = learnt(layout, rows, rule_of(1, 12), 4, draws)
    z = np.stack([bank.filters[0].history[0] for bank in banks])
    assert truth.distance(z) < 1.5 * truth.tolerance(draws) / 3


def test_moved_particles_keep_weights_posterior_and_evidence():
    """Many particles of one bank, moved after each block: weighted they are the posterior, the evidence is right."""
    layout, rows = clustered_table("mixed", SEED)
    truth, n_particles = exact_posterior(layout, rows, fixed_hyper(layout), ALPHA), 6000
    (bank,), *_ = learnt(layout, rows, rule_of(n_particles, 2), 5)
    f = bank.filters[0]
    assert truth.distance(f.history, weights(f)) < truth.tolerance(n_particles)
    assert f.totals[1] == pytest.approx(truth.log_evidence, abs=0.05)


def test_a_reservoir_of_some_rows_keeps_the_number_of_groups():
    """Rows that left the reservoir stay seated: the law of the number of groups of all rows is still exact."""
    layout, rows = clustered_table("mixed", SEED)
    truth, n_particles = exact_posterior(layout, rows, fixed_hyper(layout), ALPHA), 6000
    (bank,), *_ = learnt(layout, rows, rule_of(n_particles, 2, window=5), 6)
    f = bank.filters[0]
    number = np.bincount(truth.partitions.max(axis=1) + 1, truth.probability, minlength=ROWS + 1)
    assert total_variation(np.bincount(f.used, weights(f), minlength=ROWS + 1), number) < 0.02


@pytest.mark.parametrize("n_classes", [1, 2])
def test_particles_follow_their_bank_to_new_hyper_parameters(n_classes):
    """Particles are reweighted when the hyper-parameters they share move: they are the posterior given the new ones."""
    tables = [clustered_table("mixed", seed)[1] for seed in (1, 5)[:n_classes]]
    layout, n = clustered_table("mixed", SEED)[0], ROWS * n_classes
    rows = Rows(np.concatenate([t.codes for t in tables]), np.concatenate([t.reals for t in tables]))
    label = np.repeat(np.arange(n_classes, dtype=np.int32), ROWS)
    settings = Settings(n_classes=n_classes, cap=50, alpha=ALPHA, grids=USUAL_GRIDS)
    rule = Rule(n_classes, 4000, 1, window=n, block=n, settings=settings)
    errors = []
    for seed in range(5):  # the median counts: far from the old hyper-parameters few particles carry the weight
        banks, reservoir = stream.open_stream(layout, rows, rule, 1)
        *streams, chooser = np.random.default_rng(seed).spawn(2)
        stream.learn(layout, rows, label, rule, banks, reservoir, streams, chooser)
        for c, f in enumerate(banks[0].filters):
            truth = exact_posterior(layout, tables[c], banks[0].hyper, ALPHA)
            expected = co_assignment(truth.partitions, truth.probability)
            errors.append(np.abs(co_assignment(f.history[:, label == c], weights(f)) - expected).max())
    assert np.median(errors) < 0.05
