"""The table of parameter constraints."""

import numpy as np
import pytest

from partita.data.validate import boolean, check_parameters, either, instance, integer, number, one_of, optional

CONSTRAINTS = {
    "inference": one_of("smc", "gibbs"),
    "n_particles": integer(low=1),
    "alpha": either(number(low=0, open_low=True), one_of("infer")),
    "fraction": number(low=0, high=1),
    "correlated": boolean(),
    "time_budget": optional(number(low=0)),
    "name": instance(str, bytes),
}
GOOD = {
    "inference": "smc",
    "n_particles": 20,
    "alpha": 1.0,
    "fraction": 0.5,
    "correlated": False,
    "time_budget": None,
    "name": "a",
    "free": object(),
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"inference": np.str_("gibbs")},
        {"n_particles": np.int64(1)},
        {"alpha": "infer"},
        {"alpha": 2},
        {"fraction": 0},
        {"fraction": np.float32(1)},
        {"correlated": np.True_},
        {"time_budget": 3},
        {"name": b"a"},
    ],
)
def test_allowed(change):
    check_parameters("AClass", {**GOOD, **change}, CONSTRAINTS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_particles": -3}, r"AClass: n_particles must be an integer >= 1, got -3 \(int\)\. "),
        ({"n_particles": 2.0}, r"n_particles must be an integer >= 1, got 2.0 \(float\)"),
        ({"n_particles": True}, r"n_particles must be an integer >= 1, got True \(bool\)"),
        (
            {"inference": "gibs"},
            r"must be one of 'smc', 'gibbs', got 'gibs' \(str\)\. Did you mean 'gibbs'\?",
        ),
        ({"inference": None}, r"inference must be one of 'smc', 'gibbs', got None"),
        ({"inference": np.array(["smc"])}, "inference must be one of"),
        ({"alpha": 0.0}, r"alpha must be a finite number > 0 or 'infer', got 0.0"),
        ({"alpha": "inferr"}, r"alpha must be .* Did you mean 'infer'\?"),
        ({"alpha": float("nan")}, "alpha must be a finite number"),
        ({"alpha": float("inf")}, "alpha must be a finite number"),
        ({"fraction": 1.5}, "fraction must be a finite number >= 0 and <= 1, got 1.5"),
        ({"correlated": 1}, "correlated must be True or False, got 1"),
        ({"time_budget": -1}, "time_budget must be a finite number >= 0 or None, got -1"),
        ({"name": 3}, "name must be an instance of str or bytes, got 3"),
    ],
)
def test_refused(change, message):
    with pytest.raises(ValueError, match=message):
        check_parameters("AClass", {**GOOD, **change}, CONSTRAINTS)


def test_true_is_not_one():
    with pytest.raises(ValueError, match="must be one of 0, 1"):
        check_parameters("A", {"a": True}, {"a": one_of(0, 1)})


def test_constraint_without_its_parameter_is_our_mistake():
    with pytest.raises(AssertionError, match="no such parameter"):
        check_parameters("A", {}, {"a": boolean()})
