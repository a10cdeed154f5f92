"""What the closed-form search of Kikuchi-Bayes found, as attributes of an estimator: searched when fitting, or when
first asked for where the parameters do not depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data.frames import make_frame
from ..inference.runner import Runner
from ..models.kikuchi.learnt import interactions, stage_weights
from ..models.kikuchi.path import find_path
from ..models.kikuchi.problem import Choices, Problem
from ..models.kikuchi.regions import Region, counting_numbers
from ..models.kikuchi.search import Search, regions_in
from ..models.kikuchi.soundness import check_regions
from ..models.soundness import need
from .base import TableEstimator


def findings(problem: Problem, search: Search, averaging: bool) -> dict[str, Any]:
    """`path_` (as columns), `map_regions_`, `region_graph_` and `interaction_information_` of a search at its end."""
    path = search.path
    scores = [stage.log_posterior for stage in path], [stage.log_likelihood for stage in path]
    hilltop = int(stage_weights(*scores, averaging=False).argmax())
    regions = regions_in(path[: hilltop + 1])
    if search.choices.singles == "all":
        regions = [s for s in path[0].new if s] + regions
    graph = counting_numbers(regions)
    told = [*regions_in(path), *regions, *graph]
    singles = sorted({(j,) for region in told for j in region})
    told = [region for region in dict.fromkeys([*singles, *told]) if region]
    columns = {
        "stage": list(range(len(path))),
        "region": [stage.region for stage in path],
        "log_likelihood": scores[1],
        "df": [stage.df for stage in path],
        "log_posterior": scores[0],
        "weight": stage_weights(*scores, averaging=averaging).tolist(),
        "phase": [stage.phase for stage in path],
    }
    information = interactions(problem, told, search.choices.theta)
    found = {"path": columns, "regions": regions, "graph": graph, "information": information}
    screened = {str(order): left for order, left in search.screened().items()}
    return {**found, "screened": screened, "unfinished": search.unfinished}


def check_findings(found: dict[str, Any], n_columns: int) -> None:
    """Raise where a file brought findings that do not fit together."""
    check_regions([*found["regions"], *found["graph"], *found["information"]], n_columns)
    check_regions(found["path"]["region"], n_columns)
    need(len({len(column) for column in found["path"].values()}) == 1, "columns of the path")
    for order, left in found.get("screened", {}).items():
        whole = type(left) is list and all(type(j) is int and 0 <= j < n_columns for j in left)
        need(order.isdigit() and whole, "attributes left out")
    unfinished = found.get("unfinished", [])
    need(type(unfinished) is list and all(type(order) is int for order in unfinished), "orders left unfinished")


@dataclass
class Postponed:
    """A search that has not been asked for, with the parameters of the fit, which may have been set to others since."""

    problem: Problem
    choices: Choices
    runner: Runner
    averaging: bool

    def run(self, names: Sequence[Any]) -> dict[str, Any]:
        search = find_path(self.problem, self.choices, self.runner, names=names)
        return findings(self.problem, search, self.averaging)


class ClosedForm(TableEstimator):
    """An estimator with `_findings`, or with a search `_postponed`.

    A postponed search is run once, by the first attribute that needs it, and before the estimator is saved or pickled:
    the training rows it is run on do not travel."""

    _findings: dict[str, Any]
    _postponed: Postponed | None

    def _found(self) -> dict[str, Any]:
        check_is_fitted(self, "schema_")
        if self._postponed is not None:
            self._findings, self._postponed = self._postponed.run(self.schema_.names), None
        return self._findings

    def _settle(self) -> None:
        if getattr(self, "_postponed", None) is not None:
            self._found()

    def __getstate__(self) -> Any:
        self._settle()
        return super().__getstate__()

    @property
    def path_(self) -> Any:
        """The path as a frame, one row per stage."""
        return make_frame(self._found()["path"])

    @property
    def map_regions_(self) -> list[Region]:
        """Regions of the hilltop in the order in which they were added, as tuples of column positions."""
        return self._found()["regions"]

    @property
    def region_graph_(self) -> dict[Region, int]:
        """Regions of the hilltop and their intersections (the class not listed) with their counting numbers."""
        return self._found()["graph"]

    @property
    def interaction_information_(self) -> dict[Region, float]:
        """Interaction information with the class, in nats, of every region of the path and of `region_graph_`."""
        return self._found()["information"]

    @property
    def not_searched_(self) -> dict[str, Any]:
        """What limits and stops left out of the searches, by column positions."""
        found = self._found()
        attributes = {int(order): list(left) for order, left in found.get("screened", {}).items()}
        return {"orders": list(found.get("unfinished", [])), "attributes": attributes}

    def to_networkx(self) -> Any:
        """The region graph as a networkx.DiGraph: regions with their `counting_number`, edges to largest subsets."""
        found = self._found()
        import networkx as nx

        graph = nx.DiGraph()
        for region, c in found["graph"].items():
            names = tuple(self.schema_.names[j] for j in region)
            information = found["information"].get(region)
            graph.add_node(region, counting_number=c, names=names, interaction=information)
        for a in found["graph"]:
            below = [b for b in found["graph"] if set(b) < set(a)]
            graph.add_edges_from((a, b) for b in below if not any(set(b) < set(c) for c in below))
        return graph
