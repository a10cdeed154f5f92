"""What users are told of a table of mixed kinds with holes, against exact enumeration: densities, similarities, numbers
of groups, class probabilities, draws; in batch, by filters and by streams. All rows there can be sum to one.

The exact answers come from the families and the prior over partitions alone.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd
import pytest
from enumeration import total_variation
from scipy.special import logsumexp

from partita import AClass, CRPMixture
from partita.families import BetaBernoulli, DirichletCategorical, GammaPoisson, NormalInverseChiSquared
from partita.priors.partition import enumerate_partitions, log_probability

KINDS = {"flag": "binary", "word": "categorical", "visits": "count", "weight": "real"}
ROWS = pd.DataFrame({
    "flag": [0, 0, None, 1, 1, 1],
    "word": ["a", "a", "b", "c", None, "c"],
    "visits": [0, 1, 0, None, 6, 9],
    "weight": [10.1, None, 10.4, 13.0, 12.5, None],
})  # fmt: skip
NEW = pd.DataFrame({
    "flag": [0, 1, None, None, 1],
    "word": ["a", "c", None, "b", None],
    "visits": [0, 7, 3, None, None],
    "weight": [10.2, 12.8, None, 11.0, None],
})  # fmt: skip
LABEL = np.array(["no", "no", "no", "yes", "yes", "yes"])
GIVEN = {"alpha": 1.0, "column_prior": 0.5, "column_kinds": KINDS}
CHAINS = {"n_filters": 4, "n_sweeps": 8000, "random_state": 0}


def cells_of(frame: pd.DataFrame) -> list[np.ndarray]:
    """Codes and numbers of the four columns; -1 and NaN are missing."""
    flag = [-1 if pd.isna(v) else int(v) for v in frame["flag"]]
    word = [-1 if pd.isna(v) else "abc".index(v) for v in frame["word"]]
    return [np.array(flag), np.array(word), frame["visits"].to_numpy(float), frame["weight"].to_numpy(float)]


VISITS, WEIGHT = cells_of(ROWS)[2:]
CENTRE, SCALE = np.nanmean(WEIGHT), np.nanstd(WEIGHT)
FAMILIES = [  # what a fit with column_prior=0.5 begins with and keeps; a real column is standardised
    BetaBernoulli(0.5, 0.5),
    DirichletCategorical(np.full(3, 0.5)),
    GammaPoisson(1.0, 1 / ((np.nansum(VISITS) + 0.5) / (np.sum(~np.isnan(VISITS)) + 1))),
    NormalInverseChiSquared(mean=0.0, kappa=0.125, nu=4.0, sigma2=0.25),
]


@dataclass
class Exact:
    """All partitions of some rows with their posterior, and what each group says of a further row."""

    rows: pd.DataFrame

    @cached_property
    def partitions(self) -> np.ndarray:
        return enumerate_partitions(len(self.rows))

    @cached_property
    def groups(self) -> list[list[int]]:
        """Groups of every partition as sets of bits."""
        bits = 1 << np.arange(len(self.rows))
        return [[int(bits[z == g].sum()) for g in range(z.max() + 1)] for z in self.partitions]

    def log_fits(self, frame: pd.DataFrame) -> np.ndarray:
        """log marginal likelihood of every subset of the rows of the frame, in the caller's units."""
        n = len(frame)
        subsets = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).T
        *others, weight = cells_of(frame)
        total = -np.log(SCALE) * (~np.isnan(weight) @ subsets)
        for family, cells in zip(FAMILIES, [*others, (weight - CENTRE) / SCALE], strict=True):
            total = total + np.array([family.log_marginal(family.statistics(cells, s)) for s in subsets.T])
        return total

    @cached_property
    def probability(self) -> np.ndarray:
        fits = self.log_fits(self.rows)
        joint = [
            float(log_probability(np.bincount(z), 1.0)) + fits[groups].sum()
            for z, groups in zip(self.partitions, self.groups, strict=True)
        ]
        return np.exp(joint - logsumexp(joint))

    def by_group(self, new: pd.DataFrame) -> list[np.ndarray]:
        """p(group, new row | partition) of every partition, (new rows, groups and a new one)."""
        n, out = len(self.rows), []
        # log p(new row | group), (new rows, sets of rows)
        told = []
        for k in range(len(new)):
            fits = self.log_fits(pd.concat([self.rows, new.iloc[[k]]]))
            told.append(fits[2**n :] - fits[: 2**n])
        for groups in self.groups:
            sizes = np.array([g.bit_count() for g in groups] + [1.0])  # alpha is 1
            out.append(sizes / sizes.sum() * np.exp(np.array(told)[:, [*groups, 0]]))
        return out

    def density(self, new: pd.DataFrame) -> np.ndarray:
        """p(new row | rows)."""
        return self.probability @ self.given(new)

    def given(self, new: pd.DataFrame) -> np.ndarray:
        """p(new row | rows, partition), (partitions, new rows)."""
        return np.array([p.sum(axis=1) for p in self.by_group(new)])

    def numbers(self) -> np.ndarray:
        """Probability of one group, of two, ..."""
        return np.bincount(self.partitions.max(axis=1), self.probability)

    def together(self) -> np.ndarray:
        """Probability that two rows share a group."""
        z = self.partitions
        return np.tensordot(self.probability, z[:, :, None] == z[:, None, :], 1)

    def seated_alike(self, new: pd.DataFrame) -> np.ndarray:
        """Probability that two new rows, each seated by itself, go to the same group there is."""
        out = np.zeros((len(new), len(new)))
        for w, p in zip(self.probability, self.by_group(new), strict=True):
            seat = (p / p.sum(axis=1, keepdims=True))[:, :-1]
            out += w * seat @ seat.T
        np.fill_diagonal(out, 1.0)
        return out


