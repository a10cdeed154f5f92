"""Families of regions: Algorithm 1, its Moebius form, degrees of freedom and the prior."""

import math
from itertools import pairwise

import numpy as np
import pytest

from partita.models.kikuchi.regions import (
    added_freedom,
    algorithm_one,
    closure,
    counting_numbers,
    freedom,
    log_prior,
    maximal,
    subsets,
)


def random_families(n=200, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield [
            tuple(sorted(rng.choice(7, rng.integers(1, 6), replace=False).tolist()))
            for _ in range(rng.integers(1, 8))
        ]  # fmt: skip


def test_moebius_form_is_algorithm_one_on_random_families():
    for regions in random_families():
        assert counting_numbers(regions) == algorithm_one(regions)


def test_every_attribute_and_the_class_are_counted_once():
    for regions in random_families(50, 1):
        numbers = counting_numbers(regions)
        assert sum(numbers.values()) == 1  # the class, which is in all
        for j in {j for region in regions for j in region}:
            assert sum(c for region, c in numbers.items() if j in region) == 1


def test_freedom_is_equation_seven():
    rng = np.random.default_rng(2)
    levels = rng.integers(1, 5, 7).tolist()
    for regions in random_families(100, 3):
        for n_classes in (1, 2, 4):
            product = {r: math.prod(levels[j] for j in r) for r in algorithm_one(regions)}
            direct = sum(c * (product[r] * n_classes - product[r]) for r, c in algorithm_one(regions).items())
            assert freedom(regions, levels, n_classes) == pytest.approx(direct, abs=1e-9)


def test_naive_bayes_and_one_big_region():
    singles = [(j,) for j in range(4)]
    assert counting_numbers(singles) == {(): -3, (0,): 1, (1,): 1, (2,): 1, (3,): 1}
    assert counting_numbers([*singles, (0, 1, 2, 3)]) == {(0, 1, 2, 3): 1}
    assert counting_numbers([]) == algorithm_one([]) == {(): 1}


def test_subsets_closure_and_maximal():
    assert subsets((1, 4)) == [(), (1,), (4,), (1, 4)]
    assert closure([(4, 1), (2,)]) == {(), (1,), (2,), (4,), (1, 4)}
    assert maximal([(1,), (1, 4), (2,), ()]) == [(2,), (1, 4)]


def test_freedom_of_one_potential_and_of_many():
    assert added_freedom(np.array([3, 4], np.int32), 2) == 6
    assert added_freedom(np.array([], np.int32), 3) == 2  # the class alone
    assert added_freedom(np.array([[3, 4], [1, 9]], np.int32), 3).tolist() == [12, 0]
    huge = np.full(6, 2**20, np.int32)
    assert added_freedom(huge, 2) == pytest.approx(2.0**120, rel=1e-4)  # no overflow


def test_the_prior_falls_and_ends_before_its_pole():
    values = [log_prior(df, 20.0) for df in range(19)]
    assert values[0] == 0 and all(a > b for a, b in pairwise(values))
    assert log_prior(19, 20.0) == log_prior(25, 20.0) == -math.inf
    assert log_prior(5, 20.0) == pytest.approx(-20 * 5 / 14)
