"""`partita structure FILE`: which columns depend on which, and how sure that is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import partita
from partita.cli.tables import check_model_output, kinds_of, open_frame
from partita.data.files import check_output, make_frame, write_frame
from partita.displays.picture import draw_png
from partita.report.html import render_structure_report
from partita.report.structures import structure_text


def run(args: argparse.Namespace) -> None:
    if args.output is not None:
        check_output(args.output, sources=[args.file])
    if args.save is not None:
        check_model_output(args.save, [args.file])
    if args.picture is not None and args.picture.suffix.lower() != ".png":
        raise ValueError(f"--picture {args.picture}: the picture is a PNG. Give a path that ends in .png.")
    for path in (args.bif, args.picture, args.report):
        if path is not None:
            check_output(path, table=False, sources=[args.file])
    frame = open_frame(args, args.file)
    model = partita.StructureLearner(
        args.prior, score=args.score, max_parents=args.max_parents, n_chains=args.chains, n_sweeps=args.sweeps,
        required_edges=read_edges(args.require, "--require"), forbidden_edges=read_edges(args.forbid, "--forbid"),
        column_kinds=kinds_of(args, frame) or None, random_state=args.seed, n_jobs=args.jobs,
        progress=not args.quiet, time_budget=args.time_budget, checkpoint=args.checkpoint,
    )  # fmt: skip
    model.fit(frame)
    print(structure_text(model))
    if args.output is not None:
        write_frame(edge_frame(model), args.output)
    if args.save is not None:
        partita.save(model, args.save)
    if args.bif is not None:
        model.map_network_.write_bif(args.bif)
    if args.picture is not None:
        args.picture.write_bytes(draw_png(partita.NetworkDisplay.from_estimator(model), size=(9.0, 6.5)))
    if args.report is not None:
        args.report.write_text(render_structure_report(model, Path(args.file).name), encoding="utf-8")
    for path in (args.output, args.save, args.bif, args.picture, args.report):
        if path is not None:
            print(f"written: {path}")


def read_edges(texts: list[str], option: str) -> list[tuple[str, str]] | None:
    """PARENT->CHILD as pairs of names."""
    pairs = []
    for text in texts:
        parent, arrow, child = text.partition("->")
        if not arrow or not parent.strip() or not child.strip():
            raise ValueError(f"{option} {text}: expected PARENT->CHILD, for example {option} 'smoking->cough'.")
        pairs.append((parent.strip(), child.strip()))
    return pairs or None


def edge_frame(model: Any) -> Any:
    """Every ordered pair of columns with the probability of an edge, the surest first."""
    names = model.schema_.names
    n = len(names)
    pairs = sorted(
        ((i, j) for i in range(n) for j in range(n) if i != j), key=lambda pair: -model.edge_probabilities_[pair]
    )
    return make_frame(
        {
            "parent": [names[i] for i, _ in pairs],
            "child": [names[j] for _, j in pairs],
            "probability": [float(model.edge_probabilities_[pair]) for pair in pairs],
            "error": [float(model.edge_errors_[pair]) for pair in pairs],
        }
    )
