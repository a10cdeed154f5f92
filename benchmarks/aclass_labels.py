"""Are rows without a label worth learning? Held-out log-loss with them and without.

    python -m benchmarks.aclass_labels --splits 12

The defaults of `fit`; 1,200 training rows, of which a share chosen at random has its label.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from partita import AClass
from partita.datasets import make_coin_classes, remove_cells

N_TRAINING, N_TEST, SHARES = 1200, 597, (0.05, 0.2)


def digits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng([21, seed]).permutation(len(X))
    return remove_cells(X, 0.25, [22, seed])[order], y[order] % 2


def coins(seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = make_coin_classes(N_TRAINING + N_TEST, 60, (3, 5, 7), missing=0.3, random_state=[23, seed])
    return X, y


TABLES = {
    "digits, odd or even, a quarter of the cells missing": digits,
    "three classes of coin mixtures, 60 columns, 30 % missing": coins,
}


def losses(X: np.ndarray, y: np.ndarray, share: float, seed: int) -> tuple[float, float]:
    """Held-out log-loss of all rows learnt, and of those with a label only."""
    rng = np.random.default_rng([24, seed])
    known = rng.random(N_TRAINING) < share
    for c in np.unique(y):  # of every class one at least
        known[np.flatnonzero(y[:N_TRAINING] == c)[0]] = True
    train, label = X[:N_TRAINING], np.where(known, y[:N_TRAINING].astype(float), np.nan)
    models = AClass(random_state=seed).fit(train, label), AClass(random_state=seed).fit(train[known], label[known])
    both = [log_loss(y[N_TRAINING:], model.predict_proba(X[N_TRAINING:])) for model in models]
    return both[0], both[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=12)
    n_splits = parser.parse_args().splits
    print("| table | rows with a label | all rows learnt | only rows with labels | difference |\n|---|---|---|---|---|")
    for name, make in TABLES.items():
        for share in SHARES:
            found = np.array([losses(*make(seed), share, seed) for seed in range(n_splits)])
            difference = found[:, 0] - found[:, 1]
            error = difference.std(ddof=1) / np.sqrt(n_splits)
            mean = found.mean(axis=0)
            print(f"| {name} | {share:.0%} | {mean[0]:.3f} | {mean[1]:.3f} | {difference.mean():+.3f} ± {error:.3f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
