"""What a Gibbs chain over gated experts holds: parameters of every stick, and what it believes of every row.

The model is that of the variational fit (`gated_state.Priors`): truncated sticks, normal-inverse-Wishart gates,
Dirichlet and Gamma laws of the cells beside the Gaussian block, probit experts or class-pure gates, whose classes are
uniform beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .rows import Block, View
from .state import Priors


@dataclass(frozen=True)
class Moves:
    """What a step does.

    alpha         the concentration, fixed; None: drawn
    reseat        rows seated anew without parameters
    jumps         attempts to split or merge components, missing cells integrated out, in the mean of all steps (each
                  costs several sweeps), by paths of so many `steps`
    split_merge   attempts with missing cells as they are drawn
    stretches     features whose weights are multiplied by one factor, after those of all features
    swaps         attempts to exchange two sticks, for every stick
    apart         share of the attempts whose two rows have different labels (the same one, where gates are class-pure)
    scans         turns of the latents of many classes
    """

    alpha: float | None = None
    reseat: int = 40
    jumps: float = 0.2
    steps: int = 64
    split_merge: int = 3
    stretches: int = 8
    swaps: int = 2
    apart: float = 0.5
    scans: int = 2


@dataclass(eq=False)
class Given:
    """What a chain does not change: rows in blocks, label (n,) of each (-1: none), and the priors."""

    view: View
    priors: Priors
    blocks: list[Block]
    label: np.ndarray
    n_classes: int

    @property
    def n_rows(self) -> int:
        return len(self.label)

    @property
    def n_latents(self) -> int:
        """K: one latent for two classes, one per class for more, none without experts."""
        if self.priors.experts is None:
            return 0
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def looked_at(self) -> np.ndarray:
        """(n,) rows that an expert looks at."""
        return (self.label >= 0) & (self.n_latents > 0)

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Gaussian cells (n, P), NaN where missing, and those beside (D, n), -1 where missing."""
        x, levels = self._observed
        return x.copy(), levels.copy()

    def cells_of(self, index: np.ndarray) -> np.ndarray:
        """Gaussian cells of some rows, NaN where missing."""
        return self._observed[0][index]

    @cached_property
    def _observed(self) -> tuple[np.ndarray, np.ndarray]:
        x = np.empty((self.n_rows, self.view.width))
        levels = np.empty((len(self.view.cells), self.n_rows), np.int64)
        for block in self.blocks:
            shown, patterns = block.x.copy(), block.patterns
            for g in range(len(patterns)):
                cells = patterns.cells[patterns.first[g] : patterns.first[g + 1]]
                shown[patterns.first_row[g] : patterns.first_row[g + 1], cells] = np.nan
            x[block.index], levels[:, block.index] = shown, block.levels
        return x, levels


@dataclass(eq=False)
class Parameters:
    """Of all N sticks, empty ones too; K latents, F features of an expert, L levels of a column beside the block.

    alpha        the concentration
    log_weight   (N,) log pi
    mean         (N, P) and precision (N, P, P) of the gates
    cells        of every column beside the Gaussian block, (N, L) log probabilities, or (N, 1) log rates of a count
    w            (N, K, F) the experts, with their common law: centre (K, F) zeta, spread (F,) lambda; K = 0: none
    owner        (N,) class of each stick where there are no experts, else -1
    """

    alpha: float
    log_weight: np.ndarray
    mean: np.ndarray
    precision: np.ndarray
    cells: list[np.ndarray]
    w: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    owner: np.ndarray

    @property
    def n_sticks(self) -> int:
        return len(self.log_weight)

    @property
    def n_latents(self) -> int:
        return self.w.shape[1]

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Parameters:
        return cls(**tree)


@dataclass(eq=False)
class GibbsState:
    """Everything a chain needs to go on.

    z        (n,) int32: the stick of every row
    x        (n, P) Gaussian cells, missing ones drawn
    levels   (D, n) cells beside them; missing ones of rows that an expert looks at are drawn, others are -1
    latent   (n, K) t; 0 in rows that no expert looks at
    """

    parameters: Parameters
    z: np.ndarray
    x: np.ndarray
    levels: np.ndarray
    latent: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """(N,) rows of each stick."""
        return np.bincount(self.z, minlength=self.parameters.n_sticks)

    @property
    def n_components(self) -> int:
        """Sticks that hold rows."""
        return int((self.counts > 0).sum())

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self)) | {"parameters": self.parameters.to_tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> GibbsState:
        return cls(**(dict(tree) | {"parameters": Parameters.from_tree(tree["parameters"])}))


def features_of(view: View, levels: np.ndarray) -> np.ndarray:
    """(n, C) features behind the Gaussian columns, the last of them 1; those of a missing cell are 0."""
    shown = [column.look(cells) for column, cells in zip(view.cells, levels, strict=True)]
    return np.concatenate([*shown, np.ones((levels.shape[1], 1))], axis=1)
