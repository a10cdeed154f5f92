"""`partita describe FILE`: what the columns hold."""

import argparse

from partita.cli.tables import kinds_of, open_frame
from partita.report.columns import describe


def run(args: argparse.Namespace) -> None:
    frame = open_frame(args, args.file)
    print(describe(frame, kinds_of(args, frame) or None))
