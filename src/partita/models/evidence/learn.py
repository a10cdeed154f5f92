"""Kikuchi-Bayes with maximum-entropy parameters and evidence in place of AICc (`estimate="evidence"`).

    log P(y | x) = b_y + sum over regions S of beta_S(x_S, y) + numeric terms - log Z(x),    beta_g ~ N(0, v_g)

for every region or numeric group g. The path is a sequence of stages (`evidence.path`), each a log-linear model at
its posterior mode whose v_g maximise the Laplace evidence; the answer is a linear pool of the stages with one
temperature, both chosen by leave-one-out (`evidence.pool`), or the one stage that leave-one-out likes best.

How an estimator uses it::

    model = fit_evidence(codes, levels, reals, label, n_classes, weight, settings=Settings(), regions=(), rng=rng,
                         n_jobs=1, stop=None)
    model.log_proba(codes, reals)          # (n, C) log-probabilities
    model.explain(codes, reals)            # Explanation: .keys, .contributions (n, keys, C), .intercept, .pooling
    model.stage_weight, model.temperature, model.stages (name, keys, variance, evidence), model.omitted
    Evidence.from_tree(model.to_tree())

    codes     int32 (n, d), every cell a level 0 .. levels[j] - 1; when predicting also -1: the cell is integrated out
              (`evidence.holes`)
    levels    int32 (d,)
    reals     float64 (n, r), the numeric columns as they are or standardised, NaN = missing; r may be 0
    label     int32 (n,), 0 .. n_classes - 1
    weight    float64 (n,) or None; a weight of k is the same as the row k times, rows of weight 0 are left out
    regions   tuples of columns of `codes`, found elsewhere: they get a stage of their own, from 200 rows on. Those of
              the closed-form hilltop do better than those of its whole path (on 12 tables; the choice was made there)
    rng       numpy Generator; it only draws `Settings.hyper_rows` rows where there are more
    n_jobs    threads of the search; the result is the same for any number
    binned    for each column of `reals` the column of `codes` with its bins; nothing where no column has
    stop      a function without arguments, asked between stages and parts of a search: True ends the path early, with
              what has been fitted and the stage of `regions`; `model.omitted` says what was left out
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .design import Key, is_region
from .holes import learn_holes
from .map import Target
from .model import Evidence, Explanation, FittedStage
from .numerics import learn_numerics
from .path import Path
from .pool import choose_pool, softmax
from .rows import merged
from .settings import Settings
from .sharpen import worth_sharpening
from .stages import Stage, Training

__all__ = ["Evidence", "Explanation", "FittedStage", "Settings", "fit_evidence"]


def fit_evidence(
    codes: np.ndarray, levels: np.ndarray, reals: np.ndarray, label: np.ndarray, n_classes: int,
    weight: np.ndarray | None = None, settings: Settings | None = None, regions: Sequence[Key] = (),
    rng: np.random.Generator | None = None, n_jobs: int = 1, stop: Callable[[], bool] | None = None,
    binned: Iterable[int] = (),
) -> Evidence:  # fmt: skip
    """Learn the model; arguments as at the top of this file."""
    settings, rng = settings or Settings(), rng or np.random.default_rng(0)
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, float)
    if not weight.sum() > 0:
        raise ValueError("all rows have weight 0; give at least one row a positive weight")
    kept = np.flatnonzero(weight > 0)
    if len(kept) < len(weight):
        codes, reals, label, weight = codes[kept], reals[kept], label[kept], weight[kept]
    levels = np.ascontiguousarray(levels, np.int32)
    numerics = learn_numerics(reals, weight, settings.n_quantiles, settings.max_products)
    binned = [int(j) for j in binned]
    holes = learn_holes(codes, levels, reals, label, weight, n_classes, binned, settings.conditional_holes)
    model = Evidence(n_classes, levels, holes, numerics, {}, [], np.zeros(0), 1.0)
    if n_classes < 2:
        return model
    codes, reals, label, weight = merged(codes, reals, label, weight)
    n_logits = 1 if n_classes == 2 else n_classes
    target = Target(np.ascontiguousarray(label, np.int32), np.ascontiguousarray(weight), n_logits)
    path = Path(Training(codes, levels, reals, numerics, target, frozenset(binned)), settings, rng, n_jobs, stop)
    path.walk(regions)
    share, model.temperature = _sharpened_pool(path)
    used_stages = [s for s in range(len(share)) if settings.averaging or share[s] > 0]
    model.stages, model.stage_weight = [_kept(path.stages[s]) for s in used_stages], share[used_stages]
    used = {key for stage in model.stages for key in stage.keys if is_region(key)}
    model.cells = {region: cells for region, cells in path.seen.items() if region in used}
    if not any(("chosen products",) in stage.keys for stage in model.stages):
        numerics.chosen = numerics.chosen[:0]
    model.omitted = path.omitted
    return model


def _sharpened_pool(path: Path) -> tuple[np.ndarray, float]:
    """Stage weights and the temperature; sharper variances first where the pool asks for them and there is time."""
    share, temperature = _pool(path)
    chosen = np.zeros(0, int) if path.omitted.stages else worth_sharpening(share, temperature)
    for s in chosen:
        path.sharpen(path.stages[s])
    return _pool(path) if len(chosen) else (share, temperature)


def _pool(path: Path) -> tuple[np.ndarray, float]:
    left_out = [softmax(stage.left_out) for stage in path.stages]
    worth = [path.settings.naive_worth if stage.name in ("naive", "class") else 1.0 for stage in path.stages]
    return choose_pool(left_out, path.target.label, path.target.weight, path.settings, worth)


def _kept(stage: Stage) -> FittedStage:
    return FittedStage(stage.name, stage.keys, stage.variance, stage.first, stage.w, stage.evidence)
