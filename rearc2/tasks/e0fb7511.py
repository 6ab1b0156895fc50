"""Black cells that touch another black cell over an edge turn sky blue; lone ones stay."""

from random import Random

from rearc2.helpers import Grid, Retry, objects, scatter

BLACK, GROUND, JOINED = 0, 1, 8


def generate(rng: Random) -> tuple[Grid, Grid]:
    black = scatter(rng, (13, 13), rng.uniform(0.15, 0.35))
    beside = black & False
    for axis in (0, 1):
        both = black & _shifted(black, axis, 1)
        beside |= both | (black & _shifted(black, axis, -1))
    if not beside.any() or (beside == black).all():
        raise Retry
    before = (~black).astype(int) * GROUND
    after = before + beside * JOINED
    return before, after


def _shifted(mask: Grid, axis: int, step: int) -> Grid:
    """The mask moved by one cell, with nothing coming in from the border."""
    moved = mask.copy()
    if axis == 0:
        moved[:] = False
        moved[max(step, 0) : len(mask) + min(step, 0)] = mask[max(-step, 0) : len(mask) - max(step, 0)]
        return moved
    return _shifted(mask.T, 0, step).T


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    for thing in objects(GROUND - grid, diagonal=False):
        if thing.size > 1:
            output[thing.slices][thing.mask] = JOINED
    return output
