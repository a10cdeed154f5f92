"""Gibbs chains over gated experts as samplers: starts, resume, threads, weights, hand-over, answers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr
from scipy.stats import multivariate_normal, norm

from partita import IQGMEClassifier
from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.inference.checkpoint import Checkpoint
from partita.inference.loop import run
from partita.inference.streams import spawn_streams
from partita.kernels.contract import Rows
from partita.models.gated.cells import CellColumn
from partita.models.gated.fit import GatedProblem
from partita.models.gated.gibbs import GibbsProblem, Moves
from partita.models.gated.gibbs_answer import Kept, model_of
from partita.models.gated.gibbs_draws import draw_parameters
from partita.models.gated.gibbs_moves import exchange_sticks, pick_pair
from partita.models.gated.gibbs_start import from_variational, to_variational
from partita.models.gated.gibbs_state import GibbsState
from partita.models.gated.gibbs_variates import above, choose, log_dirichlet, log_gamma
from partita.models.gated.rows import View
from partita.models.gated.state import Priors

BINARY = CellColumn(False, 0, np.array([1.0, 1.0]), np.array([[-1.0], [1.0]]))
COUNT = CellColumn(True, 3, np.array([3.0, 1.5]), ((np.log1p(np.arange(40)) - 0.9) / 0.6)[:, None], 0.9, 0.6)


def table(n_classes: int, n: int = 60) -> tuple[View, Rows, np.ndarray]:
    """Clusters that tell their class, with missing cells of every kind and some rows without a label."""
    rng = np.random.default_rng(3)
    group = rng.integers(n_classes, size=n)
    x = 3.0 * np.eye(3)[group % 3] + rng.standard_normal((n, 3))
    codes = (rng.random(n) < 0.2 + 0.6 * (group == 0)).astype(np.int32)[:, None]
    reals = np.concatenate([x, rng.poisson(1.0 + group)[:, None]], axis=1)
    reals[rng.random(reals.shape) < 0.2] = np.nan
    codes[rng.random(n) < 0.2] = -1
    label = np.where(rng.random(n) < 0.15, -1, group)
    view = View(None, np.arange(3), (), (BINARY, COUNT), ())  # type: ignore[arg-type]
    return view, Rows(codes, reals), label


def priors(experts: str | None) -> Priors:
    gate = NormalInverseWishart(np.zeros(3), np.array(0.1), np.array(8.0), 4.0 * np.eye(3))
    return Priors(gate, experts, 6, 1.0, 1.0)


def problem_of(experts: str | None = "pooled", n_classes: int = 2, weight: np.ndarray | None = None) -> GibbsProblem:
    view, rows, label = table(n_classes)
    weight = np.ones(len(label)) if weight is None else weight
    return GibbsProblem.make(view, rows, label, weight, n_classes, priors(experts), 2)


def variational_of(experts: str | None, n_classes: int) -> GatedProblem:
    view, rows, label = table(n_classes)
    return GatedProblem.make(view, rows, label, np.ones(len(label)), n_classes, priors(experts), 2)


def same(a: GibbsState, b: GibbsState) -> bool:
    def flat(tree):
        parts = [flat(x) if isinstance(x, dict) else x if isinstance(x, list) else [x] for x in tree.values()]
        return [value for part in parts for value in part]

    return all(np.array_equal(x, y) for x, y in zip(flat(a.to_tree()), flat(b.to_tree()), strict=True))


@pytest.mark.parametrize("experts", ["own", "pooled", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_chain_keeps_what_is_known(experts, n_classes):
    problem = problem_of(experts, n_classes)
    _, rows, label = table(n_classes)
    rng = np.random.default_rng(0)
    state = problem.init(rng)
    for _ in range(5):
        state, info = problem.step(rng, state)
    seen = ~np.isnan(rows.reals[:, :3])
    assert np.array_equal(state.x[seen], rows.reals[:, :3][seen])
    assert np.isfinite(state.x).all() and np.isfinite(info["log_likelihood"])
    known = rows.codes[:, 0] >= 0
    assert np.array_equal(state.levels[0, known], rows.codes[known, 0])
    drawn = problem.given.looked_at & ~known
    assert (state.levels[0, drawn] >= 0).all() and (state.levels[0, ~problem.given.looked_at & ~known] == -1).all()
    told = label >= 0
    if experts is None:
        assert np.array_equal(state.parameters.owner[state.z[told]], label[told])
    elif n_classes == 2:
        assert np.array_equal(state.latent[told, 0] > 0, label[told] == 1)
    else:
        assert np.array_equal(state.latent[told].argmax(axis=1), label[told])


@pytest.mark.parametrize("experts", ["pooled", None])
def test_threads_and_a_resume_change_nothing(experts, tmp_path):
    problem = problem_of(experts, 3)

    def chains(n_steps: int, jobs: int, checkpoint: Checkpoint | None = None):
        streams = spawn_streams(4, 3)
        states = [problem.init(rng) for rng in streams]
        keep = lambda chain, step, state: Kept.of(state) if step % 2 else None  # noqa: E731
        return run(problem.step, states, streams, n_steps, n_jobs=jobs, checkpoint=checkpoint, keep=keep)

    whole = chains(8, 1)
    for jobs in (2, 3):
        assert all(same(a, b) for a, b in zip(whole.states, chains(8, jobs).states))

    def file() -> Checkpoint:
        return Checkpoint(
            tmp_path / "chain", "x", GibbsState.to_tree, GibbsState.from_tree, Kept.to_tree, Kept.from_tree, every=0
        )

    chains(5, 1, file())
    resumed = chains(8, 2, file())
    assert all(same(a, b) for a, b in zip(whole.states, resumed.states))
    assert np.array_equal(whole.infos["log_likelihood"], resumed.infos["log_likelihood"])
    for a, b in zip(whole.kept, resumed.kept):
        assert all(np.array_equal(x.parameters.precision, y.parameters.precision) for x, y in zip(a, b, strict=True))


def test_a_weight_is_a_repetition():
    view, rows, label = table(2)
    weight = np.arange(len(label)) % 3
    repeated = np.repeat(np.arange(len(label)), weight)
    twin = GibbsProblem.make(view, rows.take(repeated), label[repeated], np.ones(len(repeated)), 2, priors("own"), 2)
    problem = GibbsProblem.make(view, rows, label, weight, 2, priors("own"), 2)
    states = []
    for one in (problem, twin):
        rng = np.random.default_rng(8)
        states.append(one.step(rng, one.init(rng))[0])
    assert same(*states)
    assert np.array_equal(problem.source, repeated)


@pytest.mark.parametrize("experts", ["pooled", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_starts_the_other(experts, n_classes):
    variational, problem = variational_of(experts, n_classes), problem_of(experts, n_classes)
    rng = np.random.default_rng(2)
    fit = variational.init(rng)
    for _ in range(20):
        fit, before = variational.step(rng, fit)
    chain = from_variational(rng, problem.given, problem.source, fit)
    agrees = fit.rho[np.arange(len(chain.z)), chain.z].mean()
    assert agrees > 0.8
    chain = draw_parameters(rng, problem.given, chain, None)
    for _ in range(3):
        chain, _ = problem.step(rng, chain)
    back = to_variational(problem.given, problem.source, chain, variational)
    assert back.n_components == chain.n_components
    assert np.allclose(back.rho.sum(axis=1), 1.0)
    bounds = []
    for _ in range(20):
        back, info = variational.step(rng, back)
        bounds.append(info["bound"])
    assert np.diff(bounds).min() > -1e-6 * abs(bounds[-1])
    assert bounds[-1] > before["bound"] - 60.0


def test_more_classes_than_sticks_need_experts():
    view, rows, _ = table(2)
    label = np.arange(60) % 7
    with pytest.raises(ValueError, match="n_components=6"):
        GibbsProblem.make(view, rows, label, np.ones(60), 7, priors(None), 1)
    problem = GibbsProblem.make(view, rows, label, np.ones(60), 7, priors("own"), 3)
    rng = np.random.default_rng(0)
    assert problem.step(rng, problem.init(rng))[0].n_components <= 6


def test_an_answer_is_the_integral_over_missing_cells():
    """Gate and class of a row with a missing Gaussian cell, by quadrature; and with nothing observed."""
    problem = problem_of("own")
    rng = np.random.default_rng(0)
    state = problem.step(rng, problem.init(rng))[0]
    now, view = state.parameters, problem.given.view
    row = Rows(np.array([[1], [-1]], np.int32), np.array([[0.3, np.nan, -0.2, 2.0], [np.nan] * 4]))
    answer = model_of(Kept.of(state), view, 2).answer(row)
    grid = np.linspace(-60, 60, 20001)
    for h in range(6):
        x = np.stack([np.full_like(grid, 0.3), grid, np.full_like(grid, -0.2)], axis=1)
        density = multivariate_normal(now.mean[h], np.linalg.inv(now.precision[h])).pdf(x)
        rate = np.exp(now.cells[1][h, 0])
        beside = now.cells[0][h, 1] + 2.0 * np.log(rate) - rate - np.log(2.0)
        expected = now.log_weight[h] + beside + np.log(np.trapezoid(density, grid))
        assert answer.log_gate[0, h] == pytest.approx(expected, rel=1e-6)
        features = np.concatenate(
            [x, np.tile([1.0, (np.log(3.0) - 0.9) / 0.6, 1.0], (len(grid), 1))], axis=1
        )
        positive = np.trapezoid(density * ndtr(features @ now.w[h, 0]), grid) / np.trapezoid(density, grid)
        assert np.exp(answer.log_class[0, h, 1]) == pytest.approx(positive, abs=1e-6)
    assert logsumexp(answer.log_gate[1]) == pytest.approx(0.0, abs=1e-9)
    assert np.allclose(answer.probabilities().sum(axis=1), 1.0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_agree_with_draws(n_classes):
    """Missing cells of every kind: classes, fills and completed rows against simulation from the parameters."""
    problem = problem_of("own", n_classes)
    rng = np.random.default_rng(0)
    state = problem.step(rng, problem.init(rng))[0]
    view, now = problem.given.view, state.parameters
    now = replace(now, w=0.4 * now.w)  # gentle experts: moments say nearly all of a latent
    speaker = model_of(replace(Kept.of(state), parameters=now), view, n_classes)
    m = 40_000
    one = Rows(np.array([[-1]], np.int32), np.array([[0.4, np.nan, np.nan, np.nan]]))
    many = one.take(np.zeros(m, np.int64))
    answer = speaker.answer(one)
    share = answer.shares()[0]
    z = rng.choice(6, m, p=share)
    x, levels = np.full((m, 3), np.nan), np.empty((2, m), int)
    for h in range(6):
        mine = np.flatnonzero(z == h)
        x[mine] = speaker.gate(h).draw_missing(many.reals[mine, :3], rng)
        levels[0, mine] = rng.choice(2, len(mine), p=speaker.view.cells[0].probabilities(speaker.cells[0])[h])
        levels[1, mine] = speaker.view.cells[1].draw_count(speaker.cells[1][h], len(mine), rng)
    law = speaker.laws(one)
    mean, variance = law.location, law.variance()
    assert np.allclose(law.share[0], share)
    assert np.allclose(mean[0, :, 0], 0.4) and np.allclose(variance[0, :, 0], 0.0)
    overall = share @ mean[0]
    spread = share @ (variance[0] + mean[0] ** 2) - overall**2
    assert np.abs(x.mean(axis=0) - overall).max() < 0.06
    assert np.allclose(x.var(axis=0)[1:], spread[1:], rtol=0.08)
    features = np.concatenate([x, BINARY.look(levels[0]), COUNT.look(levels[1]), np.ones((m, 1))], axis=1)
    t = np.einsum("nf,nkf->nk", features, now.w[z]) + rng.standard_normal((m, now.n_latents))
    label = (t[:, 0] > 0).astype(int) if n_classes == 2 else t.argmax(axis=1)
    shown = np.bincount(label, minlength=n_classes) / m
    assert np.abs(shown - answer.probabilities()[0]).max() < 0.02


def test_variates():
    rng = np.random.default_rng(0)
    t = above(rng, np.full(100_000, -3.0), np.zeros(100_000))
    assert t.min() > 0
    expected = -3.0 + norm.pdf(3.0) / norm.sf(3.0)
    assert t.mean() == pytest.approx(expected, abs=0.01)
    far = above(rng, np.full(1000, -1e4), np.zeros(1000))
    assert (far >= 0).all() and far.mean() == pytest.approx(1e-4, rel=0.2)
    assert np.isfinite(log_gamma(rng, np.full(1000, 1e-8))).all()
    assert np.exp(log_gamma(rng, np.full(100_000, 0.3))).mean() == pytest.approx(0.3, abs=0.01)
    table = np.exp(log_dirichlet(rng, np.tile([0.2, 1.0, 3.0], (50_000, 1))))
    assert np.allclose(table.mean(axis=0), np.array([0.2, 1.0, 3.0]) / 4.2, atol=0.01)
    chosen, total = choose(rng, np.log(np.tile([0.0, 0.2, 0.3, 0.0], (50_000, 1)) + 1e-320))
    assert np.allclose(np.bincount(chosen, minlength=4) / 50_000, [0.0, 0.4, 0.6, 0.0], atol=0.01)
    assert np.allclose(total, np.log(0.5))


def test_pairs_and_exchange():
    rng = np.random.default_rng(0)
    label = np.array([0, 0, 1, 1, -1])
    pairs = [pick_pair(rng, label, 1.0, False) for _ in range(500)]
    assert all(i != j for i, j in pairs)
    assert all(label[i] != label[j] for i, j in pairs if label[i] >= 0)
    assert all(label[i] == label[j] for i, j in (pick_pair(rng, label, 1.0, True) for _ in range(200)) if label[i] >= 0)
    assert pick_pair(rng, label[:1], 0.5, False) is None
    problem = problem_of("own")
    state = problem.init(rng)
    moved = exchange_sticks(rng, state, 50)
    pairs_before = state.z[:, None] == state.z
    assert np.array_equal(pairs_before, moved.z[:, None] == moved.z)


def test_hopeless_tables_have_an_answer():
    """One row, no row labelled, no observed cell, no Gaussian column."""
    gate = NormalInverseWishart(np.zeros(3), np.array(0.1), np.array(8.0), 4.0 * np.eye(3))
    view, rows, _ = table(2)
    for n, label, reals in ((1, [1], None), (5, [-1] * 5, None), (5, [0, 1, 1, 0, -1], np.full((5, 4), np.nan))):
        own = Rows(rows.codes[:n], rows.reals[:n] if reals is None else reals)
        for experts in ("pooled", "own", None):
            moves = Moves()
            one = GibbsProblem.make(view, own, np.array(label), np.ones(n), 2, Priors(gate, experts, 4), 2, moves)
            rng = np.random.default_rng(0)
            state = one.init(rng)
            for _ in range(3):
                state, _ = one.step(rng, state)
            proba = model_of(Kept.of(state), view, 2).answer(own).probabilities()
            assert np.isfinite(proba).all()
    narrow = View(None, np.arange(0), (), (BINARY, COUNT), ())  # type: ignore[arg-type]
    gate = NormalInverseWishart(np.zeros(0), np.array(0.1), np.array(2.0), np.zeros((0, 0)))
    for n_classes in (2, 3):
        _, rows, label = table(n_classes)
        one = GibbsProblem.make(narrow, rows, label, np.ones(60), n_classes, Priors(gate, "pooled", 4), 2)
        rng = np.random.default_rng(0)
        state = one.init(rng)
        for _ in range(3):
            state, _ = one.step(rng, state)
        assert np.isfinite(model_of(Kept.of(state), narrow, n_classes).answer(rows).probabilities()).all()


def test_chains_begin_where_the_bound_of_fits_of_their_own_is_highest():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 3)) + 4.0 * y[:, None]
    model = IQGMEClassifier(inference="gibbs", n_restarts=2, max_iter=4, cell_folds=0, random_state=0).fit(X, y)
    assert model.trace_["n_components"][:, 0].max() < 8  # not twenty clusters, which many a start begins from
    assert set(model.diagnostics_) == {"log_likelihood", "n_components", "largest", "log_alpha"}
    assert ((0 < model.trace_["largest"]) & (model.trace_["largest"] <= 1)).all()
