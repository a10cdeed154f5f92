"""What every region adds to the logits of new rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .design import place_cells, region_codes, region_size


class RegionRows:
    """Where the rows of a table fall in one region; found once, used by every stage that has the region."""

    def __init__(self, codes: np.ndarray, levels: np.ndarray, region: Sequence[int], seen: np.ndarray) -> None:
        self.cells = place_cells(seen, region_codes(codes, levels, region), region_size(levels, region))

    def terms(self, w: np.ndarray) -> np.ndarray:
        """(n, K) from the parameters (cells, K) of the region. A cell not seen in training adds nothing: the mean of
        its prior."""
        return np.vstack([w, np.zeros((1, w.shape[1]))])[self.cells]
