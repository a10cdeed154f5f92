"""`partita report FILE [--target COL]`: one HTML page about the table and the model learnt from it."""

import argparse
from pathlib import Path

from partita.cli.models import new_model
from partita.cli.tables import open_frame, split_target
from partita.data.files import check_output
from partita.report.html import fit_and_report


def run(args: argparse.Namespace) -> None:
    output = args.output if args.output is not None else Path(Path(args.file).name.split(".")[0] + ".html")
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"Cannot write {str(output)!r}: the report is an HTML page. Give a path that ends in .html.")
    check_output(output, table=False)
    frame, target = split_target(args, open_frame(args, args.file))
    model = new_model(args, frame)
    page = fit_and_report(model, frame, target, title=Path(args.file).name, random_state=args.seed)
    output.write_text(page, encoding="utf-8")
    print(f"report written to {output}")