TRUTH = Exact(ROWS)
OF_CLASS = [Exact(ROWS[LABEL == name]) for name in ("no", "yes")]


def numbers_told(posterior: dict[int, float], n_rows: int = 6) -> np.ndarray:
    assert sum(posterior.values()) == pytest.approx(1.0, abs=1e-9)
    return np.array([posterior.get(k, 0.0) for k in range(1, n_rows + 1)])


@pytest.fixture(scope="module")
def chains() -> CRPMixture:
    return CRPMixture(**GIVEN, **CHAINS).fit(ROWS)


def test_chains_give_densities_similarities_and_the_number_of_groups(chains):
    np.testing.assert_allclose(np.exp(chains.score_samples(NEW)), TRUTH.density(NEW), rtol=0.03)
    np.testing.assert_allclose(chains.similarity(), TRUTH.together(), atol=0.02)
    np.testing.assert_allclose(chains.similarity(NEW), TRUTH.seated_alike(NEW), atol=0.02)
    assert total_variation(numbers_told(chains.n_components_posterior_), TRUTH.numbers()) < 0.02


def test_filters_give_densities_similarities_and_the_number_of_groups():
    model = CRPMixture(**GIVEN, inference="smc", n_filters=4000, n_sweeps=0, random_state=0).fit(ROWS)
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), TRUTH.density(NEW), rtol=0.05)
    np.testing.assert_allclose(model.similarity(NEW), TRUTH.seated_alike(NEW), atol=0.04)
    assert total_variation(numbers_told(model.n_components_posterior_), TRUTH.numbers()) < 0.04


def test_streams_give_densities_similarities_and_the_number_of_groups():
    """A stream in parts, asked after each; its answers are those of settled states."""
    model = CRPMixture(**GIVEN, n_filters=800, random_state=0).partial_fit(ROWS)
    assert total_variation(numbers_told(model.n_components_posterior_), TRUTH.numbers()) < 0.04
    more = pd.concat([ROWS, NEW[:2]], ignore_index=True)
    model.partial_fit(NEW[:2])
    truth = Exact(more)
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), truth.density(NEW), rtol=0.06)
    np.testing.assert_allclose(model.similarity(NEW), truth.seated_alike(NEW), atol=0.04)
    assert total_variation(numbers_told(model.n_components_posterior_, 8), truth.numbers()) < 0.04


def shares() -> np.ndarray:
    """p(class) of the next row."""
    return np.array([4, 4]) / 8


def check_numbers(model: AClass, limit: float) -> None:
    """The groups of each class, and those of both together, which are the sum of independent numbers."""
    for truth, told in zip(OF_CLASS, model.n_components_by_class_.values(), strict=True):
        assert total_variation(numbers_told(told, 3), truth.numbers()) < limit
    both = np.append(0.0, np.convolve(*(truth.numbers() for truth in OF_CLASS)))
    assert total_variation(numbers_told(model.n_components_posterior_, 6), both) < limit


def test_class_probabilities_of_the_papers_filter_are_bayes():
    model = AClass(**GIVEN, inference="smc", n_filters=1, n_particles=20_000, n_sweeps=0, random_state=0)
    model.fit(ROWS, LABEL)
    joint = np.stack([truth.density(NEW) for truth in OF_CLASS], axis=1) * shares()
    np.testing.assert_allclose(model.predict_proba(NEW), joint / joint.sum(axis=1, keepdims=True), atol=0.01)
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), joint.sum(axis=1), rtol=0.03)
    check_numbers(model, 0.02)


