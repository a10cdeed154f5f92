"""`partita predict MODEL FILE --output OUT`: classes and probabilities, or groups and log densities, or these alone."""

from __future__ import annotations

import argparse
from typing import Any

from partita.cli.models import load_model
from partita.cli.tables import known_columns, open_frame, words_of
from partita.data.files import check_output, join_columns, make_frame, write_frame


def run(args: argparse.Namespace) -> None:
    if args.kind:
        raise ValueError("--kind has no use in predict: the model remembers the kinds it was learnt with.")
    check_output(args.output, sources=[args.model, args.file])
    model = load_model(args.model)
    check_predicts(model, args.model)
    frame = open_frame(args, args.file, words_of(model))
    said = make_frame(predictions(model, known_columns(model, frame, args.file)))
    if args.append:
        both = sorted(set(map(str, frame.columns)) & set(said.columns))
        if both:
            raise ValueError(f"--append: the table already has columns {', '.join(both)}. Rename or --drop them.")
        said = join_columns(frame, said)
    write_frame(said, args.output)
    print(f"{len(said):,} rows written to {args.output}")


def check_predicts(model: Any, path: str) -> None:
    """Refuse a model that says nothing of rows."""
    if not hasattr(model, "predict") and not hasattr(model, "score_samples"):
        raise ValueError(f"{path!r} is a saved {type(model).__name__}, which predicts nothing. Take another model.")


def predictions(model: Any, X: Any) -> dict[str, Any]:
    """The columns of the answer: of a network, which has neither classes nor groups, densities alone."""
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        probability = model.predict_proba(X)
        said = {"prediction": model.classes_[probability.argmax(axis=1)]}
        return said | {f"probability of {name}": probability[:, k] for k, name in enumerate(model.classes_)}
    groups = {"group": model.predict(X)} if hasattr(model, "predict") else {}
    return groups | {"log_density": model.score_samples(X)}
