"""What the parameters of a matrix model may be, alone and together."""

from __future__ import annotations

import math
from typing import Any

from ..data.validate import Constraint, boolean, either, integer, one_of, optional

NEVER = Constraint("None: a matrix has one kind of cells, which link= says", lambda value: value is None)
CONSTRAINTS: dict[str, Constraint] = {
    "max_rank": integer(1),
    "prior": one_of("ard", "paper"),
    "sampler": one_of("blocked", "coordinate"),
    "link": one_of("gaussian", "ordinal", "binomial"),
    "n_samples": integer(1),
    "burn_in": optional(integer(0)),
    "n_chains": integer(1),
    "init": either(one_of("random", "svd"), integer(0)),
    "missingness_features": either(one_of("auto"), integer(0)),
    "offsets": optional(boolean()),
    "unequal_noise": optional(boolean()),
    "cut_points": optional(one_of("rows", "shared")),
    "duplicates": one_of("error", "mean"),
    "column_kinds": NEVER,
}


def parts_of_model(model: Any) -> tuple[bool, bool]:
    """Whether offsets and unequal noise are in the model, where the parameters leave it open."""
    offsets = model.sampler != "coordinate" if model.offsets is None else bool(model.offsets)
    unequal = model.prior == "ard" and model.link != "binomial"
    return offsets, unequal if model.unequal_noise is None else bool(model.unequal_noise)


def own_cut_points(model: Any) -> bool:
    """Whether every row has cut points of its own, where the parameters leave it open."""
    return model.link == "ordinal" and (model.cut_points or ("rows" if model.prior == "ard" else "shared")) == "rows"


def check_together(model: Any) -> None:
    """Raise where parameters that are fine alone do not go together."""
    for wrong, told in (
        (model.sampler == "coordinate" and model.prior == "ard",
         "sampler='coordinate' is the thesis's and knows its prior only. Pass prior='paper', or sampler='blocked'"),
        (model.sampler == "coordinate" and bool(model.unequal_noise),
         "sampler='coordinate' has the thesis's equal noise. Leave unequal_noise None, or pass sampler='blocked'"),
        (model.link == "binomial" and bool(model.unequal_noise),
         "unequal_noise=True has no meaning with link='binomial', whose noise is that of counting. Leave it None"),
        (model.link != "ordinal" and model.cut_points is not None,
         f"cut_points={model.cut_points!r}, but link={model.link!r} has none. Leave it None, or pass link='ordinal'"),
        (model.sampler == "coordinate" and model.cut_points == "rows",
         "sampler='coordinate' has the thesis's cut points, shared by all rows. Leave cut_points None"),
        (model.link == "ordinal" and model.duplicates == "mean",
         "duplicates='mean' with link='ordinal': the mean of two levels is no level. Remove the duplicates"),
    ):  # fmt: skip
        if wrong:
            raise ValueError(f"BayesianSVD: {told}.")


def check_going_on(model: Any, sweeps: dict[str, Any]) -> None:
    """Raise where chains cannot go on: numbers of sweeps that are none, or another model than they have learnt."""
    for name, value in sweeps.items():
        if value is not None and not CONSTRAINTS[name].holds(value):
            raise ValueError(f"partial_fit: {name} must be {CONSTRAINTS[name].text} or None, got {value!r}.")
    state = model._states[0]
    learnt = {
        "link": model._posterior.link,
        "prior": "ard" if state.s is None else "paper",
        "sampler": "blocked" if state.row_effects is None else "coordinate",
        "n_chains": len(model._states),
    }
    for name, value in learnt.items():
        if getattr(model, name) != value:
            raise _other(name, getattr(model, name), value)
    own = model._posterior.draws[0].row_stretch.shape[1] > 0
    if len(model._posterior.levels) > 2 and own_cut_points(model) != own:
        raise _other("cut_points", model.cut_points, "rows" if own else "shared")
    has = model._offsets, not math.isnan(model._posterior.draws[0].row_df)
    for name, wanted, value in zip(("offsets", "unequal_noise"), parts_of_model(model), has, strict=True):
        if wanted != value:
            raise _other(name, wanted, value)


def _other(name: str, wanted: Any, value: Any) -> ValueError:
    return ValueError(
        f"partial_fit: {name}={wanted!r}, but the model has learnt with {value!r}. Set it back, or fit again."
    )
