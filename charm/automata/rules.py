"""Rules of two-dimensional cellular automata (Life-like, Generations, Larger-than-Life) and their exact evolution.

Dimension letters: N grids, H height, W width, T horizons. A simulation has N last: neighbours are then added in long
runs of bytes, which is fast.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.tasks import keyed
from charm.tasks.task import COLORS

Family = Literal["life", "generations", "larger"]
Grids = npt.NDArray[np.uint8]  # of states
FAMILIES: tuple[Family, ...] = get_args(Family)

MAX_RADIUS = 7  # neighbours are counted in bytes: 15 x 15 = 225
RADII = (2, 3, 4, 5)  # of drawn Larger-than-Life rules
STATES = (3, 4, 5, 6, 7, 8)  # of drawn Generations rules: three bits hold a cell


@dataclass(frozen=True)
class Rule:
    """How every cell changes at once. A cell is dead (0), live (1), or on its way out (2, 3, ..., then dead).

    A cell's count is the number of live cells in the square within `radius`. A dead cell whose count is in `births`
    becomes live; a live one whose count is in `survivals` stays; any other live cell starts to decay, which with two
    states means that it is dead.
    """

    births: tuple[int, ...]
    survivals: tuple[int, ...]
    states: int = 2
    radius: int = 1
    middle: bool = False
    """Whether the cell counts itself."""

    def __post_init__(self) -> None:
        if not 1 <= self.radius <= MAX_RADIUS:
            raise CharmError(f"a rule's radius must be in 1..{MAX_RADIUS}, got {self.radius}")
        if not 2 <= self.states <= COLORS:
            raise CharmError(f"a rule must have 2 to {COLORS} states (states are colours), got {self.states}")
        if self.family == "larger" and self.states > 2:
            raise CharmError(f"a Larger-than-Life rule must have 2 states, got {self.states}")
        if self.radius == 1 and self.middle:
            raise CharmError("a rule of radius 1 must not count the cell itself")
        for name, counts in (("births", self.births), ("survivals", self.survivals)):
            if list(counts) != sorted(set(counts)) or not set(counts) <= set(range(self.counts)):
                raise CharmError(f"a rule's {name} must be increasing numbers in 0..{self.counts - 1}, got {counts}")
            if self.family == "larger" and (not counts or counts[-1] - counts[0] != len(counts) - 1):
                raise CharmError(f"the {name} of a Larger-than-Life rule must be one interval, got {counts}")

    @property
    def family(self) -> Family:
        if self.radius > 1:
            return "larger"
        return "life" if self.states == 2 else "generations"

    @property
    def counts(self) -> int:
        """Number of possible counts of live neighbours, including zero."""
        return (2 * self.radius + 1) ** 2 + self.middle

    @property
    def table(self) -> npt.NDArray[np.uint8]:
        """The next state, [states, counts]."""
        following = (np.arange(self.states) + 1) % self.states  # decay; a dead cell is set below
        table = np.repeat(following[:, None], self.counts, axis=1).astype(np.uint8)
        table[0] = np.isin(np.arange(self.counts), self.births)
        table[1, list(self.survivals)] = 1
        return table

    def __str__(self) -> str:
        """Return the usual notation: B3/S23, B2/S/C3, or R5,C0,M1,S33..57,B34..45."""
        if self.family == "larger":
            (s, t), (b, c) = ((counts[0], counts[-1]) for counts in (self.survivals, self.births))
            return f"R{self.radius},C0,M{int(self.middle)},S{s}..{t},B{b}..{c}"
        births, survivals = ("".join(map(str, counts)) for counts in (self.births, self.survivals))
        decay = f"/C{self.states}" if self.states > 2 else ""
        return f"B{births}/S{survivals}{decay}"


def parse_rule(text: str) -> Rule:
    """Parse a rule's notation: the inverse of `str`."""
    near = re.fullmatch(r"B([0-8]*)/S([0-8]*)(?:/C(\d+))?", text, re.IGNORECASE)
    if near:
        births, survivals = (tuple(sorted(set(map(int, counts)))) for counts in near.groups()[:2])
        return Rule(births, survivals, int(near[3] or 2))
    far = re.fullmatch(r"R(\d+),C[02],M([01]),S(\d+)\.\.(\d+),B(\d+)\.\.(\d+)", text, re.IGNORECASE)
    if far:
        radius, middle, s, t, b, c = map(int, far.groups())
        return Rule(tuple(range(b, c + 1)), tuple(range(s, t + 1)), 2, radius, bool(middle))
    raise CharmError(f"{text!r} is not a rule; write rules as B3/S23, B2/S/C3 or R5,C0,M1,S33..57,B34..45")


