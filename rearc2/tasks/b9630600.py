"""Green boxes that face each other are joined by corridors, one cell narrower on either side than the stretch they
face, open inside. The corridors join all boxes by the shortest ways, without a circle.

All boxes that are joined officially are centred on each other, so only such boxes are drawn."""

from itertools import combinations
from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, frame, objects

GREEN = 3
SIDE = 30
LONGEST = (
    7  # cells between the boxes of the longest official corridor; pairs that stay unjoined are farther apart
)

Box = tuple[int, int, int, int]  # top, left, bottom, right (inclusive)


def generate(rng: Random) -> tuple[Grid, Grid]:
    count = rng.randint(5, 8)
    boxes = [_new_box(rng, rng.randint(0, SIDE - 12), rng.randint(0, SIDE - 12))]
    corridors = []
    for _ in range(400):
        if len(boxes) == count:
            break
        parent = rng.choice(boxes)
        top, left, bottom, right = new = _beside(rng, parent)
        if top < 0 or left < 0 or bottom >= SIDE or right >= SIDE:
            continue
        # Only the parent may be near enough for a corridor, so that the corridors form a tree.
        if not _near(new, parent) or any(_near(new, other) for other in boxes if other != parent):
            continue
        corridor = _corridor(new, parent)
        others = [other for other in boxes if other != parent] + corridors
        blocked = any(_touch(new, other) for other in [*boxes, *corridors])
        if blocked or any(_touch(corridor, other) for other in others):
            continue
        boxes.append(new)
        corridors.append(corridor)
    if len(boxes) < count:
        raise Retry
    before = canvas(SIDE, SIDE)
    for top, left, bottom, right in boxes:
        frame(before, top, left, bottom - top + 1, right - left + 1, GREEN)
    after = before.copy()
    for top, left, bottom, right in corridors:
        fill(after, top, left, bottom - top + 1, right - left + 1, GREEN)
    for top, left, bottom, right in corridors:
        # The inside is open through the sides of both boxes.
        upright = any(left > box[1] and right < box[3] and bottom + 1 == box[0] for box in boxes)
        if upright:
            fill(after, top - 1, left + 1, bottom - top + 3, max(0, right - left - 1), 0)
        else:
            fill(after, top + 1, left - 1, max(0, bottom - top - 1), right - left + 3, 0)
    return before, after


def _new_box(rng: Random, top: int, left: int) -> Box:
    height, width = rng.choice([3, 4, 5, 6, 7, 8, 9, 11]), rng.choice([3, 4, 5, 6, 7, 8, 9, 10, 12])
    return top, left, top + height - 1, left + width - 1


def _beside(rng: Random, parent: Box) -> Box:
    """A new box on a random side of the parent, near and centred on it; it may lie outside the grid."""
    _, _, bottom, right = _new_box(rng, 0, 0)
    upright = rng.random() < 0.5
    ahead = rng.random() < 0.5
    gap = rng.randint(1, LONGEST)
    if upright:  # above or below: an even difference of the widths
        right += (right - parent[3] + parent[1]) % 2
        top = parent[2] + 1 + gap if ahead else parent[0] - 1 - gap - bottom
        left = (parent[1] + parent[3] - right) // 2
    else:
        bottom += (bottom - parent[2] + parent[0]) % 2
        left = parent[3] + 1 + gap if ahead else parent[1] - 1 - gap - right
        top = (parent[0] + parent[2] - bottom) // 2
    return top, left, top + bottom, left + right


def _near(one: Box, two: Box) -> bool:
    """Whether the boxes face each other along three cells or more, near enough for a corridor."""
    down, right = max(one[0], two[0]) - min(one[2], two[2]), max(one[1], two[1]) - min(one[3], two[3])
    return min(down, right) <= -2 and max(down, right) <= LONGEST + 1


def _corridor(one: Box, two: Box) -> Box:
    """The cells between the boxes, without the outer ones of the stretch they face."""
    top, bottom = max(one[0], two[0]), min(one[2], two[2])
    left, right = max(one[1], two[1]), min(one[3], two[3])
    if bottom < top:
        return bottom + 1, left + 1, top - 1, right - 1
    return top + 1, right + 1, bottom - 1, left - 1


def _touch(one: Box, two: Box) -> bool:
    down, right = max(one[0], two[0]) - min(one[2], two[2]), max(one[1], two[1]) - min(one[3], two[3])
    return max(down, right) <= 1


def _join(grid: Grid, farthest: int, only_centred: bool = False) -> Grid:
    """Joins facing boxes by corridors, the nearest first, unless they are joined already or too far apart."""
    output = grid.copy()
    boxes = objects(grid, diagonal=False)
    pairs = []
    for one, two in combinations(range(len(boxes)), 2):
        for turned in (False, True):
            a, b = sorted((boxes[one], boxes[two]), key=lambda box: box.left if turned else box.top)
            gap = (b.left - a.right if turned else b.top - a.bottom) - 1
            first = max(a.top, b.top) + 1 if turned else max(a.left, b.left) + 1
            last = min(a.bottom, b.bottom) - 1 if turned else min(a.right, b.right) - 1
            off = a.top + a.bottom - b.top - b.bottom if turned else a.left + a.right - b.left - b.right
            if 0 < gap <= farthest and first <= last and not (only_centred and off):
                pairs.append((gap, one, two, turned, first, last, a.right if turned else a.bottom))
    groups = list(range(len(boxes)))
    for gap, one, two, turned, first, last, start in sorted(pairs):
        if groups[one] == groups[two]:
            continue
        groups = [groups[one] if group == groups[two] else group for group in groups]
        drawn = output.T if turned else output
        drawn[start : start + gap + 2, first] = GREEN
        drawn[start : start + gap + 2, last] = GREEN
        drawn[start : start + gap + 2, first + 1 : last] = 0
    return output


def verify(grid: Grid) -> Grid:
    return _join(grid, SIDE)


def rival_distance(grid: Grid) -> Grid:
    """Boxes are joined whenever they are near, whether or not that closes a circle."""
    return _join(grid, LONGEST)


def rival_centred(grid: Grid) -> Grid:
    """Only boxes that are centred on each other are joined."""
    return _join(grid, SIDE, only_centred=True)
