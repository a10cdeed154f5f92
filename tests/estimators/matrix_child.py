"""Run as a program: fit a matrix model, be hit by a signal. Arguments: signal, step, n_jobs, checkpoint."""

import json
import os
import signal
import sys
import warnings

from matrices import low_rank

import partita
from partita.inference import loop
from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import chains as svd_chains

X, _ = low_rank()
SETTINGS = {"burn_in": 10, "n_samples": 15, "n_chains": 2, "max_rank": 4, "random_state": 5}


def model(**changes):
    return partita.BayesianSVD(**SETTINGS, **changes)


def write_often():
    """One step of every chain a round, and a checkpoint after every round."""
    loop._ROUND_SECONDS = 1e-9
    defaults = svd_chains.Checkpoint.__init__.__defaults__
    svd_chains.Checkpoint.__init__.__defaults__ = tuple(0.0 if value == 30.0 else value for value in defaults)


def hit_at(step, signal_number):
    """Send this process a signal in the middle of a step."""
    calls = []
    plain = svd_blocked.step

    def counted(*arguments, **named):
        calls.append(1)
        if len(calls) == step:
            os.kill(os.getpid(), signal_number)
        return plain(*arguments, **named)

    svd_blocked.step = counted


def main():
    signal_name, step, n_jobs, checkpoint = sys.argv[1:]
    write_often()
    hit_at(int(step), getattr(signal, signal_name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = model(checkpoint=checkpoint, n_jobs=int(n_jobs)).fit(X)
    said = [[type(w.message).__name__, str(w.message)] for w in caught]
    print(json.dumps({"said": said, "filled": fitted.complete().tolist(), "rank": fitted.rank_}))


if __name__ == "__main__":
    main()
