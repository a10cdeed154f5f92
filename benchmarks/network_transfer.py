"""What a small table learns from a large one: average precision of the small table's edges with and without it.

    python -m benchmarks.network_transfer layered --sets 10 --rows 25 50 --prior ordered-block
    python -m benchmarks.network_transfer qmr --sets 5 --rows 20 --prior ordered-block

Both tables are of the same kind of network over other columns, as in `benchmarks.networks`: the first has 500 rows, the
second few. `alone` learns from the second only, `together` from both (`fit([X1, X2])`), `given` from the second with
its true classes. One line of JSON for every set and number of rows, and the means with their standard errors at the
end.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np

from benchmarks.networks import MAKERS, precision
from partita import StructureLearner


def run_set(args, number, n_rows):
    maker, rng = MAKERS[args.setting][0], np.random.default_rng(args.first + number)
    X1, _, classes1 = maker(rng, args.large)
    X2, graph, classes2 = maker(rng, n_rows)
    settings = {"prior": args.prior, "n_chains": args.chains, "n_sweeps": args.sweeps, "random_state": 0}
    line = {"set": number, "rows": n_rows}
    for name, given, tables in [("alone", None, X2), ("together", None, [X1, X2]), ("given", classes2, X2)]:
        begun = time.process_time()
        model = StructureLearner(**settings, classes=given).fit(tables)
        edges = model.edge_probabilities_[1] if name == "together" else model.edge_probabilities_
        line[name], _ = (round(value, 4) for value in precision(graph, edges))
        line[f"{name}_cpu"] = round(time.process_time() - begun, 2)
        if name == "together":
            found, true = np.concatenate(model.classes_map_), np.concatenate([classes1, classes2])
            line["classes_exact"] = bool(((found[:, None] == found) == (true[:, None] == true)).all())
            line["r_hat"] = {prior: report["edges"]["r_hat"] for prior, report in model.diagnostics_.items()}
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=MAKERS)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--first", type=int, default=7000)
    parser.add_argument("--large", type=int, default=500)
    parser.add_argument("--rows", type=int, nargs="+", default=[25, 50])
    parser.add_argument("--prior", default="ordered-block")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--sweeps", type=int, default=2000)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for n_rows in args.rows:
        lines = []
        for number in range(args.sets):
            lines.append(run_set(args, number, n_rows))
            print(json.dumps(lines[-1]), flush=True)
        means = {"rows": n_rows, "sets": len(lines)}
        for name in ("alone", "together", "given"):
            values = np.array([line[name] for line in lines])
            means[name] = [round(values.mean(), 4), round(values.std(ddof=1) / np.sqrt(len(values)), 4)]
        gains = np.array([line["together"] - line["alone"] for line in lines])
        means["gain"] = [round(gains.mean(), 4), round(gains.std(ddof=1) / np.sqrt(len(gains)), 4)]
        print(json.dumps(means), flush=True)


if __name__ == "__main__":
    main()
