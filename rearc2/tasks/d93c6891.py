"""The grey cells that touch an orange block flow into it: as many of its cells turn grey, layer by layer from the
black wall, as there were grey cells, which turn yellow. Blocks without grey cells stay."""

from random import Random

from rearc2.helpers import SIDES, Grid, Mask, Retry, box, canvas, flood, grow, objects, to_top

WALL, FIELD, GREY, BLOCK = 0, 4, 5, 7


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(6, 18), rng.randint(8, 18)
    margins = dict(zip(SIDES, (rng.choice([0, 0, 1, 2, 3, 4]) for _ in SIDES), strict=True))
    walls = [side for side in SIDES if margins[side]]
    if not walls:
        raise Retry
    before = canvas(height + margins["top"] + margins["bottom"], width + margins["left"] + margins["right"])
    fields = before[margins["top"] :, margins["left"] :][:height, :width]
    fields[:] = FIELD
    after = before.copy()
    result = after[margins["top"] :, margins["left"] :][:height, :width]
    taken = fields != FIELD
    lined = 0
    rng.shuffle(walls)
    for side in walls:
        sides = (
            to_top(fields, side),
            to_top(result, side),
            to_top(taken, side),
        )  # views: drawing on them shows
        next_wall = SIDES[(SIDES.index(side) + 1) % 4] in walls
        if next_wall and rng.random() < 0.15:
            lined += _corner_block(rng, *sides)
        for _ in range(rng.randint(1, 2)):
            lined += any(_block(rng, *sides, lined=True) for _ in range(5))
        if rng.random() < 0.4:
            _block(rng, *sides, lined=False)
    if not lined:
        raise Retry
    return before, after


def _block(rng: Random, before: Grid, after: Grid, taken: Mask, lined: bool) -> bool:
    """A block at the top wall, with grey cells along the wall on one side of it or on both."""
    long, deep = rng.randint(2, 6), rng.randint(1, 5)
    layers = rng.randint(1, deep) if lined else 0
    left_part = rng.randint(0, layers * long)
    right_part = layers * long - left_part
    room = before.shape[1] - long - left_part - right_part - 2
    if room < 0 or deep > before.shape[0] - 2:
        return False
    start = rng.randint(0, room) + left_part + 1
    mask = before == -1
    mask[:deep, start : start + long] = mask[0, start - left_part : start + long + right_part] = True
    if (grow(mask) & taken).any():
        return False
    taken |= mask
    before[mask] = GREY
    before[:deep, start : start + long] = after[:deep, start : start + long] = BLOCK
    after[:layers, start : start + long] = GREY
    return True


def _corner_block(rng: Random, before: Grid, after: Grid, taken: Mask) -> bool:
    """A block near the top right corner, parted from the top wall by its grey cells, which fill it wholly."""
    long, deep = rng.randint(2, 3), rng.randint(1, 3)
    mask = before == -1
    mask[1 : deep + 1, -long:] = mask[0, -long * deep :] = True
    if long * deep > before.shape[1] - 2 or deep + 3 > before.shape[0] or (grow(mask) & taken).any():
        return False
    taken |= mask
    before[0, -long * deep :] = after[1 : deep + 1, -long:] = GREY
    before[1 : deep + 1, -long:] = BLOCK
    return True


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    output[grid == GREY] = FIELD
    for block in objects(grid * (grid == BLOCK), diagonal=False):
        here = grid == -1
        here[block.slices] = True
        count = int(flood(grid == GREY, grow(here, diagonal=False) & (grid == GREY)).sum())
        if count == block.size:
            output[here] = GREY
            continue
        for side in SIDES:
            top, left, _, long = box(to_top(here, side))
            if top and (to_top(grid, side)[top - 1, left : left + long] == WALL).all():
                to_top(output, side)[top : top + count // long, left : left + long] = GREY
    return output
