"""What a structure learner's parameters ask of inference, and what they cannot ask together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.net_contract import MOST_NODES
from ..models.structure.hyper import HyperGrid
from ..models.structure.knowledge import Knowledge
from ..models.structure.learn_small import EXACT_BLOCK, EXACT_ORDERED
from ..models.structure.learnt import Learnt, NetSettings
from ..models.structure.seats import ROOMS
from ..models.structure.state import Schedule


def read_settings(model: Any) -> NetSettings:
    """From the parameters of a `StructureLearner`."""
    burn_in = model.n_sweeps // 5 if model.burn_in is None else int(model.burn_in)
    if burn_in >= model.n_sweeps:
        raise ValueError(
            f"StructureLearner: burn_in={model.burn_in!r} must be less than n_sweeps={model.n_sweeps!r}; the sweeps "
            "after it are those that count."
        )
    bdeu = model.score == "bdeu"
    grid = HyperGrid.of(model.alpha, model.beta, model.gamma, bdeu)
    if grid.learnt and (model.prior == "uniform" or model.exact is True or model.map_search == "anneal"):
        raise ValueError(
            "StructureLearner: 'infer' for alpha, beta or gamma goes with a prior over classes, exact='auto' or False "
            f"and map_search='chains', got prior={model.prior!r}, exact={model.exact!r} and "
            f"map_search={model.map_search!r}. Change these, or give numbers."
        )
    first = grid.values(grid.start())
    return NetSettings(
        model.prior, bdeu, first["gamma"], first["alpha"], first["beta1"], first["beta2"], int(model.n_chains),
        Schedule(int(model.n_sweeps), burn_in), model.exact, model.moves == "thesis", grid if grid.learnt else None,
        model.map_search == "anneal", ROOMS if model.sharing == "infer" else np.array([float(model.sharing)]),
    )  # fmt: skip


def check_possible(model: Any, codes: list[np.ndarray], known: Knowledge) -> None:
    """Raise where the tables do not allow what the parameters ask for."""
    holes = any(bool((of < 0).any()) for of in codes)
    if model.gamma == "infer" and (len(codes) > 1 or known.n > MOST_NODES or holes or model.moves == "thesis"):
        raise ValueError(
            f"StructureLearner: gamma='infer' needs one table of complete columns, at most {MOST_NODES} of them, and "
            "moves='all'. Give a number."
        )
    if model.map_search == "anneal" and holes:
        raise ValueError(
            "StructureLearner: map_search='anneal' needs complete columns: with missing cells the best network "
            "depends on what stands in them. Pass map_search='chains', or fill the cells."
        )
    if model.exact is True:
        _check_exact(model, codes, known, holes)


def _check_exact(model: Any, codes: list[np.ndarray], known: Knowledge, holes: bool) -> None:
    n, prior = max(of.shape[1] for of in codes), "uniform" if known.template is not None else model.prior
    most = {"ordered-block": EXACT_ORDERED, "block": EXACT_BLOCK, "auto": EXACT_BLOCK}.get(prior, MOST_NODES)
    several = len(codes) > 1 and (prior not in ("uniform", "sparse") or known.classes is not None)
    if not several and model.moves == "all" and not holes and n <= most:
        return
    why = f"{len(codes)} tables that share classes" if several else f"{n} columns" if n > most else "missing cells"
    if model.moves == "thesis":
        why = "moves='thesis'"
    raise ValueError(
        f"StructureLearner: exact=True with {why} is not possible: sums over all networks need complete "
        f"columns, at most {most} of them with prior={model.prior!r}. Pass exact='auto' or fewer columns."
    )


def hyper_means(model: Any, learnt: Learnt) -> dict[str, float]:
    """Hyper-parameters: as given, or their posterior means, under several priors by their weights."""
    settings = read_settings(model)
    given = {"alpha": settings.alpha, "beta1": settings.beta1, "beta2": settings.beta2, "gamma": settings.pseudo}
    if hasattr(model, "tables_"):
        given["sharing"] = float(np.median(settings.rooms))
    for name in given:
        at, means = {"sharing": "room"}.get(name, name), {}
        for prior in learnt.prior_weights:
            # one class is weighed by the states of the block chain that have one
            kept = learnt.trace.get(f"{prior}/{at}", learnt.trace.get(f"block/{at}"))
            if kept is not None:
                means[prior] = float(np.nanmean(kept[:, min(settings.schedule.burn_in, kept.shape[1] - 1) :]))
        if means:
            weight = [max(learnt.prior_weights[prior], 1e-300) for prior in means]
            given[name] = float(np.average(list(means.values()), weights=weight))
    return given
