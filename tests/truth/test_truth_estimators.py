"""What the estimators themselves say, against exact enumeration of a few rows: densities, classes, groups, evidence."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from partita import AClass, CRPMixture
from partita.families import BetaBernoulli
from partita.priors.partition import enumerate_partitions, log_probability

nan = np.nan
ROWS = np.array([[0, 0, 0, 1], [0, 0, 1, 0], [0, nan, 0, 0], [1, 1, 1, 0], [1, 1, nan, 1], [1, 0, 1, 1]], float)
NEW = np.array([[0, 0, 0, 0], [1, 1, nan, 1], [nan, 1, 0, nan], [nan, nan, nan, 1]], float)
LABEL = np.array([0, 0, 0, 1, 1, 1])
PAPER = {"inference": "smc", "n_sweeps": 0, "alpha": 1.0, "column_prior": 0.5, "column_kinds": ["binary"] * 4}
CHAINS = {"alpha": 1.0, "column_prior": 0.5, "column_kinds": ["binary"] * 4, "n_filters": 4, "random_state": 0}


@cache
def _joint(bytes_of_rows: bytes, n: int, cap: int | None) -> tuple[np.ndarray, np.ndarray]:
    """All partitions of n rows, and log p(partition, rows) with alpha = 1 and Beta(1/2, 1/2) columns."""
    rows = np.frombuffer(bytes_of_rows).reshape(n, 4)
    codes = np.where(np.isnan(rows), -1, rows).astype(int)
    coin = BetaBernoulli(np.full(4, 0.5), np.full(4, 0.5))
    partitions = enumerate_partitions(n)
    log_joint = np.empty(len(partitions))
    for k, z in enumerate(partitions):
        sizes = np.bincount(z)
        log_joint[k] = log_probability(sizes, 1.0, cap)
        log_joint[k] += sum(coin.log_marginal(coin.statistics(codes[z == g])).sum() for g in range(len(sizes)))
    return partitions, log_joint


def log_evidence(rows: np.ndarray, cap: int | None = None) -> float:
    if not len(rows):
        return 0.0
    return float(logsumexp(_joint(np.ascontiguousarray(rows).tobytes(), len(rows), cap)[1]))


def log_density(rows: np.ndarray, new: np.ndarray) -> np.ndarray:
    """log p(new row | rows), exactly."""
    return np.array([log_evidence(np.vstack([rows, x])) - log_evidence(rows) for x in new])


def class_posterior(label: np.ndarray) -> np.ndarray:
    """p(class | row, labels given) of the new rows, missing labels (-1) summed out: Dirichlet(1, 1) classes."""
    total = np.zeros((len(NEW), 2))
    free = np.flatnonzero(label < 0)
    for values in product((0, 1), repeat=len(free)):
        y = label.copy()
        y[free] = values
        count = np.bincount(y, minlength=2)
        weight = np.exp(gammaln(count + 1.0).sum() + sum(log_evidence(ROWS[y == c]) for c in (0, 1)) + 10)
        density = np.stack([np.exp(log_density(ROWS[y == c], NEW)) for c in (0, 1)], axis=1)
        total += weight * density * (count + 1.0)
    return total / total.sum(axis=1, keepdims=True)


def group_numbers() -> dict[int, float]:
    partitions, log_joint = _joint(ROWS.tobytes(), len(ROWS), None)
    p = np.exp(log_joint - logsumexp(log_joint))
    return {k: float(p[partitions.max(axis=1) + 1 == k].sum()) for k in range(1, 7)}


def test_chains_give_the_density_and_the_number_of_groups():
    model = CRPMixture(**CHAINS, n_sweeps=6000).fit(ROWS)
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), np.exp(log_density(ROWS, NEW)), rtol=0.03)
    for size, probability in group_numbers().items():
        assert model.n_components_posterior_.get(size, 0.0) == pytest.approx(probability, abs=0.02)


def test_filters_weigh_by_evidence_what_they_say_of_groups_and_rows():
    model = CRPMixture(**PAPER, n_filters=2000, n_particles=1, random_state=0).fit(ROWS)
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), np.exp(log_density(ROWS, NEW)), rtol=0.05)
    for size, probability in group_numbers().items():
        assert model.n_components_posterior_.get(size, 0.0) == pytest.approx(probability, abs=0.04)


def test_the_papers_filter_gives_the_class_probabilities():
    model = AClass(**PAPER, n_filters=1, n_particles=20_000, random_state=0).fit(ROWS, LABEL)
    np.testing.assert_allclose(model.predict_proba(NEW), class_posterior(LABEL), atol=0.01)


SOME = np.array([0, -1, 0, 1, -1, 1])


def test_labels_missing_in_part_are_summed_out_by_the_nested_filter():
    y = [None if c < 0 else c for c in SOME.tolist()]
    seeds = [AClass(**PAPER, n_filters=300, n_particles=10, random_state=s).fit(ROWS, y) for s in range(6)]
    answers = np.stack([model.predict_proba(NEW) for model in seeds])
    error = np.maximum(answers.std(axis=0, ddof=1) / np.sqrt(len(seeds)), 1e-3)
    assert (np.abs(answers.mean(axis=0) - class_posterior(SOME)) < 4 * error + 0.003).all()


def test_the_evidence_of_a_filter_is_unbiased():
    expected = sum(log_evidence(ROWS[LABEL == c]) for c in (0, 1)) + 2 * gammaln(4) - gammaln(8) + gammaln(2)
    _ratio(lambda seed: AClass(**PAPER, n_filters=4, n_particles=2, random_state=seed).fit(ROWS, LABEL), expected)
    y = np.where(SOME < 0, nan, SOME)
    each = []
    for values in product((0, 1), repeat=2):
        full = SOME.copy()
        full[SOME < 0] = values
        count = np.bincount(full, minlength=2)
        each.append(gammaln(count + 1.0).sum() + sum(log_evidence(ROWS[full == c]) for c in (0, 1)))
    expected = logsumexp(each) - gammaln(8) + gammaln(2)
    _ratio(lambda seed: AClass(**PAPER, n_filters=4, n_particles=2, random_state=seed).fit(ROWS, y), expected)


def _ratio(fit, expected: float) -> None:
    """The mean of exp(estimate - truth) is one, up to three standard errors."""
    ratio = np.exp([fit(seed).log_evidence_ - expected for seed in range(150)])
    assert abs(ratio.mean() - 1.0) < 3 * ratio.std(ddof=1) / np.sqrt(len(ratio))


def test_the_evidence_is_in_the_units_of_the_table():
    x = np.random.default_rng(0).normal(size=(30, 2))
    plain = CRPMixture(inference="smc", n_sweeps=0, n_filters=1, random_state=0)
    one, other = plain.fit(x).log_evidence_, plain.fit(1000.0 * x + 5).log_evidence_
    assert other == pytest.approx(one - 60 * np.log(1000.0), abs=1e-6)


@pytest.mark.parametrize("settings", [{"max_components": 5}, {"correlated": True}, {"n_sweeps": 9}])
def test_kept_states_are_copies(settings):
    x = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0], [4]], 30, axis=0)
    model = CRPMixture(**{"n_filters": 2, "n_sweeps": 12, "random_state": 0, **settings}).fit(x)
    _share_nothing(model)
    stream = AClass(n_filters=2, random_state=0, max_components=settings.get("max_components"))
    stream.partial_fit(x, np.repeat([0, 1], 30))
    _share_nothing(stream)


def _share_nothing(model) -> None:
    states = model._ensemble.states
    for name in ("table", "stats", "log_weight", "hyper"):
        arrays = [getattr(state, name) for state in states]
        assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k]), name


def test_a_correlated_density_is_consistent_with_its_margin():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 1)) * [1.0, 0.8] + rng.normal(size=(80, 2)) * 0.3
    x[rng.random(80) < 0.2, 1] = nan
    model = CRPMixture(correlated=True, n_filters=2, n_sweeps=10, random_state=0).fit(x)
    grid = np.linspace(-30, 30, 6001)
    joint = np.exp(model.score_samples(np.column_stack([np.full_like(grid, 1.0), grid]))).sum() * (grid[1] - grid[0])
    assert joint == pytest.approx(float(np.exp(model.score_samples([[1.0, nan]])[0])), rel=2e-3)
