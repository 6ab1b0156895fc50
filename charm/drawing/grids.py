"""Draw grids, tasks and canvases as SVG and PNG. `charm.drawing.terminal` draws them as text.

A picture is first laid out as a Panel, in pixels. `panel_svg` and `panel_png` draw any panel.
"""

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt

from charm.files import require_ending, write_atomically
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, Tokens
from charm.tasks.pictures import HATCH, LINE, PALETTE, ink_on, tile_svg
from charm.tasks.task import Pair, Task

INK = "#222222"

MARGIN, GAP, ARROW = 16, 24, 36  # pixels: around the picture, between pairs, between input and output
FONT = 13
LETTER = 0.62 * FONT  # a generous mean width, because text is not measured here
WIDTH = 1200  # pairs wrap here; a single wide pair may exceed it


@dataclass(frozen=True)
class Tile:
    """A block of cells with its top left corner at (x, y)."""

    x: int
    y: int
    cell: int  # side of a cell in pixels
    tokens: Tokens


@dataclass(frozen=True)
class Label:
    """A line of text. Its left end (or middle) is at x, its vertical middle at y."""

    x: float
    y: float
    text: str
    size: int = FONT
    color: str = INK
    centered: bool = False
    bold: bool = False


@dataclass
class Panel:
    """A picture: cells and text with their positions in pixels."""

    width: int
    height: int
    tiles: list[Tile] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


def canvas_panel(tokens: Tokens) -> Panel:
    """Return a panel with a token canvas; padding and boundary are no colours."""
    cell = _cell_size(len(tokens))
    side = len(tokens) * cell + 1
    return Panel(side, side, [Tile(0, 0, cell, tokens)])


def task_panel(task: Task) -> Panel:
    """Return a panel with a task's title and pairs, which wrap at `WIDTH`; a missing output is a "?"."""
    cell = _cell_size(max(max(grid.shape) for pair in task.pairs for grid in pair.grids()))
    title = Label(MARGIN, MARGIN + FONT / 2, task.title, FONT + 2, bold=True)
    panel = Panel(0, 0, [], [title])
    right = MARGIN + int(len(title.text) * 1.2 * LETTER)
    y = MARGIN + 2 * FONT
    for group in captioned_pairs(task):
        x, bottom = MARGIN, y
        for caption, pair in group:
            block_width, block_height = _block_size(caption, pair, cell)
            if x > MARGIN and x + block_width > WIDTH - MARGIN:
                x, y = MARGIN, bottom + GAP
            _add_block(panel, x, y, caption, pair, cell)
            right, bottom = max(right, x + block_width), max(bottom, y + block_height)
            x += block_width + GAP
        y = bottom + GAP
    panel.width, panel.height = right + MARGIN, y - GAP + MARGIN
    return panel


def _block_size(caption: str, pair: Pair, cell: int) -> tuple[int, int]:
    columns = sum(grid.shape[1] for grid in pair.grids())
    rows = max(grid.shape[0] for grid in pair.grids())
    cells_width = columns * cell + ARROW + (ARROW if pair.output is None else 0) + 1
    return max(cells_width, int(len(caption) * LETTER)), 2 * FONT + rows * cell + 1


