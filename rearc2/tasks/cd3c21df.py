"""All figures occur twice but one: the output is that one.

It is officially also the only figure with a colour that no other has, so only such inputs are drawn."""

from random import Random

from rearc2.helpers import Grid, Retry, canvas, colors, objects, paint, place, random_shape


def generate(rng: Random) -> tuple[Grid, Grid]:
    side = rng.randint(10, 16)
    own, *palette = colors(rng, rng.randint(3, 5))
    figures = [_figure(rng, palette) for _ in range(rng.randint(3, 4))]
    # The single figure gets a colour of its own, in one of its colours' places.
    figures[0][figures[0] == rng.choice(figures[0][figures[0] > 0].tolist())] = own
    if len({(figure.shape, figure.tobytes()) for figure in figures}) < len(figures):
        raise Retry
    shown = [figures[0]] + 2 * figures[1:]
    before = canvas(side, side)
    for figure, (top, left) in zip(shown, place(rng, (side, side), [f.shape for f in shown]), strict=True):
        paint(before, figure, top, left)
    return before, figures[0]


def _figure(rng: Random, palette: list[int]) -> Grid:
    height, width = rng.choice(
        [(2, 2), (1, 3), (3, 1), (1, 4), (4, 1), (1, 5), (5, 1), (2, 3), (3, 2), (3, 3)]
    )
    mask = random_shape(rng, height, width, rng.choice([0.6, 1, 1, 1]))
    first, second = rng.sample(palette, 2)
    if rng.random() < 0.5:
        second = first
    figure = canvas(height, width)
    for cell in map(tuple, zip(*mask.nonzero(), strict=True)):
        figure[cell] = rng.choice([first, second])
    return figure


def rival_color(grid: Grid) -> Grid:
    """The output is the figure with a colour that no other figure has."""
    figures = [thing.patch for thing in objects(grid, same_color=False)]
    (single,) = [
        number
        for number, figure in enumerate(figures)
        if set(figure[figure > 0].tolist())
        - {c for other in figures if other is not figure for c in other.flat}
    ]
    return figures[single].copy()


def verify(grid: Grid) -> Grid:
    figures = [(thing.patch.shape, thing.patch.tobytes()) for thing in objects(grid, same_color=False)]
    (single,) = [
        thing
        for thing, figure in zip(objects(grid, same_color=False), figures, strict=True)
        if figures.count(figure) == 1
    ]
    return single.patch.copy()
