"""What task packages share: pure functions on NumPy grids.

A grid is an int array [height, width] of colours 0..9, a mask a bool array of the same kind, a place is
(row, column), and `rng` is a random.Random, the only source of chance. Nothing here changes its arguments, but for
the functions that draw on a grid: `paint`, `fill`, `frame`, `line` and `ray`.
"""

from rearc2.helpers.chance import (
    Retry,
    colors,
    mostly,
    random_cells,
    random_shape,
    retrying,
    scatter,
    symmetric_shape,
)
from rearc2.helpers.drawing import canvas, fill, frame, gravity, line, paint, ray, upscale
from rearc2.helpers.grid import Grid, Mask
from rearc2.helpers.layout import SIDES, join, place, split, splits, spots, symmetries, to_top, undo_to_top
from rearc2.helpers.objects import (
    Thing,
    background,
    box,
    crop,
    flood,
    grow,
    holes,
    label,
    most_common,
    objects,
    outside,
)

__all__ = [
    "SIDES",
    "Grid",
    "Mask",
    "Retry",
    "Thing",
    "background",
    "box",
    "canvas",
    "colors",
    "crop",
    "fill",
    "flood",
    "frame",
    "gravity",
    "grow",
    "holes",
    "join",
    "label",
    "line",
    "most_common",
    "mostly",
    "objects",
    "outside",
    "paint",
    "place",
    "random_cells",
    "random_shape",
    "ray",
    "retrying",
    "scatter",
    "split",
    "splits",
    "spots",
    "symmetric_shape",
    "symmetries",
    "to_top",
    "undo_to_top",
    "upscale",
]
