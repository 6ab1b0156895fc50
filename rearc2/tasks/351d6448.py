"""The panels are the pictures of a film, top to bottom: something grows, moves or sweeps over a still picture from left
to right at a constant speed. The output is the next picture."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Retry, canvas, colors, join, random_cells, scatter, split

LINE, HEIGHT, WIDTH, PANELS = 5, 3, 13, 4


def generate(rng: Random) -> tuple[Grid, Grid]:
    kind = rng.choice(["grows", "moves", "sweeps"])
    speed = rng.choice([1, 2])
    first, second = colors(rng, 2, without=(0, LINE))
    film = [canvas(HEIGHT, WIDTH) for _ in range(PANELS + 1)]
    if kind == "grows":
        lengths = [
            rng.randint(1, WIDTH - speed * PANELS - 1) if rng.random() < 0.5 else 0 for _ in range(HEIGHT)
        ]
        color_of = [rng.choice([first, second]) for _ in range(HEIGHT)]
        for number, picture in enumerate(film):
            for row, length in enumerate(lengths):
                if length:
                    picture[row, : length + speed * number] = color_of[row]
    elif kind == "moves":
        height, width = rng.randint(1, HEIGHT), rng.randint(2, 4)
        figure = random_cells(rng, (height, width), [first, second, 0])
        top, left = rng.randint(0, HEIGHT - height), rng.randint(1, WIDTH - speed * PANELS - width)
        if (figure > 0).sum() < 2:
            raise Retry
        for number, picture in enumerate(film):
            picture[top : top + height, left + speed * number :][:, :width] = figure
    else:
        motif = scatter(rng, (HEIGHT, rng.randint(3, 6)), 0.7)
        still = np.tile(motif, WIDTH)[:, :WIDTH]
        start = rng.randint(1, 4)
        if not still.any(axis=0).all() or still.all():
            raise Retry  # the front must show in every column
        for number, picture in enumerate(film):
            picture[still] = second
            picture[:, : start + speed * number][still[:, : start + speed * number]] = first
    if not film[0].any():
        raise Retry
    return join([[picture] for picture in film[:PANELS]], LINE), film[PANELS]


def verify(grid: Grid) -> Grid:
    film = [panel for (panel,) in split(grid, LINE)]
    still = film[0] != 0
    has_still = all(np.array_equal(picture != 0, still) for picture in film)
    for speed in range(1, WIDTH):
        before = np.maximum(np.arange(WIDTH) - speed, 0)  # what enters continues the left border
        if has_still:
            # Every column of the still picture has one colour, and these colours move.
            guesses = [still * picture.max(axis=0)[before] for picture in film]
        else:
            guesses = [picture[:, before] for picture in film]
        if all(np.array_equal(guess, after) for guess, after in zip(guesses, film[1:], strict=False)):
            return guesses[-1]
    raise ValueError("the film has no constant speed")
