"""What a region is called in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .names import shorten
from .wanted import need_method

LONGEST = 28


def names_of(display: type, estimator: Any) -> list[str]:
    """Names of the columns of a fitted classifier; "column 3" where they have none. Any other estimator is refused."""
    need_method(display, "a fitted KikuchiBayesClassifier", estimator, "explain", "to_networkx")
    check_is_fitted(estimator, "map_regions_")
    schema = estimator.schema_
    return [str(name) if schema.named else f"column {name}" for name in schema.names]


def region_name(region: tuple, names: Sequence[str], longest: int = LONGEST) -> str:
    """The attributes of a region, joined; the class alone is "class"."""
    if not region:
        return "class"
    if isinstance(region[0], str):
        return region[0] if len(region) == 1 else shorten(f"{names[region[1]]} ({region[0]})", longest)
    return " × ".join(shorten(names[j], max(6, longest // len(region))) for j in region)
