"""Tasks as text, cells as SVG, and the HTML that a notebook shows. `charm.drawing` has whole pictures."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest
from shutil import get_terminal_size

import numpy as np

from charm.progress import plain
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, PAD, Tokens
from charm.tasks.task import Grid, Pair, Task
from charm.tasks.view import View

# Indexed by token: pad, boundary, then the ten colours of ARC's own editor. The boundary is also hatched, so
# that no one has to distinguish a twelfth shade.
PALETTE = (
    *("#f4f1ea", "#dccba6"),
    *("#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00"),  # black, blue, red, green, yellow
    *("#aaaaaa", "#f012be", "#ff851b", "#7fdbff", "#870c25"),  # grey, magenta, orange, sky blue, maroon
)
LINE, HATCH = "#555555", "#5c4f33"  # between cells, and on the boundary
# Digits are white on black, blue, red, magenta and maroon, where white is easier to read.
LIGHT_INK = frozenset(FIRST_COLOR + color for color in (0, 1, 2, 6, 9))
ROW = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:6px 20px;margin:6px 0"
BLOCK = "display:inline-flex;flex-direction:column;gap:4px;font:12px sans-serif;white-space:pre-line"
PAIR = "display:flex;align-items:center;gap:8px;font:18px sans-serif"


def ink_on(token: int) -> str:
    return "#ffffff" if token in LIGHT_INK else "#000000"


def painted(text: str, token: int, visible: bool = False) -> str:
    """Return text on the colour of a cell. Unless `visible` it has that colour, too: it is there in a copy alone."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    ink = terminal_color(ink_on(token) if visible else PALETTE[token])
    return f"\x1b[38;{ink};48;{terminal_color(PALETTE[token])}m{text}\x1b[0m"


