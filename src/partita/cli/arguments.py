"""The command line's words: one parser, every command and its options."""

from __future__ import annotations

import argparse
from pathlib import Path

MODELS = ("aclass", "iqgme", "kikuchi", "naive-bayes", "qgme", "tan", "crp")
"""What can be learnt; all but the last predict a target."""

FILE = "CSV, Parquet, or any file DuckDB reads"


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="partita", description="Probabilistic models learnt from tables with holes.")
    parser.add_argument("--version", action="store_true", help="print the version and end")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    general = argparse.ArgumentParser(add_help=False)
    general.add_argument("--quiet", action="store_true", help="no progress bars")
    general.add_argument("--debug", action="store_true", help="show the traceback of an error")
    table, learning = _table_options(), _learning_options()

    demo = commands.add_parser("demo", parents=[general], help="a first look: a holed table, against usual choices")
    demo.add_argument("--output", type=Path, default=Path("demo-output"), metavar="FOLDER", help="default: %(default)s")
    describe = commands.add_parser("describe", parents=[general, table], help="kinds, holes and values of every column")
    describe.add_argument("file", help=FILE)
    fit = commands.add_parser("fit", parents=[general, table, learning], help="learn a model and save it")
    fit.add_argument("file", help=FILE)
    fit.add_argument("--output", required=True, type=Path, metavar="MODEL", help="where to save the model")
    predict = commands.add_parser("predict", parents=[general, table], help="predict from a saved model")
    predict.add_argument("model", help="a model that `partita fit` saved")
    predict.add_argument("file", help=FILE)
    predict.add_argument("--output", required=True, type=Path, metavar="OUT", help=".csv, .tsv, .parquet or .json")
    predict.add_argument("--append", action="store_true", help="keep the columns of FILE beside the predictions")
    impute = commands.add_parser("impute", parents=[general, table, learning], help="fill the missing cells")
    impute.add_argument("inputs", nargs="+", metavar="[MODEL] FILE", help="a table, or a saved model and a table")
    impute.add_argument("--output", required=True, type=Path, metavar="OUT", help=".csv, .tsv, .parquet or .json")
    _add_complete(commands, general)
    _add_structure(commands, general, table)
    report = commands.add_parser("report", parents=[general, table, learning], help="a self-contained HTML page")
    report.add_argument("inputs", nargs="+", metavar="[MODEL] FILE", help="a table, or a saved model and a table")
    report.add_argument("--output", type=Path, metavar="HTML", help="default: the table's name with .html")
    reproduce = commands.add_parser("reproduce", parents=[general], help="a published table or figure, computed again")
    reproduce.add_argument("name", nargs="?", help="for example aclass-fig4; without it, the names")
    reproduce.add_argument("--quick", action="store_true", help="fewer repetitions")
    reproduce.add_argument(
        "--output", type=Path, default=Path("papers/output"), metavar="FOLDER", help="default: %(default)s"
    )
    return parser


