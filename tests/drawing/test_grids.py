from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console

from charm.drawing.grids import (
    LINE,
    PALETTE,
    Panel,
    add_digits,
    canvas_panel,
    panel_png,
    panel_svg,
    task_panel,
)
from charm.drawing.terminal import table_text
from charm.errors import CharmError
from charm.tables import Table
from charm.tasks.canvas import BOUNDARY, PAD, place
from charm.tasks.pictures import canvas_lines, grid_lines, task_text, terminal_color
from charm.tasks.task import Pair, Task
from charm.tasks.view import View

SVG = "{http://www.w3.org/2000/svg}"
VIEW = View(1, (0, 3, 1, 2, 9, 4, 8, 5, 7, 6))


def random_task(*shapes: tuple[int, int], task_id: str = "a1b2c3d4") -> Task:
    """A task whose grids have these shapes, two for each pair; the last pair is the test."""
    rng = np.random.default_rng(0)
    grids = [rng.integers(0, 10, shape, dtype=np.uint8) for shape in shapes]
    pairs = [Pair(*both) for both in zip(grids[::2], grids[1::2], strict=True)]
    return Task(task_id, tuple(pairs[:-1]), (pairs[-1],))


TASK = random_task((3, 3), (2, 7), (1, 5), (4, 4), (10, 2), (3, 3), (5, 5), (6, 6))
WIDE = random_task((30, 30), (30, 30), (30, 28), (1, 1), (20, 30), (30, 30))


def printed(renderable: object, width: int, color: bool = False) -> str:
    console = Console(width=width, color_system="truecolor" if color else None, force_terminal=color)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def svg_tiles(svg: str) -> list[np.ndarray]:
    """The tokens of every tile, read back from the drawn paths."""
    tiles = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        cells: dict[tuple[int, int], int] = {}
        for path in group.iter(f"{SVG}path"):
            if path.get("fill") == "none":
                continue
            for column, row, length in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.attrib["d"]):
                for step in range(int(length)):
                    assert (int(row), int(column) + step) not in cells
                    cells[int(row), int(column) + step] = PALETTE.index(path.attrib["fill"])
        tokens = np.full([1 + max(place[axis] for place in cells) for axis in (0, 1)], 255)
        for cell, token in cells.items():
            tokens[cell] = token
        tiles.append(tokens)
    return tiles


def check_pixels(path: Path, panel: Panel) -> None:
    """Every cell's inside is its colour, every line is there, and the picture has the panel's size."""
    pixels = (imread(path)[..., :3] * 255).round().astype(int)
    assert pixels.shape == (panel.height, panel.width, 3)
    for tile in panel.tiles:
        for (row, column), token in np.ndenumerate(tile.tokens):
            y, x = tile.y + row * tile.cell, tile.x + column * tile.cell
            inside = pixels[y + 1 : y + tile.cell, x + 1 : x + tile.cell].reshape(-1, 3)
            color = "#{:02x}{:02x}{:02x}".format(*inside[0])
            assert color == PALETTE[token]
            if token != BOUNDARY:  # which is hatched
                assert (inside == inside[0]).all()
            for line in (pixels[y, x : x + tile.cell + 1], pixels[y : y + tile.cell + 1, x]):
                assert {"#{:02x}{:02x}{:02x}".format(*pixel) for pixel in line} == {LINE}


def overlap(panel: Panel) -> bool:
    covered = np.zeros((panel.height, panel.width), int)
    for tile in panel.tiles:
        height, width = (side * tile.cell + 1 for side in tile.tokens.shape)
        assert tile.x >= 0
        assert tile.y >= 0
        assert tile.x + width <= panel.width
        assert tile.y + height <= panel.height
        covered[tile.y : tile.y + height, tile.x : tile.x + width] += 1
    return bool((covered > 1).any())


# The terminal


def test_grids_read_as_digits_without_colour() -> None:
    assert grid_lines(np.arange(10, dtype=np.uint8).reshape(2, 5)) == ["0 1 2 3 4 ", "5 6 7 8 9 "]
    assert grid_lines(None) == ["? "]


def in_colors(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLORTERM", kind)
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: True))


