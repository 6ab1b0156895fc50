"""From the red square an orange way leads along its row or column to the nearest sky blue square in sight, from there
to the nearest one not yet visited, and so on until none is in sight."""

from itertools import combinations, pairwise, product
from random import Random

from rearc2.helpers import Grid, Retry, canvas, fill, objects

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
    """Whether each leg leads to the one nearest free square in sight, none is left at the end, no sight is crossed."""
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
    squares = {(thing.top, thing.left): thing.color for thing in objects(grid)}
    (here,) = [place for place, color in squares.items() if color == START]
    visited = [here]
    while True:
        in_sight = []
        for down, right in STEPS:
            line = [(here[0] + down * far, here[1] + right * far) for far in range(1, 30)]
            # Only the first square in a direction is seen: it hides the ones behind it.
            in_sight += [place for place in line if place in squares][:1]
        free = [place for place in in_sight if place not in visited]
        if not free:
            return output
        goal = min(free, key=lambda place: abs(place[0] - here[0]) + abs(place[1] - here[1]))
        top, left = min(here[0], goal[0]), min(here[1], goal[1])
        link = output[top : max(here[0], goal[0]) + 2, left : max(here[1], goal[1]) + 2]
        link[link == 0] = WAY
        visited.append(goal)
        here = goal
