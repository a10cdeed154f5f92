"""`partita complete FILE --output OUT`: fill a matrix with holes, or predict cells of it with intervals."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import partita
from partita.cli.tables import check_columns, check_model_output, is_model, open_frame
from partita.data.entries import is_long
from partita.data.files import check_output, make_frame, read_frame, write_frame
from partita.data.ids import as_labels
from partita.report.html import render_matrix_report
from partita.report.matrices import matrix_text


def run(args: argparse.Namespace) -> None:
    sources = [args.file, *([args.predict] if args.predict is not None else [])]
    check_output(args.output, sources=sources)
    if args.save is not None:
        check_model_output(args.save, [] if args.file == str(args.save) else sources)
    if args.report is not None:
        check_output(args.report, table=False, sources=sources)
    if not 0 < args.interval < 1:
        raise ValueError(f"--interval {args.interval:g}: give a probability between 0 and 1, for example 0.9.")
    pairs = None if args.predict is None else read_frame(args.predict)
    if args.file.endswith(".partita") or is_model(args.file):
        model, names = load_completer(args.file), ("row", "column", "value")
        wide = False
    else:
        model, names, wide = learn(args, open_frame(args, args.file))
    form = args.form or ("wide" if wide else "long")
    if pairs is not None:
        out = predictions(model, *pair_columns(pairs, args, names), names, args.interval)
    else:
        cells = None if form == "wide" else open_cells(model)
        out = completed(model, names[0]) if cells is None else predictions(model, *cells, names, args.interval)
    write_frame(out, args.output)
    if args.save is not None:
        partita.save(model, args.save)
    if args.report is not None:
        args.report.write_text(render_matrix_report(model, Path(args.file).name), encoding="utf-8")
    print(matrix_text(model))
    print(f"\n{len(out):,} rows written to {args.output}")


def learn(args: argparse.Namespace, frame: Any) -> tuple[Any, tuple[str, str, str], bool]:
    """A model of the table, the names of its columns of row ids, column ids and values, and whether it is wide."""
    model = partita.BayesianSVD(
        link=args.link, max_rank=args.max_rank, n_samples=args.samples, burn_in=args.burn_in, n_chains=args.chains,
        duplicates=args.duplicates, random_state=args.seed, n_jobs=args.jobs, progress=not args.quiet,
        time_budget=args.time_budget, checkpoint=args.checkpoint,
    )  # fmt: skip
    asked = [args.rows, args.columns, args.values]
    if any(name is not None for name in asked):
        if not all(name is not None for name in asked):
            raise ValueError("--rows, --columns and --values go together: columns of row ids, column ids and values.")
        check_columns([*asked, *([args.trials] if args.trials else [])], frame, "--rows, --columns, --values, --trials")
        model.fit_triplets(*asked, args.trials, data=frame)
        return model, (args.rows, args.columns, args.values), False
    if is_long(frame, args.link):
        first = [str(name) for name in frame.columns[:3]]
        return model.fit_triplets(frame), (first[0], first[1], first[2]), False
    return learn_wide(model, frame, args.id), (args.id or id_column(frame) or "row", "column", "value"), True


def id_column(frame: Any) -> str | None:
    """The first column, where it holds words: names of the rows."""
    first = frame.columns[0]
    words = any(isinstance(value, str) for value in frame[first].dropna().tolist())
    return str(first) if words and frame[first].notna().all() and frame[first].is_unique else None


def learn_wide(model: Any, frame: Any, named: str | None) -> Any:
    """Fit to a table that is the matrix itself, its row ids in a column or counted."""
    if named is not None:
        check_columns([named], frame, "--id")
    name = named or id_column(frame)
    return model.fit(frame if name is None else frame.set_index(name))


def load_completer(path: str) -> Any:
    model = partita.load(path)
    if not isinstance(model, partita.BayesianSVD):
        raise ValueError(f"{path!r} is a saved {type(model).__name__}. `partita complete` takes a saved BayesianSVD.")
    return model


def pair_columns(pairs: Any, args: argparse.Namespace, names: tuple[str, str, str]) -> tuple[Any, Any]:
    """Row and column ids of the cells to predict: the columns of these names, else the first two."""
    for wanted in ((args.rows, args.columns), names[:2]):
        if all(name is not None and name in pairs.columns for name in wanted):
            return as_labels(pairs[wanted[0]], "row"), as_labels(pairs[wanted[1]], "column")
    if len(pairs.columns) < 2:
        raise ValueError(f"--predict {args.predict}: a cell has a row and a column, but the table has one column.")
    return as_labels(pairs.iloc[:, 0], "row"), as_labels(pairs.iloc[:, 1], "column")


def open_cells(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the cells that are not observed."""
    mask = np.ones((len(model.row_ids_), len(model.column_ids_)), bool)
    mask[model._entries.row, model._entries.column] = False
    row, column = np.nonzero(mask)
    return model.row_ids_[row], model.column_ids_[column]


def predictions(model: Any, rows: np.ndarray, columns: np.ndarray, names: tuple[str, str, str], coverage: float) -> Any:
    """One line per cell: expected value, its standard deviation, and the interval of a new observation."""
    mean, std = model.predict(rows, columns, return_std=True)
    said: dict[str, Any] = {names[0]: rows, names[1]: columns, f"predicted {names[2]}": mean, "std": std}
    low, high = model.predict_interval(rows, columns, coverage, noise=model.link != "binomial")
    said |= {f"low {coverage:.0%}": low, f"high {coverage:.0%}": high}
    if model.link == "ordinal":
        chance = model.predict_proba(rows, columns)
        said |= {f"probability of {level:g}": chance[:, k] for k, level in enumerate(model.levels_)}
    return make_frame(said)


def completed(model: Any, name: str) -> Any:
    """The whole matrix, row ids in the first column."""
    filled = np.asarray(model.complete())
    table: dict[str, Any] = {name: model.row_ids_}
    return make_frame(table | {str(label): filled[:, k] for k, label in enumerate(model.column_ids_)})
