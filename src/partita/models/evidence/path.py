"""The path: nested log-linear models from single attributes to regions found by evidence, each fitted from the last.

| stage | what it has |
|---|---|
| singles | every attribute alone; only where there are no numeric columns |
| linear | slopes of the numeric columns, and every attribute alone that is not a bin of one |
| numerics | linear + bins and steps of the numeric columns |
| quadratic | linear + products of numeric columns: all, or where they cannot be afforded those with gain > \
  `Settings.beyond`, at most half of them by chance (more than two classes: with gain > log(candidates + 1)) |
| chosen | linear + only those, where all are many and used |
| naive | naive Bayes on all attributes, in closed form |
| class | the frequencies of the classes: where the attributes say nothing, the pool can know it |
| pairs | singles or numerics + pairs with gain > log(candidates + 1) |
| triples | pairs + triples with gain > log(candidates + 1) + products |
| beyond | as pairs, with gain > `Settings.beyond`; with two classes at most half of them by chance |
| all pairs | as pairs, with every pair where they are few enough: nothing is selected, so many weak ones can show |
| path | singles or numerics + the regions of the closed-form path, where they are given and either some has more than \
  three attributes, which no search here finds, or a stop left stages out |

A stop ends the path early; the first stage and path are fitted all the same, the latter because its regions were
paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .design import Key, region_size
from .numerics import use_products
from .omitted import Omitted
from .products import promising_products
from .screen import screen_pairs
from .search import Field, Gains, Halted, fitted_dimensions, never, scan, triples_over
from .settings import Settings
from .stages import Stage, Stages, Training

SEARCHED = 3  # attributes of the largest region that is searched for here
HEREDITY = 0.0  # a triple is a candidate if one of its pairs has more evidence gain than this


class Path(Stages):
    """The stages in the order above, with the searches between them."""

    def __init__(
        self, training: Training, settings: Settings, rng: np.random.Generator, n_jobs: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(training, settings, rng)
        self.n_jobs, self.stop, self.rng = n_jobs, stop or never, rng
        self.omitted = Omitted()

    @property
    def budget(self) -> float:
        return min(self.settings.max_cells, self.training.target.total / 2)

    def walk(self, regions: Sequence[Key] = ()) -> None:
        """All stages; `regions` are those of the closed-form path."""
        base, products = self._walk_singles()
        if self.singles and self._goes_on("naive", "class"):
            self.add_naive("naive", self.singles)
            self.add_naive("class", [])
        if self.settings.max_attributes > 1 and len(self.singles) > 1:
            self._walk_regions(base, products)
        enough = self.training.target.total >= self.settings.path_rows
        larger = any(len(region) > SEARCHED for region in regions)
        extra = self._affordable(regions) if (enough and larger) or self.omitted.stages else []
        if extra:
            self.add("path", base.keys + extra, base)

    def _walk_singles(self) -> tuple[Stage, list[Key]]:
        """The stages without regions; of them the one from which those with regions go on, and the products used."""
        if not self.slopes:
            return self.add("singles", self.singles), []
        plain = [key for key in self.singles if key[0] not in self.training.binned]
        bins = [key for key in self.singles if key[0] in self.training.binned]
        linear = self.add("linear", plain + [key for key in self.slopes if key[0] == "slope"])
        base = linear
        if self._goes_on("numerics"):
            base = self.add("numerics", linear.keys + bins + [k for k in self.slopes if k[0] == "steps"], linear)
        products: list[Key] = []
        if (self.training.numerics.has_products or len(self.training.numerics) > 1) and self._goes_on("quadratic"):
            if not self.training.numerics.has_products:
                self._find_products(linear)
            for name, key in (("quadratic", ("products",)), ("chosen", ("chosen products",))):
                if key in self.blocks:
                    products = [key]
                    self.add(name, linear.keys + products, linear)
        return base, products

    def _find_products(self, linear: Stage) -> None:
        """Where products are many: all where they can be afforded, and those that promise most beside the slopes."""
        t, s = self.training, self.settings
        size = np.zeros(len(t.numerics))
        for g, key in enumerate(linear.keys):
            if key[0] == "slope":
                size[key[1]] = (linear.of(g) ** 2).sum()
        budget = min(s.max_products, t.target.total / 2)
        pairs = promising_products(
            t.numerics, t.reals, t.target.weight, size, self._field(linear), s.beyond, s.max_candidates, budget
        )
        q, n = len(t.numerics), len(self.target.label)
        m = q * (q + 1) // 2
        work = min(n, m) ** 2 * max(n, m) * self.target.n_logits
        if work <= s.product_work and n * m <= s.max_design and not self.is_sampled:
            every = np.stack(np.triu_indices(q), axis=1)
            use_products(t.numerics, t.reals, t.target.weight, every)
            at = {pair: k for k, pair in enumerate(map(tuple, every.tolist()))}
            t.numerics.chosen = np.array([at[pair] for pair in map(tuple, pairs.tolist())], np.int32)
        elif len(pairs):
            use_products(t.numerics, t.reals, t.target.weight, pairs)
        self.add_products()

    def _goes_on(self, *stages: str) -> bool:
        """Whether there is no stop; where there is one, the stages are noted as left out."""
        stopped = self.stop()
        if stopped:
            self.omitted.stages += stages
        return not stopped

    def _walk_regions(self, base: Stage, products: list[Key]) -> None:
        with_triples = self.settings.max_attributes > 2 and len(self.singles) > 2
        possible = ("pairs", "triples", "beyond", "all pairs") if with_triples else ("pairs", "beyond", "all pairs")
        if not self._goes_on(*possible):
            return
        try:
            gains = self._scan_pairs(base)
        except Halted:
            self.omitted.stages += possible
            return
        pairs = gains.chosen(math.log(gains.n_looked + 1), self.budget)
        least = self.settings.beyond
        # with more classes the share of chance is not known, and dense interactions (soybean, anneal) would be lost
        beyond = gains.chosen(gains.worth_having(least) if self.target.n_logits == 1 else least, self.budget)
        self.start.update({**beyond, **pairs})
        top = base
        if pairs and self._goes_on("pairs"):
            top = self.add("pairs", base.keys + self.add_regions(pairs), base)
        triples: dict[Key, float] = {}
        if with_triples and self._goes_on("triples"):
            triples = self._find_triples(top, gains, set(pairs))
            self.start.update(triples)
        if (triples or (pairs and products)) and "triples" not in self.omitted.stages and self._goes_on("triples"):
            self.add("triples", top.keys + self.add_regions(triples) + products, top)
        if len(beyond) > len(pairs) and self._goes_on("beyond"):
            top = self.add("beyond", base.keys + self.add_regions(beyond), top)
        whole = gains.n_looked == len(gains.regions) and not self.omitted.columns
        affordable = whole and gains.occupied.sum() <= self.settings.all_pairs * self.budget
        if affordable and len(gains.regions) > len(beyond) and self._goes_on("all pairs"):
            rest = [pair for pair in map(tuple, gains.regions.tolist()) if pair not in beyond]
            self.add("all pairs", base.keys + self.add_regions([*beyond, *rest]), top)

    def _field(self, stage: Stage) -> Field:
        columns = np.ascontiguousarray(self.training.codes.T)
        return Field(columns, self.training.levels, np.ascontiguousarray(stage.moments), self.n_jobs, self.stop)

    def _scan_pairs(self, base: Stage) -> Gains:
        s, levels = self.settings, self.training.levels
        columns = np.array([key[0] for key in self.singles])
        own = {key[0]: float((base.of(g) ** 2).mean()) for g, key in enumerate(base.keys) if key in self.seen}
        size = np.array([own.get(int(j), 0.0) for j in columns])
        field = self._field(base)
        found = screen_pairs(field, columns, size, s.max_region_cells, s.max_candidates, self.rng)
        self.omitted.columns = found.columns.tolist()
        looked, listed = len(found.pairs) + len(found.left), len(columns) - len(found.columns)
        self.omitted.n_regions += math.comb(len(columns), 2) - math.comb(listed, 2) + len(found.left)
        self.omitted.pairs, self.omitted.n_rows = found.left, found.n_rows if len(found.left) else 0
        fitted = fitted_dimensions(found.pairs, levels, set())
        return replace(scan(field, found.pairs, fitted, min(s.beyond, HEREDITY)), n_looked=looked)

    def _find_triples(self, top: Stage, gains: Gains, pairs: set[Key]) -> dict[Key, float]:
        s, levels = self.settings, self.training.levels
        best_first = np.argsort(-gains.gain, kind="stable")
        live = gains.regions[best_first[gains.gain[best_first] > HEREDITY]]
        columns = np.unique(gains.regions)
        triples, left = triples_over(live, columns, levels, s.max_region_cells, s.max_triples)
        self.omitted.triples_over = left
        self.omitted.n_regions += len(left) * len(columns)
        if not len(triples):
            return {}
        threshold = math.log(math.comb(len(columns), 3) + 1)
        try:
            found = scan(self._field(top), triples, fitted_dimensions(triples, levels, pairs), threshold)
        except Halted:
            self.omitted.stages.append("triples")
            return {}
        return found.chosen(threshold, self.budget)

    def _affordable(self, regions: Sequence[Key]) -> list[Key]:
        """Regions of several attributes, in their order, while their cells are no more than twice the budget."""
        out, used = [], 0
        for region in dict.fromkeys(tuple(sorted(map(int, r))) for r in regions):
            if len(region) < 2 or region_size(self.training.levels, region) > 2**62:
                continue
            for key in self.add_regions([region]):
                if used + self.blocks[key].width <= 2 * self.budget:
                    used += self.blocks[key].width
                    out.append(key)
        return out
