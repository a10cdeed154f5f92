"""How far edge probabilities of `StructureLearner` are from the truth, and for how much CPU time.

    python -m benchmarks.network_exactness [uniform one-class six seven twelve] [--first 5000]

uniform, one-class: 12 columns, sums over graphs against slower sums: by sinks in extended precision without
derivatives, and by a fine rule in the log odds of an edge. six: ordered classes of 6 columns, what `fit` says and what
chains say against integrals in closed form. seven: chains over ordered classes of 7 columns against all 47,293 ordered
partitions. twelve: two chains against two runs of four much longer ones. Tables are those of figure 2-2 of [1]
(`benchmarks/networks.py`). One line of JSON each.

[1] Mansinghka (2009), Natively Probabilistic Computation, chapter 2.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import reduce

import numpy as np
from scipy.signal import convolve
from scipy.special import betaln, gammaln, logsumexp

from partita import StructureLearner
from partita.models.structure import exact as net_exact
from partita.models.structure.knowledge import Knowledge, score_tables
from partita.priors.graph import block_rule, ordered_partitions

from .networks import layered


def table(seed, n):
    """Rows of figure 2-2, the first n columns, and the scores of all sets of parents."""
    X = layered(np.random.default_rng(seed), 75)[0][:, :n]
    known = Knowledge(~np.eye(n, dtype=bool), np.zeros((n, n), bool), n - 1)
    return X, score_tables(X.astype(np.int32), np.full(n, 2, np.int32), False, 0.5, known)


def timed(do):
    begun = time.process_time()
    found = do()
    return found, round(time.process_time() - begun, 3)


def learnt(X, prior, **settings):
    model, cpu = timed(lambda: StructureLearner(prior, **({"random_state": 0} | settings)).fit(X))
    return model.edge_probabilities_, cpu


# ---- all graphs alike, one class


def total_by_sinks(within):
    """Sum over acyclic graphs by inclusion and exclusion of sets of sinks; within[j, S]: weights of sets inside S."""
    n = len(within)
    full = (1 << n) - 1
    sums = np.zeros(full + 1, np.longdouble)
    sums[0] = 1
    for before in range(full):
        outside = [j for j in range(n) if not before >> j & 1]
        sets, signed = np.zeros(1, np.int64), np.array([-1], np.longdouble)
        for j in outside:
            sets = np.concatenate([sets, sets | 1 << j])
            signed = np.concatenate([signed, -signed * within[j, before]])
        sums[before | sets[1:]] += sums[before] * signed[1:]
    return sums[full]


def sums_within(weight):
    """Of every node over the subsets of every set."""
    within = weight.copy()
    for i in range(len(within)):
        with_i = np.flatnonzero(np.arange(within.shape[1]) >> i & 1)
        within[:, with_i] += within[:, with_i ^ 1 << i]
    return within


def edges_by_sinks(scores):
    """P(i -> j) as one less the share of graphs in which i is no parent of j."""
    n = len(scores)
    weight = np.exp((scores - scores.max(axis=1)[:, None]).astype(np.longdouble))
    within, edges, sets = sums_within(weight), np.zeros((n, n)), np.arange(1 << n)
    whole = total_by_sinks(within)
    for i in range(n):
        for j in range(n):
            if i != j:
                less = within.copy()
                less[j] = within[j, sets & ~(1 << i)]
                edges[i, j] = float(1 - total_by_sinks(less) / whole)
    return edges


def uniform(seed):
    X, scores = table(seed, 12)
    true = edges_by_sinks(scores)
    sums, cpu = timed(lambda: net_exact.modular(scores, np.zeros((12, 12)), np.zeros(12, np.int32)).edges)
    edges, whole = learnt(X, "uniform")
    return {"error": errors(edges, true), "error_of_sums": errors(sums, true), "cpu_sums": cpu, "cpu_fit": whole}


def one_class(seed, points=400):
    X, scores = table(seed, 12)
    odds = np.linspace(-14, 9, points)  # of an edge; the law of eta is even, so that of its log odds is eta (1 - eta)
    logs, edges = [], []
    for value in odds:
        found = net_exact.modular(scores, np.full((12, 12), value), np.zeros(12, np.int32))
        none = -np.logaddexp(0, value)
        logs.append(found.log_sum + 12 * 11 * none + value + 2 * none)
        edges.append(found.edges)
    true = np.tensordot(np.exp(logs - logsumexp(logs)), edges, 1)
    sums, cpu = timed(lambda: net_exact.one_class(scores, block_rule(12, 0.5, 1.0, 1.0)).edges)
    edges, whole = learnt(X, "sparse")
    return {"error": errors(edges, true), "error_of_sums": errors(sums, true), "cpu_sums": cpu, "cpu_fit": whole}


# ---- ordered classes


def counted(scores, j, earlier, parent=None):
    """Weights of the sets of parents of j among earlier classes by how many they take of each; with or without one of
    them for certain."""
    found = np.zeros([size.bit_count() + 1 for size in earlier])
    sets = [P for P in range(scores.shape[1]) if not P & ~sum(earlier) and (parent is None or P >> parent & 1)]
    for P in sets:
        found[tuple((P & members).bit_count() for members in earlier)] += np.exp(scores[j, P] - scores[j].max())
    return found


def integral(parts, members, earlier):
    """Over the chances of an edge from every earlier class, uniform beforehand, of a product of such weights."""
    whole = reduce(convolve, parts)
    for of in reversed(earlier):
        pairs = of.bit_count() * members.bit_count()
        taken = np.arange(pairs + 1)
        whole = whole @ np.exp(betaln(1 + taken, 1 + pairs - taken))
    return float(whole)


def ordered_in_closed_form(scores, alpha=0.5):
    """Edges (n, n) by all ordered partitions."""
    n, sums, total, edges = len(scores), {}, 0.0, np.zeros((len(scores),) * 2)
    for z in ordered_partitions(n):
        classes = [int(sum(1 << i for i in np.flatnonzero(z == k))) for k in range(z.max() + 1)]
        sizes, weight, inside = np.bincount(z), 1.0, np.zeros((n, n))
        for b, members in enumerate(classes):
            key = members, tuple(sorted(classes[:b]))
            if key not in sums:
                sums[key] = _into(scores, *key)
            weight, inside = weight * sums[key][0], inside + sums[key][1]
        weight *= np.exp((np.log(alpha) + gammaln(sizes)).sum() - gammaln(len(sizes) + 1))
        total, edges = total + weight, edges + weight * inside
    return edges / total


def _into(scores, members, earlier):
    """The sum into a class, and the shares of edges in it."""
    n = len(scores)
    inside, edges = [j for j in range(n) if members >> j & 1], np.zeros((n, n))
    if not earlier:
        return float(np.prod([np.exp(scores[j, 0] - scores[j].max()) for j in inside])), edges
    parts = {j: counted(scores, j, earlier) for j in inside}
    whole = integral(list(parts.values()), members, earlier)
    for j in inside:
        for i in (i for i in range(n) if sum(earlier) >> i & 1):
            having = parts | {j: counted(scores, j, earlier, i)}
            edges[i, j] = integral(list(having.values()), members, earlier) / whole
    return whole, edges


def six(seed):
    X, scores = table(seed, 6)
    true, result = ordered_in_closed_form(scores), {}
    for name, settings in {"fit": {}, "chains": {"exact": False, "n_chains": 2, "n_sweeps": 6000}}.items():
        edges, cpu = learnt(X, "ordered-block", **settings)
        result |= {f"error_{name}": errors(edges, true), f"cpu_{name}": cpu}
    return result


def seven(seed):
    X, scores = table(seed, 7)
    true = net_exact.ordered(scores, block_rule(7, 0.5, 1.0, 1.0)).edges
    edges, cpu = learnt(X, "ordered-block", n_chains=2, n_sweeps=6000)
    return {"error": errors(edges, true), "cpu": cpu}


def twelve(seed):
    X, _ = table(seed, 12)
    long = [learnt(X, "ordered-block", n_chains=4, n_sweeps=20_000, random_state=number)[0] for number in (1, 2)]
    edges, cpu = learnt(X, "ordered-block", n_chains=2, n_sweeps=4000)
    return {"error": errors(edges, np.mean(long, axis=0)), "long_runs_apart": errors(*long), "cpu": cpu}


def errors(found, true):
    return float(f"{np.abs(found - true).max():.2g}")


PARTS = {"uniform": uniform, "one-class": one_class, "six": six, "seven": seven, "twelve": twelve}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--first", type=int, default=5000)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.parts:
        for seed in range(args.first, args.first + args.sets):
            print(json.dumps({"part": name, "set": seed} | PARTS[name](seed)), flush=True)


if __name__ == "__main__":
    main()
