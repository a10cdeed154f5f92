"""KikuchiBayesClassifier beside usual choices on tables that no choice was made on: none is among the 46 of the paper.

    python -m benchmarks.kikuchi_unseen                 all tables, three folds
    python -m benchmarks.kikuchi_unseen digits child    some of them

Tables, rows drawn with seed 0: handwritten digits (scikit-learn), newsgroups (100 words), letters and MNIST as pixels,
landmines, users of MovieLens, and rows drawn from published networks, the class being one of their nodes. Everything
at its defaults, one thread, discretisation inside the folds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from xgboost import XGBClassifier

from benchmarks.kikuchi_tables import BESIDE, logistic
from partita import BayesianNetwork, KikuchiBayesClassifier, MDLPDiscretizer, kernels

DATA = BESIDE / "data"
FOLDS, SMALLEST = 3, 1e-5
NETWORKS = {
    "asia": "dysp", "cancer": "Cancer", "earthquake": "Alarm", "survey": "T", "sachs": "Akt", "child": "Disease",
    "insurance": "Accident", "alarm": "HYPOVOLEMIA", "water": "CKNI_12_45", "hepar2": "Cirrhosis",
}  # fmt: skip


def some(frame: pd.DataFrame, label: np.ndarray, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rows = np.sort(np.random.default_rng(0).permutation(len(frame))[:n])
    return frame.iloc[rows].reset_index(drop=True), np.asarray(label)[rows]


def levels(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(str).astype("category")


def digits() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return some(pd.DataFrame(X), y, 900)


def newsgroups() -> tuple[pd.DataFrame, np.ndarray]:
    z = np.load(DATA / "newsgroups" / "20news_w100.npz")
    return some(levels(pd.DataFrame(z["X"])), z["y"], 1500)


def letters(first: str, second: str) -> tuple[pd.DataFrame, np.ndarray]:
    z = np.load(DATA / "multitask" / "letters.npz")
    mine = (z["y"] == first) | (z["y"] == second)
    return some(levels(pd.DataFrame(z["X"][mine])), z["y"][mine], 900)


def mnist(first: int, second: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Means of squares of 4 x 4 pixels."""
    z = np.load(DATA / "mnist" / "mnist.npz")
    mine = (z["y_train"] == first) | (z["y_train"] == second)
    squares = z["x_train"][mine].reshape(-1, 7, 4, 7, 4).mean(axis=(2, 4)).reshape(-1, 49)
    return some(pd.DataFrame(squares), z["y_train"][mine], 900)


def landmine() -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.read_csv(DATA / "multitask" / "landmine.csv.gz")
    return some(frame[[f"f{i}" for i in range(1, 10)]], frame["class"].to_numpy(), 4000)


def users() -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.read_csv(DATA / "movielens" / "ml-1m_users.csv.gz", dtype=str)
    frame["zip"] = frame["zip"].str[:1]
    return some(levels(frame[["age", "occupation", "zip"]]), frame["gender"].to_numpy(), 3000)


def network(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    net = BayesianNetwork.read_bif(DATA / "networks" / f"{name}.bif.gz")
    rows = pd.DataFrame(net.sample(900, random_state=0), columns=list(net.feature_names_in_))
    return levels(rows.drop(columns=NETWORKS[name])), rows[NETWORKS[name]].astype(str).to_numpy()


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "digits": digits, "newsgroups": newsgroups, "letters c e": lambda: letters("c", "e"),
    "letters m n": lambda: letters("m", "n"), "letters i j": lambda: letters("i", "j"),
    "letters g y": lambda: letters("g", "y"), "mnist 3 5": lambda: mnist(3, 5), "mnist 4 9": lambda: mnist(4, 9),
    "mnist 7 9": lambda: mnist(7, 9), "landmine": landmine, "users": users,
    **{name: lambda name=name: network(name) for name in NETWORKS},
}  # fmt: skip


