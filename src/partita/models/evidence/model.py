"""The learnt evidence model: log-probabilities of new rows, what every region and numeric group adds, as a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .design import Key, is_region
from .holes import Holes
from .numerics import Numerics
from .omitted import Omitted
from .pool import full_logits, log_softmax, pooled, softmax
from .terms import RegionRows

ROWS_AT_A_TIME = 8192
HOLED_AT_A_TIME = 64  # rows that may have hundreds of completions each


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
    stage weights (and over what could stand in a hole), times the temperature, centred over the classes;
    `pooling` is what averaging probabilities rather than logits adds.
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
    holes: Holes  # what stands where a cell is not known
    numerics: Numerics
    cells: dict[Key, np.ndarray]  # of every region: the cells seen in training, in mixed radix
    stages: list[FittedStage]
    stage_weight: np.ndarray
    temperature: float
    omitted: Omitted = field(default_factory=Omitted)  # stages and candidates that stops and limits left out

    def log_proba(self, codes: np.ndarray, reals: np.ndarray) -> np.ndarray:
        """(n, C) log-probabilities of the classes; -1 among the codes: averaged over what could stand there."""
        out = np.empty((len(codes), self.n_classes))
        holed = self._holed(codes)
        whole = np.flatnonzero(~holed)
        for part in _parts(len(whole)):
            rows = whole[part]
            out[rows] = self._log_proba(codes[rows], reals[rows])
        for rows, weight, filled, numbers in self._completed(codes, reals, np.flatnonzero(holed)):
            answers = np.exp(self._log_proba(filled, numbers)).reshape(*weight.shape, self.n_classes)
            out[rows] = np.log(np.einsum("im,imc->ic", weight, answers))
        return out

    def _holed(self, codes: np.ndarray) -> np.ndarray:
        return np.asarray((codes < 0).any(axis=1) & bool(self.stages))

    def _completed(self, codes: np.ndarray, reals: np.ndarray, holed: np.ndarray):
        """The rows with holes, completed, some at a time."""
        acting = np.zeros(len(self.levels), bool)
        for stage in self.stages:
            for key in stage.keys:
                if is_region(key):
                    acting[list(key)] = True
                else:
                    acting |= np.isin(self.holes.number, self.numerics.column[self._numeric_columns(key)])
        for part in _parts(len(holed), HOLED_AT_A_TIME):
            some = holed[part]
            for rows, weight, filled, numbers in self.holes.complete(codes[some], reals[some], acting):
                yield some[rows], weight, filled, numbers

    def _numeric_columns(self, key: Key) -> np.ndarray:
        """Of a numeric group."""
        if len(key) > 1:
            return np.array([key[1]])
        pairs = self.numerics.pairs
        return np.unique(pairs[self.numerics.chosen] if key[0] == "chosen products" else pairs)

    def _log_proba(self, codes: np.ndarray, reals: np.ndarray) -> np.ndarray:
        if not self.stages:
            return np.zeros((len(codes), self.n_classes))
        stages = [softmax(logits) for logits in self._logits(codes, reals)]
        return log_softmax(self.temperature * pooled(stages, self.stage_weight))

    def stage_logits(self, codes: np.ndarray, reals: np.ndarray) -> list[np.ndarray]:
        """(n, C) logits of every stage, of rows without holes: intercept and contributions, before normalisation and
        pooling."""
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
        keys = list(dict.fromkeys(key for stage in self.stages for key in stage.keys))
        intercept = np.zeros(self.n_classes)
        for share, stage in zip(self.stage_weight, self.stages, strict=True):
            intercept += share * self.temperature * full_logits(stage.w[:1])[0]
        intercept -= intercept.mean()
        holed = self._holed(codes)
        out = np.empty((len(codes), len(keys), self.n_classes))
        out[~holed] = self._contributions(codes[~holed], reals[~holed], keys)
        for rows, weight, filled, numbers in self._completed(codes, reals, np.flatnonzero(holed)):
            parts = self._contributions(filled, numbers, keys).reshape(*weight.shape, len(keys), self.n_classes)
            out[rows] = np.einsum("im,imkc->ikc", weight, parts)
        answer = self.log_proba(codes, reals)
        answer -= answer.mean(axis=1, keepdims=True)
        return Explanation(keys, out, intercept, answer - out.sum(axis=1) - intercept)

    def _contributions(self, codes: np.ndarray, reals: np.ndarray, keys: list[Key]) -> np.ndarray:
        """(n, keys, C): what the stages' groups add, averaged with the stage weights, times the temperature."""
        rows, place = _Rows(self, codes, reals), {key: k for k, key in enumerate(keys)}
        out = np.zeros((len(codes), len(keys), self.n_classes))
        for share, stage in zip(self.stage_weight, self.stages, strict=True):
            for g, key in enumerate(stage.keys):
                out[:, place[key]] += share * self.temperature * full_logits(rows.terms(key, stage.of(g)))
        return out - out.mean(axis=2, keepdims=True)

    def to_tree(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "levels": self.levels,
            "holes": self.holes.to_tree(),
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
        holes = Holes.from_tree(tree["holes"])
        omitted = Omitted(**tree["omitted"])
        parts = {"holes": holes, "numerics": numerics, "cells": cells, "stages": stages, "omitted": omitted}
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
            return self.regions[key].terms(w)
        if key not in self.numeric:
            self.numeric[key] = self._numeric(key)
        if key[0] == "steps":
            return (self.model.numerics.step_map(key[1]) @ w)[self.numeric[key]]
        return self.numeric[key] @ w

    def _numeric(self, key: Key) -> np.ndarray:
        numerics = self.model.numerics
        if key[0] == "products":
            return numerics.products(self.reals)
        if key[0] == "chosen products":
            if ("products",) not in self.numeric:
                self.numeric["products",] = numerics.products(self.reals)
            return self.numeric["products",][:, numerics.chosen]
        if key[0] == "steps":
            return numerics.step_cells(self.reals, key[1])
        if ("slopes",) not in self.numeric:
            self.numeric["slopes",] = numerics.slopes(self.reals)
        return self.numeric["slopes",][:, key[1] : key[1] + 1]


def _parts(n: int, size: int = ROWS_AT_A_TIME) -> list[slice]:
    return [slice(a, a + size) for a in range(0, n, size)]
