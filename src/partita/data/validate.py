"""The border: a table of parameter constraints checked once, and the warning class for doubtful data."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


class DataWarning(UserWarning):
    """The table is accepted, but something in it deserves a look."""


@dataclass(frozen=True)
class Constraint:
    """What a parameter may be.

    text        completes "must be ...".
    holds       whether a value is allowed.
    choices     the allowed words, where there are some: a misspelling is answered with the nearest.
    """

    text: str
    holds: Callable[[Any], bool]
    choices: tuple[str, ...] = ()


def one_of(*values: Any) -> Constraint:
    """One of the given values; True is not 1 and 1 is not True."""

    def holds(value: Any) -> bool:
        scalar = value is None or isinstance(value, str | Real | np.bool_)
        return scalar and any(_is_bool(value) == _is_bool(v) and bool(value == v) for v in values)

    listed = ", ".join(repr(v) for v in values)
    text = listed if len(values) == 1 else f"one of {listed}"
    return Constraint(text, holds, tuple(v for v in values if isinstance(v, str)))


def integer(low: int | None = None, high: int | None = None) -> Constraint:
    """A whole number with low <= value <= high; booleans are not numbers here."""

    def holds(value: Any) -> bool:
        return isinstance(value, Integral) and not _is_bool(value) and _within(int(value), low, high)

    return Constraint("an integer" + _bounds(low, high, False), holds)


def number(low: float | None = None, high: float | None = None, open_low: bool = False) -> Constraint:
    """A finite number with low <= value <= high, or low < value with `open_low`."""

    def holds(value: Any) -> bool:
        if not isinstance(value, Real) or _is_bool(value) or not math.isfinite(value):
            return False
        return _within(float(value), low, high) and not (open_low and low is not None and value == low)

    return Constraint("a finite number" + _bounds(low, high, open_low), holds)


def boolean() -> Constraint:
    """True or False."""
    return Constraint("True or False", _is_bool)


def instance(*types: type) -> Constraint:
    """An instance of one of the given types."""
    return Constraint(
        "an instance of " + " or ".join(t.__name__ for t in types), lambda value: isinstance(value, types)
    )


def optional(constraint: Constraint) -> Constraint:
    """None, or what `constraint` allows."""
    return either(constraint, Constraint("None", lambda value: value is None))


def either(*constraints: Constraint) -> Constraint:
    """What any of the constraints allows."""
    return Constraint(
        " or ".join(c.text for c in constraints),
        lambda value: any(c.holds(value) for c in constraints),
        tuple(choice for c in constraints for choice in c.choices),
    )


def check_parameters(owner: str, params: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise a ValueError for the first parameter of `owner` that its constraint does not allow.

    Parameters without a constraint are not looked at; a constraint without its parameter is our mistake.
    """
    for name, constraint in constraints.items():
        assert name in params, f"{owner} has a constraint for {name!r} but no such parameter"
        value = params[name]
        if not constraint.holds(value):
            nearest = difflib.get_close_matches(value, constraint.choices, n=1) if isinstance(value, str) else []
            advice = f"Did you mean {nearest[0]!r}?" if nearest else f"Pass {name}= such a value."
            raise ValueError(
                f"{owner}: {name} must be {constraint.text}, got {value!r} ({type(value).__name__}). {advice}"
            )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _within(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _bounds(low: float | None, high: float | None, open_low: bool) -> str:
    parts = [] if low is None else [f"{'>' if open_low else '>='} {low:g}"]
    parts += [] if high is None else [f"<= {high:g}"]
    return " " + " and ".join(parts) if parts else ""
