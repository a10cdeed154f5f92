"""One peer of StructureLearner in a process of its own, so that it may live in another Python environment.

    python benchmarks/network_peer.py scores|edges pgmpy|pyagrum|pybnesian|sumu IN.npz OUT.npz

IN holds codes (rows, columns), levels, and for scores child (sets,) and parents (sets, k). OUT gets, for scores, how
many sets were scored, the CPU seconds that took, and the scores (BDeu, equivalent sample size 10); for edges, the
matrix (parent row, child column) that the peer learns at its defaults: 1 for an edge, 1/2 either way where it leaves
the direction open, probabilities where it samples; and CPU seconds. Nothing of partita is imported here.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

ESS = 10.0
MOST_SECONDS = 15.0  # of scoring


def frame(data, words=True):
    import pandas as pd

    return pd.DataFrame({
        f"c{j}": pd.Categorical([f"s{v}" for v in column] if words else column,
                                categories=[f"s{v}" if words else v for v in range(size)])
        for j, (column, size) in enumerate(zip(data["codes"].T, data["levels"], strict=True))
    })  # fmt: skip


# ---- scores ----


def score_pgmpy(data):
    from pgmpy.structure_score import BDeu

    score = BDeu(frame(data), equivalent_sample_size=ESS)
    return lambda child, parents: score.local_score(f"c{child}", tuple(f"c{p}" for p in parents))


def score_pyagrum(data):
    import pyagrum as gum

    learner = gum.BNLearner(frame(data))
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    learner.useBDeuPrior(ESS - 1)  # beside the one row of the score itself; in bits
    return lambda child, parents: np.log(2) * learner.score(f"c{child}", [f"c{p}" for p in parents])


def score_pybnesian(data):
    import pybnesian as pb

    score, network = pb.BDe(frame(data), ESS), pb.DiscreteBN([f"c{j}" for j in range(len(data["levels"]))])
    return lambda child, parents: score.local_score(network, f"c{child}", [f"c{p}" for p in parents])


def score_sumu(data):
    import sumu

    scores = sumu.LocalScore(sumu.Data(np.ascontiguousarray(data["codes"], np.int32)), ess=ESS)
    # its prior over sizes of sets is taken off, so that what is left is the score alone
    return lambda child, parents: scores.scorer.local(child, np.array(parents, np.int32))


# ---- edges ----


def edges_pgmpy(data):
    from pgmpy.estimators import HillClimbSearch

    found = HillClimbSearch(frame(data)).estimate(show_progress=False)
    return [(int(a[1:]), int(b[1:]), 1.0) for a, b in found.edges()]


def edges_pyagrum(data):
    import pyagrum as gum

    learner = gum.BNLearner(frame(data))
    learner.setNumberOfThreads(1)
    found = learner.learnBN()
    names = {i: int(found.variable(i).name()[1:]) for i in found.nodes()}
    return [(names[a], names[b], 1.0) for a, b in found.arcs()]


def edges_pybnesian(data):
    import pybnesian as pb

    table = frame(data)
    found = pb.hc(table, bn_type=pb.DiscreteBNType(), operators=["arcs"], score="bic")  # discrete: none by default
    return [(int(a[1:]), int(b[1:]), 1.0) for a, b in found.arcs()]


def edges_sumu(data):
    import sumu

    full = np.full  # sumu 0.1.2 gives sizes as floats, which NumPy no longer takes
    np.full = lambda shape, *more, **named: full(tuple(int(k) for k in np.atleast_1d(shape)), *more, **named)
    n = len(data["levels"])
    # version 0.1.2 has no defaults
    settings = {"scoref": "bdeu", "ess": ESS, "max_id": -1, "K": min(n - 1, 8), "d": 3, "cp_algo": "greedy-lite",
                "mc3_chains": 16, "burn_in": 5000, "iterations": 5000, "thinning": 10,
                "tolerance": 2.0**-32}  # fmt: skip
    dags = sumu.Gadget(data=sumu.Data(np.ascontiguousarray(data["codes"], np.int32)), **settings).sample()
    dags = dags[0] if isinstance(dags, tuple) else dags
    edges = np.zeros((n, n))
    for dag in dags:
        for child, *parents in dag:
            edges[list(*parents), child] += 1.0 / len(dags)
    return [(int(a), int(b), float(edges[a, b])) for a, b in np.argwhere(edges > 0)]


def edges_prototype(data, chains=4, sweeps=3000):
    """No peer but the yardstick, where it lies beside the repository: ordered classes."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared" / "prototypes"))
    import blocknets

    n = len(data["levels"])
    weight = np.exp(blocknets.score_table(data["codes"].astype(int), data["levels"].astype(int)))
    rule, one = blocknets.gauss_tables(n), np.zeros(n, np.int64)
    edges = [blocknets.ordered_chain(n, weight, *rule, 0.5, one, sweeps, sweeps // 10, k)[0] for k in range(chains)]
    return [(a, b, np.mean(edges, axis=0)[a, b]) for a, b in np.ndindex(n, n)]


def scored(peer, data):
    local = globals()[f"score_{peer}"](data)
    begun, done, values = time.process_time(), 0, []
    for child, parents in zip(data["child"], data["parents"], strict=True):
        values.append(local(int(child), parents.tolist()))
        done += 1
        if time.process_time() - begun > MOST_SECONDS:
            break
    return {"done": done, "cpu": time.process_time() - begun, "values": np.array(values, float)}


def learnt(peer, data):
    begun = time.process_time()
    found = globals()[f"edges_{peer}"](data)
    edges = np.zeros((len(data["levels"]),) * 2)
    for parent, child, weight in found:
        edges[parent, child] = weight
    both = (edges == 1) & (edges.T == 1)
    edges[both] = 0.5
    return {"edges": edges, "cpu": time.process_time() - begun}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("scores", "edges"))
    parser.add_argument("peer")
    parser.add_argument("source")
    parser.add_argument("target")
    args = parser.parse_args()
    with np.load(args.source) as file:
        data = {name: file[name] for name in file.files}
    np.savez(args.target, **(scored if args.what == "scores" else learnt)(args.peer, data))


if __name__ == "__main__":
    sys.exit(main())