def draw_rule(family: Family, seed: int, number: int, side: int = 16) -> Rule:
    """Draw candidate `number` of a family: determined by (family, seed, number), and by the torus if it is small."""
    words = 32
    u = keyed.uniform(keyed.key_of("car rule", family, seed), number * words + np.arange(words))
    if family != "larger":  # never B0, so that an empty plane stays empty
        births, survivals = (1 + np.flatnonzero(u[:8] < 0.5)).tolist(), np.flatnonzero(u[8:17] < 0.5).tolist()
        states = 2 if family == "life" else STATES[int(u[17] * len(STATES))]
        return Rule(tuple(births), tuple(survivals), states)
    radii = [radius for radius in RADII if 2 * radius + 1 <= side]
    if not radii:
        raise CharmError(f"Larger-than-Life needs a torus side >= {2 * RADII[0] + 1}, got {side}")
    radius, middle = radii[int(u[0] * len(radii))], bool(u[1] < 0.5)
    size = (2 * radius + 1) ** 2 - 1 + middle
    # Lively rules have births from a tenth to under half of the neighbourhood, and survivals around them.
    births_at = _interval(0.1 + 0.35 * u[2], 0.03 + 0.3 * u[3], size)
    survivals_at = _interval(0.05 + 0.45 * u[4], 0.05 + 0.4 * u[5], size)
    return Rule(births_at, survivals_at, 2, radius, middle)


def _interval(start: float, length: float, size: int) -> tuple[int, ...]:
    first = max(1, round(start * size))
    return tuple(range(first, min(size, first + round(length * size)) + 1))


def evolve(grids_NHW: Grids, rule: Rule, horizons: Sequence[int]) -> Grids:
    """Return the grids after each number of updates in `horizons` (rising), as [T, N, H, W]."""
    if any(later <= earlier for earlier, later in pairwise(horizons)):
        raise CharmError(f"horizons must be increasing, got {tuple(horizons)}")
    cells_HWN = np.ascontiguousarray(grids_NHW.transpose(1, 2, 0))
    height, width = cells_HWN.shape[:2]
    if min(height, width) < 2 * rule.radius + 1:
        raise CharmError(f"a {height}x{width} torus is smaller than the neighbourhood of {rule}")
    if cells_HWN.size and cells_HWN.max() >= rule.states:
        raise CharmError(f"states of {rule} must be in 0..{rule.states - 1}, got {cells_HWN.max()}")
    reached = []
    for before, horizon in pairwise((0, *horizons)):
        for _ in range(before, horizon):
            cells_HWN = update(cells_HWN, rule)
        reached.append(cells_HWN.transpose(2, 0, 1))
    return np.stack(reached)


def update(cells_HWN: Grids, rule: Rule) -> Grids:
    """Return all cells of all grids, one update later."""
    live_HWN = (cells_HWN == 1).view(np.uint8)
    count_HWN = _sum_around(_sum_around(live_HWN, rule.radius, axis=0), rule.radius, axis=1)
    if not rule.middle:
        count_HWN -= live_HWN
    place_HWN = cells_HWN.astype(np.uint16) * rule.counts + count_HWN
    return rule.table.ravel().take(place_HWN)


def _sum_around(cells: Grids, radius: int, axis: int) -> Grids:
    """Sum for each cell the cells within `radius` along one axis, around the torus."""
    size = cells.shape[axis]
    around = np.concatenate([cells, cells, cells], axis).swapaxes(0, axis)
    total = around[size - radius : 2 * size - radius].copy()
    for shift in range(1 - radius, radius + 1):
        total += around[size + shift : 2 * size + shift]
    return total.swapaxes(0, axis)
