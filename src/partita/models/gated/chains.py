"""One model of the thesis by chains of blocked Gibbs sampling: states kept of the second half, averaged.

With many columns a chain hardly changes its large components: rows would have to leave one of them many at a time, and
a chain from many clusters lets the largest swallow the others, whether or not it should. So each chain begins where the
bound of a few short variational fits of its own, from many clusters and from few, is highest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.table import Table
from ...inference.diagnostics import ess_bulk, r_hat
from ...inference.fits import run_fits
from ...inference.runner import Runner
from ..lens import plain_lens
from .average import PLAIN, STARTS_OF_ONE, problems_of_one, thesis_plan
from .fit import bound_settled
from .gibbs import GibbsProblem
from .gibbs_answer import Kept, model_of
from .gibbs_state import GibbsState
from .members import Data, Hyper, Plan, view_and_priors
from .pool import Pool
from .refits import KEPT_OF_REFIT, quiet, refit_chains
from .state import GatedState

# states: more cost time at every answer and differ little; densities and cells take fewer of them, as many as refits
KEPT_OF_CHAIN = 20
START_ITERATIONS, START_TOLERANCE = 30, 1e-5
TRACED = ("log_likelihood", "n_components", "largest", "log_alpha")


@dataclass
class Sampled:
    """Chains that have ended: the states kept as models, and the traces by which to judge them."""

    pool: Pool
    trace: dict[str, np.ndarray]
    n_components: dict[int, float]
    n_sweeps: int

    def diagnostics(self) -> dict[str, dict[str, float]]:
        """R-hat and effective size of every trace over the second half of the chains."""
        half = {name: trace[:, trace.shape[1] // 2 :] for name, trace in self.trace.items() if name in TRACED}
        return {name: {"r_hat": r_hat(part), "ess_bulk": ess_bulk(part)} for name, part in half.items()}


def spread_out(sizes: list[int]) -> list[int]:
    """Places of at most `KEPT_OF_REFIT` states of every chain, of which `sizes` are kept one after another."""
    first = np.concatenate([[0], np.cumsum(sizes)])
    return [
        int(first[chain] + (k + 1) * size // n - 1)
        for chain, size in enumerate(sizes)
        for n in [min(size, KEPT_OF_REFIT)]
        for k in range(n)
    ]


def starts_by_bound(
    plan: Plan, data: Data, hyper: Hyper, n_chains: int, seed: int, runner: Runner
) -> list[np.ndarray]:
    """(n, H) log probabilities of the components that each chain begins in; without a limit of time, so that a chain
    that is resumed is the one that was not stopped."""
    n_each = len(STARTS_OF_ONE)
    streams = [np.random.default_rng([seed, k]) for k in range(n_chains * n_each)]
    problems = problems_of_one(plan, data, hyper, streams)
    unlimited = replace(quiet(runner), time_budget=None)
    states, outcome = run_fits(
        problems, streams, START_ITERATIONS, bound_settled(START_TOLERANCE), unlimited, "", GatedState.from_tree
    )
    if outcome.interrupted is not None:
        raise KeyboardInterrupt  # nothing is learnt yet
    bound = np.array([outcome.infos["bound"][k, done - 1] for k, done in enumerate(outcome.steps_done)])
    best = np.nan_to_num(bound, nan=-np.inf).reshape(n_chains, n_each).argmax(axis=1) + n_each * np.arange(n_chains)
    return [np.log(np.maximum(states[k].rho, 1e-300)) for k in best]


def learn_by_gibbs(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, n_sticks: int, n_sweeps: int,
    n_folds: int, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
    starts: list[np.ndarray] | None = None,
) -> Sampled:  # fmt: skip
    """One chain for each stream but the last; `starts` (n, H) are log probabilities of components that each begins in.
    """
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    plan = thesis_plan(max(n_sticks, n_classes if n_classes < 2 else 1), n_classes)
    *streams, spare = streams
    problems, every = [], max(n_sweeps // (2 * KEPT_OF_CHAIN), 1)
    if starts is None:
        starts = starts_by_bound(plan, data, hyper, len(streams), int(spare.integers(2**63)), runner)
    for stream in streams:
        view, priors = view_and_priors(plan, data, hyper, stream)
        problems.append(GibbsProblem.make(view, data.rows[PLAIN], label, weight, n_classes, priors, plan.k))
        problems[-1].start = None if starts is None else starts[len(problems) - 1]

    def keep(step: int, state: GibbsState) -> Kept | None:
        return Kept.of(state) if step >= n_sweeps // 2 and (n_sweeps - 1 - step) % every == 0 else None

    states, outcome = run_fits(
        problems, streams, n_sweeps, None, runner, fingerprint, GibbsState.from_tree, keep, Kept.from_tree
    )
    kept = [one for chain in outcome.kept for one in chain] or [Kept.of(state) for state in states]
    view = problems[0].given.view
    models = [model_of(one, view, n_classes) for one in kept]
    few = [models[k] for k in spread_out([len(chain) for chain in outcome.kept])] or models
    pool = Pool.alike(data.lenses[PLAIN], n_classes, models, few)
    if outcome.interrupted is None:
        first = np.unique(problems[0].source, return_index=True)[1]  # a row of weight k stands k times
        last = [state.z[first] for state in states]
        refit_chains(pool, data, plan, hyper, last, n_sweeps, n_folds, spare, runner)
    sizes, counts = np.unique([one.n_components for one in kept], return_counts=True)
    law = {int(size): float(count / len(kept)) for size, count in zip(sizes, counts, strict=True)}
    return Sampled(pool, outcome.common_infos(), law, min(outcome.steps_done))
