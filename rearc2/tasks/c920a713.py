"""Rectangular frames overlap. The output shows them as concentric squares: the lowest of the pile is the outermost,
the uppermost is the dot in the middle."""

from random import Random

from rearc2.helpers import Grid, Mask, Retry, box, canvas, colors, fill, frame


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(5, 7)
    side = rng.randint(12 if count == 5 else 15, 28)
    pile = colors(rng, count)  # from the lowest to the uppermost
    boxes: list[tuple[int, int, int, int]] = []
    outlines: list[Mask] = []
    for _ in range(150):
        if len(boxes) == count:
            break
        height, width = rng.randint(3, side // 2), rng.randint(4, side // 2 + 2)
        place = rng.randint(0, side - height), rng.randint(0, side - width), height, width
        outline = canvas(side, side)
        frame(outline, *place, 1)
        # Every frame crosses the next one, or the order would not show.
        if not boxes or (outlines[-1] & (outline == 1)).any():
            boxes.append(place)
            outlines.append(outline == 1)
    if len(boxes) < count:
        raise Retry
    before = canvas(side, side)
    for color, place in zip(pile, boxes, strict=True):
        frame(before, *place, color)
    for color, outline, place in zip(pile, outlines, boxes, strict=True):
        visible = outline & (before == color)
        if not visible.any() or box(visible) != place or visible.sum() < 0.3 * outline.sum():
            raise Retry
    for lower, upper, color in zip(outlines, outlines[1:], pile[1:], strict=False):
        if not (lower & upper & (before == color)).any():
            raise Retry
    after = canvas(2 * count - 1, 2 * count - 1)
    for ring, color in enumerate(pile):
        fill(after, ring, ring, len(after) - 2 * ring, len(after) - 2 * ring, color)
    return before, after


def verify(grid: Grid) -> Grid:
    outlines: dict[int, Mask] = {}
    for color in sorted(set(grid[grid > 0].tolist())):
        outline = canvas(*grid.shape)
        frame(outline, *box(grid == color), 1)
        outlines[color] = outline == 1
    # Of two colours the one seen where both pass lies above; crossings that contradict each other tell nothing
    # (train 2 has one such pair, with a wrong cell).
    seen = {
        (upper, lower)
        for upper in outlines
        for lower in outlines
        if upper != lower and (outlines[lower] & (grid == upper)).any()
    }
    above = {(upper, lower) for upper, lower in seen if (lower, upper) not in seen}
    left = list(outlines)
    order = []  # from the uppermost down: what nothing left covers
    while left:
        (upper,) = [color for color in left if not any((other, color) in above for other in left)]
        order.append(upper)
        left.remove(upper)
    output = canvas(1, 1, order[0])
    for color in order[1:]:
        wider = canvas(len(output) + 2, len(output) + 2, color)
        wider[1:-1, 1:-1] = output
        output = wider
    return output
