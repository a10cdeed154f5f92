"""`partita report FILE [--target COL]` or `partita report MODEL FILE [--target COL]`: one HTML page about a table and
the model learnt from it, or one that was saved.
"""

import argparse
from pathlib import Path

from partita.cli.models import load_model, new_model
from partita.cli.tables import is_model, known_columns, open_frame, split_target, words_of
from partita.data.files import check_output
from partita.report.html import fit_and_report, report_saved


def run(args: argparse.Namespace) -> None:
    if len(args.inputs) > 2:
        raise ValueError(f"report takes FILE or MODEL FILE, got {len(args.inputs)} paths.")
    path, saved = args.inputs[-1], len(args.inputs) == 2
    output = args.output if args.output is not None else Path(Path(path).name.split(".")[0] + ".html")
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"Cannot write {str(output)!r}: the report is an HTML page. Give a path that ends in .html.")
    check_output(output, table=False, sources=args.inputs)
    if not saved and is_model(path):
        raise ValueError(
            f"{path!r} holds a saved model. The page also shows a table: partita report {path} FILE, with the table it "
            "was learnt from or another of the same columns."
        )
    output.write_text(_of_saved(args) if saved else _of_table(args), encoding="utf-8")
    print(f"report written to {output}")


def _of_table(args: argparse.Namespace) -> str:
    frame, target = split_target(args, open_frame(args, args.inputs[0]))
    model = new_model(args, frame)
    return fit_and_report(model, frame, target, title=Path(args.inputs[0]).name, random_state=args.seed)


def _of_saved(args: argparse.Namespace) -> str:
    for option, value in (("--kind", args.kind), ("--model", args.model), ("--sweeps", args.sweeps)):
        if value:
            raise ValueError(f"{option} has no use with a saved model, which is shown as it was learnt. Leave it out.")
    model, path = load_model(args.inputs[0]), args.inputs[1]
    frame, target = split_target(args, open_frame(args, path, words_of(model)))
    if target is not None and not hasattr(model, "classes_"):
        raise ValueError(f"--target {args.target}: a {type(model).__name__} predicts no classes. Leave it out.")
    return report_saved(model, known_columns(model, frame, path), target, title=Path(path).name)