def terminal_color(color: str) -> str:
    """Return a colour as terminals want it: exactly where they know 16 million, else the nearest in a cube of 216."""
    parts = bytes.fromhex(color[1:])
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return "2;{};{};{}".format(*parts)
    red, green, blue = ((part > 47) + (part > 114) + max(0, (part - 115) // 40) for part in parts)
    return f"5;{16 + 36 * red + 6 * green + blue}"


def canvas_lines(tokens: Tokens, digits: bool = False) -> list[str]:
    """Return the rows of a token canvas, two characters for each cell: padding as dots, boundary as hatching."""
    marks = {PAD: "· ", BOUNDARY: "▒▒"}
    cells = [marks.get(token) or painted(f"{token - FIRST_COLOR} ", token, digits) for token in range(len(PALETTE))]
    return ["".join(cells[token] for token in row) for row in tokens.tolist()]


def grid_lines(grid: Grid | None, digits: bool = False) -> list[str]:
    """Return the rows of a grid; "?" where there is none."""
    return ["? "] if grid is None else canvas_lines(grid + FIRST_COLOR, digits)


def marked_lines(answer: Grid, truth: Grid) -> list[str]:
    """Return the rows of an answer. A wrong cell shows its state and a mark, a missing one a question mark."""
    lines = [""] * len(truth)
    for (i, j), wanted in np.ndenumerate(truth):
        if i >= answer.shape[0] or j >= answer.shape[1]:
            lines[i] += "?!"
            continue
        wrong = answer[i, j] != wanted
        lines[i] += painted(f"{answer[i, j]}{'!' if wrong else ' '}", FIRST_COLOR + int(answer[i, j]), wrong)
    return lines


def abreast(*blocks: Sequence[str], gap: int = 3) -> list[str]:
    """Put blocks of lines side by side, as many as fit into the terminal, and the others below them."""

    def width(line: str) -> int:
        return len(re.sub(r"\x1b\[[\d;]*m", "", line))

    rows: list[list[tuple[int, Sequence[str]]]] = []
    for block in blocks:
        wide = max(map(width, block))
        if not rows or sum(one + gap for one, _ in rows[-1]) + wide > get_terminal_size().columns:
            rows.append([])
        rows[-1].append((wide, block))
    lines = []
    for row in rows:
        for parts in zip_longest(*(block for _, block in row), fillvalue=""):
            padded = (part + " " * (wide - width(part)) for part, (wide, _) in zip(parts, row, strict=True))
            lines.append((" " * gap).join(padded).rstrip())
        lines.append("")
    return lines[:-1]


def pair_lines(pair: Pair, digits: bool = False) -> list[str]:
    """Return a picture of a pair: the output to the right of the input, or below it where the terminal is narrow."""
    left, right = grid_lines(pair.input, digits), grid_lines(pair.output, digits)
    if 2 * sum(grid.shape[1] for grid in pair.grids()) + 3 > get_terminal_size().columns:
        return [line.rstrip() for line in (*left, "↓", *right)]
    return abreast(left, [" → "], right, gap=0)


def task_text(task: Task, digits: bool = False) -> str:
    """Return a picture of a task: its demonstrations, and below them the test pairs."""
    blocks = [[f"{name}: {pair.sizes}", *pair_lines(pair, digits)] for name, pair in task.named_pairs().items()]
    shown = len(task.train)
    return "\n".join([plain(task.title), "", *abreast(*blocks[:shown]), "", *abreast(*blocks[shown:])])


def tile_svg(tokens: Tokens, cell: int, x: int = 0, y: int = 0) -> str:
    """Draw a block of cells as an SVG group. One path for each colour keeps a page with hundreds small."""
    height, width = tokens.shape
    paths = []
    for token in np.unique(tokens):
        edges = np.diff(np.pad(tokens == token, ((0, 0), (1, 1))).astype(np.int8))  # of horizontal runs of the token
        begins, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
        runs = "".join(f"M{c} {r}h{end - c}v1h{c - end}z" for (r, c), (_, end) in zip(begins, ends, strict=True))
        paths.append(f'<path fill="{PALETTE[token]}" d="{runs}"/>')
    hatch = "".join(f"M{c} {r + 1}l1-1" for r, c in np.argwhere(tokens == BOUNDARY))
    stroke = f'fill="none" stroke-width="{1 / cell:.4g}"'  # one pixel, since the tile is drawn in cells
    if hatch:
        paths.append(f'<path stroke="{HATCH}" {stroke} d="{hatch}"/>')
    lines = "".join(f"M0 {r}h{width}" for r in range(height + 1))
    lines += "".join(f"M{c} 0v{height}" for c in range(width + 1))
    paths.append(f'<path stroke="{LINE}" {stroke} d="{lines}"/>')
    # Half a pixel, so that lines one pixel wide cover whole pixels.
    place = f"translate({x + 0.5} {y + 0.5}) scale({cell})"
    return f'<g transform="{place}" shape-rendering="crispEdges">{"".join(paths)}</g>'


def grid_svg(grid: Grid) -> str:
    """Draw a grid as an SVG element whose longer side has about 120 pixels."""
    cell = min(22, max(4, 120 // max(grid.shape)))
    height, width = (side * cell + 1 for side in grid.shape)
    label = f"grid of {grid.shape[0]} x {grid.shape[1]} cells"
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{tile_svg(grid + FIRST_COLOR, cell)}</svg>'
    )


def block(caption: str, *grids: Grid | None) -> str:
    """Put a caption above grids with arrows between them; None is drawn as a question mark."""
    drawn = ("<b>?</b>" if grid is None else grid_svg(grid) for grid in grids)
    return f'<div style="{BLOCK}">{escape(caption)}<div style="{PAIR}">{"<span>→</span>".join(drawn)}</div></div>'


def row(blocks: Iterable[str], title: str = "") -> str:
    """Put blocks side by side under a title, wrapped where the page ends."""
    head = f'<div style="font:bold 13px sans-serif">{escape(title)}</div>' if title else ""
    return f'<div>{head}<div style="{ROW}">{"".join(blocks)}</div></div>'


def task_html(task: Task) -> str:
    """Draw the demonstrations and tests of a task."""
    shown = task.named_pairs().items()
    return row((block(caption, pair.input, pair.output) for caption, pair in shown), f"task {task.id}")


def tasks_html(tasks: tuple[Task, ...], name: str) -> str:
    """Draw the first demonstration of the first tasks."""
    blocks = (block(task.id, task.train[0].input, task.train[0].output) for task in tasks[:12])
    return row(blocks, f"{name}: {len(tasks)} tasks{'; the first 12' if len(tasks) > 12 else ''}")


def view_html(view: View) -> str:
    """Show what a view does to a small grid in which every colour and direction is recognisable."""
    sample = np.array([[1, 2, 3, 4], [5, 6, 0, 0], [7, 8, 0, 0], [9, 0, 0, 0]], np.uint8)
    return row((block(str(view), sample, view.apply(sample)),), "view")
