"""A matrix model's parts as trees for an archive, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from scipy import sparse

from ..data.ids import Ids
from ..models.matrices.draw import Draw
from ..models.matrices.entries import Entries
from ..models.matrices.posterior import Posterior
from .matrix_learning import Matrix


def matrix_to_tree(matrix: Matrix, pack: Callable[[Any, str], Any]) -> dict[str, Any]:
    """`pack` turns ids of any type into a tree."""
    return {
        "entries": matrix.entries.to_tree(),
        "rows": pack(matrix.rows.labels, "row_ids_"),
        "columns": pack(matrix.columns.labels, "column_ids_"),
        "levels": matrix.levels,
        "row_given": _given_to_tree(matrix.row_given),
        "column_given": _given_to_tree(matrix.column_given),
    }


def matrix_from_tree(tree: dict[str, Any], unpack: Callable[[Any], Any]) -> Matrix:
    return Matrix(
        Entries.from_tree(tree["entries"]), Ids(unpack(tree["rows"]), "row"), Ids(unpack(tree["columns"]), "column"),
        tree["levels"], _given_from_tree(tree["row_given"]), _given_from_tree(tree["column_given"]),
    )  # fmt: skip


def _given_to_tree(given: Any) -> Any:
    if given is None or not sparse.issparse(given):
        return given
    csr = given.tocsr()
    return {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": list(csr.shape)}


def _given_from_tree(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    return sparse.csr_matrix((tree["data"], tree["indices"], tree["indptr"]), shape=tuple(tree["shape"]))


def posterior_to_tree(posterior: Posterior) -> dict[str, Any]:
    """Every field of all draws as one flat array: a file of thousands of small arrays would be slow to open."""
    tree: dict[str, Any] = {
        "levels": posterior.levels, "offsets": posterior.offsets, "link": posterior.link,
 "n": len(posterior.draws),
    }  # fmt: skip
    for field in fields(Draw):
        values = [getattr(draw, field.name) for draw in posterior.draws]
        if field.name == "link":
            continue
        if isinstance(values[0], np.ndarray):
            tree[field.name] = _flat(values)
        elif isinstance(values[0], tuple):
            tree[field.name] = [_flat(block) for block in zip(*values)]
        else:
            tree[field.name] = np.array(values)
    return tree


def posterior_from_tree(tree: dict[str, Any]) -> Posterior:
    n = tree["n"]
    columns: dict[str, Sequence[Any]] = {}
    for field in fields(Draw):
        value = tree.get(field.name)
        if field.name == "link":
            columns["link"] = [value] * n
        elif isinstance(value, dict):
            columns[field.name] = _apart(value)
        elif isinstance(value, list):
            blocks = [_apart(block) for block in value]
            columns[field.name] = [tuple(block[s] for block in blocks) for s in range(n)]
        else:
            columns[field.name] = value.tolist()  # type: ignore[union-attr]
    draws = tuple(Draw(**{name: values[s] for name, values in columns.items()}) for s in range(n))
    return Posterior(draws, tree["levels"], tree["offsets"])


def _flat(arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    shapes = np.array([array.shape for array in arrays], dtype=np.int64)
    return {"shapes": shapes, "cells": np.concatenate([array.ravel() for array in arrays])}


def _apart(tree: dict[str, np.ndarray]) -> list[np.ndarray]:
    shapes = tree["shapes"]
    ends = np.cumsum(shapes.prod(axis=1))[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(tree["cells"], ends), shapes.tolist())]
