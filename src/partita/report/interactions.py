"""What a model found out about attributes that act together, in words and as a picture."""

from __future__ import annotations

from typing import Any

from partita.displays.interaction_matrix import InteractionMatrixDisplay
from partita.displays.picture import draw_png
from partita.displays.region_path import RegionPathDisplay

_SHOWN = 8
_SIZES = ("attributes", "pairs", "triples", "fours", "fives")


def interaction_facts(model: Any) -> list[tuple[str, str]]:
    """Regions of a Kikuchi model or the tree of a tree-augmented one; nothing for other models."""
    names = [str(name) for name in model.schema_.names]
    if hasattr(model, "map_regions_"):
        sizes = [len(region) for region in model.map_regions_]
        numbers = {size: sizes.count(size) for size in sorted(set(sizes))}
        counts = ", ".join(f"{n} {_SIZES[size - 1][: -1 if n == 1 else None]}" for size, n in numbers.items())
        together = [region for region in model.map_regions_ if len(region) > 1]
        told = sorted(together, key=lambda region: -abs(model.interaction_information_[region]))
        return [("regions found", counts or "none"), ("acting together", _some(told, names) or "no attributes")]
    if hasattr(model, "tree_"):
        order = sorted(zip(model.edge_information_.tolist(), model.tree_, strict=True), key=lambda pair: -pair[0])
        return [("tree, closest pairs first", _some([edge for _, edge in order], names) or "no pairs")]
    return []


def interaction_picture(model: Any) -> bytes | None:
    """The path and the interaction matrix of a Kikuchi model that found any region."""
    if not getattr(model, "map_regions_", None):
        return None
    displays = RegionPathDisplay.from_estimator(model), InteractionMatrixDisplay.from_estimator(model)
    return draw_png(*displays, size=(6.0, 5.2))


def _some(regions: list[tuple], names: list[str]) -> str:
    shown = ", ".join(" × ".join(names[j] for j in region) for region in regions[:_SHOWN])
    return shown + (f", {len(regions) - _SHOWN} more" if len(regions) > _SHOWN else "")