def _add_complete(commands: argparse._SubParsersAction, general: argparse.ArgumentParser) -> None:
    complete = commands.add_parser("complete", parents=[general], help="fill a matrix with holes, with intervals")
    complete.add_argument("file", help=f"entries or the matrix itself ({FILE}), or a saved model (.partita)")
    complete.add_argument("--output", required=True, type=Path, metavar="OUT", help=".csv, .tsv, .parquet or .json")
    for name, what in (("rows", "row ids"), ("columns", "column ids"), ("values", "values"), ("trials", "trials")):
        complete.add_argument(f"--{name}", metavar="COL", help=f"the column of {what}, where the table lists entries")
    complete.add_argument("--id", metavar="COL", help="the column of row ids, where the table is the matrix")
    complete.add_argument("--predict", metavar="PAIRS", help="a table of cells to predict: row ids and column ids")
    complete.add_argument("--form", choices=("wide", "long"), help="write the whole matrix, or a line per missing cell")
    complete.add_argument("--interval", type=float, default=0.9, metavar="P", help="of intervals (default: 0.9)")
    complete.add_argument("--link", choices=("gaussian", "ordinal", "binomial"), default="gaussian")
    complete.add_argument("--duplicates", choices=("error", "mean"), default="error", help="cells that occur twice")
    complete.add_argument("--max-rank", type=int, default=64, metavar="N", help="default: 64")
    complete.add_argument("--samples", type=int, default=300, metavar="N", help="sweeps kept (default: 300)")
    complete.add_argument("--burn-in", type=int, metavar="N", help="sweeps before (default: 200, more if need be)")
    complete.add_argument("--chains", type=int, default=2, metavar="N", help="default: 2")
    complete.add_argument("--save", type=Path, metavar="MODEL", help="also save the model, for later calls")
    complete.add_argument("--report", type=Path, metavar="HTML", help="also a page about the model, with pictures")
    complete.add_argument("--drop", action="append", default=[], metavar="COL", help="leave this column out")
    complete.add_argument("--missing", action="append", default=[], metavar="MARK", help="one more mark of a hole")
    _add_running(complete)


def _add_structure(
    commands: argparse._SubParsersAction, general: argparse.ArgumentParser, table: argparse.ArgumentParser
) -> None:
    structure = commands.add_parser(
        "structure", parents=[general, table], help="which columns depend on which, and how sure that is"
    )
    structure.add_argument("file", help=FILE)
    structure.add_argument("--output", type=Path, metavar="OUT", help="edges as .csv, .tsv, .parquet or .json")
    structure.add_argument(
        "--prior", choices=("auto", "block", "ordered-block", "sparse", "uniform"), default="auto", help="default: auto"
    )
    structure.add_argument("--score", choices=("dirichlet", "bdeu"), default="dirichlet", help="default: dirichlet")
    structure.add_argument("--max-parents", type=int, metavar="N", help="most parents of a column")
    for name, what in (("require", "must be"), ("forbid", "must not be")):
        structure.add_argument(
            f"--{name}", action="append", default=[], metavar="PARENT->CHILD", help=f"an edge that {what} (repeatable)"
        )
    structure.add_argument("--sweeps", type=int, default=2000, metavar="N", help="of each chain (default: 2000)")
    structure.add_argument("--chains", type=int, default=4, metavar="N", help="default: 4")
    structure.add_argument("--save", type=Path, metavar="MODEL", help="also save the model")
    structure.add_argument("--bif", type=Path, metavar="BIF", help="also write the best network as a BIF file")
    structure.add_argument("--picture", type=Path, metavar="PNG", help="also draw the network")
    structure.add_argument("--report", type=Path, metavar="HTML", help="also a page with pictures of edges and chains")
    _add_running(structure)


def _add_running(options: argparse.ArgumentParser) -> None:
    options.add_argument("--seed", type=int, default=0, help="same seed, same result (default: 0)")
    options.add_argument(
        "--jobs", type=int, default=-1, help="threads; the result does not depend on it (default: all)"
    )
    options.add_argument("--time-budget", type=float, metavar="SECONDS", help="stop learning after about this time")
    options.add_argument("--checkpoint", metavar="PATH", help="write progress here, and resume from it")


def _table_options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--drop", action="append", default=[], metavar="COL", help="leave this column out (repeatable)"
    )
    options.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="COL=KIND",
        help="kind of a column: binary, categorical, count or real (repeatable; others are inferred)",
    )
    options.add_argument(
        "--missing", action="append", default=[], metavar="MARK", help='one more mark of a missing cell, such as "?"'
    )
    return options


def _learning_options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--target", metavar="COL", help="the column to predict")
    options.add_argument("--model", choices=MODELS, help="default: aclass with a target, else crp")
    options.add_argument("--sweeps", type=int, metavar="N", help="sweeps of each chain (aclass, crp)")
    _add_running(options)
    return options
