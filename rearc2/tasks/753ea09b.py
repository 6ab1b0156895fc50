"""Two long winding banks of one colour border a river that runs through the picture. The river's ground takes the
colour of the banks; strokes of the third colour stay."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, background, canvas, colors, grow, label, objects, ray

SIDE = 30
STEPS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, bank, stroke = colors(rng, 3, without=())
    river = _river(rng)
    banks = grow(river, diagonal=False) & ~river
    numbers, count = label(banks)
    # Land on two sides, each with its own long bank, and a river that leaves the picture at both ends.
    if count != 2 or min((numbers == 1).sum(), (numbers == 2).sum()) < 22:
        raise Retry
    if label(~river, diagonal=False)[1] != 2 or not 90 <= river.sum() <= 280:
        raise Retry
    before = canvas(SIDE, SIDE, ground)
    before[banks] = bank
    steps = rng.sample(STEPS, rng.randint(1, 3))
    most, reach = rng.choice([(20, 12), (35, 7), (60, 3)])
    for color, count, longest in ((stroke, rng.randint(12, most), reach), (bank, rng.randint(4, 20), 3)):
        for _ in range(count):
            place, step = (rng.randrange(SIDE), rng.randrange(SIDE)), rng.choice(steps)
            line = canvas(SIDE, SIDE)
            # Short strokes of the banks' colour lie apart on the land; the others may cross the river.
            if color == bank:
                line[grow(river | (before == bank))] = 1
            else:
                line[banks] = 1
            cells = ray(line, place, step, 2)[: rng.randint(1, longest)]
            for cell in cells:
                before[cell] = color
    largest = max(objects(before, background=ground), key=lambda thing: thing.size)
    if background(before) != ground or largest.color != bank:
        raise Retry
    return before, np.where(river & (before == ground), bank, before)


def _river(rng: Random) -> Mask:
    """A ragged band along a way over two to four points, the first and the last on the border."""
    ends = [(rng.choice([0, SIDE - 1]), rng.randrange(SIDE)) for _ in range(2)]
    points = [end if rng.random() < 0.5 else end[::-1] for end in ends]
    points[1:1] = [(rng.randint(6, 23), rng.randint(6, 23)) for _ in range(rng.randint(0, 2))]
    if abs(points[0][0] - points[-1][0]) + abs(points[0][1] - points[-1][1]) < 15:
        raise Retry
    river = np.zeros((SIDE, SIDE), bool)
    here = points.pop(0)
    widest = rng.choice([1, 2, 2, 3])
    while points:
        tall, wide = rng.randint(1, widest), rng.randint(1, widest)
        river[max(0, here[0] - tall) : here[0] + tall + 1, max(0, here[1] - wide) : here[1] + wide + 1] = True
        down, right = points[0][0] - here[0], points[0][1] - here[1]
        if rng.random() * (abs(down) + abs(right)) < abs(down):
            here = here[0] + (1 if down > 0 else -1), here[1]
        elif right:
            here = here[0], here[1] + (1 if right > 0 else -1)
        else:
            points.pop(0)
    return river


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    bank = max(objects(grid, background=ground), key=lambda thing: thing.size).color
    numbers, _ = label(grid == bank)
    sizes = np.bincount(numbers[numbers > 0])
    longest = [numbers == number for number in np.argsort(sizes)[-2:]]
    # The river is what borders on both banks; strokes do not stop it.
    areas, count = label(grid != bank, diagonal=False)
    for number in range(1, count + 1):
        shores = grow(areas == number, diagonal=False)
        if all((shores & side).any() for side in longest):
            return np.where((areas == number) & (grid == ground), bank, grid)
    raise ValueError("there is no river between two banks")
