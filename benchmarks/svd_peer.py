"""One peer of BayesianSVD in a process of its own, so that it may live in another Python environment.

    python benchmarks/svd_peer.py myfm|myfm-ordinal|smurff IN.npz OUT.npz --rank 32 --burn 50 --keep 100

IN holds rows, columns, values, test_rows, test_columns, shape, and maybe row_features and column_features (0/1 and
numbers, one line per row or column). OUT gets the mean prediction at the test cells, CPU seconds of every sweep, and
probabilities of the levels where the peer has them. Nothing of partita is imported here.
"""

from __future__ import annotations

import argparse
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402


def myfm_blocks(data):
    """One-hot users and movies, with their features beside: relation blocks, which myFM multiplies once per user."""
    import myfm

    blocks = []
    for side, n in zip(("row", "column"), data["shape"], strict=True):
        parts = [sparse.identity(int(n), format="csr")]
        if f"{side}_features" in data:
            parts.append(sparse.csr_matrix(data[f"{side}_features"]))
        blocks.append(sparse.hstack(parts, format="csr"))
    widths = [len_ for block in blocks for len_ in group_sizes(block)]
    place = {half: [data[f"{half}rows"], data[f"{half}columns"]] for half in ("", "test_")}
    relations = {half: [myfm.RelationBlock(index, block) for index, block in zip(place[half], blocks, strict=True)]
                 for half in place}  # fmt: skip
    empty = {half: sparse.csr_matrix((len(place[half][0]), 0)) for half in place}
    return relations, empty, widths


def group_sizes(block):
    """Identity and features are groups with scales of their own."""
    n = block.shape[0]
    return [n, block.shape[1] - n] if block.shape[1] > n else [n]


def run_myfm(data, rank, burn, keep, ordinal):
    import myfm

    clock = []

    def tick(*_):
        clock.append(time.process_time())
        return False, None

    featured = "row_features" in data or "column_features" in data
    kind = myfm.MyFMOrderedProbit if ordinal else myfm.MyFMGibbsRegressor
    model = kind(rank=rank, random_seed=0)
    values = (data["values"] - data["values"].min()).astype(int) if ordinal else data["values"]
    settings = {"n_iter": burn + keep, "n_kept_samples": keep, "callback": tick}
    if featured:
        relations, empty, widths = myfm_blocks(data)
        model.fit(empty[""], values, X_rel=relations[""], group_shapes=widths, **settings)
        asked = {"X": empty["test_"], "X_rel": relations["test_"]}
    else:
        halves = [one_hot_pair(data[f"{half}rows"], data[f"{half}columns"], data["shape"]) for half in ("", "test_")]
        model.fit(halves[0], values, group_shapes=[int(n) for n in data["shape"]], **settings)
        asked = {"X": halves[1]}
    out = {"cpu": np.diff(clock)}
    if not len(data["test_rows"]):
        return out
    if ordinal:
        proba = np.asarray(model.predict_proba(**asked))
        levels = np.arange(proba.shape[1]) + data["values"].min()
        return {**out, "mean": proba @ levels, "proba": proba}
    return {**out, "mean": model.predict(**asked)}


def one_hot_pair(rows, columns, shape):
    m = len(rows)
    place = np.column_stack([rows, columns + shape[0]]).ravel()
    return sparse.csr_matrix((np.ones(2 * m), place, np.arange(0, 2 * m + 1, 2)), shape=(m, int(sum(shape))))


def run_smurff(data, rank, burn, keep):
    """BPMF of smurff, or Macau with features; ratings less their mean, noise precision sampled."""
    import smurff

    sides = [f"{side}_features" in data for side in ("row", "column")]
    shape = tuple(int(n) for n in data["shape"])
    mean = data["values"].mean()
    train = sparse.coo_matrix((data["values"] - mean, (data["rows"], data["columns"])), shape)
    # zeros would be dropped as absent
    asked = sparse.coo_matrix((np.full(len(data["test_rows"]), 1.0), (data["test_rows"], data["test_columns"])), shape)
    session = smurff.TrainSession(priors=["macau" if flag else "normal" for flag in sides], num_latent=rank,
                                  burnin=burn, nsamples=keep, num_threads=1, seed=1, verbose=0)  # fmt: skip
    session.addTrainAndTest(train, asked, smurff.SampledNoise(1.0))
    for mode, side in enumerate(("row", "column")):
        if sides[mode]:
            session.addSideInfo(mode, sparse.csr_matrix(data[f"{side}_features"]), direct=True)
    session.init()
    clock = [time.process_time()]
    while session.step():
        clock.append(time.process_time())
    found = {tuple(p.coords): p.pred_avg for p in session.getTestPredictions()}
    pairs = zip(data["test_rows"].tolist(), data["test_columns"].tolist(), strict=True)
    return {"cpu": np.diff(clock), "mean": mean + np.array([found[pair] for pair in pairs])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("myfm", "myfm-ordinal", "smurff"))
    parser.add_argument("source")
    parser.add_argument("target")
    for name in ("rank", "burn", "keep"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    with np.load(args.source) as file:
        data = {name: file[name] for name in file.files}
    if args.peer == "smurff":
        answer = run_smurff(data, args.rank, args.burn, args.keep)
    else:
        answer = run_myfm(data, args.rank, args.burn, args.keep, args.peer == "myfm-ordinal")
    np.savez(args.target, **answer)


if __name__ == "__main__":
    main()
