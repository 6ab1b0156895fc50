"""Check that generated pairs cover the official ones, and that no simple rule explains them.

Both checks compare two sets of pairs, so they work for any provider.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from charm.tasks.task import Grid, Pair
from rearc2.helpers import most_common, symmetries
from rearc2.workbench.regularities import foreground_objects

# Measures for which larger is harder.
HARD = ("in cells", "in colours", "in objects", "out objects", "changed cells")
HARD_SHARE = 0.1  # share of the generated pairs that must reach the official median

ROLES: dict[str, Callable[[Grid, Grid], set[int]]] = {
    "background in": lambda a, b: _ground(a),
    "background out": lambda a, b: _ground(b),
    "colours in": lambda a, b: _palette(a),
    "colours out": lambda a, b: _palette(b),
    "colours only in": lambda a, b: _palette(a) - _palette(b),
    "colours only out": lambda a, b: _palette(b) - _palette(a),
}

# In the order of rearc2.helpers.symmetries.
SYMMETRIES = (
    *("identity", "quarter turn left", "half turn", "quarter turn right"),
    *("mirror left-right", "transpose", "mirror up-down", "anti-transpose"),
)
# A wrong rule may explain this much more of the generated pairs than of the official ones ...
MORE = 0.1
# ... but an output that is one of few (three colours, say) is often guessed right by a constant.
GUESSED = 0.6


def measures(pair: Pair) -> dict[str, int]:
    """Return the measures to compare. Objects are 8-connected, of one colour, without the commonest colour."""
    found = {}
    for name, grid in zip(("in", "out"), pair.grids(), strict=True):
        found[f"{name} height"], found[f"{name} width"] = grid.shape
        found[f"{name} cells"] = grid.size
        found[f"{name} colours"] = len(_palette(grid))
        found[f"{name} objects"] = len(foreground_objects(grid))
    before, after = pair.grids()
    if before.shape == after.shape:
        found["changed cells"] = int((before != after).sum())
    return found


@dataclass
class Coverage:
    """Comparison of official and generated pairs; `findings` maps names, as used in EXCEPTIONS, to sentences."""

    ranges: dict[str, tuple[Spread, Spread]] = field(default_factory=dict)  # measure -> official, generated
    roles: dict[str, tuple[set[int], set[int]]] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Spread(NamedTuple):
    """Five quantiles of a measure."""

    low: int
    quarter: int
    median: int
    three_quarters: int
    high: int

    def __str__(self) -> str:
        return " ".join(f"{value:>4}" for value in self)


def coverage(official: Mapping[str, Pair], generated: Sequence[Pair]) -> Coverage:
    """Compare measure by measure and role by role; `official` maps names to pairs."""
    result = Coverage()
    ours = {name: measures(pair) for name, pair in official.items()}
    made = [measures(pair) for pair in generated]
    for measure in dict.fromkeys(key for found in [*ours.values(), *made] for key in found):
        _compare(result, measure, ours, [found[measure] for found in made if measure in found])
    for role, colors_of in ROLES.items():
        ours_by_pair = {name: colors_of(*pair.grids()) for name, pair in official.items()}
        made_colors = set().union(*(colors_of(*pair.grids()) for pair in generated))
        all_ours = set().union(*ours_by_pair.values())
        result.roles[role] = all_ours, made_colors
        if missing := all_ours - made_colors:
            where = next(name for name, colors in ours_by_pair.items() if colors & missing)
            what = ", ".join(map(str, sorted(missing)))
            result.findings[role] = f"{role}: {what} (as in {where}) is never generated"
        if len(all_ours) == 1 < len(made_colors) and all(ours_by_pair.values()):
            result.notes.append(f"{role}: always {all_ours} officially, {made_colors} generated")
    return result


def _compare(result: Coverage, measure: str, ours: Mapping[str, dict[str, int]], made: list[int]) -> None:
    values = {name: found[measure] for name, found in ours.items() if measure in found}
    if not values or not made:
        if made:
            result.notes.append(f"{measure}: generated pairs have it, official ones do not")
        else:
            result.findings[measure] = f"{measure}: official pairs have it, no generated pair does"
        return
    official, generated = _spread(list(values.values())), _spread(made)
    result.ranges[measure] = official, generated
    span = f"{generated.low}..{generated.high}"
    far = [name for name, value in values.items() if not generated.low <= value <= generated.high]
    if far:
        result.findings[measure] = f"{measure}: {values[far[0]]} in {far[0]} is outside the generated {span}"
    elif measure in HARD:
        # The upper median: for 1, 1, 3 and 3 objects it is 3, which a generator that mostly draws 1 rarely reaches.
        median = sorted(values.values())[len(values) // 2]
        share = sum(value >= median for value in made) / len(made)
        if share < HARD_SHARE:
            result.findings[f"hard: {measure}"] = (
                f"hard: {measure}: only {share:.0%} of the generated pairs reach the official median "
                f"{median} (generated median {generated.median}); make harder ones"
            )
    if official.low == official.high and generated.low < generated.high and len(values) > 2:
        result.notes.append(f"{measure}: always {official.low} officially, {span} generated")


def _spread(values: list[int]) -> Spread:
    return Spread(*map(int, np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="lower")))


def simple_rules(official: Sequence[Pair], generated: Sequence[Pair]) -> dict[str, str]:
    """Find wrong but simple rules that explain the generated pairs: a sentence for each finding, by name.

    A simple rule that explains all official pairs is not wrong; it is the rule.
    """
    findings = {}
    for name, limit in {**dict.fromkeys(SYMMETRIES, 0.0), **dict.fromkeys(GUESSES, GUESSED)}.items():
        ours, made = _share(name, official), _share(name, generated)
        if ours < 1 and made > max(limit, ours + MORE):
            shares = f"{made:.0%} of the generated pairs, {ours:.0%} of the official ones"
            findings[f"simple: {name}"] = f"simple: {name} explains {shares}"
    return findings


def _share(name: str, pairs: Sequence[Pair]) -> float:
    if name in GUESSES:
        return GUESSES[name]([pair.grids() for pair in pairs])
    number = SYMMETRIES.index(name)
    return sum(_is_image(number, *pair.grids()) for pair in pairs) / len(pairs)


def _is_image(number: int, before: Grid, after: Grid) -> bool:
    # Compare sizes first: they rule out most outputs.
    return sorted(before.shape) == sorted(after.shape) and np.array_equal(
        symmetries(before.view(np.int8))[number], after.view(np.int8)
    )


def _constant(pairs: list[list[Grid]]) -> float:
    """Return the share of the most common output."""
    counts = Counter((after.shape, after.tobytes()) for _, after in pairs)
    return counts.most_common(1)[0][1] / len(pairs)


def _frequent_color(pairs: list[list[Grid]]) -> float:
    """Return the share that is one colour everywhere: the input's most common one, with or without the background."""

    def explained(before: Grid, after: Grid) -> bool:
        color = after.flat[0]
        common = most_common(before)
        return bool((after == color).all()) and color in (common, most_common(before, [common]))

    return sum(explained(*pair) for pair in pairs) / len(pairs)


def _recolouring(pairs: list[list[Grid]]) -> float:
    """Return the share that a fixed recolouring explains: each colour becomes its most common output colour."""
    counts: npt.NDArray[np.int64] = np.zeros((10, 10), np.int64)
    same = [(before, after) for before, after in pairs if before.shape == after.shape]
    for before, after in same:
        np.add.at(counts, (before.ravel(), after.ravel()), 1)
    becomes = counts.argmax(axis=1)
    return sum(np.array_equal(becomes[before], after) for before, after in same) / len(pairs)


GUESSES: dict[str, Callable[[list[list[Grid]]], float]] = {
    "constant output": _constant,
    "most frequent colour": _frequent_color,
    "fixed recolouring": _recolouring,
}


def _palette(grid: Grid) -> set[int]:
    return set(np.flatnonzero(np.bincount(grid.ravel(), minlength=10)).tolist())


def _ground(grid: Grid) -> set[int]:
    """Return the background colour, if the grid has a clear one."""
    color = most_common(grid)
    return {color} if grid.size >= 9 and (grid == color).mean() >= 0.3 else set()
