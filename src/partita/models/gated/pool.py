"""Fits of gated experts together, as they answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.table import Table
from ...families.normal_inverse_wishart import NormalInverseWishart
from ..factor.model import FactorModel
from ..factor.state import FactorState
from ..lens import Lens
from ..qgme.cells import PointColumn
from ..qgme.model import NormalGates, QGMEModel
from .answer import Answer, Widths
from .cells import CellColumn
from .held import RowWidths
from .predict import GatedModel
from .row_marks import row_marks
from .rows import View
from .state import Experts
from .tempering import Tempering

# kinds of models -> what they are made of: the model, its gates, its columns beside the Gaussian block
MODELS: dict[str, tuple[type[GatedModel], Callable[..., Any], type[CellColumn]]] = {
    GatedModel.kind: (GatedModel, NormalInverseWishart, CellColumn),
    QGMEModel.kind: (QGMEModel, NormalGates, PointColumn),
}
Model = GatedModel | FactorModel


@dataclass(eq=False)
class Pool:
    """Models together.

    voters        models whose class probabilities are averaged, with `weight`; lens_of says how each looks at a table
    tempering     what is made of the averaged probabilities
    whole         models of all columns, through the first lens, for densities and cells; with `whole_weight`
    widths        of the laws of cells, where rows set aside have taught them and `whole_weight`: the models are then a
                  linear pool, whose weights are the same for all rows
    seen_widths   the same of the holes of training rows, which are known by their `marks` (`gated.row_marks`)
    """

    lenses: list[Lens]
    n_classes: int
    voters: Sequence[Model]
    lens_of: list[int]
    weight: np.ndarray
    tempering: Tempering
    whole: Sequence[Model]
    whole_weight: np.ndarray
    widths: Widths | None = None
    seen_widths: Widths | None = None
    marks: np.ndarray | None = None
    n_jobs: int = 1

    def row_widths(self, table: Table) -> RowWidths | None:
        """Of every row of the table, as one of the training rows or as a new one."""
        if self.widths is None:
            return None
        if self.seen_widths is None or self.marks is None:
            return RowWidths.same(self.widths, len(table))
        return RowWidths((self.widths, self.seen_widths), np.isin(row_marks(table), self.marks).astype(np.intp))

    def probabilities(self, table: Table) -> np.ndarray:
        """(n, C)."""
        rows = {k: self.lenses[k].rows(table) for k in sorted(set(self.lens_of))}

        def ask(voter: int) -> np.ndarray:
            return self.voters[voter].answer(rows[self.lens_of[voter]]).probabilities()

        if self.n_jobs == 1:
            each = [ask(k) for k in range(len(self.voters))]
        else:
            with ThreadPoolExecutor(self.n_jobs) as threads:
                each = list(threads.map(ask, range(len(self.voters))))
        return self.tempering(np.tensordot(self.weight, each, axes=1), table)

    def log_density(self, table: Table) -> np.ndarray:
        """(n,) of the observed cells, in the caller's units."""
        rows = self.lenses[0].rows(table)
        logs = np.stack([self.answer(k, table).log_density() for k in range(len(self.whole))])
        logs += np.log(self.whole_weight)[:, None]
        top = logs.max(axis=0)
        return top + np.log(np.exp(logs - top).sum(axis=0)) + self.lenses[0].log_jacobian(rows)

    def answer(self, k: int, table: Table) -> Answer:
        """What model k of all columns says, component by component."""
        return self.whole[k].answer(self.lenses[0].rows(table))

    def shown(self) -> int:
        """The model of all columns that explains answers: of those that vote the one of the greatest weight."""
        votes = {id(model) for model in self.voters}
        heard = [k for k, model in enumerate(self.whole) if id(model) in votes] or list(range(len(self.whole)))
        return max(heard, key=lambda k: self.whole_weight[k])

    def to_tree(self) -> dict[str, Any]:
        models = list({id(model): model for model in [*self.voters, *self.whole]}.values())
        place = {id(model): k for k, model in enumerate(models)}
        lens_of = [self.lenses.index(model.view.lens) for model in models]
        return {
            "lenses": [lens.to_tree() for lens in self.lenses],
            "n_classes": self.n_classes,
            "models": [model_to_tree(model, k) for model, k in zip(models, lens_of, strict=True)],
            "voters": [place[id(model)] for model in self.voters],
            "lens_of": self.lens_of,
            "weight": self.weight,
            "tempering": self.tempering.to_tree(),
            "whole": [place[id(model)] for model in self.whole],
            "whole_weight": self.whole_weight,
            "widths": _widths_to_tree(self.widths),
            "seen_widths": _widths_to_tree(self.seen_widths),
            "marks": self.marks,
        }

    @classmethod
    def alike(
        cls, lens: Lens, n_classes: int, voters: Sequence[Model], whole: Sequence[Model] | None = None
    ) -> Pool:
        """Models of one lens that count alike, and all or some of them for cells."""
        whole = voters if whole is None else whole
        share, part = np.full(len(voters), 1.0 / len(voters)), np.full(len(whole), 1.0 / len(whole))
        return cls([lens], n_classes, voters, [0] * len(voters), share, Tempering.none(n_classes), whole, part)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Pool:
        lenses = [Lens.from_tree(part) for part in tree["lenses"]]
        models = [model_from_tree(part, lenses, tree["n_classes"]) for part in tree["models"]]
        return cls(
            lenses, tree["n_classes"], [models[k] for k in tree["voters"]], tree["lens_of"], tree["weight"],
            Tempering(**tree["tempering"]), [models[k] for k in tree["whole"]], tree["whole_weight"],
            _widths_from_tree(tree["widths"]), _widths_from_tree(tree["seen_widths"]), tree["marks"],
        )  # fmt: skip


