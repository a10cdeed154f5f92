"""Chains against variational fits of the same model, each averaged over ten starts: bar 6 of the gated experts.

    python -m benchmarks.iqgme_chains                         all 24 cells, trial 0
    python -m benchmarks.iqgme_chains wdbc --missing 25 --training 10 --first 700
    python -m benchmarks.iqgme_chains summary                 what the file holds

Ionosphere and WDBC with the holes and splits of `iqgme_tables`. A start of either is a fit by itself: the variational
one the best bound of its five starts, the chain begun in the best of five short ones. AUC and log-loss are means over
starts ("each") and those of averaged probabilities ("all"). Lines are appended to results/iqgme_chains.csv.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from benchmarks.iqgme_record import Record
from benchmarks.iqgme_sets import MISSING, THESIS, TRAINING, make_trial
from benchmarks.iqgme_tables import scores

KEYS = ("table", "missing", "training", "trial", "a_0", "method")
METHODS = {"vb": {}, "gibbs": {"inference": "gibbs"}}
BARS = {"auc": 0.01, "log_loss": 0.02}


def run_cell(record: Record, where: dict, n_starts: int, sweeps: int) -> None:
    from partita import IQGMEClassifier

    cell = {key: where[key] for key in ("table", "missing", "training")}
    trial = make_trial(cell["table"], cell["missing"], cell["training"], where["trial"])
    for method, form in METHODS.items():
        if record.has(method=method, **where):
            continue
        start, said = time.process_time(), []
        settings = form | ({"n_restarts": 1, "max_iter": sweeps} if form else {})
        for seed in range(n_starts):
            model = IQGMEClassifier(
                average=False, cell_folds=0, column_kinds=trial.kinds, random_state=seed, n_jobs=1,
                a_0=where["a_0"], b_0=where["a_0"], **settings,
            )  # fmt: skip
            said.append(model.fit(trial.x[trial.train], trial.y[trial.train]).predict_proba(trial.x[trial.test]))
        each, together = [scores(proba, trial) for proba in said], scores(np.mean(said, axis=0), trial)
        line = {f"{name}_each": float(np.mean([one[name] for one in each])) for name in BARS}
        line |= {f"{name}_all": together[name] for name in BARS}
        record.add({**where, "method": method, **line, "starts": n_starts, "seconds": time.process_time() - start})


def summary(record: Record) -> None:
    print(f"\n{'table missing training trial a_0':<36}" + "".join(
        f"{f'{name} {way}: vb, gibbs, difference':>42}" for way in ("each", "all") for name in BARS))  # fmt: skip
    lines = {record.key(line): line for line in record.lines}
    within = {"each": [], "all": []}
    for key, vb in lines.items():
        gibbs = lines.get((*key[:-1], "gibbs"))
        if key[-1] != "vb" or gibbs is None:
            continue
        text = f"{' '.join(key[:-1]):<36}"
        for way in within:
            pairs = {name: (float(vb[f"{name}_{way}"]), float(gibbs[f"{name}_{way}"])) for name in BARS}
            within[way].append(all(abs(b - a) <= BARS[name] for name, (a, b) in pairs.items()))
            text += "".join(f"{f'{a:.3f} {b:.3f} {b - a:+.3f}':>42}" for a, b in pairs.values())
        print(text)
    for way, cells in within.items():
        print(f"Bar 6, {way}: within .01 AUC and .02 log-loss in {sum(cells)} of {len(cells)} cells")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help="names, or summary")
    parser.add_argument("--missing", type=int, action="append")
    parser.add_argument("--training", type=int, action="append")
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--prior", type=float, default=0.01, help="a_0 and b_0, of the sizes of the experts' weights")
    args = parser.parse_args(words)
    warnings.simplefilter("ignore")
    record = Record("iqgme_chains", KEYS)
    if args.tables == ["summary"]:
        return summary(record)
    for number in range(args.first, args.first + args.trials):
        for training in args.training or TRAINING:
            for missing in args.missing or MISSING:
                for table in args.tables or THESIS:
                    where = {"table": table, "missing": missing, "training": training, "trial": number}
                    run_cell(record, where | {"a_0": args.prior}, args.starts, args.sweeps)
                    print(*where.values(), flush=True)
    summary(record)


if __name__ == "__main__":
    main()