def _add_block(panel: Panel, x: int, y: int, caption: str, pair: Pair, cell: int) -> None:
    middle = y + 2 * FONT + max(grid.shape[0] for grid in pair.grids()) * cell // 2
    arrow = x + pair.input.shape[1] * cell + ARROW / 2
    panel.labels += [Label(x, y + FONT / 2, caption), Label(arrow, middle, "→", 20, centered=True)]
    if pair.output is None:
        panel.labels.append(Label(arrow + ARROW, middle, "?", 28, centered=True, bold=True))
    for grid in pair.grids():
        panel.tiles.append(Tile(x, middle - grid.shape[0] * cell // 2, cell, grid + FIRST_COLOR))
        x += grid.shape[1] * cell + ARROW


def _cell_size(longest_side: int) -> int:
    return min(28, max(10, 240 // longest_side))


def add_digits(panel: Panel) -> None:
    """Add the number of its colour to every cell."""
    for tile in panel.tiles:
        for (row, column), token in np.ndenumerate(tile.tokens):
            if token >= FIRST_COLOR:
                x, y = tile.x + (column + 0.5) * tile.cell, tile.y + (row + 0.5) * tile.cell
                ink, size = ink_on(int(token)), max(7, tile.cell // 2)
                panel.labels.append(Label(x, y, str(token - FIRST_COLOR), size, ink, centered=True))


def panel_svg(panel: Panel) -> str:
    """Return a self-contained SVG element. Each colour of a tile is one path, which keeps large pages small."""
    size = f'width="{panel.width}" height="{panel.height}" viewBox="0 0 {panel.width} {panel.height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">']
    parts += [tile_svg(tile.tokens, tile.cell, tile.x, tile.y) for tile in panel.tiles]
    for label in panel.labels:
        style = ' text-anchor="middle"' if label.centered else ""
        style += ' font-weight="bold"' if label.bold else ""
        # Lowering the baseline by 0.35 of the size centres capitals and digits on y.
        place = f'x="{label.x:g}" y="{label.y + 0.35 * label.size:g}"'
        text = escape(_printable(label.text))
        parts.append(f'<text {place} font-size="{label.size}" fill="{label.color}"{style}>{text}</text>')
    return "\n".join([*parts, "</svg>"])


def panel_png(panel: Panel, path: Path) -> None:
    """Write the panel as PNG. Cells cover whole pixels in their exact colours; matplotlib draws the text."""
    from matplotlib.figure import Figure

    require_ending(path, "a PNG picture", ".png")
    dpi = 128  # a power of two, so that sizes in inches are exact and cells cover whole pixels
    figure = Figure(figsize=(panel.width / dpi, panel.height / dpi), dpi=dpi)
    figure.figimage(_pixels(panel))
    for label in panel.labels:
        figure.text(
            label.x / panel.width,
            1 - label.y / panel.height,
            _printable(label.text).replace("$", r"\$"),  # matplotlib reads text between dollars as a formula
            fontsize=label.size * 72 / dpi,
            color=label.color,
            ha="center" if label.centered else "left",
            va="center_baseline" if label.centered else "center",
            weight="bold" if label.bold else "normal",
        )
    write_atomically(path, lambda file: figure.savefig(file, format="png", dpi=dpi))


def _pixels(panel: Panel) -> npt.NDArray[np.uint8]:
    """Draw the panel's cells on a white background, [height, width, 3]."""
    palette = np.array([_rgb(color) for color in PALETTE], np.uint8)
    pixels = np.full((panel.height, panel.width, 3), 255, np.uint8)
    for tile in panel.tiles:
        tokens = tile.tokens.repeat(tile.cell, axis=0).repeat(tile.cell, axis=1)
        height, width = tokens.shape
        block = np.full((height + 1, width + 1, 3), _rgb(LINE), np.uint8)
        block[:height, :width] = palette[tokens]
        row, column = np.indices(tokens.shape)
        block[:height, :width][(tokens == BOUNDARY) & ((row + column) % tile.cell == 0)] = _rgb(HATCH)
        block[:: tile.cell] = block[:, :: tile.cell] = _rgb(LINE)
        pixels[tile.y : tile.y + height + 1, tile.x : tile.x + width + 1] = block
    return pixels


def captioned_pairs(task: Task) -> list[list[tuple[str, Pair]]]:
    """Return the demonstrations and the tests, each pair with its caption."""
    every = [(f"{name}: {pair.sizes}", pair) for name, pair in task.named_pairs().items()]
    return [every[: len(task.train)], every[len(task.train) :]]


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def _printable(text: str) -> str:
    """Replace control characters and broken Unicode, which XML forbids and fonts lack."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
