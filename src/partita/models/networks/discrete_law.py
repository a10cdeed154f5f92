"""The joint law of a few discrete variables, as a table that can be asked by the names of levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class DiscreteLaw:
    """probabilities (levels of variables[0], levels of variables[1], ...), summing to one.

    ``law["yes"]`` of one variable, ``law["yes", 3]`` of two; `items` lists all.
    """

    variables: tuple[Any, ...]
    levels: tuple[tuple[Any, ...], ...]
    probabilities: np.ndarray

    def __getitem__(self, wanted: Any) -> float:
        asked = wanted if isinstance(wanted, tuple) and len(self.variables) > 1 else (wanted,)
        if len(asked) != len(self.variables):
            raise KeyError(f"give one level of each of {list(self.variables)}, got {wanted!r}")
        place = []
        for variable, levels, level in zip(self.variables, self.levels, asked):
            if level not in levels:
                raise KeyError(f"{level!r} is no level of {variable!r}: it has {list(levels)}")
            place.append(levels.index(level))
        return float(self.probabilities[tuple(place)])

    def items(self) -> Iterator[tuple[Any, float]]:
        """(level, probability) of one variable, (tuple of levels, probability) of several."""
        for place in np.ndindex(self.probabilities.shape):
            named = tuple(levels[k] for levels, k in zip(self.levels, place))
            yield (named[0] if len(named) == 1 else named), float(self.probabilities[place])

    def to_dict(self) -> dict[Any, float]:
        return dict(self.items())

    def __repr__(self) -> str:
        lines = [", ".join(map(str, self.variables))]
        for number, (named, probability) in enumerate(self.items()):
            if number == _SHOWN:
                lines.append(f"  ... {self.probabilities.size - _SHOWN} more")
                break
            shown = ", ".join(map(str, named)) if isinstance(named, tuple) else str(named)
            lines.append(f"  {shown}: {probability:.4f}")
        return "\n".join(lines)
