"""What the left panel holds is copied into the wider right panel: a block keeps its distance to the side of the panel
at which it lies, and a bar that reaches from side to side is stretched."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, fill, objects

LEFT_GROUND = 1


def generate(rng: Random) -> tuple[Grid, Grid]:
    narrow, height = rng.randint(6, 10), rng.randint(8, 14)
    wide = rng.randint(narrow + 4, 28 - narrow - 1)
    wall, right_ground = colors(rng, 2, without=(0, LEFT_GROUND))
    palette = [color for color in range(2, 10) if color != right_ground]
    palette = rng.sample(palette, rng.randint(1, 4))
    before = canvas(height + 2, narrow + wide + 3, wall)
    fill(before, 1, 1, height, narrow, LEFT_GROUND)
    fill(before, 1, narrow + 2, height, wide, right_ground)
    panels = [(1, narrow), (narrow + 2, wide)]  # left end, width
    after = before.copy()
    row, drawn = 2, set()
    while row < height:
        size = rng.randint(2, 3) if narrow > 8 else 2
        kinds = rng.choice([("bar",), ("left",), ("right",), ("left", "right")])
        if len(kinds) == 2 and 2 * size + 2 >= narrow:
            kinds = ("bar",)  # no room for two blocks side by side
        thickness = rng.randint(1, 2) if kinds == ("bar",) else rng.choice([1, 2, 2, 3])
        if row + thickness > height:
            break
        for kind in kinds:
            color = rng.choice(palette)
            for panel_left, width in panels:
                length = width - 2 if kind == "bar" else size
                left = panel_left + (width - 1 - length if kind == "right" else 1)
                fill(after, row, left, thickness, length, color)
                if width == narrow:
                    fill(before, row, left, thickness, length, color)
            drawn.add(kind)
        row += thickness + rng.choice([1, 1, 2])
    if len(drawn) < 2:
        raise Retry
    return before, after


def verify(grid: Grid) -> Grid:
    # The walls: the outer border and the column between the panels.
    wall = grid[0, 0]
    middle = next(c for c in range(1, grid.shape[1]) if (grid[:, c] == wall).all())
    left_end, right_end = middle + 1, grid.shape[1] - 2  # the right panel's first and last column
    output = grid.copy()
    for thing in objects(grid[1:-1, 1:middle], LEFT_GROUND, diagonal=False):
        margin_left, margin_right = thing.left, middle - 2 - thing.right
        rows = slice(1 + thing.top, 2 + thing.bottom)
        if margin_left == margin_right:
            output[rows, left_end + margin_left : right_end - margin_right + 1] = thing.color
        elif margin_left < margin_right:
            output[rows, left_end + margin_left : left_end + margin_left + thing.width] = thing.color
        else:
            output[rows, right_end - margin_right - thing.width + 1 : right_end - margin_right + 1] = (
                thing.color
            )
    return output
