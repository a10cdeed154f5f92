"""`partita fit FILE --output MODEL`: learn, save, say what was found."""

import argparse

import partita
from partita.cli.models import fit_model, new_model
from partita.cli.tables import check_model_output, open_frame, split_target
from partita.report.summary import summary


def run(args: argparse.Namespace) -> None:
    check_model_output(args.output, [args.file])
    frame, target = split_target(args, open_frame(args, args.file))
    model = fit_model(new_model(args, frame), frame, target)
    partita.save(model, args.output)
    print(summary(model, frame))
    print(f"\nmodel written to {args.output}")
