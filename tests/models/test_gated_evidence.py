"""What split-merge of gated experts rests on: the law of a probit expert, and evidence with missing cells and gates
integrated out."""

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp

from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.kernels.contract import Rows
from partita.models.gated import gibbs_evidence
from partita.models.gated.gibbs import GibbsProblem
from partita.models.gated.gibbs_fits import Expert, Part
from partita.models.gated.gibbs_probit import probit_law
from partita.models.gated.gibbs_rows import draw_rows
from partita.models.gated.gibbs_state import GibbsState, Parameters
from partita.models.gated.rows import View
from partita.models.gated.state import Priors

GATE = NormalInverseWishart(np.array([0.2, -0.3]), np.array(0.6), np.array(5.0), np.array([[2.0, 0.5], [0.5, 1.5]]))


def problem(x: np.ndarray, label: np.ndarray, experts: str | None, seed: int = 0) -> tuple[GibbsProblem, GibbsState]:
    """Two real columns, all rows in the first of two sticks."""
    view = View(None, np.arange(2), (), (), ())  # type: ignore[arg-type]
    rows = Rows(np.zeros((len(x), 0), np.int32), np.ascontiguousarray(x))
    made = GibbsProblem.make(view, rows, label, np.ones(len(x)), 2, Priors(GATE, experts, 2), 1)
    rng, k = np.random.default_rng(seed), 1 if experts else 0
    mean, covariance = GATE.sample_parameters(rng, 2)
    now = Parameters(
        1.0, np.array([0.0, -800.0]), mean, np.linalg.inv(covariance), [], rng.standard_normal((2, k, 3)),
        np.zeros((k, 3)), np.ones(3), np.full(2, -1) if experts else np.zeros(2, np.int64),
    )  # fmt: skip
    z = np.zeros(len(x), np.int32)
    return made, GibbsState(now, z, np.nan_to_num(x), np.zeros((0, len(x)), np.int64), np.zeros((len(x), k)))


def estimates(
    made: GibbsProblem, state: GibbsState, n: int, now: tuple[np.ndarray, np.ndarray] | None = None, seed: int = 4
) -> np.ndarray:
    part = Part.of(made.given, state, np.arange(made.given.n_rows))
    rng, prior = np.random.default_rng(seed), Expert.prior(state.parameters)
    return np.array([gibbs_evidence.log_evidence(rng, part, prior, 64, now)[0] for _ in range(n)])


def rows_with_a_hole() -> tuple[np.ndarray, float]:
    """Six complete rows and one with a hole, and their log evidence, which has a closed form."""
    x = np.random.default_rng(1).normal(size=(7, 2)) * [1.0, 0.5] + [0.5, 0.0]
    x[-1, 1] = np.nan
    statistics = GATE.statistics(x[:-1])
    exact = float(GATE.log_marginal(statistics) + GATE.posterior(statistics).log_predictive(x[-1]))
    return x, exact


def test_the_evidence_of_complete_rows_is_exact():
    x, _ = rows_with_a_hole()
    made, state = problem(x[:-1], np.full(6, -1), None)
    assert np.allclose(estimates(made, state, 3), GATE.log_marginal(GATE.statistics(x[:-1])), atol=1e-9)


def test_the_evidence_of_rows_with_a_hole_has_no_bias():
    x, exact = rows_with_a_hole()
    made, state = problem(x, np.full(7, -1), None)
    ratio = np.exp(estimates(made, state, 150) - exact)
    assert abs(ratio.mean() - 1.0) < 4.0 * ratio.std() / np.sqrt(len(ratio))
    assert ratio.std() < 0.5


def test_labels_are_part_of_the_evidence():
    """Complete rows: the integral over the expert by many draws from its prior."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(8, 2))
    label = (x[:, 0] + 0.5 * rng.normal(size=8) > 0).astype(np.int64)
    made, state = problem(x, label, "own")
    w = rng.standard_normal((400_000, 3))
    features = np.concatenate([x, np.ones((8, 1))], axis=1)
    of_labels = logsumexp(log_ndtr(np.where(label == 1, 1, -1) * (w @ features.T)).sum(axis=1)) - np.log(len(w))
    ratio = np.exp(estimates(made, state, 300) - GATE.log_marginal(GATE.statistics(x)) - of_labels)
    assert abs(ratio.mean() - 1.0) < 4.0 * ratio.std() / np.sqrt(len(ratio)) + 0.01
    assert ratio.std() < 0.6


def test_the_path_walked_back_gives_the_inverse():
    """From draws of the posterior the inverse of the estimate has no bias."""
    x, exact = rows_with_a_hole()
    made, state = problem(x, np.full(7, -1), None)
    rng, inverse = np.random.default_rng(3), []
    statistics = GATE.statistics(x[:-1])
    law = GATE.posterior(statistics)
    for k in range(150):
        cells = x.copy()
        cells[-1] = law.draw_missing(x[-1], rng)
        inverse.append(np.exp(exact - estimates(made, state, 1, (cells, state.parameters.w[0]), k)[0]))
    assert abs(np.mean(inverse) - 1.0) < 4.0 * np.std(inverse) / np.sqrt(len(inverse))


def test_an_estimate_leaves_the_state_as_it_is():
    x, _ = rows_with_a_hole()
    made, state = problem(x, np.array([0, 1, 0, 1, 1, 0, 1]), "own")
    state, _ = draw_rows(np.random.default_rng(0), made.given, state, 1)
    before = state.x.copy(), state.parameters.w.copy()
    estimates(made, state, 1, (state.x, state.parameters.w[0]))
    assert (state.x == before[0]).all() and (state.parameters.w == before[1]).all()


FEATURE, NOISE = np.array([-2.0, -1.5, -1.0, 1.0, 1.4, 3.0]), np.array([1.0, 1.5, 1.0, 2.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("label", "tolerance"),
    [([1], 1e-6), ([0, 1, 0, 1, 0, 1], 0.03), ([0, 0, 0, 1, 1, 1], 0.3)],
    ids=["one", "mixed", "told apart"],
)
def test_the_law_of_a_probit_expert(label, tolerance):
    """Mean and variance against a sum over a grid; with one label they are exact, and where labels are told apart the
    posterior is skewed (a variational law has a twentieth of its variance)."""
    sign, n = np.where(np.array(label) == 1, 1.0, -1.0), len(label)
    mean, precision = probit_law(FEATURE[-n:, None], sign, NOISE[-n:], np.array([0.3]), np.array([0.25]))
    w = np.linspace(-15, 15, 20_001)
    logs = -0.125 * (w - 0.3) ** 2 + log_ndtr(sign * w[:, None] * FEATURE[-n:] / np.sqrt(NOISE[-n:])).sum(axis=1)
    share = np.exp(logs - logsumexp(logs))
    assert abs(mean[0] - share @ w) < 0.1 * tolerance
    assert abs(1.0 / precision[0, 0] / (share @ w**2 - (share @ w) ** 2) - 1.0) < tolerance


def test_an_expert_without_rows_is_its_prior():
    mean, precision = probit_law(np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert (mean == [1.0, 2.0]).all() and (precision == np.diag([3.0, 4.0])).all()