@pytest.mark.parametrize("how", ["chains", "stream"])
def test_class_probabilities_are_the_pool_of_all_states(how):
    """The mean of normalised posteriors, and the posterior of the mean density, each at its temperature."""
    if how == "chains":
        model = AClass(**GIVEN, **CHAINS, n_views=1).fit(ROWS, LABEL)
    else:
        model = AClass(**GIVEN, n_filters=600, random_state=0).partial_fit(ROWS, LABEL)
    states = [truth.given(NEW) for truth in OF_CLASS]
    weight = OF_CLASS[0].probability[:, None] * OF_CLASS[1].probability  # classes are apart
    expected = np.zeros((len(NEW), 2))
    for member in model._ensemble.members:
        tempered = [shares()[c] * states[c] ** member.temperature for c in (0, 1)]
        if member.rule == "densities":
            mean = [shares()[c] * truth.density(NEW) ** member.temperature for c, truth in enumerate(OF_CLASS)]
            p = mean[0] / (mean[0] + mean[1])
        else:
            each = tempered[0][:, None] / (tempered[0][:, None] + tempered[1][None])
            p = np.einsum("ab,abn->n", weight, each)
        expected += member.weight * np.stack([p, 1 - p], axis=1)
    np.testing.assert_allclose(model.predict_proba(NEW), expected / expected.sum(axis=1, keepdims=True), atol=0.015)
    density = np.stack([truth.density(NEW) for truth in OF_CLASS], axis=1) @ shares()
    np.testing.assert_allclose(np.exp(model.score_samples(NEW)), density, rtol=0.05)
    check_numbers(model, 0.03)


# ---- all rows there can be ----

FLAGS, WORDS = (0, 1), ("a", "b", "c")
FITS = {
    "CRPMixture": lambda X: CRPMixture(random_state=0, n_sweeps=12).fit(X),
    "finite laws": lambda X: CRPMixture(random_state=0, n_sweeps=12, group_prior="infer").fit(X),
    "capped": lambda X: CRPMixture(random_state=0, n_sweeps=12, max_components=2).fit(X),
    "correlated": lambda X: CRPMixture(random_state=0, n_sweeps=12, correlated=True).fit(X),
    "filter": lambda X: CRPMixture(random_state=0, inference="smc", n_sweeps=0, n_particles=5).fit(X),
    "stream": lambda X: CRPMixture(random_state=0).partial_fit(X),
    "AClass": lambda X: AClass(random_state=0).fit(X, _some_labels(X)),
    "classes of a stream": lambda X: AClass(random_state=0).partial_fit(X, _some_labels(X)),
}


def _some_labels(X: pd.DataFrame) -> np.ndarray:
    return np.where(np.arange(len(X)) % 7 == 0, None, np.where(X["flag"] == 1, "yes", "no").astype(object))


def _table(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    frame = pd.DataFrame({
        "flag": (rng.random(n) < 0.2 + 0.6 * group).astype(float),
        "word": np.where(group, rng.choice(["a", "b"], n), rng.choice(["b", "c"], n)).astype(object),
        "visits": rng.poisson(1 + 4 * group),
        "weight": rng.normal(10 + 3 * group, 0.5),
    })  # fmt: skip
    for name in ("flag", "word", "weight"):
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame


@pytest.mark.parametrize("name", FITS)
def test_all_rows_sum_to_one_and_a_hole_is_the_sum_over_its_fillings(name):
    model = FITS[name](_table())
    assert list(model.schema_.kinds) == list(KINDS.values())
    # t tails: substitution x = 11 + 2 sinh(u) reaches far with few points
    u = np.linspace(-9, 9, 241)
    weights, step = 11 + 2 * np.sinh(u), 2 * np.cosh(u) * (u[1] - u[0])
    visits = np.arange(61)
    grid = pd.DataFrame(list(product(FLAGS, WORDS, visits, weights)), columns=list(KINDS))
    p = np.exp(model.score_samples(grid)).reshape(2, 3, len(visits), len(weights)) * step
    assert p.sum() == pytest.approx(1.0, abs=2e-3)
    # margins: any cells missing
    for flag, word, visit in [(1, "a", 3), (None, "b", 0), (0, None, 5), (1, "c", None), (None, None, None)]:
        row = pd.DataFrame([[flag, word, visit, None]], columns=list(KINDS))
        index = (
            slice(None) if flag is None else FLAGS.index(flag),
            slice(None) if word is None else WORDS.index(word),
            slice(None) if visit is None else visit,
        )
        assert np.exp(model.score_samples(row)[0]) == pytest.approx(p[index].sum(), rel=5e-3)
    if isinstance(model, AClass):
        np.testing.assert_allclose(model.predict_proba(grid[::97]).sum(axis=1), 1.0, atol=1e-12)
        assert all(sum(told.values()) == pytest.approx(1.0) for told in model.n_components_by_class_.values())


@pytest.mark.parametrize("name", ["CRPMixture", "filter", "stream", "AClass"])
def test_new_rows_are_drawn_as_often_as_their_density_says(name):
    """Of a table of flags and words the law over all twelve rows is known; a classifier's draws have its classes."""
    X = _table()[["flag", "word"]].assign(other=lambda X: (X["flag"] == 1) ^ (np.arange(len(X)) % 5 == 0))
    model = FITS[name](X)
    grid = pd.DataFrame(list(product((0.0, 1.0), WORDS, (False, True))), columns=["flag", "word", "other"])
    law = np.exp(model.score_samples(grid))
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    draws = model.sample(20_000, random_state=1)
    frame = draws[0] if isinstance(draws, tuple) else draws
    place = frame.merge(grid.reset_index(), on=list(grid), how="left")["index"].to_numpy()
    assert total_variation(np.bincount(place, minlength=len(grid)) / len(frame), law) < 0.015
