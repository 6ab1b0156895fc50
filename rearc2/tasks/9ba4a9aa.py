"""Dotted ways link little 3x3 signs. The way that starts at the chequered sign is followed along its own colour, past
the branches of other colours; the sign at its end is the output."""

from random import Random

from rearc2.helpers import Grid, Retry, background, canvas, colors

Node = tuple[int, int]
STEPS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
SIDE, NODES = 22, 10  # dots and the centres of signs lie on a lattice with two cells from one to the next


def generate(rng: Random) -> tuple[Grid, Grid]:
    ground, *palette = colors(rng, 9)
    used: dict[Node, int] = {}  # lattice place -> colour of the dot, 0 for a sign
    start = rng.choice([0, NODES - 1, rng.randrange(NODES)]), rng.choice([0, NODES - 1])
    used[start] = 0
    main = rng.choice(palette)
    end = _way(rng, used, start, main, rng.randint(9, 18), turns=3)
    signs = [end]
    wanted = rng.randint(2, 6)
    for _ in range(200):
        if len(signs) > wanted:
            break
        # A branch leaves another way, or goes on from a sign.
        source = rng.choice([node for node in used if used[node]] + signs)
        color = rng.choice([color for color in palette if color not in (main, used[source])])
        try:
            signs.append(_way(rng, used, source, color, rng.randint(2, 8), turns=1))
        except Retry:
            continue
    if len(signs) <= wanted:
        raise Retry
    down, right = rng.choice([1, 2]), rng.choice([1, 2])
    before = canvas(SIDE, SIDE, ground)
    for (row, column), color in used.items():
        before[2 * row + down, 2 * column + right] = color or ground
    answer = canvas(3, 3)
    for row, column in [start, *signs]:
        ring, centre = rng.sample(palette, 2)
        sign = canvas(3, 3, ring)
        sign[1, 1] = centre
        if (row, column) == start:
            sign[::2, ::2] = centre
        if (row, column) == end:
            answer = sign
        middle = 2 * row + down, 2 * column + right
        before[middle[0] - 1 : middle[0] + 2, middle[1] - 1 : middle[1] + 2] = sign
    return before, answer


def _way(rng: Random, used: dict[Node, int], source: Node, color: int, length: int, turns: int) -> Node:
    """Adds the dots of a way with some turns that touches nothing but its source, and the sign's place at its end."""
    row, column = source
    step, left = rng.choice(STEPS), turns
    way: list[Node] = []
    while len(way) <= length:
        ahead = row + step[0], column + step[1]
        blocked = not (0 <= ahead[0] < NODES and 0 <= ahead[1] < NODES) or ahead in used
        if (blocked or rng.random() < 0.15) and left and len(way) > 1:
            step, left = rng.choice([(step[1], step[0]), (-step[1], -step[0])]), left - 1
        elif blocked:
            break
        else:
            row, column = ahead
            way.append(ahead)
    if len(way) < 3 or len(way) < length * 2 // 3:
        raise Retry
    signs = {node for node, dot in used.items() if not dot}
    for number, node in enumerate(way):
        last = number == len(way) - 1
        linked = {way[number - 1] if number else source, *way[number + 1 : number + 2]}
        # Nothing else may be beside a dot along an edge, nor beside a sign over a corner.
        if (_around(node, corners=last) & {*used, *way} | _around(node, corners=True) & signs) - linked:
            raise Retry
    used.update(dict.fromkeys(way, color))
    used[way[-1]] = 0
    return way[-1]


def _around(node: Node, corners: bool) -> set[Node]:
    row, column = node
    return {
        (row + r, column + c)
        for r in (-1, 0, 1)
        for c in (-1, 0, 1)
        if (r or c) and (corners or not (r and c))
    }


def verify(grid: Grid) -> Grid:
    ground = background(grid)
    patches = {
        (row, column): grid[row - 1 : row + 2, column - 1 : column + 2]
        for row in range(1, len(grid) - 1)
        for column in range(1, grid.shape[1] - 1)
    }
    signs = {centre: patch for centre, patch in patches.items() if ground not in patch}
    start = next(centre for centre, patch in signs.items() if patch[0, 0] != patch[0, 1])
    color, seen, todo = 0, {start}, [start]
    for row, column in todo:  # grows while it is walked through
        for down, right in STEPS:
            node = row + 2 * down, column + 2 * right
            if node in seen or min(node) < 0 or node[0] >= len(grid) or node[1] >= grid.shape[1]:
                continue
            if node in signs:
                return signs[node].copy()
            if grid[node] != ground and color in (0, grid[node]):
                color = int(grid[node])
                seen.add(node)
                todo.append(node)
    raise ValueError("the way ends nowhere")
