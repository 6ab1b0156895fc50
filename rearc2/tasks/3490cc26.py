"""From the red square an orange way leads along its row or column to the nearest sky blue square in sight, from there
to the nearest one not yet visited, and so on until none is in sight."""

from itertools import combinations, pairwise, product
from random import Random

from rearc2.helpers import Grid, Retry, Thing, canvas, fill, objects

START, STATION, WAY = 2, 8, 7
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
Place = tuple[int, int]


def generate(rng: Random) -> tuple[Grid, Grid]:
    height, width = rng.randint(14, 29), rng.randint(14, 29)
    way = [(rng.randint(1, height - 3), rng.randint(1, width - 3))]
    wanted = rng.randint(1, 9)
    for _ in range(40 * wanted):
        down, right = rng.choice(STEPS)
        distance = rng.randint(3, 13)
        row, column = way[-1][0] + down * distance, way[-1][1] + right * distance
        if 0 < row < height - 2 and 0 < column < width - 2 and _leads_along([*way, (row, column)], []):
            way.append((row, column))
            if len(way) > wanted:
                break
    else:
        raise Retry
    aside: list[Place] = []
    for _ in range(rng.randint(1, 60)):
        place = (rng.randint(1, height - 3), rng.randint(1, width - 3))
        if rng.random() < 0.5:
            place = (rng.choice(way)[0], place[1])
        if len(aside) < 4 and _leads_along(way, [*aside, place]):
            aside.append(place)
    before = canvas(height, width)
    for row, column in way[1:] + aside:
        fill(before, row, column, 2, 2, STATION)
    fill(before, *way[0], 2, 2, START)
    after = before.copy()
    for here, there in pairwise(way):
        for row, column in _between(here, there):
            after[row, column] = WAY
    return before, after


def _between(here: Place, there: Place) -> set[Place]:
    """The cells of the link between two squares in line."""
    (top, left), (bottom, right) = sorted([here, there])
    rows = range(top, top + 2) if top == bottom else range(top + 2, bottom)
    columns = range(left, left + 2) if left == right else range(left + 2, right)
    return set(product(rows, columns))


def _leads_along(way: list[Place], aside: list[Place]) -> bool:
    """Whether each leg leads to the one nearest free square in sight, none is left at the end, and no sight is crossed."""
    squares = way + aside
    for one, other in combinations(squares, 2):
        # Squares are in line exactly or not at all, and do not touch.
        if 1 in _apart(one, other) or max(_apart(one, other)) < 3:
            return False
    covered = {(r + i, c + j) for r, c in squares for i in (0, 1) for j in (0, 1)}
    walked: set[Place] = set()
    for number, here in enumerate(way):
        free = [there for there in squares if there not in way[: number + 1] and 0 in _apart(here, there)]
        links = {there: _between(here, there) for there in free}
        links = {there: link for there, link in links.items() if not link & covered}
        nearest = sorted(links, key=lambda there: len(links[there]))
        if nearest[:1] != way[number + 1 : number + 2] or any(link & walked for link in links.values()):
            return False
        if len(nearest) > 1 and len(links[nearest[0]]) == len(links[nearest[1]]):
            return False
        for there in nearest[:1]:
            walked |= links[there]
    return True


def _apart(here: Place, there: Place) -> Place:
    return abs(here[0] - there[0]), abs(here[1] - there[1])


def verify(grid: Grid) -> Grid:
    output = grid.copy()
    squares = objects(grid)
    (here,) = [thing for thing in squares if thing.color == START]
    visited = [here]
    while True:
        in_sight = []
        for before_here in (True, False):
            in_row = [
                t for t in squares if t.top == here.top and t != here and (t.left < here.left) == before_here
            ]
            in_column = [
                t for t in squares if t.left == here.left and t != here and (t.top < here.top) == before_here
            ]
            for line in (in_row, in_column):
                # Only the first square in a direction is seen: it hides the ones behind it.
                in_sight += sorted(line, key=lambda thing: _distance(here, thing))[:1]
        in_sight = [thing for thing in in_sight if thing not in visited]
        if not in_sight:
            return output
        goal = min(in_sight, key=lambda thing: _distance(here, thing))
        top, left = min(here.top, goal.top), min(here.left, goal.left)
        link = output[top : max(here.bottom, goal.bottom) + 1, left : max(here.right, goal.right) + 1]
        link[link == 0] = WAY
        visited.append(goal)
        here = goal


def _distance(here: Thing, there: Thing) -> int:
    return abs(here.top - there.top) + abs(here.left - there.left)
