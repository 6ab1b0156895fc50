"""Four corner marks, three sky blue and one in another colour, become a sky blue frame. That colour fills it and
spreads from it to all four sides; each dot on the way sends its own colour on to the border."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, frame, objects

FRAME = 8
INKS = [1, 2, 3, 4, 5, 6, 7, 9]


def generate(rng: Random) -> tuple[Grid, Grid]:
    rows, columns = rng.randint(17, 27), rng.randint(17, 27)
    height, width = rng.randint(5, 10), rng.randint(5, 10)
    top, left = rng.randint(3, rows - height - 3), rng.randint(3, columns - width - 3)
    ink = rng.choice(INKS)
    before, after = canvas(rows, columns), canvas(rows, columns)
    fill(after, top, 0, height, columns, ink)
    fill(after, 0, left, rows, width, ink)
    frame(before, top, left, height, width, FRAME)
    frame(after, top, left, height, width, FRAME)
    fill(before, top + 2, left, height - 4, width, 0)
    fill(before, top, left + 2, height, width - 4, 0)
    special = rng.choice([top, top + height - 2]), rng.choice([left, left + width - 2])
    corner = before[special[0] : special[0] + 2, special[1] : special[1] + 2]
    corner[corner == FRAME] = ink
    seen: set[tuple[str, int]] = set()  # the lanes that hold a dot already
    for row, column in _dots(rng, before.shape, (top, left, height, width)):
        near = before[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
        color = rng.choice([color for color in INKS if color not in near])
        before[row, column] = color
        up, down = row < top, row >= top + height
        to_left, to_right = column < left, column >= left + width
        if (up or down) and (to_left or to_right):
            after[row, column] = color
            continue
        lane = ("up" if up else "down", column) if up or down else ("left" if to_left else "right", row)
        # Would a dot in the fill's own colour cover another dot's beam? No official pair tells.
        if color == ink and lane in seen:
            raise Retry
        seen.add(lane)
        if up or down:
            after[slice(0, row + 1) if up else slice(row, None), column] = color
        else:
            after[row, slice(0, column + 1) if to_left else slice(column, None)] = color
    return before, after


def _dots(rng: Random, shape: tuple[int, int], block: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Places outside the block, from the inside out."""
    top, left, height, width = block
    places = [
        (row, column)
        for row in range(shape[0])
        for column in range(shape[1])
        if not (top <= row < top + height and left <= column < left + width)
    ]
    dots = rng.sample(places, rng.randint(10, 24))
    middle = top + height / 2, left + width / 2
    return sorted(dots, key=lambda dot: abs(dot[0] - middle[0]) + abs(dot[1] - middle[1]))


def verify(grid: Grid) -> Grid:
    marks = [thing for thing in objects(grid) if thing.size == 3 and thing.height == thing.width == 2]
    (ink,) = [mark.color for mark in marks if mark.color != FRAME]
    top, bottom = min(mark.top for mark in marks), max(mark.bottom for mark in marks)
    left, right = min(mark.left for mark in marks), max(mark.right for mark in marks)
    output = grid.copy()
    for row in range(top, bottom + 1):
        _spread(output[row, :left][::-1], ink)
        _spread(output[row, right + 1 :], ink)
    for column in range(left, right + 1):
        _spread(output[:top, column][::-1], ink)
        _spread(output[bottom + 1 :, column], ink)
    output[top : bottom + 1, left : right + 1] = FRAME
    output[top + 1 : bottom, left + 1 : right] = ink
    return output


def _spread(lane: Grid, ink: int) -> None:
    """Fills the lane, nearest cell first, with the ink and from each dot on with the dot's colour."""
    for place in range(len(lane)):
        ink = int(lane[place]) or ink
        lane[place] = ink
