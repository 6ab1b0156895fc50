"""Preview sheets: a task's official pairs, and generated pairs below them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from textwrap import wrap

from charm.drawing.grids import ARROW, FONT, GAP, LETTER, MARGIN, Label, Panel, Tile, panel_svg
from charm.errors import CharmError
from charm.files import write_atomically
from charm.synthesis.build import Rejected
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.task import Pair, as_grid
from rearc2.workbench.packages import ROOT, ReArc2, load_package, official_pairs

WIDTH = 1500  # pixels; pairs wrap here


def generated_pairs(
    task: str, count: int, first: int = 0, seed: int = 0, root: Path = ROOT
) -> dict[str, Pair]:
    """Generate the first pairs, starting with attempt `first`, by name. Failed attempts are skipped."""
    provider = ReArc2(root, seed)
    found: dict[str, Pair] = {}
    for index in range(first, first + 20 * count):
        sample = provider.make(task, index)
        if not isinstance(sample, Rejected):
            where = f"task {task}, attempt {index}"
            found[f"{index}"] = Pair(*(as_grid(grid, where) for grid in sample))
        if len(found) == count:
            break
    if not found:
        raise CharmError(f"{task}: the generator made no pair; run `charm rearc2 check {task}` to see why")
    return found


def sheet(task: str, generated: Mapping[str, Pair], root: Path = ROOT) -> Panel:
    """Lay out the picture: title, official pairs, and generated pairs if there are any."""
    rule = load_package(task, root).rule if generated else "official pairs"
    official = official_pairs(task)
    shown = [*official.values(), *generated.values()]
    longest = max(max(grid.shape) for pair in shown for grid in pair.grids())
    cell = min(18, max(6, 150 // longest))
    panel = Panel(WIDTH, 0)
    y = MARGIN
    for text in wrap(f"{task}: {rule}", int((WIDTH - 2 * MARGIN) / LETTER)):
        panel.labels.append(Label(MARGIN, y + FONT / 2, text, bold=True))
        y += int(1.5 * FONT)
    for title, pairs in (("official", official), ("generated (by attempt)", generated)):
        if pairs:
            panel.labels.append(Label(MARGIN, y + FONT / 2, title, bold=True))
        y = _flow(panel, pairs, y + 2 * FONT, cell) + GAP
    panel.height = y
    return panel


def _flow(panel: Panel, pairs: Mapping[str, Pair], y: int, cell: int) -> int:
    """Add pairs row by row, starting at y; return the end of the last row."""
    x, bottom = MARGIN, y
    for name, pair in pairs.items():
        height, width = pair.input.shape
        output = pair.grids()[-1]
        needed = max((width + output.shape[1]) * cell + ARROW, int(len(name) * LETTER))
        if x > MARGIN and x + needed > WIDTH - MARGIN:
            x, y = MARGIN, bottom + GAP // 2
        panel.labels.append(Label(x, y + FONT / 2, name))
        top = y + int(1.5 * FONT)
        panel.tiles.append(Tile(x, top, cell, pair.input + FIRST_COLOR))
        middle = top + max(height, output.shape[0]) * cell / 2
        panel.labels.append(Label(x + width * cell + ARROW / 2, middle, "→", 18, centered=True))
        panel.tiles.append(Tile(x + width * cell + ARROW, top, cell, output + FIRST_COLOR))
        bottom = max(bottom, top + max(height, output.shape[0]) * cell + 1)
        x += needed + GAP
    return bottom


def write_html(panels: Mapping[str, Panel], path: Path) -> None:
    """Write one page with a sheet for each task."""
    parts = [
        f'<h2 id="{escape(task)}">{escape(task)}</h2>\n{panel_svg(panel)}' for task, panel in panels.items()
    ]
    head = '<!doctype html><meta charset="utf-8"><title>Re-ARC2</title>'
    write_atomically(path, f"{head}<body>{''.join(parts)}</body>\n")