class OneDependence:
    """Averaged one-dependence estimators (A1DE) on bins: every attribute with at least 30 rows of a level as parent of
    all others, submodels with one pseudo-count spread over their cells."""

    def fit(self, codes: np.ndarray, y: np.ndarray) -> OneDependence:
        self.size, self.n_classes = codes.max(axis=0) + 1, int(y.max()) + 1
        hot = np.concatenate([np.eye(s)[c] for s, c in zip(self.size, codes.T, strict=True)], axis=1)
        self.first = np.concatenate([[0], np.cumsum(self.size)])
        self.pairs = np.stack([hot[y == c].T @ hot[y == c] for c in range(self.n_classes)])  # (C, cells, cells)
        self.often = hot.sum(axis=0)
        return self

    def predict_proba(self, codes: np.ndarray) -> np.ndarray:
        out = np.empty((len(codes), self.n_classes))
        sizes = np.repeat(self.size, self.size).astype(float)
        own = np.diagonal(self.pairs, axis1=1, axis2=2)
        joint = np.log(self.pairs + 1 / (self.n_classes * sizes[:, None] * sizes)) - np.log(
            own[:, :, None] + 1 / (self.n_classes * sizes[:, None])
        )
        alone = np.log(own + 1 / (self.n_classes * sizes))
        for i, row in enumerate(codes):
            cells = self.first[:-1] + np.minimum(row, self.size - 1)
            parents = cells[self.often[cells] >= 30]
            parents = parents if len(parents) else cells
            given = joint[:, parents][:, :, cells].sum(axis=2) - joint[:, parents, parents]
            score = np.logaddexp.reduce(alone[:, parents] + given, axis=1)
            out[i] = np.exp(score - np.logaddexp.reduce(score))
        return out


def methods(frame: pd.DataFrame, numeric: np.ndarray, kinds: dict) -> dict[str, Callable]:
    def on_bins(make: Callable) -> Callable:
        def fit(train, y, test):
            bins = MDLPDiscretizer(column_kinds=kinds).fit(train, y)
            coded = [np.asarray(bins.transform(part)).astype(np.int64) for part in (train, test)]
            low = min(int(part.min()) for part in coded)
            return make().fit(coded[0] - low, y).predict_proba(coded[1] - low)

        return fit

    def plain(make: Callable) -> Callable:
        return lambda train, y, test: make().fit(train, y).predict_proba(test)

    def regression():
        return make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=2000))

    return {
        "KikuchiBayes": plain(lambda: KikuchiBayesClassifier(column_kinds=kinds, random_state=0, n_jobs=1)),
        "LR": plain(lambda: logistic(frame, numeric)),
        "LR on MDL": on_bins(regression),
        "XGBoost": plain(lambda: XGBClassifier(n_jobs=1, enable_categorical=True)),
        "LightGBM": plain(lambda: LGBMClassifier(n_jobs=1, verbose=-1)),
        "HistGradientBoosting": plain(lambda: HistGradientBoostingClassifier(random_state=0)),
        "A1DE": on_bins(OneDependence),
    }


def measure(name: str) -> dict[str, tuple[float, float]]:
    """Mean log-loss over the folds and CPU seconds of fit and answer, of every method."""
    frame, given = TABLES[name]()
    frame.columns = [f"f{j}" for j in range(frame.shape[1])]
    label = pd.factorize(given, sort=True)[0]
    numeric = np.array([frame[c].dtype.kind == "f" for c in frame])
    kinds = {c: "real" if is_number else "categorical" for c, is_number in zip(frame, numeric, strict=True)}
    out: dict[str, list[tuple[float, float]]] = {}
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, label):
        for method, run in methods(frame, numeric, kinds).items():
            begin = time.process_time()
            p = run(frame.iloc[train], label[train], frame.iloc[test])
            seconds = time.process_time() - begin
            own = np.clip(p[np.arange(len(test)), label[test]], SMALLEST, 1)
            out.setdefault(method, []).append((float(-np.log(own).mean()), seconds))
    return {method: tuple(np.mean(rows, axis=0)) for method, rows in out.items()}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*")
    options = parser.parse_intermixed_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    scores = {}
    for name in options.tables or TABLES:
        scores[name] = measure(name)
        print(f"{name:12s} " + "  ".join(f"{m} {v[0]:.4f} {v[1]:.2f}s" for m, v in scores[name].items()), flush=True)
    names = list(next(iter(scores.values())))
    losses = np.array([[table[m][0] for m in names] for table in scores.values()])
    ranks = np.array([rankdata(row) for row in losses]).mean(axis=0)
    print(f"\n{len(losses)} tables: mean log-loss, mean rank, tables on which ours is lower")
    for k, name in enumerate(names):
        wins = int((losses[:, 0] < losses[:, k]).sum())
        print(f"  {name:22s} {losses[:, k].mean():7.4f} {ranks[k]:6.2f} {wins:4d}")


if __name__ == "__main__":
    main()
