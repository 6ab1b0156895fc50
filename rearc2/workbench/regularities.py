"""Find regularities of layout that hold in every official pair of a task but not in the generated ones.

A reader may think that a constant layout (blocks centred on each other, equal gaps, one object of each colour) is part
of the rule. A generator that breaks it either widens the task on purpose or misses a second interpretation. A program
cannot decide which, but it can list the questions.

A regularity is counted in cases: one for each grid, object or pair of objects. It is listed if it holds in all official
cases, and if the same number of generated cases would very rarely do so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from charm.tasks.task import Grid, Pair
from rearc2.helpers import Thing, most_common, objects, symmetries

SURPRISE = 0.01  # maximum probability of the official cases if they were drawn like the generated ones
SAMPLE = 200  # generated pairs to compare with
MAX_OBJECTS = 25  # a grid with more objects counts as a texture

Case = tuple[str, bool]  # the name of a regularity, and whether it holds


class Broken(NamedTuple):
    """A regularity that holds in all of the official cases and in this share of the generated ones."""

    cases: int
    share: float

    def __str__(self) -> str:
        return f"{self.cases} of {self.cases} officially, {self.share:.0%} generated"


def broken_regularities(official: Sequence[Pair], generated: Sequence[Pair]) -> dict[str, Broken]:
    """Find the regularities of the official pairs that the generated pairs break, by name."""
    constants = {name: value for name, value in _constants(official).items() if value}
    ours, made = (_count(pairs, constants) for pairs in (official, generated[:SAMPLE]))
    broken = {}
    for name, (holding, cases) in ours.items():
        held, of = made.get(name, (0, 0))
        if holding == cases > 1 and of and (held / of) ** cases < SURPRISE:
            broken[name] = Broken(cases, round(held / of, 2))
    return broken


def _count(pairs: Sequence[Pair], constants: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Count the cases in which each regularity holds, and all its cases."""
    holding: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for pair in pairs:
        values = _values(pair)
        found = [(f"{name} always {value}", values[name] == value) for name, value in constants.items()]
        for name, holds in (*found, *_cases(pair)):
            holding[name] += holds
            cases[name] += 1
    return {name: (holding[name], cases[name]) for name in cases}


def _constants(official: Sequence[Pair]) -> dict[str, int]:
    """Return values that are the same in all official pairs."""
    found = [_values(pair) for pair in official]
    return {name: value for name, value in found[0].items() if all(values[name] == value for values in found)}


def _values(pair: Pair) -> dict[str, int]:
    """Return counts that may be constant."""
    sizes = [thing.size for thing in foreground_objects(pair.input)]
    return {
        "number of input colours": len(np.unique(pair.input)),
        "number of objects": len(sizes),
        "cells of the largest object": max(sizes, default=0),
        "cells of the smallest object": min(sizes, default=0),
    }


def _cases(pair: Pair) -> Iterator[Case]:
    yield from _grid_cases(pair.input)
    things = foreground_objects(pair.input)
    if 0 < len(things) <= MAX_OBJECTS:
        yield from _object_cases(things, pair.input.shape)
        yield from _pair_cases(things)
        yield from _kind_cases(things)
        yield from _gap_cases(things)
    yield from _choice_cases(pair)
    assert pair.output is not None
    parts = foreground_objects(pair.output)
    if pair.output.shape == pair.input.shape and 0 < len(parts) <= MAX_OBJECTS:
        for one, other in combinations(parts, 2):
            if _touch(one, other):
                yield "touching objects of the output are centred on each other", _centred(one, other)


def _grid_cases(grid: Grid) -> Iterator[Case]:
    height, width = grid.shape
    for color in range(10):
        yield f"colour {color} is in the input", bool((grid == color).any())
    yield "the input is square", height == width
    yield "the input's sides are even", not (height % 2 or width % 2)
    yield "the input's sides are odd", bool(height % 2 and width % 2)
    images = symmetries(grid.astype(np.int64))
    for number, name in ((4, "left-right"), (6, "up-down"), (2, "half-turn"), (5, "diagonal")):
        yield f"the input has {name} symmetry", np.array_equal(images[number], grid)


def _object_cases(things: list[Thing], shape: tuple[int, ...]) -> Iterator[Case]:
    height, width = shape
    for thing in things:
        yield "objects are off the border", not _on_border(thing, shape)
        yield "objects are on the border", _on_border(thing, shape)
        yield "objects are solid rectangles", bool(thing.mask.all())
        yield "objects have square boxes", thing.height == thing.width
        yield "objects have odd sides", bool(thing.height % 2 and thing.width % 2)
        yield "objects are symmetric", _symmetric(thing)
        in_middle = thing.top + thing.bottom == height - 1 or thing.left + thing.right == width - 1
        yield "objects are centred in the grid", in_middle
        others = [other for other in things if other is not thing]
        if others:
            yield "each object is centred on another", any(_centred(thing, other) for other in others)
            yield "each object shares an edge's line with another", any(_flush(thing, o) for o in others)


def _pair_cases(things: list[Thing]) -> Iterator[Case]:
    for one, other in combinations(things, 2):
        rows, columns = box_gaps(one, other)
        yield "boxes do not overlap", max(rows, columns) >= 0
        yield "objects keep a free cell between them", max(rows, columns) >= 1
        yield "objects have one colour", one.color == other.color
        yield "objects have different colours", one.color != other.color
        yield "objects have one box size", one.mask.shape == other.mask.shape
        yield "objects have one shape", np.array_equal(one.mask, other.mask)
        yield "objects have different sizes", one.size != other.size
        if (rows < 0) != (columns < 0):
            yield "facing objects are centred on each other", _centred(one, other)


