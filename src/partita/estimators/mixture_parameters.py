"""Parameters that CRPMixture and AClass share, checked from one table and turned into what the models take."""

from __future__ import annotations

from ..data.validate import boolean, either, integer, number, one_of, optional
from ..kernels.contract import MULTINOMIAL, RESIDUAL, STRATIFIED, SYSTEMATIC
from ..models.mixtures.bank import Rule
from ..models.mixtures.problem import Settings, make_grids

SCHEMES = {"systematic": SYSTEMATIC, "stratified": STRATIFIED, "residual": RESIDUAL, "multinomial": MULTINOMIAL}
DEFAULT_COMPONENTS = 200

CONSTRAINTS = {
    "inference": one_of("gibbs", "smc"),
    "n_filters": integer(1),
    "n_particles": integer(1),
    "n_sweeps": optional(integer(0)),
    "alpha": either(one_of("infer"), number(0, open_low=True)),
    "group_prior": one_of("crp", "infer"),
    "column_prior": either(one_of("infer"), number(0, open_low=True)),
    "max_components": optional(integer(1)),
    "reservoir_size": integer(0),
    "correlated": boolean(),
    "resampling": one_of(*SCHEMES),
    "split_merge": either(one_of("auto"), integer(0)),
}


def settings_of(estimator, n_classes: int, n_rows: int, n_restaurants: int = 1) -> Settings:
    """What a chain of this estimator does."""
    return Settings(
        n_classes=n_classes,
        n_restaurants=n_restaurants,
        cap=estimator.max_components or DEFAULT_COMPONENTS,
        finite=estimator.group_prior == "infer",
        alpha=None if estimator.alpha == "infer" else float(estimator.alpha),
        column_prior=None if estimator.column_prior == "infer" else float(estimator.column_prior),
        split_merge=None if estimator.split_merge == "auto" else estimator.split_merge,
        grids=make_grids(n_rows if estimator.column_prior == "infer" else 0),
    )


def rule_of(estimator, n_classes: int, n_sweeps: int) -> Rule:
    """How this estimator learns from a stream."""
    return Rule(
        n_classes=n_classes,
        n_particles=estimator.n_particles,
        n_sweeps=n_sweeps if estimator.reservoir_size else 0,
        window=estimator.reservoir_size if n_sweeps else 0,  # nothing is seated anew: no row need be kept
        scheme=SCHEMES[estimator.resampling],
        settings=settings_of(estimator, n_classes, 4096),
    )
