"""Every red line becomes the long diagonal of a sky-blue rhombus."""

from random import Random

from rearc2.helpers import Grid, canvas, objects, place

LINE, RHOMBUS = 2, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 25), rng.randint(12, 25)
    count = rng.randint(1, 4)
    longest = min(16, min(height, width)) if count < 3 else 10
    shapes = []
    for _ in range(count):
        length = rng.randint(3, longest)
        across = 2 * ((length - 1) // 2) + 1
        shapes.append((across, length) if rng.random() < 0.5 else (length, across))
    lying = [w > h or (w == h and rng.random() < 0.5) for h, w in shapes]
    before, after = canvas(height, width), canvas(height, width)
    for (h, w), flat, (top, left) in zip(shapes, lying, place(rng, before.shape, shapes), strict=True):
        length, reach = (w, h // 2) if flat else (h, w // 2)
        for distance in range(-reach, reach + 1):
            for along in range(abs(distance), length - abs(distance)):
                cell = (
                    (top + reach + distance, left + along) if flat else (top + along, left + reach + distance)
                )
                after[cell] = RHOMBUS if distance else LINE
                if not distance:
                    before[cell] = LINE
    return before, after


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for line in objects(grid):
        # Peel an end off on both sides with every step away from the line.
        for distance in range(1, (line.size + 1) // 2):
            for row, column in line.cells[distance : line.size - distance]:
                for side in (-distance, distance):
                    output[(row + side, column) if line.height == 1 else (row, column + side)] = RHOMBUS
    return output
