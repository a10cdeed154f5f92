"""Whatever an estimator holds as a tree for an archive, and back: every value becomes [tag, content].

What can be rebuilt is decided by the tables here; a file can only name their entries, so it brings no code of its own.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..data.archive_tree import ArchiveError
from ..data.schema import Schema
from ..data.values import from_text, to_text
from ..inference.streams import generator_from_tree, generator_to_tree
from ..models.coded.class_statistics import ClassStatistics
from ..models.coded.coding import Coder
from ..models.coded.tan import Tree
from ..models.evidence.learn import Evidence
from ..models.gated.pool import Pool
from ..models.kikuchi.learnt import Kikuchi
from ..models.matrices.missingness import Side
from ..models.matrices.posterior import Posterior
from ..models.matrices.state import State
from ..models.mixtures.bank import Rule
from ..models.mixtures.ensemble import Ensemble
from ..models.mixtures.online import Online
from ..models.mixtures.problem import Settings, make_grids
from ..models.networks.network import Net
from ..models.soundness import Unsound
from ..models.structure.posterior import NetPosterior
from .matrix_learning import Matrix
from .matrix_packing import matrix_from_tree, matrix_to_tree, posterior_from_tree, posterior_to_tree

# public estimators -> the module of this package that defines them
PUBLIC = {
    "AClass": "aclass",
    "BayesianNetwork": "bayesian_network",
    "BayesianSVD": "bayesian_svd",
    "CRPMixture": "crp_mixture",
    "HybridClassifier": "hybrid_classifier",
    "IQGMEClassifier": "iqgme",
    "KikuchiBayesClassifier": "kikuchi_bayes",
    "MDLPDiscretizer": "mdlp_discretizer",
    "NaiveBayes": "naive_bayes",
    "QGMEClassifier": "qgme",
    "StructureLearner": "structure_learner",
    "TANClassifier": "tan",
}
# scikit-learn's estimators that are numbers and arrays only; most others could be stored by pickle alone
FOREIGN: dict[str, type] = {cls.__name__: cls for cls in (LogisticRegression, Pipeline, StandardScaler)}


def public_class(name: str) -> type:
    """The public estimator of this name."""
    return getattr(importlib.import_module(f".{PUBLIC[name]}", __package__), name)


def is_public(model: Any) -> bool:
    """Whether the model is exactly a public estimator: of a subclass not all would come back."""
    name = type(model).__name__
    return name in PUBLIC and type(model) is public_class(name)


# ---- estimators ----


def pack_estimator(model: BaseEstimator, place: str = "") -> dict[str, Any]:
    """Class, constructor parameters and everything learnt; `place` is the model's name in errors."""
    if is_public(model):
        model._settle()
    parameters = model.get_params(deep=False)
    learnt = {name: value for name, value in vars(model).items() if name not in parameters}
    name = type(model).__name__
    place = place or name
    return {
        "class": name,
        "scikit_learn": None if is_public(model) else sklearn.__version__,
        "parameters": {key: pack(value, f"{place}.{key}") for key, value in parameters.items()},
        "learnt": {key: pack(value, f"{place}.{key}") for key, value in learnt.items()},
    }


def unpack_estimator(tree: dict[str, Any]) -> Any:
    """The estimator that `pack_estimator` took apart."""
    name, foreign = tree["class"], tree["scikit_learn"]
    if name not in (PUBLIC if foreign is None else FOREIGN):
        raise ArchiveError(
            f"it holds an estimator {name!r}, which this version of partita does not know (it knows "
            f"{', '.join(PUBLIC)}); upgrade partita"
        )
    cls = public_class(name) if foreign is None else FOREIGN[name]
    parameters = {key: unpack(value) for key, value in tree["parameters"].items()}
    unknown = sorted(set(parameters) - set(cls._get_param_names()))  # type: ignore[attr-defined]
    if unknown:
        other = "another version of partita" if foreign is None else f"scikit-learn {foreign}"
        raise ArchiveError(
            f"it holds a {name} of {other}, with parameters that the one here does not have: {', '.join(unknown)}; "
            "install that version, or fit the model again"
        )
    model = cls(**parameters)
    for key, value in tree["learnt"].items():
        setattr(model, key, unpack(value))
    try:
        if foreign is None:
            model._check_loaded()
    except (Unsound, AttributeError, TypeError, IndexError) as error:
        raise ArchiveError(f"{error}; it is damaged or not written by partita: restore it from a copy") from error
    return model


# ---- values ----


def _online_to_tree(online: Online) -> dict[str, Any]:
    # The rule is stored, not made anew from the parameters, which may have been set to others since the stream began.
    rule = {f.name: getattr(online.rule, f.name) for f in fields(Rule) if f.name != "settings"}
    settings = {f.name: getattr(online.rule.settings, f.name) for f in fields(Settings) if f.name != "grids"}
    counts = len(online.rule.settings.grids.rise) - 2  # all that `make_grids` was told
    return {"online": online.to_tree(), "rule": rule, "settings": settings, "counts": counts}


