"""Kernels of Gaussian gates with missing cells: native and twin agree, and the twin with the joint Gaussian."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.gates_contract import Conditioned, GateSums, Patterns

native = pytest.importorskip("partita.kernels._native")

CASES = [  # n, P, H, K, rows of r, share missing, distinct patterns (None: each row its own)
    (1, 1, 8, 0, 1, 0.5, None),
    (9, 1, 8, 1, 9, 0.5, None),
    (13, 2, 8, 1, 1, 0.5, None),
    (12, 3, 24, 3, 12, 0.4, None),
    (30, 5, 8, 1, 1, 0.25, 4),
    (17, 7, 8, 0, 17, 0.75, None),
    (25, 8, 24, 1, 1, 0.5, None),
    (40, 9, 8, 3, 40, 0.5, 3),
    (20, 13, 8, 1, 20, 0.25, None),
    (33, 16, 8, 1, 1, 0.75, 2),
    (20, 20, 24, 3, 1, 0.5, None),
    (50, 20, 8, 1, 50, 0.3, 1),
    (6, 20, 16, 1, 1, 0.0, None),
    (6, 20, 16, 2, 1, 1.0, None),
    (7, 70, 8, 1, 7, 0.4, None),
]


@dataclasses.dataclass
class Case:
    patterns: Patterns
    missing: np.ndarray
    x: np.ndarray
    r: np.ndarray
    Q: np.ndarray
    S: np.ndarray
    logdet_Q: np.ndarray
    w: np.ndarray
    V: np.ndarray
    rng: np.random.Generator

    def condition(self, module, V=True) -> Conditioned:
        n, P = self.x.shape
        out = Conditioned.room(n, P, len(self.w), self.Q.shape[2])
        for field in dataclasses.fields(out):
            getattr(out, field.name)[:] = 7.0  # everything is to be written
        weights = self.V if V else np.zeros((0, 0, self.Q.shape[2]))
        module.gate_condition(
            self.patterns, self.x, self.r, self.Q, self.S, self.logdet_Q, self.w, weights, out
        )
        return out


def precisions(rng, P, H):
    """(P, P, H) positive definite matrices of different scales."""
    root = rng.normal(size=(H, P, 2 * P))
    scale = np.exp(rng.normal(size=(H, 1, 1)))
    return np.ascontiguousarray((scale * (root @ root.transpose(0, 2, 1) / P + 0.1 * np.eye(P))).transpose(1, 2, 0))


def make(n, P, H, K, rows_of_r, share, distinct, seed=0) -> Case:
    rng = np.random.default_rng(seed)
    missing = rng.random((n, P)) < share
    if distinct:
        missing = missing[rng.integers(0, distinct, n)]
    elif n > 2 and 0 < share < 1:
        missing[0], missing[1] = False, True
    missing = missing[Patterns.of(missing)[0]]
    Q = precisions(rng, P, H)
    S = np.ascontiguousarray(np.linalg.inv(Q.transpose(2, 0, 1)).transpose(1, 2, 0))
    return Case(
        Patterns.of(missing)[1], missing, np.where(missing, 0.0, rng.normal(size=(n, P))),
        rng.normal(size=(rows_of_r, P, H)), Q, S, np.linalg.slogdet(Q.transpose(2, 0, 1))[1],
        rng.normal(size=(K, P, H)), precisions(rng, P, H), rng,
    )  # fmt: skip


def close(a, b, tolerance=1e-10):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max(initial=0)))


@pytest.mark.parametrize("share, distinct", [(0.3, None), (0.5, 3), (0.0, None), (1.0, None)])
def test_patterns_hold_the_missing_cells(share, distinct):
    rng = np.random.default_rng(3)
    missing = rng.random((40, 11)) < share
    if distinct:
        missing = missing[rng.integers(0, distinct, 40)]
    order, patterns = Patterns.of(missing)
    assert sorted(order) == list(range(40))
    assert len(patterns) == len(np.unique(missing, axis=0))
    for begin, end in ((0, 40), (0, 1), (7, 23), (23, 40), (39, 40)):
        part = patterns.rows(begin, end)
        rebuilt = np.zeros((end - begin, 11), bool)
        for i, m in reference.gates.missing_cells(part):
            rebuilt[i, m] = True
        np.testing.assert_array_equal(rebuilt, missing[order][begin:end])


@pytest.mark.parametrize("case", CASES)
def test_condition_agrees_with_the_twin(case):
    given = make(*case)
    for V in (True, False):
        fast, slow = given.condition(native, V), given.condition(reference, V)
        for field in dataclasses.fields(fast):
            close(getattr(fast, field.name), getattr(slow, field.name))
    assert (fast.trace == 7.0).all()  # V empty


def test_condition_is_the_marginal_of_the_joint_gaussian():
    given = make(40, 6, 8, 2, 40, 0.5, None)
    out = given.condition(native)
    for i in range(40):
        m, o = given.missing[i], ~given.missing[i]
        for h in range(8):
            S, r = given.S[:, :, h], given.r[i, :, h]
            mean = S @ r
            d = given.x[i, o] - mean[o]
            density = -0.5 * d @ np.linalg.solve(S[np.ix_(o, o)], d) - 0.5 * np.linalg.slogdet(S[np.ix_(o, o)])[1]
            whole = 0.5 * r @ mean - 0.5 * given.logdet_Q[h]  # log of the integral over all cells, less the 2 pi
            close(out.quad[i, h] - 0.5 * out.logdet[i, h], density + whole)
            regression = np.linalg.solve(S[np.ix_(o, o)], S[np.ix_(o, m)])
            close(out.xhat[i, m, h], mean[m] + d @ regression)
            covariance = np.zeros((6, 6))
            covariance[np.ix_(m, m)] = S[np.ix_(m, m)] - S[np.ix_(m, o)] @ regression
            w = given.w[:, :, h]
            close(out.cw[i, :, :, h], w @ covariance)
            close(out.wcw[i, :, :, h], w @ covariance @ w.T)
            close(out.wx[i, :, h], w @ out.xhat[i, :, h])
            close(out.trace[i, h], (given.V[:, :, h] * covariance).sum())


def weights(given, K):
    """Weights of which some are small, some negligible, some zero, over whole vectors too; and symmetric f."""
    n, H = len(given.x), given.Q.shape[2]
    rho = given.rng.random((n, H)) * 10.0 ** -given.rng.integers(0, 12, (n, H)).astype(float)
    rho[given.rng.random((n, H)) < 0.2] = 0.0
    rho[::3, :8] = given.rng.choice([0.0, 1e-12], (len(rho[::3]), 8))
    f = given.rng.normal(size=(n, K, K, H))
    return rho, f + f.transpose(0, 2, 1, 3)


@pytest.mark.parametrize("case", CASES)
def test_accumulate_agrees_with_the_twin_and_adds(case):
    given = make(*case)
    n, P = given.x.shape
    H, K = given.Q.shape[2], len(given.w)
    rho, f = weights(given, K)
    cw = given.condition(native).cw
    xhat = given.rng.normal(size=(n, P, H))
    sums = [GateSums.room(P, H), GateSums.room(P, H)]
    for module, out in zip((native, reference), sums):
        out.first += 0.5
        out.second += 0.25
        module.gate_accumulate(given.patterns, given.Q, given.S, xhat, cw, rho, f, out)
    close(sums[0].first, sums[1].first)
    close(sums[0].second, sums[1].second)
    np.testing.assert_array_equal(sums[0].second, sums[0].second.transpose(1, 0, 2))


@pytest.mark.parametrize("module", [native, reference])
def test_accumulate_by_brute_force(module):
    given = make(30, 5, 8, 2, 1, 0.5, 6)
    out, sums = given.condition(module), GateSums.room(5, 8)
    rho, f = weights(given, 2)
    module.gate_accumulate(given.patterns, given.Q, given.S, out.xhat, out.cw, rho, f, sums)
    rho = np.where(rho < 1e-9, 0.0, rho)
    second = np.einsum("ih,iph,iqh->pqh", rho, out.xhat, out.xhat)
    second += np.einsum("ih,iklh,ikph,ilqh->pqh", rho, f, out.cw, out.cw)
    for i in range(30):
        block = np.ix_(given.missing[i], given.missing[i])
        for h in range(8):
            second[:, :, h][block] += rho[i, h] * np.linalg.inv(given.Q[:, :, h][block])
    close(sums.first, np.einsum("ih,iph->ph", rho, out.xhat))
    close(sums.second, second)


@pytest.mark.parametrize("case", CASES)
def test_condition_without_cells(case):
    given = make(*case)
    n, P = given.x.shape
    full = given.condition(native)
    for module in (native, reference):
        out = Conditioned.scalars(n, P, len(given.w), given.Q.shape[2])
        module.gate_condition(
            given.patterns, given.x, given.r, given.Q, given.S, given.logdet_Q, given.w, given.V, out
        )
        for name in ("quad", "logdet", "wx", "wcw", "trace"):
            close(getattr(out, name), getattr(full, name))
        assert out.xhat.size == out.cw.size == 0


@pytest.mark.parametrize("extras", [0, 1, 3])
@pytest.mark.parametrize("case", CASES)
def test_moments_agree_with_the_twin_and_add(case, extras):
    given = make(*case)
    n, P = given.x.shape
    H, K = given.Q.shape[2], len(given.w)
    rho, f = weights(given, K)
    normal = given.rng.normal
    rest = (rho, normal(size=(n, K, H)), f, normal(size=(n, extras, H)), normal(size=(n, extras, K, H)))
    sums = [GateSums.room(P, H, extras), GateSums.room(P, H, extras)]
    for module, out in zip((native, reference), sums):
        for array in (out.first, out.second, out.cross):
            array += 0.5
        module.gate_moments(given.patterns, given.x, given.r, given.Q, given.S, given.w, *rest, out)
    close(sums[0].first, sums[1].first)
    close(sums[0].second, sums[1].second)
    close(sums[0].cross, sums[1].cross)
    np.testing.assert_array_equal(sums[0].second, sums[0].second.transpose(1, 0, 2))


@pytest.mark.parametrize("module", [native, reference])
def test_moments_are_those_of_given_means(module):
    """What `gate_condition` gives and `gate_accumulate` adds up is what `gate_moments` finds at once."""
    given = make(40, 6, 8, 2, 40, 0.5, 15)
    rho, f = weights(given, 2)
    shift, extra = given.rng.normal(size=(40, 2, 8)), given.rng.normal(size=(40, 3, 8))
    tie = given.rng.normal(size=(40, 3, 2, 8))
    found, added = GateSums.room(6, 8, 3), GateSums.room(6, 8)
    module.gate_moments(
        given.patterns, given.x, given.r, given.Q, given.S, given.w, rho, shift, f, extra, tie, found
    )
    out = given.condition(module)
    mean = out.xhat + np.einsum("ikh,ikph->iph", shift, out.cw)
    module.gate_accumulate(given.patterns, given.Q, given.S, mean, out.cw, rho, f, added)
    close(found.first, added.first)
    close(found.second, added.second)
    rho = np.where(rho < 1e-9, 0.0, rho)
    cross = np.einsum("ih,ieh,iph->eph", rho, extra, mean) + np.einsum("ih,iekh,ikph->eph", rho, tie, out.cw)
    close(found.cross, cross)


@pytest.mark.parametrize("case", CASES)
def test_draws_agree_with_the_twin(case):
    given = make(*case)
    n, P = given.x.shape
    z = given.rng.integers(0, given.Q.shape[2], n).astype(np.int32)
    noise = given.rng.normal(size=(n, P))
    out = [np.full((n, P), 7.0), np.full((n, P), -7.0)]
    for module, to in zip((native, reference), out):
        module.gate_draw_missing(given.patterns, given.x, given.r, given.Q, z, noise, to)
    close(out[0], out[1])
    np.testing.assert_array_equal(out[0][~given.missing], given.x[~given.missing])


@pytest.mark.parametrize("rows_of_r", [1, 12])
def test_draws_have_the_mean_and_covariance_of_the_missing_cells(rows_of_r):
    """noise = 0 gives the mean; the draws of unit vectors of noise are the columns of a root of Q_mm^-1."""
    given = make(12, 6, 8, 0, rows_of_r, 0.5, 4)
    expected = given.condition(reference)
    z = np.arange(12, dtype=np.int32) % 8

    def draw(noise):
        out = np.empty_like(given.x)
        native.gate_draw_missing(given.patterns, given.x, given.r, given.Q, z, noise, out)
        return out

    mean = draw(np.zeros_like(given.x))
    close(mean, expected.xhat[np.arange(12), :, z])
    root = np.stack([draw(np.tile(unit, (12, 1))) - mean for unit in np.eye(6)], axis=2)
    for i in range(12):
        block = np.ix_(given.missing[i], given.missing[i])
        covariance = np.zeros((6, 6))
        covariance[block] = np.linalg.inv(given.Q[:, :, z[i]][block])
        close(root[i] @ root[i].T, covariance)


def test_the_same_bytes_from_every_thread():
    """Kernels keep memory from call to call: nothing of an earlier call, or of another thread's, may be seen."""
    cases = [make(30, 20, 8, 1, 1, 0.5, None), make(40, 9, 24, 3, 40, 0.5, 8), make(5, 3, 8, 0, 1, 0.5, None)] * 4

    def answer(given):
        (n, P), H, K = given.x.shape, given.Q.shape[2], len(given.w)
        sums, zeros = GateSums.room(P, H, 1), np.zeros
        out = given.condition(native)
        rest = (out.quad - out.quad.min(), out.wx, out.wcw, zeros((n, 1, H)), zeros((n, 1, K, H)))
        native.gate_moments(given.patterns, given.x, given.r, given.Q, given.S, given.w, *rest, sums)
        return b"".join(array.tobytes() for array in (*vars(out).values(), *vars(sums).values()))

    alone = [answer(given) for given in cases]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answer, cases)) == alone
    assert alone[:3] == alone[3:6]


def test_wrong_arrays_are_refused():
    given = make(5, 3, 8, 1, 1, 0.5, None)
    out = Conditioned.room(5, 3, 1, 8)
    rest = (given.Q, given.S, given.logdet_Q, given.w, given.V)
    with pytest.raises(ValueError, match="'r' has the wrong shape"):
        native.gate_condition(given.patterns, given.x, np.zeros((4, 3, 8)), *rest, out)
    out.quad = np.zeros((5, 16))[:, ::2]
    with pytest.raises(ValueError, match="quad"):
        native.gate_condition(given.patterns, given.x, given.r, *rest, out)
    odd = np.ones((3, 3, 5))
    with pytest.raises(ValueError, match="multiples of eight"):
        native.gate_draw_missing(given.patterns, given.x, given.r, odd, np.zeros(5, np.int32), given.x, given.x.copy())
