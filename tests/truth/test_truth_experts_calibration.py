"""Calibration by simulation of gated experts: tables from the prior, learnt by chains from their usual start; what
these say of the class and of a cell of a row held out is right as often as they say."""

from dataclasses import replace

import numpy as np
import pytest
from experts_prior import World, draw_parameters, draw_sticks, draw_table
from scipy import stats

from partita.kernels.contract import Rows
from partita.models.gated.gibbs import GibbsProblem, Moves
from partita.models.gated.gibbs_answer import Kept, model_of

TRAINING = 24
LEAST = 0.001  # p-value below which the test fails


def one_table(rng: np.random.Generator, world: World, sweeps: int) -> tuple[np.ndarray, int, float]:
    """Probabilities of the classes of a row held out, its class, and the rank of its second cell among draws."""
    now = draw_parameters(rng, world)
    whole, state = draw_table(rng, world, now, draw_sticks(rng, world, now))
    label = whole.given.label
    rows = Rows(np.zeros((world.n, 0), np.int32), np.where(world.holes()[0], np.nan, state.x))
    training = rows.take(np.arange(TRAINING))
    problem = GibbsProblem.make(
        world.view, training, label[:TRAINING], np.ones(TRAINING), world.n_classes, world.priors, 1, Moves()
    )
    shown, half = state.x[-1:].copy(), state.x[-1:].copy()
    half[0, 1] = np.nan
    chain = problem.init(rng)
    total, density, below = np.zeros(world.n_classes), 0.0, 0.0
    for sweep in range(sweeps):
        chain, _ = problem.step(rng, chain)
        if sweep >= sweeps // 4 and sweep % 3 == 0:
            speaker = model_of(Kept.of(chain), world.view, world.n_classes)
            answer = speaker.answer(Rows(np.zeros((1, 0), np.int32), shown))
            total += (np.exp(answer.log_gate[0])[:, None] * np.exp(answer.log_class[0])).sum(axis=0)
            gate = np.exp(speaker.answer(Rows(np.zeros((1, 0), np.int32), half)).log_gate[0])
            law = speaker.laws(Rows(np.zeros((1, 0), np.int32), half))
            mean, sd = law.location, law.scale[0, :, 1]
            density += gate.sum()
            below += float(gate @ stats.norm.cdf(state.x[-1, 1], mean[0, :, 1], sd))
    return total / total.sum(), int(label[-1]), below / density


@pytest.mark.slow
@pytest.mark.parametrize(
    "world", [World("own"), World("pooled"), World("own", n_classes=3), World(None)],
    ids=["own", "pooled", "three classes", "pure gates"],
)  # fmt: skip
def test_predictions_are_right_as_often_as_they_say(world):
    world = replace(world, beside=False, n=TRAINING + 1, unlabelled=(3, 7))
    rng = np.random.default_rng(11)
    found = [one_table(rng, world, 80) for _ in range(150)]
    proba, label = np.array([f[0] for f in found]), np.array([f[1] for f in found])
    for c in range(world.n_classes):
        p, y = proba[:, c], (label == c).astype(float)
        spread = p * (1 - p)
        for weight in (np.ones(len(p)), p - p.mean()):  # right on average, and neither too bold nor too timid
            z = (weight @ (y - p)) / np.sqrt((weight**2) @ spread)
            assert 2 * stats.norm.sf(abs(z)) > LEAST, (c, z)
    ranks = np.array([f[2] for f in found])
    assert stats.kstest(ranks, "uniform").pvalue > LEAST
