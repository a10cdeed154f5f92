"""Which model a command learns: the options as an estimator, and what it cannot do said before the work."""

from __future__ import annotations

import argparse
from typing import Any

import partita
from partita.cli.tables import kinds_of

CLASSIFIERS = {
    "aclass": "AClass",
    "iqgme": "IQGMEClassifier",
    "kikuchi": "KikuchiBayesClassifier",
    "naive-bayes": "NaiveBayes",
    "qgme": "QGMEClassifier",
    "tan": "TANClassifier",
}
"""The word of `--model` -> the name in `partita`; what is not asked for is not imported."""


def new_model(args: argparse.Namespace, frame: Any) -> Any:
    """An unfitted estimator of the options; `frame` is the table without the target."""
    kind = args.model or ("aclass" if args.target else "crp")
    if kind != "crp" and not args.target:
        raise ValueError(f"--model {kind} needs --target COL, the column to predict. For clusters take --model crp.")
    if kind == "crp" and args.target:
        raise ValueError(
            "--model crp takes no target. Leave --target out (and --drop the column, if it should not count)."
        )
    if kind not in ("aclass", "crp") and args.sweeps is not None:
        raise ValueError(f"--sweeps has no use with --model {kind}, which has no chains. Leave it out.")
    for option, value in (("--checkpoint", args.checkpoint), ("--time-budget", args.time_budget)):
        if kind in ("naive-bayes", "tan") and value is not None:
            raise ValueError(f"{option} has no use with --model {kind}, which learns in one pass. Leave it out.")
    sweeps = {"n_sweeps": args.sweeps} if kind in ("aclass", "crp") else {}
    return _estimator(kind)(
        **sweeps,
        random_state=args.seed,
        n_jobs=args.jobs,
        column_kinds=kinds_of(args, frame) or None,
        progress=not args.quiet,
        time_budget=args.time_budget,
        checkpoint=args.checkpoint,
    )


def _estimator(kind: str) -> Any:
    """The class behind a word of `--model`."""
    name = CLASSIFIERS.get(kind, "CRPMixture")
    if not hasattr(partita, name):
        here = ", ".join(word for word, known in CLASSIFIERS.items() if hasattr(partita, known))
        raise ValueError(f"--model {kind}: {name} is not in this release. Take one of: {here}, crp.")
    return getattr(partita, name)


def fit_model(model: Any, frame: Any, target: Any) -> Any:
    if target is None:
        return model.fit(frame)
    try:
        return model.fit(frame, target)
    except ValueError as error:
        if not str(error).startswith("Unknown label type"):
            raise
        raise ValueError(f"--target {getattr(target, 'name', '')}: {error} --model learns classes only.") from error


def load_model(path: str) -> Any:
    """A saved model that looks at a table, fitted."""
    model = partita.load(path)
    name = type(model).__name__
    if isinstance(model, partita.BayesianSVD):
        raise ValueError(
            f"{path!r} is a saved {name}, which completes the one matrix it learnt from. For its missing cells: "
            f"partita complete {path} --output OUT; for cells of your choice add --predict PAIRS."
        )
    if not hasattr(model, "schema_"):
        raise ValueError(f"{path!r} is a {name} that was not fitted, or to several tables. Take one of one table.")
    return model


def check_imputes(model: Any) -> None:
    """Refuse a model that has no density of the cells, so nothing to fill them from."""
    if not hasattr(model, "impute"):
        raise ValueError(
            f"{type(model).__name__} predicts a class and cannot fill cells. Take a model that can: "
            "aclass, crp, iqgme or naive-bayes."
        )
