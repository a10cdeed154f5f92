"""Gated experts by Gibbs sampling against all allotments of five rows to two sticks, summed one by one.

The exact side knows nothing of the sampler: Student's t of all cells of a component at once, experts and a missing cell
by quadrature, sticks by quadrature."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import multivariate_t

from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.kernels.contract import Rows
from partita.models.gated.gibbs import GibbsProblem, Moves
from partita.models.gated.gibbs_answer import Kept, model_of
from partita.models.gated.rows import View
from partita.models.gated.state import Priors

ALPHA, MEAN, KAPPA, NU, SCALE = 0.7, 0.3, 0.5, 4.0, 1.5
X = np.array([-1.2, -0.7, 0.9, 1.6, np.nan])
LABEL = {"own": np.array([0, 1, 1, 0, 1]), None: np.array([0, 0, 1, -1, 1])}
NEW = 0.4
NODES, MASS = np.polynomial.hermite_e.hermegauss(30)
GRID, STEP = np.linspace(-14.0, 14.0, 281, retstep=True)  # of the missing cell


def density(x: np.ndarray) -> np.ndarray:
    """Of all cells of one component (..., m), mean and variance integrated out."""
    m = x.shape[-1]
    if not m:
        return np.ones(x.shape[:-1])
    shape = SCALE / NU * (np.eye(m) + 1.0 / KAPPA)
    return multivariate_t(np.full(m, MEAN), shape, df=NU).pdf(x)


def labels_given(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    """P(labels | cells (..., m)) of one component, w ~ N(0, I) by quadrature."""
    slope, constant = np.meshgrid(NODES, NODES)
    mass = np.outer(MASS, MASS) / (2 * np.pi)
    for i, y in enumerate(label):
        mass = mass * ndtr((2 * y - 1) * (slope * x[..., i, None, None] + constant))
    return mass.sum(axis=(-2, -1))


def component(x: np.ndarray, label: np.ndarray, experts: str | None) -> float:
    """Probability of cells and labels; a missing cell is summed over where a label hangs on it."""
    if experts is None:
        held = np.unique(label[label >= 0])
        return float(density(x[~np.isnan(x)])) * (0.0 if len(held) > 1 else 0.5 ** len(held))
    if not np.isnan(x).any():
        return float(density(x) * labels_given(x, label))
    filled = np.where(np.isnan(x), GRID[:, None], x)
    return float((density(filled) * labels_given(filled, label)).sum() * STEP)


def sticks(first: int, second: int) -> float:
    """p(z), the one stick that breaks integrated out."""
    return quad(lambda v: ALPHA * v**first * (1 - v) ** (second + ALPHA - 1), 0, 1)[0]


def exact(x: np.ndarray, label: np.ndarray, experts: str | None) -> dict[tuple[int, ...], float]:
    """Joint probability of z, cells and labels for every z."""
    out, memory = {}, {}
    for z in product((0, 1), repeat=len(x)):
        total = sticks(z.count(0), z.count(1))
        for h in (0, 1):
            mine = tuple(i for i, k in enumerate(z) if k == h)
            if mine not in memory:
                at = list(mine)
                memory[mine] = component(x[at], label[at], experts)
            total *= memory[mine]
        out[z] = total
    return out


def chain(experts: str | None, moves: Moves, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Sticks of every step (steps, 5), and what each state says of the class of a new row."""
    gate = NormalInverseWishart(np.array([MEAN]), np.array(KAPPA), np.array(NU), np.array([[SCALE]]))
    view = View(None, np.arange(1), (), (), ())  # type: ignore[arg-type]
    rows = Rows(np.zeros((5, 0), np.int32), X[:, None])
    priors = Priors(gate, experts, 2)
    problem = GibbsProblem.make(view, rows, LABEL[experts], np.ones(5), 2, priors, 1, moves)
    rng = np.random.default_rng(7)
    state, z, said = problem.init(rng), [], []
    new = Rows(np.zeros((1, 0), np.int32), np.array([[NEW]]))
    for _ in range(steps):
        state, _ = problem.step(rng, state)
        answer = model_of(Kept.of(state), view, 2).answer(new)
        z.append(state.z.copy())
        joint = np.exp(answer.log_gate[0])[:, None] * np.exp(answer.log_class[0])
        said.append(joint.sum(axis=0))
    return np.array(z), np.array(said)


def off(draws: np.ndarray, truth: float) -> float:
    """Distance of the mean from the truth in standard errors, by batches."""
    means = draws.reshape(30, -1).mean(axis=1)
    return float(abs(means.mean() - truth) / max(means.std(ddof=1) / np.sqrt(30), 1e-12))


def compare(event: np.ndarray, truth: float) -> None:
    """How often something happened with how often it should; what is certain must hold at every step."""
    if 1e-9 < truth < 1 - 1e-9:
        assert off(event, truth) < 4.0
    else:
        assert event.mean() == pytest.approx(truth, abs=1e-9)


def check(experts: str | None, moves: Moves, steps: int) -> None:
    z, said = chain(experts, moves, steps)
    # two classes that may not share a component fill both sticks: unless sticks are exchanged they stay where they are
    stay = experts is None and not moves.swaps

    def law(x: np.ndarray, label: np.ndarray) -> dict[tuple[int, ...], float]:
        return {key: p for key, p in exact(x, label, experts).items() if not stay or key[0] == z[0, 0]}

    table = law(X, LABEL[experts])
    total = sum(table.values())
    for i in range(5):
        truth = sum(p for key, p in table.items() if key[i] == 0) / total
        compare(z[:, i] == 0, truth)
        for j in range(i):
            truth = sum(p for key, p in table.items() if key[i] == key[j]) / total
            compare(z[:, i] == z[:, j], truth)
    for y in (0, 1):  # density of the new row's cell and class, given the others
        with_new = law(np.append(X, NEW), np.append(LABEL[experts], y))
        assert off(said[:, y], sum(with_new.values()) / total) < 4.0, y


@pytest.mark.parametrize("experts", ["own", None])
def test_all_allotments(experts):
    check(experts, Moves(alpha=ALPHA), 600)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [Moves(alpha=ALPHA), Moves(alpha=ALPHA, split_merge=0, swaps=0)])
@pytest.mark.parametrize("experts", ["own", None])
def test_all_allotments_in_a_long_run(experts, moves):
    check(experts, moves, 30_000)
