"""The learnt evidence model: log-probabilities of new rows, what every region and numeric group adds, as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .evidence_design import Key, is_region
from .evidence_numerics import Numerics
from .evidence_omitted import Omitted
from .evidence_pool import full_logits, log_softmax, pooled
from .evidence_terms import RegionRows

ROWS_AT_A_TIME = 8192


@dataclass
class FittedStage:
    """One stage of the path: its groups (regions and numeric groups), their prior variances and parameters."""

    name: str
    keys: list[Key]
    variance: np.ndarray  # (keys,)
    first: np.ndarray  # int64 (keys + 1,): parameters of key g are `w[first[g] : first[g + 1]]`; row 0 is the intercept
    w: np.ndarray  # (1 + columns, K)
    evidence: float  # Laplace's log marginal likelihood, of the rows that variances were learnt from

    def of(self, g: int) -> np.ndarray:
        return self.w[self.first[g] : self.first[g + 1]]


@dataclass
class Explanation:
    """Why a row is predicted as it is.

    With z the log-probabilities of the answer centred over the classes,
    `contributions.sum(axis=1) + intercept + pooling == z`: contributions are those of the stages averaged with the
    stage weights, times the temperature, centred over the classes; `pooling` is what averaging probabilities rather
    than logits adds.
    """

    keys: list[Key]
    contributions: np.ndarray  # (n, keys, C)
    intercept: np.ndarray  # (C,)
    pooling: np.ndarray  # (n, C)


@dataclass
class Evidence:
    """The learnt model."""

    n_classes: int
    levels: np.ndarray
    frequency: list[np.ndarray]  # of the levels of every column
    numerics: Numerics
    cells: dict[Key, np.ndarray]  # of every region: the cells seen in training, in mixed radix
    stages: list[FittedStage]
    stage_weight: np.ndarray
    temperature: float
    omitted: Omitted = field(default_factory=Omitted)  # stages and candidates that stops and limits left out

    def log_proba(self, codes: np.ndarray, reals: np.ndarray) -> np.ndarray:
        """(n, C) log-probabilities of the classes."""
        out = [self._log_proba(codes[part], reals[part]) for part in _parts(len(codes))]
        return np.concatenate(out) if out else np.zeros((0, self.n_classes))

    def _log_proba(self, codes: np.ndarray, reals: np.ndarray) -> np.ndarray:
        if not self.stages:
            return np.zeros((len(codes), self.n_classes))
        stages = [log_softmax(full_logits(logits)) for logits in self._logits(codes, reals)]
        return log_softmax(self.temperature * pooled(stages, self.stage_weight))

    def stage_logits(self, codes: np.ndarray, reals: np.ndarray) -> list[np.ndarray]:
        """(n, C) logits of every stage: intercept and contributions, before normalisation and pooling."""
        return [full_logits(logits) for logits in self._logits(codes, reals)]

    def _logits(self, codes: np.ndarray, reals: np.ndarray) -> list[np.ndarray]:
        rows = _Rows(self, codes, reals)
        out = []
        for stage in self.stages:
            logits = np.tile(stage.w[0], (len(codes), 1))
            for g, key in enumerate(stage.keys):
                logits += rows.terms(key, stage.of(g))
            out.append(logits)
        return out

    def explain(self, codes: np.ndarray, reals: np.ndarray) -> Explanation:
        """The answer as a sum over regions and numeric groups of all stages."""
        rows = _Rows(self, codes, reals)
        keys = list(dict.fromkeys(key for stage in self.stages for key in stage.keys))
        place = {key: k for k, key in enumerate(keys)}
        out, intercept = np.zeros((len(codes), len(keys), self.n_classes)), np.zeros(self.n_classes)
        for share, stage in zip(self.stage_weight, self.stages, strict=True):
            amount = share * self.temperature
            intercept += amount * full_logits(stage.w[:1])[0]
            for g, key in enumerate(stage.keys):
                out[:, place[key]] += amount * full_logits(rows.terms(key, stage.of(g)))
        out -= out.mean(axis=2, keepdims=True)
        intercept -= intercept.mean()
        answer = self.log_proba(codes, reals)
        answer -= answer.mean(axis=1, keepdims=True)
        return Explanation(keys, out, intercept, answer - out.sum(axis=1) - intercept)

    def to_tree(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "levels": self.levels,
            "frequency": list(self.frequency),
            "numerics": self.numerics.to_tree(),
            "cells": [[list(region), cells] for region, cells in self.cells.items()],
            "stages": [{**vars(stage), "keys": [list(key) for key in stage.keys]} for stage in self.stages],
            "stage_weight": self.stage_weight,
            "temperature": self.temperature,
            "omitted": dict(vars(self.omitted)),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Evidence:
        stages = [FittedStage(**{**stage, "keys": [tuple(key) for key in stage["keys"]]}) for stage in tree["stages"]]
        cells = {tuple(region): seen for region, seen in tree["cells"]}
        numerics = Numerics.from_tree(tree["numerics"])
        parts = {"numerics": numerics, "cells": cells, "stages": stages, "omitted": Omitted(**tree["omitted"])}
        return cls(**{**tree, **parts})


class _Rows:
    """Rows to predict, with what the stages share."""

    def __init__(self, model: Evidence, codes: np.ndarray, reals: np.ndarray) -> None:
        self.model, self.codes, self.reals = model, codes, reals
        self.regions: dict[Key, RegionRows] = {}
        self.numeric: dict[Key, np.ndarray] = {}

    def terms(self, key: Key, w: np.ndarray) -> np.ndarray:
        """(n, K): what a group with parameters `w` adds to the logits."""
        if is_region(key):
            if key not in self.regions:
                self.regions[key] = RegionRows(self.codes, self.model.levels, key, self.model.cells[key])
            return self.regions[key].terms(w, self.model.frequency)
        if key not in self.numeric:
            self.numeric[key] = self._numeric(key)
        if key[0] == "steps":
            return (self.model.numerics.step_map(key[1]) @ w)[self.numeric[key]]
        return self.numeric[key] @ w

    def _numeric(self, key: Key) -> np.ndarray:
        numerics = self.model.numerics
        if key[0] == "products":
            return numerics.products(self.reals)
        if key[0] == "steps":
            return numerics.step_cells(self.reals, key[1])
        if ("slopes",) not in self.numeric:
            self.numeric["slopes",] = numerics.slopes(self.reals)
        return self.numeric["slopes",][:, key[1] : key[1] + 1]


def _parts(n: int) -> list[slice]:
    return [slice(a, a + ROWS_AT_A_TIME) for a in range(0, n, ROWS_AT_A_TIME)]
