"""Facts about a task's official pairs that do not depend on its rule: the grids as text, and what they share.

Coordinates are (row, column) from the top left; "." is colour 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, zip_longest

import numpy as np
import numpy.typing as npt

from charm.tasks.task import Grid, Pair
from rearc2.helpers import Thing, most_common, objects, splits, symmetries
from rearc2.workbench.packages import official_pairs
from rearc2.workbench.regularities import box_gaps, foreground_objects
from rearc2.workbench.source_code import find

LINE_WIDTH = 110
MAX_THINGS = 12  # maximum number of objects described one by one

# Numbers of rearc2.helpers.symmetries whose image equals the grid.
SELF_SYMMETRIES = {
    2: "half turn",
    4: "left-right",
    5: "transpose",
    6: "up-down",
    7: "anti-transpose",
    1: "turn",
}


def facts_text(task: str) -> str:
    pairs = official_pairs(task)
    lines = []
    for name, pair in pairs.items():
        before, after = pair.grids()
        lines.append(f"{name}: {' -> '.join('x'.join(map(str, grid.shape)) for grid in pair.grids())}")
        lines.append(grids_text({"": before, " ": after}))
        sides = (("in ", before), ("out", after))
        lines += [f"  {side} {text}" for side, grid in sides for text in _grid(grid)]
        lines += [f"  {text}" for text in _relation(before, after)]
        lines.append("")
    lines.append("over all pairs:")
    lines += [f"  {text}" for text in _constants(pairs)]
    return "\n".join(lines)


def grids_text(grids: Mapping[str, npt.NDArray[np.generic]]) -> str:
    """Write grids as digits, side by side under their names, or below each other if too wide."""
    blocks = []
    for name, grid in grids.items():
        rows = ["".join("." if cell == 0 else str(cell) for cell in row) for row in grid.tolist()]
        blocks.append([name, *rows] if name.strip() else rows)
    widths = [max(map(len, block)) + 3 for block in blocks]
    if sum(widths) > LINE_WIDTH:
        return "\n\n".join("\n".join(block) for block in blocks)
    lines = zip_longest(*blocks, fillvalue="")
    return "\n".join("".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _grid(grid: Grid) -> Iterator[str]:
    """Describe background, colours, lines, symmetries and objects of one grid."""
    ground = most_common(grid)
    counts = Counter(grid.ravel().tolist())
    colors = " ".join(f"{color}x{count}" for color, count in counts.most_common())
    yield f"background {ground}; cells {colors}; symmetric {_symmetry(grid)}; period {_periods(grid)}"
    cells = grid.astype(np.int64)
    rows, columns = splits(cells)
    rows = [row for row in rows if grid[row, 0] != ground]
    columns = [column for column in columns if grid[0, column] != ground]
    if rows or columns:
        yield f"full lines: rows {rows}, columns {columns}"
    things = foreground_objects(grid)
    mixed = objects(cells, ground, same_color=False)
    by_edges = objects(cells, ground, diagonal=False)
    counted = f"{len(things)} objects (by edges {len(by_edges)}, of mixed colours {len(mixed)})"
    yield f"{counted}{_gaps(things, grid)}"
    if 0 < len(things) <= MAX_THINGS:
        yield "  " + "; ".join(_thing(thing) for thing in things)
    elif things:
        sizes = Counter((thing.color, thing.height, thing.width) for thing in things)
        some = "; ".join(f"{n} of {color}: {h}x{w}" for (color, h, w), n in sizes.most_common(MAX_THINGS))
        yield f"  {some}"
    if len(mixed) < len(things) and len(mixed) <= MAX_THINGS:
        boxes = "; ".join(f"{t.height}x{t.width} at ({t.top},{t.left})" for t in mixed)
        yield f"  of mixed colours: {boxes}"


def _thing(thing: Thing) -> str:
    solid = "" if thing.size < thing.height * thing.width else " solid"
    symmetry = _symmetry(thing.mask)
    marks = "" if solid or symmetry == "no" else f" sym {symmetry}"
    return f"{thing.color}: {thing.height}x{thing.width} at ({thing.top},{thing.left}) n={thing.size}{solid}{marks}"


def _symmetry(grid: npt.NDArray[np.generic]) -> str:
    images = symmetries(grid)  # type: ignore[arg-type]  # any array has images
    found = [name for number, name in SELF_SYMMETRIES.items() if np.array_equal(images[number], grid)]
    return "all" if len(found) == len(SELF_SYMMETRIES) else ", ".join(found) or "no"


def _periods(grid: Grid) -> str:
    """Return the periods of the rows and of the columns, if the grid contains at least two."""

    def period(rows: Grid) -> str:
        fitting = (p for p in range(1, len(rows) // 2 + 1) if np.array_equal(rows[p:], rows[:-p]))
        return str(next(fitting, "-"))

    return f"{period(grid)}/{period(grid.T)}"


def _gaps(things: list[Thing], grid: Grid) -> str:
    """Describe the smallest gap between boxes (-1: they overlap) and the free rows and columns around all objects."""
    if not things:
        return ""
    distances = [max(box_gaps(a, b)) for a, b in combinations(things[:60], 2)]
    gap = f"; smallest gap of boxes {max(-1, min(distances))}" if distances else ""
    height, width = grid.shape
    margin = (
        min(thing.top for thing in things),
        width - 1 - max(thing.right for thing in things),
        height - 1 - max(thing.bottom for thing in things),
        min(thing.left for thing in things),
    )
    return f"{gap}; margins top/right/bottom/left {'/'.join(map(str, margin))}"


def _relation(before: Grid, after: Grid) -> Iterator[str]:
    """Describe how the output relates to the input."""
    if before.shape == after.shape:
        changes = Counter(zip(before[before != after].tolist(), after[before != after].tolist(), strict=True))
        listed = ", ".join(f"{a}->{b} x{n}" for (a, b), n in sorted(changes.items()))
        yield f"changed cells: {sum(changes.values())} ({listed})"
    for number, image in enumerate(symmetries(before.view(np.int8))):
        if np.array_equal(image, after):
            yield f"the output is the input's symmetry {number}"
    for one, other, words in (
        (before, after, "output is part of the input"),
        (after, before, "input is part of the output"),
    ):
        if one.size > other.size and (place := find(one, other)):
            yield f"the {words} at {place}"


def _constants(pairs: Mapping[str, Pair]) -> Iterator[str]:
    """Describe what is the same in all pairs, and the range of what varies."""
    grids = [pair.grids() for pair in pairs.values()]
    for side, number in (("input", 0), ("output", 1)):
        sizes = sorted({grid[number].shape for grid in grids})
        square = ", all square" if all(height == width for height, width in sizes) else ""
        listed = ", ".join(f"{h}x{w}" for h, w in sizes)
        yield f"{side} sizes: {'always ' if len(sizes) == 1 else ''}{listed}{square}"
    yield f"output size: {_size_rule(grids)}"
    for side, number in (("input", 0), ("output", 1)):
        grounds = sorted({most_common(grid[number]) for grid in grids})
        palettes = [set(np.unique(grid[number]).tolist()) for grid in grids]
        always, ever = set.intersection(*palettes), set.union(*palettes)
        counts = sorted({len(palette) for palette in palettes})
        yield (
            f"{side} background {_listed(grounds)}; colours always {_listed(always)}, sometimes "
            f"{_listed(ever - always)}, never {_listed(set(range(10)) - ever)}; how many: {_listed(counts)}"
        )
        found = [len(foreground_objects(grid[number])) for grid in grids]
        yield f"{side} objects: {', '.join(map(str, found))}"
    if all(before.shape == after.shape for before, after in grids):
        yield from _changes(grids)


def _size_rule(grids: list[list[Grid]]) -> str:
    sizes = [(*before.shape, *after.shape) for before, after in grids]
    if all((a, b) == (c, d) for a, b, c, d in sizes):
        return "same as the input"
    if len({(c, d) for _, _, c, d in sizes}) == 1:
        return "constant"
    if all((a, b) == (d, c) for a, b, c, d in sizes):
        return "the input's, transposed"
    if len({(c / a, d / b) for a, b, c, d in sizes}) == 1:
        a, b, c, d = sizes[0]
        return f"the input's times {c / a:g} x {d / b:g}"
    if len({(c - a, d - b) for a, b, c, d in sizes}) == 1:
        a, b, c, d = sizes[0]
        return f"the input's plus {c - a:+d} rows, {d - b:+d} columns"
    return "depends on the content"


def _changes(grids: list[list[Grid]]) -> Iterator[str]:
    """Describe what each colour becomes, for same-size tasks."""
    becomes: dict[int, Counter[int]] = {}
    for before, after in grids:
        for color in np.unique(before).tolist():
            becomes.setdefault(color, Counter()).update(after[before == color].tolist())
    roles = []
    for color, counts in sorted(becomes.items()):
        others = sorted(set(counts) - {color})
        kept = "kept" if not others else ("gone: becomes " if color not in counts else "kept or becomes ")
        roles.append(f"{color} {kept}{_listed(others) if others else ''}")
    yield f"roles: {'; '.join(roles)}"


def _listed(values: set[int] | list[int]) -> str:
    return " ".join(map(str, sorted(values))) or "none"
