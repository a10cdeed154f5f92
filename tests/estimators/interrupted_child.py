"""Run as a program: fit a model, be hit by a signal; again for further steps, where the signal leaves it alive.

Arguments: class, signal, steps (commas between), n_jobs, checkpoint, to whose name a step is added where they are many.
"""

import json
import os
import signal
import sys
import warnings

from estimator_tables import holed_binary

import partita
from partita.inference import loop
from partita.models.mixtures import chains, mixture

SETTINGS = {"n_filters": 4, "n_sweeps": 12, "random_state": 5}


def model(name, **changes):
    return getattr(partita, name)(**SETTINGS, **changes)


def write_often():
    """One step of every chain a round, and a checkpoint after every round."""
    loop._ROUND_SECONDS = 1e-9
    chains.Checkpoint.__init__.__defaults__ = tuple(
        0.0 if value == 30.0 else value for value in chains.Checkpoint.__init__.__defaults__
    )


def hit_at(step, signal_number, plain=mixture.step):
    """Send this process a signal in the middle of a step, counted from now on."""
    calls = []

    def counted(*arguments, **named):
        calls.append(1)
        if len(calls) == step:
            os.kill(os.getpid(), signal_number)
        return plain(*arguments, **named)

    mixture.step = counted


def main():
    name, signal_name, steps, n_jobs, checkpoint = sys.argv[1:]
    write_often()
    X, y = holed_binary()
    reports = []
    for step in steps.split(","):
        hit_at(int(step), getattr(signal, signal_name))
        path = checkpoint if step == steps else f"{checkpoint}{step}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = model(name, checkpoint=path, n_jobs=int(n_jobs)).fit(X, y)
        said = [[type(w.message).__name__, str(w.message)] for w in caught]
        reports.append({"said": said, "score": fitted.score_samples(X).tolist()})
    print(json.dumps(reports))


if __name__ == "__main__":
    main()
