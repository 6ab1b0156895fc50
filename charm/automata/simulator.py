"""The exact evolution of many grids on a torus under one rule.

Dimension letters: N grids, H height, W width, T horizons. Internally, N comes last: neighbours are then added
in long runs of bytes, which is fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from charm.automata.rules import Rule
from charm.errors import CharmError

Grids = npt.NDArray[np.uint8]


def evolve(grids_NHW: Grids, rule: Rule, horizons: Sequence[int]) -> Grids:
    """The grids after each number of updates in `horizons` (rising), as [T, N, H, W]."""
    if any(later <= earlier for earlier, later in pairwise(horizons)):
        raise CharmError(f"horizons must be increasing, got {tuple(horizons)}")
    cells_HWN = np.ascontiguousarray(grids_NHW.transpose(1, 2, 0))
    if min(cells_HWN.shape[:2]) < 2 * rule.radius + 1:
        height, width = cells_HWN.shape[:2]
        raise CharmError(f"a {height}x{width} torus is smaller than the neighbourhood of {rule}")
    if cells_HWN.size and cells_HWN.max() >= rule.states:
        raise CharmError(f"states of {rule} must be in 0..{rule.states - 1}, got {cells_HWN.max()}")
    reached, time = [], 0
    for horizon in horizons:
        while time < horizon:
            cells_HWN = update(cells_HWN, rule)
            time += 1
        reached.append(cells_HWN.transpose(2, 0, 1))
    return np.stack(reached)


def update(cells_HWN: Grids, rule: Rule) -> Grids:
    """All cells of all grids, one update later."""
    live_HWN = (cells_HWN == 1).view(np.uint8)
    count_HWN = _sum_around(_sum_around(live_HWN, rule.radius, axis=0), rule.radius, axis=1)
    if not rule.middle:
        count_HWN -= live_HWN
    place_HWN = cells_HWN.astype(np.uint16) * rule.counts + count_HWN
    return rule.table.ravel().take(place_HWN)


def _sum_around(cells: Grids, radius: int, axis: int) -> Grids:
    """Each cell's sum over the cells within `radius` along one axis, around the torus."""
    size = cells.shape[axis]
    around = np.concatenate([cells, cells, cells], axis).swapaxes(0, axis)
    total = around[size - radius : 2 * size - radius].copy()
    for shift in range(1 - radius, radius + 1):
        total += around[size + shift : 2 * size + shift]
    return total.swapaxes(0, axis)
