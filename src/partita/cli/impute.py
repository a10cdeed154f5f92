"""`partita impute FILE --output OUT` or `partita impute MODEL FILE --output OUT`: fill the missing cells."""

import argparse

from partita.cli.models import check_imputes, fit_model, load_model, new_model
from partita.cli.tables import known_columns, open_frame, split_target, words_of
from partita.data.files import check_output, join_columns, write_frame


def run(args: argparse.Namespace) -> None:
    if len(args.inputs) > 2:
        raise ValueError(f"impute takes FILE or MODEL FILE, got {len(args.inputs)} paths.")
    check_output(args.output, sources=args.inputs)
    path, saved = args.inputs[-1], len(args.inputs) == 2
    if saved and args.kind:
        raise ValueError("--kind has no use with a saved model, which remembers the kinds it was learnt with.")
    model = load_model(args.inputs[0]) if saved else None
    whole = open_frame(args, path, words_of(model) if saved else ())
    frame, target = split_target(args, whole)
    if model is not None:
        check_imputes(model)
        frame = known_columns(model, frame, path)
    else:
        model = new_model(args, frame)
        check_imputes(model)
        fit_model(model, frame, target)
    filled = model.impute(frame)
    left = int(filled.isna().sum().sum())  # a column without any observed cell cannot be filled
    n_filled = int(frame.isna().sum().sum()) - left
    others = whole[[name for name in whole.columns if name not in frame.columns]]
    write_frame(join_columns(filled, others)[list(whole.columns)], args.output)
    rest = f" ({left:,} left: nothing is known of them)" if left else ""
    if target is not None and (unlabelled := int(target.isna().sum())):
        rest += f" ({unlabelled:,} left in the target {args.target!r}, which is for predict)"
    print(f"{n_filled:,} missing cells filled{rest}, {len(whole):,} rows written to {args.output}")
