import numpy as np
import pytest
import torch

from charm.tasks.batch import PairBank
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, PAD, place
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.sequences import (
    ANSWER,
    END,
    LONGEST,
    START,
    pack_pairs,
    sequence_lengths,
    to_canvas,
)
from charm.tasks.task import Grid, Pair
from charm.tasks.view import View, encode

SWAPPING = np.array(
    [turned.shape == (3, 2) for turned in (View(d).apply(np.zeros((2, 3), np.uint8)) for d in range(8))]
)


def slow(pair: Pair, view: View) -> tuple[list[int], list[tuple[int, int, int]], list[bool]]:
    """Tokens, places and whether the next token is to be predicted, cell by cell."""
    tokens, places = [START], [(0, 0, 0)]

    def rows(grid: Grid, part: int) -> None:
        for r, line in enumerate(view.apply(grid).tolist()):
            for c, token in enumerate([*(color + FIRST_COLOR for color in line), BOUNDARY]):
                tokens.append(token)
                places.append((r + 1, c + 1, part))

    rows(pair.input, 0)
    tokens.append(ANSWER)
    places.append((0, 0, 1))
    if pair.output is None:
        return tokens, places, [False] * len(tokens)
    rows(pair.output, 1)
    tokens.append(END)
    places.append((len(view.apply(pair.output)) + 1, 1, 1))
    first = tokens.index(ANSWER)
    return tokens, places, [first <= n < len(tokens) - 1 for n in range(len(tokens))]


def random_grid(rng: np.random.Generator) -> Grid:
    return rng.integers(0, 10, rng.integers(1, 7, 2)).astype(np.uint8)


@pytest.mark.parametrize("asked", [False, True])
def test_packs_are_the_sequences_of_the_slow_version_end_to_end(asked: bool) -> None:
    rng = np.random.default_rng(5)
    pairs = [Pair(random_grid(rng), None if asked else random_grid(rng)) for _ in range(16)]
    views = [View(d % 8, (0, *(1 + rng.permutation(9)).tolist())) for d in range(16)]
    instances = Instances()
    codes = encode(np.array([v.dihedral for v in views]), np.array([v.colors for v in views], np.uint8))
    rows = np.concatenate([instances.add(f"t{n}", codes[n : n + 1]) for n in range(16)])
    bank, keys = PairBank.of(pairs), Keys.of(instances)
    wanted = [slow(pair, view) for pair, view in zip(pairs, views, strict=True)]
    lengths = np.array([len(tokens) for tokens, _, _ in wanted])
    if not asked:
        swaps = SWAPPING[[view.dihedral for view in views]]
        assert sequence_lengths(bank.shape.numpy(), swaps).tolist() == lengths.tolist()
    ends = np.append(np.cumsum(lengths), lengths.sum())  # one more pair that takes no room
    pair_N = torch.cat([torch.arange(16), torch.zeros(1, dtype=torch.long)])
    row_N = torch.from_numpy(np.append(rows, rows[0])).long()
    length = int(lengths.sum()) + 9
    pack = pack_pairs(bank, keys, pair_N, row_N, torch.from_numpy(ends), length)
    assert pack.token_L.tolist() == [t for tokens, _, _ in wanted for t in tokens] + [PAD] * 9
    places = [list(place) for _, some, _ in wanted for place in some]
    assert pack.place_L3[:-9].tolist() == places
    assert pack.wanted_L[:-9].tolist() == [one for _, _, some in wanted for one in some]
    assert not pack.wanted_L[-9:].any()
    assert pack.example_L[:-9].tolist() == np.repeat(np.arange(16), lengths).tolist()
    assert pack.edges_N2.tolist() == [0, *ends.tolist(), length]


def test_the_longest_pair_has_the_longest_sequence() -> None:
    assert sequence_lengths(np.array([[30, 30, 30, 30]]), np.array([False])).tolist() == [LONGEST]


def answer(grid: Grid) -> list[int]:
    return [t for line in grid.tolist() for t in [*(c + FIRST_COLOR for c in line), BOUNDARY]] + [END]


def test_written_answers_of_every_size_become_canvases() -> None:
    rng = np.random.default_rng(1)
    grids = [rng.integers(0, 10, (h, w)).astype(np.uint8) for h in range(1, 31, 3) for w in (1, 2, 7, 30)]
    longest = max(len(answer(grid)) for grid in grids)
    tokens = torch.full((len(grids), longest), END)
    for n, grid in enumerate(grids):
        tokens[n, : len(answer(grid))] = torch.tensor(answer(grid))
        tokens[n, len(answer(grid)) :] = torch.tensor(rng.integers(0, 15, longest - len(answer(grid))))  # ignored
    found = to_canvas(tokens, 30).numpy().reshape(-1, 30, 30)
    for canvas, grid in zip(found, grids, strict=True):
        expected = place(grid)
        expected[expected == BOUNDARY] = PAD
        assert np.array_equal(canvas, expected)


@pytest.mark.parametrize(
    "tokens",
    [
        [END],
        [BOUNDARY, END],
        [5, 6, END],  # the row is not closed
        [5, 6, BOUNDARY, 5, BOUNDARY, END],
        [5, BOUNDARY, 5, 6, BOUNDARY, END],
        [5, 6, BOUNDARY, 5, 6, 7, BOUNDARY, 5, BOUNDARY, END],  # as many cells as three rows of two
        [5, START, BOUNDARY, END],
        [5, BOUNDARY, ANSWER, BOUNDARY, END],
        [5, PAD, BOUNDARY, END],
        [5, BOUNDARY, 5, BOUNDARY],  # no END
        [*([5] * 31), BOUNDARY, END],
        [*([5, BOUNDARY] * 31), END],
    ],
)
def test_what_is_no_grid_leaves_the_canvas_empty(tokens: list[int]) -> None:
    good = [5, 6, BOUNDARY, END]
    longest = max(len(tokens), len(good))
    rows = [
        tokens + [tokens[-1] if tokens[-1] == END else 5] * (longest - len(tokens)),
        good + [END] * (longest - 4),
    ]
    found = to_canvas(torch.tensor(rows), 30)
    assert not found[0].any()
    assert found[1, :2].tolist() == [5, 6]
    assert found[1].count_nonzero() == 2