def _kind_cases(things: list[Thing]) -> Iterator[Case]:
    colors = Counter(thing.color for thing in things)
    if 1 < len(colors) < len(things):
        yield "as many objects of each colour", len(set(colors.values())) == 1
        yield "one object has a colour of its own", list(colors.values()).count(1) == 1
    shapes = Counter(_key(thing.mask) for thing in things)
    if 1 < len(shapes) < len(things):
        yield "one object has a shape of its own", list(shapes.values()).count(1) == 1


def _gap_cases(things: list[Thing]) -> Iterator[Case]:
    """Yield whether three or more objects in line have equal gaps."""
    for start, stop, line in (("left", "right", "top"), ("top", "bottom", "left")):
        lines: dict[int, list[Thing]] = {}
        for thing in things:
            lines.setdefault(getattr(thing, line), []).append(thing)
        for members in lines.values():
            members.sort(key=lambda thing: int(getattr(thing, start)))
            gaps = {getattr(b, start) - getattr(a, stop) for a, b in pairwise(members)}
            if len(members) > 2:
                yield "objects in line have equal gaps", len(gaps) == 1


def _choice_cases(pair: Pair) -> Iterator[Case]:
    """Yield properties that distinguish the object that is the answer, or the objects that change."""
    before, after = pair.grids()
    if before.shape == after.shape:
        things, subject = foreground_objects(before), "objects that change"
        differs = before != after
        chosen = {number for number, thing in enumerate(things) if differs[thing.slices][thing.mask].any()}
    else:
        ground = most_common(before)
        things, subject = objects(before.astype(np.int64), ground, same_color=False), "the answer"
        crops = [np.where(thing.mask, thing.patch, ground) for thing in things]
        chosen = {number for number, crop in enumerate(crops) if np.array_equal(crop, after)}
    if 0 < len(chosen) < len(things) <= MAX_OBJECTS:
        for name, found in _properties(things, before.shape).items():
            yield f"{subject}: {name}", found == chosen


def _properties(things: list[Thing], shape: tuple[int, ...]) -> dict[str, set[int]]:
    """Return the numbers of the objects that have each property."""
    shapes = Counter(_key(thing.mask) for thing in things)
    colors = Counter(color for thing in things for color in set(thing.patch[thing.mask].tolist()))
    measures = {
        "largest": [thing.size for thing in things],
        "smallest": [-thing.size for thing in things],
        "tallest": [thing.height for thing in things],
        "widest": [thing.width for thing in things],
        "topmost": [-thing.top for thing in things],
        "lowest": [thing.bottom for thing in things],
        "leftmost": [-thing.left for thing in things],
        "rightmost": [thing.right for thing in things],
    }
    found = {name: {n for n, v in enumerate(values) if v == max(values)} for name, values in measures.items()}
    tests = {
        "solid": [bool(thing.mask.all()) for thing in things],
        "with a square box": [thing.height == thing.width for thing in things],
        "symmetric": [_symmetric(thing) for thing in things],
        "on the border": [_on_border(thing, shape) for thing in things],
        "with an odd number of cells": [thing.size % 2 == 1 for thing in things],
        "with a shape of its own": [shapes[_key(thing.mask)] == 1 for thing in things],
        "with a colour of its own": [
            any(colors[color] == 1 for color in set(thing.patch[thing.mask].tolist())) for thing in things
        ],
    }
    for name, holds in tests.items():
        found[name] = {number for number, held in enumerate(holds) if held}
        found[f"not {name}"] = set(range(len(things))) - found[name]
    return found


def _on_border(thing: Thing, shape: tuple[int, ...]) -> bool:
    return 0 in (thing.top, thing.left) or thing.bottom == shape[0] - 1 or thing.right == shape[1] - 1


def _symmetric(thing: Thing) -> bool:
    images = symmetries(thing.mask.astype(np.int64))
    return any(np.array_equal(images[number], images[0]) for number in (2, 4, 5, 6, 7))


def _key(mask: npt.NDArray[np.bool_]) -> bytes:
    return bytes(mask.shape) + mask.tobytes()


def box_gaps(one: Thing, other: Thing) -> tuple[int, int]:
    """Return the free rows and the free columns between two boxes; negative if they overlap."""
    rows = max(one.top, other.top) - min(one.bottom, other.bottom) - 1
    return rows, max(one.left, other.left) - min(one.right, other.right) - 1


def _centred(one: Thing, other: Thing) -> bool:
    return (
        one.top + one.bottom == other.top + other.bottom or one.left + one.right == other.left + other.right
    )


def _flush(one: Thing, other: Thing) -> bool:
    return any(getattr(one, side) == getattr(other, side) for side in ("top", "left", "bottom", "right"))


def _touch(one: Thing, other: Thing) -> bool:
    """Return whether the boxes are next to each other, with a common edge."""
    rows, columns = box_gaps(one, other)
    return (rows == 0 and columns < 0) or (columns == 0 and rows < 0)


def foreground_objects(grid: Grid) -> list[Thing]:
    """Return the 8-connected objects of one colour, except the most common colour."""
    return objects(grid.astype(np.int64), most_common(grid))
