"""One side is a red wall. All dominoes fall towards it, as whole pieces, until they meet the wall or each other."""

from random import Random

from rearc2.helpers import SIDES, Grid, Retry, canvas, colors, objects, place, undo_to_top

WALL = 2


def generate(rng: Random) -> tuple[Grid, Grid]:
    depth, breadth = rng.randint(6, 16), rng.randint(4, 14)
    count = rng.randint(3, max(4, depth * breadth // 8))
    sizes = [rng.choice([(1, 2), (2, 1)]) for _ in range(count)]
    shades = colors(rng, min(count, 8), without=(0, WALL))
    shades += [rng.choice(shades) for _ in range(count - len(shades))]
    before, after = canvas(depth, breadth), canvas(depth, breadth)
    before[0] = after[0] = WALL
    corners = place(rng, before.shape, sizes, gap=0, taken=before > 0)
    for (top, left), (height, width), shade in sorted(zip(corners, sizes, shades, strict=True)):
        before[top : top + height, left : left + width] = shade
        while not after[top - 1, left : left + width].any():
            top -= 1
        after[top : top + height, left : left + width] = shade
    if len(objects(before)) <= count:
        raise Retry  # dominoes of one colour do not touch
    side = rng.choice(SIDES)
    return undo_to_top(before, side).copy(), undo_to_top(after, side).copy()


def verify(grid: Grid) -> Grid:
    steps = {"top": (-1, 0), "bottom": (1, 0), "left": (0, -1), "right": (0, 1)}
    edges = {"top": grid[0], "bottom": grid[-1], "left": grid[:, 0], "right": grid[:, -1]}
    ((down, right),) = [steps[side] for side, edge in edges.items() if (edge == WALL).all()]
    output = grid.copy()
    pieces = [(thing.color, thing.cells) for thing in objects(grid, diagonal=False) if thing.color != WALL]
    moved = True
    while moved:
        moved = False
        for number, (color, cells) in enumerate(pieces):
            there = [(row + down, column + right) for row, column in cells]
            if all(cell in cells or output[cell] == 0 for cell in there):
                for cell in cells:
                    output[cell] = 0
                for cell in there:
                    output[cell] = color
                pieces[number] = color, there
                moved = True
    return output
