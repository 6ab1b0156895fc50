"""Two loose blocks fit exactly into the two notches of one of the figures. The output is that figure with the blocks in
its notches."""

from random import Random

import numpy as np

from rearc2.helpers import Grid, Mask, Retry, canvas, colors, crop, label, objects, place

SIDE = 16


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, color, *others = colors(rng, rng.randint(5, 6), without=())
    first, second, *others = others
    depths = [rng.randint(1, 3), rng.randint(1, 3)]
    if rng.random() < 0.4:
        depths[1] = depths[0]
    opening = rng.randint(2, 3)
    upright = rng.random() < 0.5
    figure = _figure(opening, depths, rng.randint(1, 3), upright)
    sizes = [(depth, opening) if upright else (opening, depth) for depth in depths]
    blocks = [canvas(*sizes[0], first), canvas(*sizes[1], first if depths[0] == depths[1] else second)]
    parts = [np.where(figure, color, ground), *blocks]
    for other in others:
        # Figures whose notches have other shapes.
        other_upright, other_opening = rng.random() < 0.5, rng.randint(1, 4)
        other_depths = [rng.randint(1, 3), rng.randint(0, 3)]
        for depth in other_depths:
            if ((depth, other_opening) if other_upright else (other_opening, depth)) in sizes:
                raise Retry
        wrong = _figure(other_opening, other_depths, rng.randint(1, 4), other_upright)
        parts.append(np.where(wrong, other, ground))
    before = canvas(SIDE, SIDE, ground)
    for part, (top, left) in zip(parts, place(rng, before.shape, [p.shape for p in parts]), strict=True):
        before[top : top + part.shape[0], left : left + part.shape[1]] = part
    after = parts[0].copy()
    if upright:
        after[: depths[0], 1:-1], after[len(after) - depths[1] :, 1:-1] = blocks
    else:
        after[1:-1, : depths[0]], after[1:-1, after.shape[1] - depths[1] :] = blocks
    return before, after


def _figure(opening: int, depths: list[int], core: int, upright: bool) -> Mask:
    """A bar with arms along the notches at its two ends: above and below if upright, else left and right."""
    figure = np.ones((depths[0] + core + depths[1], opening + 2), bool)
    figure[: depths[0], 1:-1] = False
    figure[len(figure) - depths[1] :, 1:-1] = False
    return figure if upright else figure.T


def verify(grid: Grid) -> Grid:
    things = objects(np.where(grid == np.bincount(grid.ravel()).argmax(), -1, grid), background=-1)
    blocks = [thing for thing in things if thing.mask.all()]
    for thing in things:
        output = np.where(thing.mask, thing.color, -1)
        notches, count = label(~thing.mask)
        left = list(blocks)  # each block goes into one notch, and none is left over
        for notch in range(1, count + 1):
            hole = crop(notches, notches == notch) == notch
            fitting = [block for block in left if block.mask.shape == hole.shape and hole.all()]
            if fitting:
                left.remove(fitting[0])
                output[notches == notch] = fitting[0].color
        if count and not left and (output >= 0).all():
            return output
    raise ValueError("the blocks fit no figure")
