"""The squares of each colour are counted, whatever their size. The output has one line per colour as long as their
number, longest first, pushed to the right."""

from collections import Counter
from random import Random

from rearc2.helpers import Grid, canvas, colors, fill, objects, place

SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    counts = sorted(rng.sample(range(1, 7), rng.randint(2, 4)), reverse=True)
    palette = colors(rng, len(counts))
    inks = [ink for ink, count in zip(palette, counts, strict=True) for _ in range(count)]
    largest = 5 if len(inks) < 11 else 3
    sizes = [rng.randint(2, rng.choice([2, 3, largest])) for _ in inks]
    before = canvas(SIDE, SIDE)
    corners = place(rng, before.shape, [(size, size) for size in sizes])
    for ink, size, (top, left) in zip(inks, sizes, corners, strict=True):
        fill(before, top, left, size, size, ink)
    after = canvas(len(counts), counts[0])
    for row, (ink, count) in enumerate(zip(palette, counts, strict=True)):
        after[row, counts[0] - count :] = ink
    return before, after


def verify(grid: Grid) -> Grid:
    ranking = Counter(thing.color for thing in objects(grid)).most_common()
    output = canvas(len(ranking), ranking[0][1])
    for row, (color, count) in enumerate(ranking):
        output[row, -count:] = color
    return output
