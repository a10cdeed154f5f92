"""Fitting one stage of the path from another: shared blocks of columns, warm starts, the mode of all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .design import (
    Block,
    Key,
    LookUpDesign,
    dense_design,
    is_region,
    order_of,
    region_block,
)
from .map import Target, find_mode
from .naive import fit_naive
from .numerics import Numerics
from .pool import full_logits, log_softmax
from .recut import answers_without_own_part, is_wide, parts_of
from .scales import LAST_TOLERANCE, MID_STEPS, Groups, StageFit, fit_scales, leave_one_out, row_moments
from .settings import Settings
from .sharpen import Answer, sharpened

# where variances start, in units of the prior's, if nothing better is known
START = {"single": 0.5, "slope": 0.5, "steps": 0.2, "products": 0.05, "chosen products": 0.3, "region": 0.3}
LEAST_VARIANCE = 1e-12


@dataclass
class Training:
    """The training rows; all weights positive."""

    codes: np.ndarray  # int32 (n, d)
    levels: np.ndarray  # int32 (d,)
    reals: np.ndarray  # float64 (n, r)
    numerics: Numerics
    target: Target
    binned: frozenset[int] = frozenset()  # columns of `codes` that are bins of a column of `reals`

    def __len__(self) -> int:
        return len(self.codes)


@dataclass
class Stage:
    """One fitted stage, at its mode on all rows."""

    name: str
    keys: list[Key]
    first: np.ndarray  # (keys + 1,): the parameters of key g are w[first[g] : first[g + 1]]
    w: np.ndarray  # (1 + columns, K), the intercept first
    variance: np.ndarray  # (keys,)
    evidence: float
    fit: StageFit | None  # None: a stage in closed form, from which none other starts
    left_out: np.ndarray  # leave-one-out logits of the rows that variances were learnt from
    moments: np.ndarray  # (n, 2 K), what the search needs; none of a stage in closed form

    def of(self, g: int) -> np.ndarray:
        return self.w[self.first[g] : self.first[g + 1]]


class Stages:
    """The stages so far, and what they share: blocks of columns, variances met, the rows variances come from."""

    def __init__(self, training: Training, settings: Settings, rng: np.random.Generator) -> None:
        self.training, self.settings = training, settings
        self.blocks: dict[Key, Block] = {}
        self.seen: dict[Key, np.ndarray] = {}  # cells of every region, sorted codes
        self.start: dict[Key, float] = {}
        self.stages: list[Stage] = []
        self.singles = self.add_regions((j,) for j in range(training.codes.shape[1]))
        self.slopes = self._add_numerics()
        self.rows = self._hyper_rows(rng)
        self.target = training.target.take(self.rows)

    # ---- columns ----

    def add_regions(self, regions: Iterable[Key]) -> list[Key]:
        """Blocks of the regions; those with a single cell are left out."""
        out = []
        for region in regions:
            if region not in self.blocks:
                self.seen[region], self.blocks[region] = region_block(self.training.codes, self.training.levels, region)
            if self.blocks[region].width > 1:
                out.append(region)
        return out

    def _add_numerics(self) -> list[Key]:
        numerics, reals = self.training.numerics, self.training.reals
        keys: list[Key] = []
        slopes = numerics.slopes(reals).astype(np.float32)
        for i in range(len(numerics)):
            keys.append(("slope", i))
            self.blocks["slope", i] = Block(1, columns=np.ascontiguousarray(slopes[:, i : i + 1]))
        for i in range(len(numerics)):
            steps = numerics.step_map(i)
            if steps.shape[1]:
                keys.append(("steps", i))
                self.blocks["steps", i] = Block(steps.shape[1], cells=numerics.step_cells(reals, i), map=steps)
        self.add_products()
        return keys

    def add_products(self) -> None:
        """The blocks of the products that are used, if any are."""
        numerics = self.training.numerics
        if numerics.has_products:
            products = numerics.products(self.training.reals).astype(np.float32)
            self.blocks["products",] = Block(products.shape[1], columns=products)
            if len(numerics.chosen):
                self.blocks["chosen products",] = Block(len(numerics.chosen), columns=products[:, numerics.chosen])

    def _hyper_rows(self, rng: np.random.Generator) -> np.ndarray | slice:
        n, s = len(self.training), self.settings
        width = 1 + s.max_cells + sum(self.blocks[key].width for key in self.singles + self.slopes)
        most = min(s.hyper_rows, max(500, s.max_design // width))
        return slice(None) if n <= most else np.sort(rng.choice(n, most, replace=False))

    @property
    def is_sampled(self) -> bool:
        return not isinstance(self.rows, slice)

    # ---- fitting ----

    def add(self, name: str, keys: Sequence[Key], warm: Stage | None = None) -> Stage:
        """Fit a stage, beginning where `warm` ended."""
        keys = list(keys)
        blocks = [self.blocks[key] for key in keys]
        design = dense_design(blocks, self.rows, len(self.target.label))
        widths = [block.width for block in blocks]
        first = 1 + np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        order = np.unique([order_of(key) for key in keys], return_inverse=True)[1] if keys else np.zeros(0, np.int64)
        variance, w = self._begin(keys, first, warm)
        nested = warm is not None and keys[: len(warm.keys)] == warm.keys
        earlier = warm.fit.curvature if warm is not None and warm.fit is not None and nested else None
        groups = Groups(np.repeat(np.arange(len(keys)), widths), order)
        fit = fit_scales(design, groups, self.target, variance, w, earlier, self.settings)
        self.start.update(zip(keys, map(float, fit.variance), strict=True))
        learn = self._from_all_rows if self.is_sampled else self._from_these_rows
        answer = learn(blocks, design, fit)
        fit.curvature.pieces.clear()  # as large as the factors, and only those are asked for again
        stage = Stage(
            name, keys, first, answer.w, fit.variance, float(fit.evidence), fit, answer.left_out, answer.moments
        )  # fmt: skip
        self.stages.append(stage)
        return stage

    def sharpen(self, stage: Stage) -> None:
        """Variances of a stage as large as leave-one-out likes them (`evidence.sharpen`); what it started from, and
        what started from it, stays as it is."""
        if stage.fit is None:
            return
        blocks = [self.blocks[key] for key in stage.keys]
        design = dense_design(blocks, self.rows, len(self.target.label))
        of_column = np.repeat(np.arange(len(blocks)), [block.width for block in blocks])
        groups = Groups(of_column, np.zeros(len(blocks), np.int64))
        learn = self._from_all_rows if self.is_sampled else self._from_these_rows
        found = sharpened(
            stage.fit, stage.left_out, self.target,
            lambda v, near: fit_scales(design, groups, self.target, v, near.w, near.curvature, self.settings, rounds=1),
            lambda there: learn(blocks, design, there), self.settings.temperature_prior,
        )  # fmt: skip
        if found is not None:
            fit, answer = found
            stage.w, stage.left_out = answer.w, answer.left_out
            stage.variance, stage.evidence = fit.variance, float(fit.evidence)

    def add_naive(self, name: str, keys: list[Key]) -> None:
        """Naive Bayes on single attributes; on none, the class alone. Its variances are the mean squares of its
        parameters, its evidence the leave-one-out log-likelihood."""
        target = self.training.target
        widths = np.array([self.blocks[key].width for key in keys], np.int64)
        first = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        cells = np.empty((len(self.training), len(keys)), np.int32)
        for k, key in enumerate(keys):
            own = self.blocks[key].cells
            assert own is not None
            np.add(own, np.int32(first[k]), out=cells[:, k])
        fit = fit_naive(cells, first, target, self.rows, max(target.n_logits, 2), self._cut_anew(keys))
        squares = np.bincount(np.repeat(np.arange(len(keys)), widths), (fit.w[1:] ** 2).mean(axis=1), len(keys))
        rows = np.arange(len(self.target.label))
        own = log_softmax(full_logits(fit.left_out))[rows, self.target.label]
        evidence = float(self.target.weight @ own)
        variance = np.maximum(squares / widths, LEAST_VARIANCE)
        stage = Stage(name, keys, 1 + first, fit.w, variance, evidence, None, fit.left_out, np.zeros((0, 0)))
        self.stages.append(stage)

    def _cut_anew(self, keys: list[Key]) -> np.ndarray | None:
        """Answers of naive Bayes to `self.rows` by bins of other rows, where bins by chance are to be feared."""
        t = self.training
        if not any(key[0] in t.binned for key in keys) or not is_wide(len(t.binned), t.target.total):
            return None
        plain = [key[0] for key in keys if key[0] not in t.binned]
        part, n_classes = parts_of(t.numerics, t.reals, t.target.label), max(t.target.n_logits, 2)
        return answers_without_own_part(
            t.codes, plain, t.levels, t.reals, part, t.target.label, t.target.weight, n_classes,
            self.settings.force_first_cut,
        )[self.rows]  # fmt: skip

    def _begin(self, keys: list[Key], first: np.ndarray, warm: Stage | None) -> tuple[np.ndarray, np.ndarray]:
        """Variances and parameters to begin with: those of `warm`, else variances met elsewhere, else `START`."""
        n_logits = self.target.n_logits
        unit = self.settings.prior_variance * (2.0 if n_logits == 1 else 1.0)
        variance, w = np.empty(len(keys)), np.zeros((int(first[-1]), n_logits))
        known = {} if warm is None else {key: g for g, key in enumerate(warm.keys)}
        for g, key in enumerate(keys):
            kind = ("single" if len(key) == 1 else "region") if is_region(key) else key[0]
            variance[g] = self.start.get(key, unit * START[kind])
            if warm is not None and warm.fit is not None and key in known:
                h = known[key]
                variance[g] = warm.fit.variance[h]
                w[first[g] : first[g + 1]] = warm.fit.w[warm.first[h] : warm.first[h + 1]]
        if warm is not None and warm.fit is not None:
            w[0] = warm.fit.w[0]
        return variance, w

    def _from_these_rows(self, blocks: list[Block], design: np.ndarray, fit: StageFit) -> Answer:
        """Parameters, leave-one-out logits and moments, where variances were learnt from all rows."""
        moments = np.hstack([-fit.mode.residual, self.target.weight[:, None] * fit.spread])
        return Answer(fit.w, fit.left_out(design, self.target.weight), moments)

    def _from_all_rows(self, blocks: list[Block], design: np.ndarray, fit: StageFit) -> Answer:
        """The same at the mode of all rows, where variances were learnt from some; leave-one-out logits of these.

        The curvature is that of the sample times the ratio of the rows."""
        target, part, mine = self.training.target, self.target, self.rows
        curvature = fit.curvature.times(target.total / part.total, design)
        solver = curvature.preconditioner(fit.scale, np.ones((0, target.n_logits)))
        product = LookUpDesign(blocks, len(self.training))
        mode = find_mode(product, fit.scale, target, fit.mode.u, solver, MID_STEPS, LAST_TOLERANCE * target.total)
        residual, spread = row_moments(mode.residual, target, target.indicator())
        leverage = curvature.leverage(design)
        left_out = leave_one_out(mode.logits[mine], residual[mine], spread[mine], leverage, part.weight)
        moments = np.hstack([-mode.residual, target.weight[:, None] * spread])
        return Answer(fit.scale[:, None] * mode.u, left_out, moments)
