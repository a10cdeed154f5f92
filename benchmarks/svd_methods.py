"""What answers a MovieLens split: BayesianSVD, its prototype and its peers, each with side information."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from bsvd_splits import NMAE_SCALE, Split, features, scores

from benchmarks.svd_peers import ask, coded, present, prototype
from partita import BayesianSVD

OURS, ORDINAL = "partita", "partita ordinal"
ONE, ONE_ORDINAL = "partita, one chain", "partita ordinal, one chain"
PROTOTYPE, PROTOTYPE_ORDINAL = "prototype", "prototype ordinal"
PEERS = {"myfm": ("myfm", 32), "myfm ordinal": ("myfm-ordinal", 16), "smurff": ("smurff", 32)}
METHODS = (OURS, ORDINAL, ONE, ONE_ORDINAL, PROTOTYPE, PROTOTYPE_ORDINAL, *PEERS)
SWEEPS = {name: (200, 300) for name in (PROTOTYPE, PROTOTYPE_ORDINAL)}
SWEEPS |= {"myfm": (100, 300), "myfm ordinal": (100, 300), "smurff": (100, 300)}  # burn-in, kept


@dataclass
class Answer:
    """mean (n,) of the stars; proba (n, 5) of ordinal methods; low, high: the 90 % interval, where there is one."""

    mean: np.ndarray
    seconds: float
    proba: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    rank: float = float("nan")
    components: float = float("nan")


def fitted(split: Split, ordinal: bool = False, side: bool = True, **settings: Any) -> BayesianSVD:
    """The default (two chains) with features and missingness features, or without both."""
    own = {"random_state": 0, "n_jobs": 1, "link": "ordinal" if ordinal else "gaussian",
           "missingness_features": "auto" if side else 0, **settings}  # fmt: skip
    given = features(split, "1010") if side else {}
    return BayesianSVD(**own).fit_triplets(split.train.user, split.train.movie, split.train.stars, **given)


def ours(split: Split, ordinal: bool = False, side: bool = True, **settings: Any) -> Answer:
    begin, test = time.process_time(), split.test
    model = fitted(split, ordinal, side, **settings)
    proba = model.predict_proba(test.user, test.movie) if ordinal else None
    low, high = model.predict_interval(test.user, test.movie, coverage=0.9)
    mean = model.predict(test.user, test.movie)
    rank = sum(k * p for k, p in model.rank_posterior_.items())
    return Answer(mean, time.process_time() - begin, proba, low, high, rank)


def by_prototype(split: Split, ordinal: bool = False, side: bool = True, **settings: Any) -> Answer | None:
    module = prototype()
    if module is None:
        return None
    begin, data = time.process_time(), coded(split, side=True)
    train = (data["rows"], data["columns"], data["values"])
    shape = [int(n) for n in data["shape"]]
    if side:
        pair = module.side_features(train, *shape, data["row_features"], data["column_features"], 100)
        settings["fu"], settings["fv"] = pair
    chain = module.BSVD(module.Obs(*train, *shape), levels=5 if ordinal else None, **settings)
    rows, columns = (data[f"test_{word}"].astype(np.int32) for word in ("rows", "columns"))
    burn, keep = SWEEPS[PROTOTYPE]
    mean, proba, ranks = np.zeros(len(rows)), np.zeros((len(rows), 5)), []
    for sweep in range(burn + keep):
        chain.step()
        if sweep >= burn:
            proba += chain.probs(rows, columns) / keep
            mean += chain.predict(rows, columns) / keep
            ranks.append(chain.rank)
    mean = proba @ np.arange(1, 6) if ordinal else mean
    return Answer(mean, time.process_time() - begin, proba if ordinal else None, rank=float(np.mean(ranks)),
                  components=float(len(chain.th)))  # fmt: skip


def by_peer(split: Split, name: str, side: bool = True) -> Answer | None:
    peer, rank = PEERS[name]
    if not present(peer):
        return None
    found = ask(peer, coded(split, side), rank, *SWEEPS[name])
    return Answer(found["mean"], float(found["cpu"].sum()), found.get("proba"))


def answer(name: str, split: Split, side: bool = True) -> Answer | None:
    """None where the method is not installed."""
    if name in (OURS, ORDINAL):
        return ours(split, name == ORDINAL, side)
    if name in (ONE, ONE_ORDINAL):
        return ours(split, name == ONE_ORDINAL, side, n_chains=1)
    if name in (PROTOTYPE, PROTOTYPE_ORDINAL):
        return by_prototype(split, name == PROTOTYPE_ORDINAL, side)
    return by_peer(split, name, side)


def measures(found: Answer, split: Split) -> dict[str, float]:
    """RMSE clipped, NMAE rounded; of ordinal answers NMAE of the median and the mean log probability (log score)."""
    nan, stars = float("nan"), split.test.stars
    out = {**scores(found.mean, split.test), "nmae_median": nan, "log_score": nan, "covered": nan}
    if found.proba is not None:
        median = 1 + (np.cumsum(found.proba, axis=1) < 0.5).sum(axis=1)
        out["nmae_median"] = float(np.abs(median - stars).mean() / NMAE_SCALE)
        own = found.proba[np.arange(len(stars)), stars.astype(int) - 1]
        out["log_score"] = float(np.log(np.maximum(own, 1e-12)).mean())
    if found.low is not None and found.high is not None:
        out["covered"] = float(np.mean((found.low <= stars) & (stars <= found.high)))
    return {**out, "rank": found.rank, "seconds": found.seconds}


