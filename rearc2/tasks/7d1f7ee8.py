"""Everything inside a frame takes the colour of the outermost frame around it."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, frame, objects, place, retrying


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(1, 4)
    return retrying(lambda: _draw(rng, count))


def _draw(rng: Random, count: int) -> tuple[Grid, Grid]:
    height, width = rng.randint(12, 30), rng.randint(12, 30)
    if height * width < 130 * count:
        raise Retry
    before, after = canvas(height, width), canvas(height, width)
    # One large frame or some of middle size, and besides small ones, empty or solid.
    sizes = [(rng.randint(6, 13), rng.randint(6, 13)) for _ in range(count)]
    if rng.random() < 0.5:
        sizes[0] = rng.randint(height // 2, height - 2), rng.randint(width // 2, width - 2)
    sizes += [(rng.randint(2, 6), rng.randint(1, 6)) for _ in range(rng.randint(0, 2))]
    sizes = [(min(h, height - 2), min(w, width - 2)) for h, w in sizes]
    for (top, left), size in zip(place(rng, before.shape, sizes), sizes, strict=True):
        (color,) = colors(rng, 1)
        _nest(rng, before, after, (top, left, *size), color, color)
    if (before == after).all():
        raise Retry
    return before, after


def _nest(
    rng: Random, before: Grid, after: Grid, where: tuple[int, int, int, int], color: int, outer: int
) -> None:
    """Draws a frame with frames in it: in their own colours before, in the outermost frame's after."""
    top, left, height, width = where
    frame(before, *where, color)
    frame(after, *where, outer)
    gap = 1 if rng.random() < 0.8 else 0
    inside = height - 2 - 2 * gap, width - 2 - 2 * gap
    if min(inside) < 1:
        return
    # One frame, or two side by side along the longer way.
    count, longer = rng.choice([1, 1, 2]), int(inside[1] > inside[0])
    sizes = []
    for _ in range(count):
        size = [rng.randint((2 * length + 2) // 3, length) for length in inside]
        if count == 2:
            size[longer] = rng.randint(1, max(1, (inside[longer] - 1) // 2))
        sizes.append((size[0], size[1]))
    try:
        places = place(rng, inside, sizes)
    except Retry:
        return
    for size, (down, right) in zip(sizes, places, strict=True):
        if size != (1, 1):
            (own,) = colors(rng, 1, without=(0, color))
            _nest(rng, before, after, (top + 1 + gap + down, left + 1 + gap + right, *size), own, outer)


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    things = sorted(objects(grid), key=lambda thing: -thing.height * thing.width)
    for thing in things:
        outermost = next(
            other
            for other in things
            if other.top <= thing.top
            and other.left <= thing.left
            and other.bottom >= thing.bottom
            and other.right >= thing.right
        )
        output[thing.slices][thing.mask] = outermost.color
    return output