def test_digits_are_hidden_in_colour_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    grid, yellow = np.array([[4]], np.uint8), "2;255;220;0"
    in_colors(monkeypatch, "truecolor")
    assert grid_lines(grid) == [f"\x1b[38;{yellow};48;{yellow}m4 \x1b[0m"]
    assert grid_lines(grid, digits=True) == [f"\x1b[38;2;0;0;0;48;{yellow}m4 \x1b[0m"]


def test_terminals_of_256_colours_get_the_nearest_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    in_colors(monkeypatch, "")
    levels = np.array([0, 95, 135, 175, 215, 255])
    numbers = [int(terminal_color(color).removeprefix("5;")) for color in PALETTE]
    for color, number in zip(PALETTE, numbers, strict=True):
        nearest = [int(np.abs(levels - part).argmin()) for part in bytes.fromhex(color[1:])]
        assert number == 16 + np.dot([36, 6, 1], nearest)
    assert len(set(numbers)) == len(PALETTE)
    assert grid_lines(np.array([[4]], np.uint8)) == ["\x1b[38;5;220;48;5;220m4 \x1b[0m"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert grid_lines(np.array([[4]], np.uint8)) == ["4 "]


@pytest.mark.parametrize("width", [60, 80, 130, 250])
@pytest.mark.parametrize("task", [TASK, WIDE])
def test_a_task_shows_every_cell_at_any_width(task: Task, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = task_text(task).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0] == f"{task.id}: {len(task.train)} demonstrations, 1 test input"
    # Lines of cells contain only digits and arrows; each digit that was put in is printed.
    digits = sorted("".join(line for line in lines[1:] if "train" not in line and "test" not in line))
    expected = sorted(str(cell) for pair in task.pairs for grid in pair.grids() for cell in grid.flat)
    assert [digit for digit in digits if digit.isdigit()] == expected


def test_pairs_of_a_task_have_their_sizes() -> None:
    task = random_task((1, 2), (1, 2), (1, 3), (1, 1), task_id="[red]x")
    input_0, output_0, input_1, _ = (" ".join(map(str, grid[0])) for pair in task.pairs for grid in pair.grids())
    assert [line.rstrip() for line in task_text(task.blind()).splitlines()] == [
        "[red]x: 1 demonstration, 1 test input",
        "",
        "train 0: 1x2 → 1x2",
        f"{input_0}  → {output_0}",
        "",
        "test 0: 1x3 → ?",
        f"{input_1}  → ?",
    ]


def test_an_id_cannot_command_a_terminal() -> None:
    assert task_text(random_task((1, 1), (1, 1), task_id="\x1b[2J")).startswith("\\x1b[2J: ")


def test_a_canvas_shows_its_padding_and_boundary() -> None:
    tokens = place(np.array([[7, 0]], np.uint8), side=4, top=1, left=1)
    assert canvas_lines(tokens) == ["· · · · ", "· 7 0 ▒▒", "· ▒▒▒▒· ", "· · · · "]


# SVG


@pytest.mark.parametrize("view", [View(), VIEW])
def test_task_svg_reads_back(view: View) -> None:
    shown = view.apply_to_task(TASK)
    tiles = svg_tiles(panel_svg(task_panel(view.apply_to_task(TASK))))
    grids = [grid for pair in shown.pairs for grid in pair.grids()]
    assert len(tiles) == len(grids)
    for tile, grid in zip(tiles, grids, strict=True):
        assert np.array_equal(tile, grid + 2)


def test_task_svg_text() -> None:
    task = Task("<b>&\x01\ud800", TASK.train[:1], TASK.test)
    texts = [node.text for node in ElementTree.fromstring(panel_svg(task_panel(task.blind()))).iter(f"{SVG}text")]
    assert texts == [
        "<b>&\ufffd\ufffd: 1 demonstration, 1 test input",
        "train 0: 3x3 → 2x7",
        "→",
        "test 0: 5x5 → ?",
        "→",
        "?",
    ]
    assert len(svg_tiles(panel_svg(task_panel(task.blind())))) == 3


def test_svg_digits() -> None:
    panel = canvas_panel(place(np.arange(10, dtype=np.uint8).reshape(2, 5), side=11))
    assert "<text" not in panel_svg(panel)
    add_digits(panel)
    svg = ElementTree.fromstring(panel_svg(panel))
    assert [node.text for node in svg.iter(f"{SVG}text")] == list("0123456789")


def test_canvas_svg_reads_back() -> None:
    tokens = place(np.arange(10, dtype=np.uint8).reshape(2, 5), side=11, top=3, left=2)
    assert np.array_equal(svg_tiles(panel_svg(canvas_panel(tokens)))[0], tokens)
    assert len({*PALETTE}) == 12
    strokes = [path.get("d") for path in ElementTree.fromstring(panel_svg(canvas_panel(tokens))).iter(f"{SVG}path")]
    assert sum((d or "").count("l1-1") for d in strokes) == (tokens == BOUNDARY).sum() == 7


def test_svg_is_small() -> None:
    assert (
        len(panel_svg(task_panel(random_task(*[(30, 30)] * 10)))) < 130_000
    )  # noise is the worst case: no runs to join


# PNG


def test_task_png(tmp_path: Path) -> None:
    panel_png(task_panel(VIEW.apply_to_task(TASK)), tmp_path / "task.png")
    check_pixels(tmp_path / "task.png", task_panel(VIEW.apply_to_task(TASK)))
    assert [path.name for path in tmp_path.iterdir()] == ["task.png"]


@pytest.mark.parametrize("side", [8, 11, 16, 30])
def test_canvas_png(tmp_path: Path, side: int) -> None:
    tokens = place(np.arange(10, dtype=np.uint8).reshape(2, 5), side, top=3, left=2)
    panel_png(canvas_panel(tokens), tmp_path / "canvas.png")
    check_pixels(tmp_path / "canvas.png", canvas_panel(tokens))


def test_png_text_and_digits_are_drawn(tmp_path: Path) -> None:
    task = random_task((2, 2), (2, 2), (2, 2), (2, 2), task_id="$x_{$<&")
    paths = [tmp_path / name for name in ("bare.png", "plain.png", "digits.png")]
    panel = task_panel(task)
    panel_png(Panel(panel.width, panel.height, panel.tiles), paths[0])
    panel_png(panel, paths[1])
    add_digits(panel)
    panel_png(panel, paths[2])
    bare, plain, digits = map(imread, paths)
    assert (bare != plain).any()
    cells = [(slice(tile.y, tile.y + 2 * tile.cell), slice(tile.x, tile.x + 2 * tile.cell)) for tile in panel.tiles]
    assert all((plain[cell] == bare[cell]).all() for cell in cells)
    assert all((digits[cell] != plain[cell]).any() for cell in cells)


def test_png_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(CharmError, match=r"file/task.png cannot be written"):
        panel_png(task_panel(TASK), tmp_path / "file" / "task.png")
    panel_png(task_panel(TASK), tmp_path / "new" / "task.png")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["task.png"]


# Layout


@pytest.mark.parametrize("task", [TASK, WIDE, random_task(*[(1, 1)] * 24)])
@pytest.mark.parametrize("answers", [True, False])
def test_tiles_do_not_overlap_and_wrap(task: Task, answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = task_panel(task if answers else task.blind())
    assert not overlap(panel)
    assert panel.width <= 1200
    assert len(panel.tiles) == 2 * len(task.pairs) - (not answers)
    monkeypatch.setattr("charm.drawing.grids.WIDTH", 500)
    assert task_panel(task).height >= panel.height


def test_pad_and_boundary_are_not_colours() -> None:
    assert (PAD, BOUNDARY) == (0, 1)
    assert PALETTE[2:] == (
        "#000000",
        "#0074d9",
        "#ff4136",
        "#2ecc40",
        "#ffdc00",
        "#aaaaaa",
        "#f012be",
        "#ff851b",
        "#7fdbff",
        "#870c25",
    )


def test_importing_does_not_load_matplotlib() -> None:
    code = "import sys, charm.drawing.grids; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_tables_are_literal_and_align_numbers_right() -> None:
    rows = [["[bold]a", "1,000", "12 of 16", "x"], ["b", "+7", "", "9"], ["c"]]
    table = Table(["name", "count", "votes", "mixed"], rows, "T", "C", totals=[1], narrow=True)
    lines = [line.rstrip() for line in printed(table_text(table), 80).splitlines()]
    assert lines[0].startswith("T")
    assert lines[-1].startswith("C")
    assert "[bold]a 1,000 12 of 16 x" in lines
    assert "b          +7          9" in lines
