import numpy as np
import pytest

from charm.automata.rules import FAMILIES, Rule, draw_rule, evolve, parse_rule
from charm.errors import CharmError


def naive(grid: np.ndarray, rule: Rule) -> np.ndarray:
    """One update, cell by cell, straight from the definition."""
    height, width = grid.shape
    after = np.zeros_like(grid)
    for i in range(height):
        for j in range(width):
            count = 0
            for di in range(-rule.radius, rule.radius + 1):
                for dj in range(-rule.radius, rule.radius + 1):
                    if (di, dj) != (0, 0) or rule.middle:
                        count += grid[(i + di) % height, (j + dj) % width] == 1
            if grid[i, j] == 0:
                after[i, j] = count in rule.births
            elif grid[i, j] == 1 and count in rule.survivals:
                after[i, j] = 1
            else:
                after[i, j] = (grid[i, j] + 1) % rule.states
    return after


@pytest.mark.parametrize("family", FAMILIES)
def test_equals_a_naive_loop(family: str) -> None:
    rng = np.random.default_rng(0)
    for number in range(4):
        rule = draw_rule(family, 1, number, side=11)  # type: ignore[arg-type]
        start = rng.integers(0, rule.states, (2, 11, 13)).astype(np.uint8)  # not square: axes must not be confused
        found = evolve(start, rule, (1, 3))
        for one, grid in enumerate(start):
            grid = naive(grid, rule)
            assert np.array_equal(found[0, one], grid)
            assert np.array_equal(found[1, one], naive(naive(grid, rule), rule))


def on_torus(pattern: str, side: int) -> np.ndarray:
    """A pattern of rows separated by slashes, in the middle of an empty torus."""
    rows = [[".123456789".index(cell) for cell in row] for row in pattern.split("/")]
    grid = np.zeros((side, side), np.uint8)
    top, left = (side - len(rows)) // 2, (side - len(rows[0])) // 2
    grid[top : top + len(rows), left : left + len(rows[0])] = rows
    return grid


def displacement(pattern: np.ndarray, rule: str, time: int) -> list[tuple[int, int]]:
    """All shifts on the torus under which the pattern has become itself after `time` updates."""
    later = evolve(pattern[None], parse_rule(rule), (time,))[0, 0]
    side = len(pattern)
    every = [(i, j) for i in range(-(side // 2), side - side // 2) for j in range(-(side // 2), side - side // 2)]
    return [shift for shift in every if np.array_equal(np.roll(pattern, shift, (0, 1)), later)]


def test_blinker_has_period_two() -> None:
    blinker = on_torus("111", 16)
    assert displacement(blinker, "B3/S23", 1) == []
    assert displacement(blinker, "B3/S23", 2) == [(0, 0)]


def test_glider_moves_one_cell_diagonally_in_four_updates_and_comes_back_around_the_torus() -> None:
    glider = on_torus(".1./..1/111", 16)
    for time in (1, 2, 3):
        assert displacement(glider, "B3/S23", time) == []
    assert displacement(glider, "B3/S23", 4) == [(1, 1)]
    assert displacement(glider, "B3/S23", 64) == [(0, 0)]


def test_replicator_of_highlife_copies_itself_in_twelve_updates() -> None:
    """B36/S23: the best known pattern of HighLife; copies appear along the diagonal."""
    pattern = on_torus("..111/.1..1/1...1/1..1./111..", 40)
    later = evolve(pattern[None], parse_rule("B36/S23"), (12,))[0, 0]
    copies = [np.roll(pattern, shift, (0, 1)) for shift in ((-2, -2), (2, 2))]
    assert later.sum() == 2 * pattern.sum()
    assert np.array_equal(later, copies[0] | copies[1])


def test_brians_brain_spaceship_moves_at_the_speed_of_light() -> None:
    """B2/S/C3: two live cells followed by two dying ones move one cell with every update."""
    ship = on_torus("21/21", 16)
    for time in (1, 2, 5):
        assert displacement(ship, "B2/S/C3", time) == [(0, time)]
    assert displacement(ship, "B2/S/C3", 16) == [(0, 0)]


def test_brians_brain_oscillator_has_period_three() -> None:
    """Four live cells around a square of dying ones: the well known rotor of B2/S/C3."""
    rotor = on_torus(".1../.221/122./..1.", 12)
    assert displacement(rotor, "B2/S/C3", 3) == [(0, 0)]
    assert displacement(rotor, "B2/S/C3", 1) == []


# Bosco's rule, known for its bugs. Evans counts the cell itself, (5, 34..45, 34..58); others leave it out.
BOSCO = "R5,C0,M1,S34..58,B34..45"
BUG = (
    "....1111..../...11..11.../..11....11../.111....111./1111....1111/.111....111./"
    ".1111..1111./..11111111../..11111111../...111111.../...111111..."
)


def test_boscos_bug_moves_five_cells_in_six_updates() -> None:
    bug = on_torus(BUG, 32)
    for time in range(1, 6):
        assert displacement(bug, BOSCO, time) == []
    assert displacement(bug, BOSCO, 6) == [(5, 0)]
    assert displacement(np.ascontiguousarray(bug.T), BOSCO, 6) == [(0, 5)]
    assert displacement(np.ascontiguousarray(bug[::-1]), BOSCO, 6) == [(-5, 0)]


def test_counting_the_cell_itself_shifts_survivals_by_one() -> None:
    start = np.random.default_rng(0).integers(0, 2, (3, 20, 20)).astype(np.uint8)
    with_itself, without = (parse_rule(rule) for rule in (BOSCO, "R5,C0,M0,S33..57,B34..45"))
    assert np.array_equal(evolve(start, with_itself, (1, 2, 8)), evolve(start, without, (1, 2, 8)))


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(CharmError, match="smaller than the neighbourhood"):
        evolve(np.zeros((1, 9, 16), np.uint8), parse_rule("R5,C0,M1,S33..57,B34..45"), (1,))
    with pytest.raises(CharmError, match=r"must be in 0\.\.1, got 2"):
        evolve(np.full((1, 9, 9), 2, np.uint8), parse_rule("B3/S23"), (1,))
    with pytest.raises(CharmError, match="horizons must be increasing"):
        evolve(np.zeros((1, 9, 9), np.uint8), parse_rule("B3/S23"), (2, 2))


@pytest.mark.parametrize("radius", [1, 2, 3, 7])
def test_the_smallest_torus_holds_the_neighbourhood_exactly_once(radius: int) -> None:
    """On a side of 2r the two ends of a neighbourhood would be the same cell, counted twice."""
    side = 2 * radius + 1
    rule = Rule((1, 2, 3), (2, 3), radius=radius)
    start = np.random.default_rng(radius).integers(0, 2, (1, side, side + 1)).astype(np.uint8)
    start[start.cumsum().reshape(start.shape) > 4] = 0  # few, so that counts decide
    assert np.array_equal(evolve(start, rule, (1,))[0, 0], naive(start[0], rule))
    for height, width in ((side - 1, side), (side, side - 1)):
        with pytest.raises(CharmError, match="smaller than the neighbourhood"):
            evolve(np.zeros((1, height, width), np.uint8), rule, (1,))
