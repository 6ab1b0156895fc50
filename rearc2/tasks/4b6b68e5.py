"""Every closed outline is filled with the colour that most dots inside it have. All dots disappear, also those outside
and those in outlines that are not closed."""

from collections import Counter
from random import Random

import numpy as np

from rearc2.helpers import (
    Grid,
    Mask,
    Retry,
    canvas,
    colors,
    grow,
    holes,
    label,
    most_common,
    objects,
    paint,
    place,
    retrying,
)


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 28), rng.randint(14, 28)
    count = rng.randint(1, height * width // 130)
    return retrying(lambda: _draw(rng, height, width, count))


def _draw(rng: Random, height: int, width: int, count: int) -> tuple[Grid, Grid]:
    rooms = [_room(rng) for _ in range(count)]
    places = place(rng, (height, width), [room.shape for room in rooms])
    before, after = canvas(height, width), canvas(height, width)
    outdoors = np.ones(before.shape, bool)
    palette = colors(rng, rng.randint(2, 6))  # of the dots
    outlines = colors(rng, count)
    for number, (room, (top, left)) in enumerate(zip(rooms, places, strict=True)):
        closed = number == 0 or rng.random() < 0.7
        outline = grow(room) & ~room
        if not closed:
            outline = _opened(rng, outline)
        color = outlines[number]
        inside = np.zeros(before.shape, bool)
        paint(inside, room, top, left, 1)
        outdoors &= ~inside
        dots = _dots(rng, palette, rng.randint(closed, 7), color if closed else None)
        if closed:
            after[inside] = Counter(dots).most_common(1)[0][0]
        for grid in (before, after):
            paint(grid, outline, top, left, color)
        # Dots of the outline's own colour keep off it, so that they do not join it.
        dots.sort(key=lambda dot: dot != color)
        own = dots.count(color)
        _sprinkle(rng, before, inside & ~grow(before > 0), dots[:own])
        _sprinkle(rng, before, inside & ~grow((before > 0) & inside), dots[own:])
    # Outside, dots keep off the outlines: one of the same colour must not join them.
    dots = [rng.choice(palette) for _ in range(rng.randint(0, height * width // 45))]
    _sprinkle(rng, before, outdoors & ~grow(before > 0), dots)
    return before, after


def _dots(rng: Random, palette: list[int], count: int, outline: int | None) -> list[int]:
    """Colours of dots; inside a closed outline one colour, not the outline's, leads."""
    while True:
        dots = [rng.choice(palette) for _ in range(count)]
        leaders = Counter(dots).most_common(2)
        if outline is None or (
            leaders[0][0] != outline and (len(leaders) == 1 or leaders[0][1] > leaders[1][1])
        ):
            return dots


def _room(rng: Random) -> Mask:
    """The inside of an outline, with a free border: a rectangle less some blocks at its upper or lower side."""
    height, width = rng.randint(3, 10), rng.randint(3, 10)
    room = np.ones((height, width), bool)
    for _ in range(rng.randint(0, 3)):
        tall, wide = rng.randint(1, height // 2), rng.randint(1, width // 2)
        left = rng.choice([0, width - wide, rng.randint(0, width - wide)])
        room[:: rng.choice((-1, 1))][:tall, left : left + wide] = False
    room = np.pad(room, 1)
    if rng.random() < 0.5:
        room = room.T
    if label(room, diagonal=False)[1] > 1 or (holes(grow(room) & ~room) != room).any():
        raise Retry
    return room


def _opened(rng: Random, outline: Mask) -> Mask:
    """The outline without what lies in one of its corners."""
    opened = outline.copy()
    height, width = outline.shape
    tall, wide = rng.randint(2, height - 2), rng.randint(2, width - 2)
    opened[:: rng.choice((-1, 1)), :: rng.choice((-1, 1))][:tall, :wide] = False
    if label(opened, diagonal=False)[1] != 1 or holes(opened).any() or opened.sum() < outline.sum() / 2:
        raise Retry
    return opened


def _sprinkle(rng: Random, grid: Grid, area: Mask, dots: list[int]) -> None:
    """Sets dots into the area, no two of them side by side."""
    for color in dots:
        places = np.argwhere(area)
        if not len(places):
            raise Retry
        row, column = places[rng.randrange(len(places))]
        grid[row, column] = color
        area = area.copy()
        area[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = False


def verify(grid: Grid) -> Grid:
    output = np.zeros_like(grid)
    for outline in objects(grid):
        if outline.size > 1:
            inside = holes(outline.mask)
            paint(output, outline.patch, outline.top, outline.left)
            if inside.any():
                winner = most_common(grid[outline.slices][inside], without=(0,))
                paint(output, inside, outline.top, outline.left, winner)
    return output