def _widths_to_tree(widths: Widths | None) -> dict[str, Any] | None:
    if widths is None:
        return None
    return dict(vars(widths)) | {"held": None if widths.held is None else np.array(widths.held)}


def _widths_from_tree(tree: dict[str, Any] | None) -> Widths | None:
    if tree is None:
        return None
    return Widths(tree["scale"], tree["degrees"], None if tree["held"] is None else tuple(tree["held"].tolist()))


def model_to_tree(model: Model, lens: int) -> dict[str, Any]:
    view, sights = model.view, model.view.lens.sights
    tree = {
        "kind": model.kind,
        "lens": lens,
        "reals": view.reals,
        "real_sights": [sights.index(sight) for sight in view.real_sights],
        "cell_sights": [sights.index(sight) for sight in view.cell_sights],
        "columns": [column.to_tree() for column in view.cells],
    }
    if isinstance(model, FactorModel):
        return tree | {"state": model.to_tree()}
    return tree | {
        "weight": model.weight,
        "gates": {name: np.ascontiguousarray(part) for name, part in vars(model.gates).items()},
        "cells": list(model.cells),
        "experts": None if model.experts is None else dict(vars(model.experts)),
        "owner": model.owner,
    }


def model_from_tree(tree: dict[str, Any], lenses: list[Lens], n_classes: int) -> Model:
    lens = lenses[tree["lens"]]
    factors = tree["kind"] == FactorModel.kind
    make, make_gates, make_column = MODELS[GatedModel.kind if factors else tree["kind"]]
    view = View(
        lens,
        tree["reals"],
        tuple(lens.sights[k] for k in tree["real_sights"]),
        tuple(make_column(**part) for part in tree["columns"]),
        tuple(lens.sights[k] for k in tree["cell_sights"]),
    )
    if factors:
        return FactorModel(view, n_classes, FactorState.from_tree(tree["state"]))
    experts = None if tree["experts"] is None else Experts(**tree["experts"])
    gates = make_gates(**tree["gates"])
    return make(view, n_classes, tree["weight"], gates, tree["cells"], experts, tree["owner"])