def _online_from_tree(tree: dict[str, Any]) -> Online:
    settings = Settings(**tree["settings"], grids=make_grids(tree["counts"]))
    return Online.from_tree(tree["online"], Rule(**tree["rule"], settings=settings))


def _legacy_from_tree(tree: dict[str, Any]) -> np.random.RandomState:
    generator = np.random.RandomState()
    generator.set_state(tree)
    return generator


_CODECS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "ClassStatistics": (ClassStatistics, ClassStatistics.to_tree, ClassStatistics.from_tree),
    "Coder": (Coder, Coder.to_tree, Coder.from_tree),
    "Schema": (Schema, Schema.to_tree, Schema.from_tree),
    "Ensemble": (Ensemble, Ensemble.to_tree, Ensemble.from_tree),
    "NetPosterior": (NetPosterior, NetPosterior.to_tree, NetPosterior.from_tree),
    "Online": (Online, _online_to_tree, _online_from_tree),
    "Evidence": (Evidence, Evidence.to_tree, Evidence.from_tree),
    "Net": (Net, Net.to_tree, Net.from_tree),
    "Kikuchi": (Kikuchi, Kikuchi.to_tree, Kikuchi.from_tree),
    "Generator": (np.random.Generator, generator_to_tree, generator_from_tree),
    "SeedSequence": (np.random.SeedSequence, lambda seed: seed.state, lambda tree: np.random.SeedSequence(**tree)),
    "RandomState": (np.random.RandomState, lambda state: state.get_state(legacy=False), _legacy_from_tree),
    "Pool": (Pool, Pool.to_tree, Pool.from_tree),
    "Matrix": (
        Matrix, lambda matrix: matrix_to_tree(matrix, pack), lambda tree: matrix_from_tree(tree, unpack),
    ),
    "MatrixPosterior": (Posterior, posterior_to_tree, posterior_from_tree),
    "MatrixSide": (Side, Side.to_tree, Side.from_tree),
    "MatrixState": (State, State.to_tree, State.from_tree),
    "Tree": (Tree, Tree.to_tree, Tree.from_tree),
    "path": (os.PathLike, os.fspath, str),
}


def pack(value: Any, place: str) -> list[Any]:
    """[tag, content] of a value; `place` names it in errors."""
    if _is_plain(value):
        return ["plain", value]
    if isinstance(value, np.ndarray):
        cells = [pack(cell, f"{place}[{k}]") for k, cell in enumerate(value.ravel().tolist())]
        return ["objects", [list(value.shape), cells]]
    if type(value) in (list, tuple):
        return [type(value).__name__, [pack(item, f"{place}[{k}]") for k, item in enumerate(value)]]
    if type(value) is frozenset:
        return ["frozenset", [pack(item, f"{place}, member {item!r}") for item in sorted(value, key=repr)]]
    if type(value) is dict:
        return ["dict", [[pack(key, place), pack(item, f"{place}[{key!r}]")] for key, item in value.items()]]
    if is_public(value) or type(value) in FOREIGN.values():
        return ["estimator", pack_estimator(value, place)]
    for tag, (cls, to_tree, _) in _CODECS.items():
        if isinstance(value, cls):
            return [tag, to_tree(value)]
    text = to_text(value)
    if text is not None:
        return ["value", list(text)]
    raise _unsaved(value, place)


def _is_plain(value: Any) -> bool:
    """Whether an archive holds the value as it is."""
    kind = type(value)
    if kind in (list, tuple):
        return all(map(_is_plain, value))
    if kind is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    if isinstance(value, np.ndarray):
        return kind is np.ndarray and not value.dtype.hasobject
    return value is None or kind in (bool, int, float, str) or isinstance(value, np.generic)


def _unsaved(value: Any, place: str) -> ArchiveError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, BaseEstimator):
        return ArchiveError(
            f"save: {place} is a {kind}, which only pickle could store, and a partita file runs no code when it is "
            "loaded. Save the generative part alone (model.generative_) and keep the classifier by another tool such "
            f"as skops, or use one of {', '.join(FOREIGN)}."
        )
    return ArchiveError(
        f"save: {place} is a {kind}, which a file cannot hold ({value!r:.80}). Use a number, text, a date, bytes, "
        "None, or a list, dict or NumPy array of them instead."
    )


def unpack(node: list[Any]) -> Any:
    """The value that `pack` turned into [tag, content]."""
    tag, content = node
    match tag:
        case "plain":
            return content
        case "objects":
            shape, cells = content
            array = np.empty(len(cells), dtype=object)
            array[:] = [unpack(cell) for cell in cells]
            return array.reshape(shape)
        case "list":
            return [unpack(item) for item in content]
        case "tuple":
            return tuple(unpack(item) for item in content)
        case "frozenset":
            return frozenset(unpack(item) for item in content)
        case "value":
            return from_text(*content)
        case "dict":
            return {unpack(key): unpack(item) for key, item in content}
        case "estimator":
            return unpack_estimator(content)
    return _CODECS[tag][2](content)
