"""Drawing the views of a puzzle: up to a thousand, all different in content, the original first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from charm.tasks.keyed import Words, key_of, mix
from charm.tasks.task import COLORS, MAX_SIDE, Task
from charm.tasks.view import DIHEDRALS, IDENTITY, encode, turn

Codes = npt.NDArray[np.uint32]
Colors = npt.NDArray[np.uint8]  # [n, 10], each row a permutation that keeps 0

_TRIALS_PER_VIEW = 5  # as in the reference: a puzzle with few colours stops here with fewer views
_BLOCK = 1250  # trials drawn at once
_SPARE = 16  # trials hashed at once beyond a quarter more than the views wanted

PSEUDO_SYMMETRIES, PSEUDO_COLORINGS = 5, 10  # of VARC's views: quarter turns and flips, numbered from 1 in `view`

# Fixed random words of the content hash: one for each canvas position, colour and grid shape.
_words = np.random.Generator(np.random.Philox(key_of("content hash")))
_POSITION = _words.integers(0, 2**64, (MAX_SIDE, MAX_SIDE), np.uint64)
_COLOR = _words.integers(0, 2**64, COLORS, np.uint64)
_SHAPE = _words.integers(0, 2**64, (MAX_SIDE + 1, MAX_SIDE + 1), np.uint64)
del _words


def color_pool(size: int, seed: int) -> Colors:
    """Draw a fixed pool of distinct colour permutations, the identity first (the paper's Table cppool has 1,000)."""
    rng = np.random.Generator(np.random.Philox(key_of("color pool", seed)))
    pool = np.arange(COLORS, dtype=np.uint8)[None]
    while len(pool) < size:
        drawn = np.concatenate([pool, _random_colors(rng, size)])
        _, first = np.unique(encode(np.zeros(len(drawn), np.uint8), drawn), return_index=True)
        pool = drawn[np.sort(first)][:size]
    return pool


def draw_views(task: Task, count: int, seed: int, pool: Colors | None = None, fixed: Sequence[int] = ()) -> Codes:
    """Draw at most `count` views of the task, distinct in content, beginning with the identity; return their codes.

    Depends only on (seed, task id, visible content), not on other tasks or their order. A blind task has no test
    outputs, so they cannot influence which views are distinct. With a pool, colour permutations come only from it.
    Colour 0 and the `fixed` colours never change.
    """
    rng = np.random.Generator(np.random.Philox(key_of("views", seed, task.id)))
    hasher = _ContentHash(task)
    codes = np.zeros(1, np.uint32)
    hashes = hasher(np.zeros(1, np.uint8), np.arange(COLORS, dtype=np.uint8)[None])
    hashed = count + count // 4 + _SPARE
    for _ in range(0, _TRIALS_PER_VIEW * count, _BLOCK):
        if len(codes) >= count:
            break
        dihedral = rng.integers(0, DIHEDRALS, _BLOCK, np.uint8)
        colors = _random_colors(rng, _BLOCK, fixed) if pool is None else pool[rng.integers(0, len(pool), _BLOCK)]
        for begin in range(0, _BLOCK, hashed):  # few views need not look at all trials
            if len(codes) >= count:
                break
            some = slice(begin, begin + hashed)
            codes = np.concatenate([codes, encode(dihedral[some], colors[some])])
            hashes = np.concatenate([hashes, hasher(dihedral[some], colors[some])])
            first = np.sort(np.unique(hashes, return_index=True)[1])  # in the order drawn
            codes, hashes = codes[first], hashes[first]
    return codes[:count]


def own_color_views(task: Task, count: int, seed: int, pool: Colors | None = None, fixed: Sequence[int] = ()) -> Codes:
    """Draw views as `draw_views` does; the symmetries in original colours alternate with the others until used up."""
    own = draw_views(task, DIHEDRALS, seed, np.arange(COLORS, dtype=np.uint8)[None]).tolist()
    others = [code for code in draw_views(task, count, seed, pool, fixed).tolist() if code not in own]
    return np.array(_in_turn(own, others)[:count], np.uint32)


def _in_turn(*lists: list[int]) -> list[int]:
    """Take from each list in turn until all are used up."""
    return [code for some in zip_longest(*lists) for code in some if code is not None]


def pseudo_tasks(task: Task, count: int, seed: int, fixed: Sequence[int] = ()) -> Codes:
    """Return the codes of VARC's 51 views, or of the first `count`: the original, five symmetries x ten colourings.

    The symmetries are the three turns and two flips. A colouring is the task's own or one of nine recolourings drawn
    for (seed, task id). Colourings come round by round, so that a few views already have all symmetries.
    """
    rng = np.random.Generator(np.random.Philox(key_of("pseudo tasks", seed, task.id)))
    own = np.arange(COLORS, dtype=np.uint8)[None]
    columns = []
    for symmetry in range(1, 1 + PSEUDO_SYMMETRIES):
        colors = np.concatenate([own, _random_colors(rng, _TRIALS_PER_VIEW * PSEUDO_COLORINGS, fixed)])
        codes = encode(np.full(len(colors), symmetry), colors).tolist()
        columns.append(list(dict.fromkeys(codes))[:PSEUDO_COLORINGS])  # distinct, in the order drawn
    return np.array([IDENTITY.code, *_in_turn(*columns)], np.uint32)[:count]


class _ContentHash:
    """Hashes of a task's content under many views at once.

    A grid's hash is the sum over its cells of position word x colour word (mod 2^64), so the sum over each colour's
    positions is taken once for each symmetry, and a recolouring only re-weighs ten numbers. Pairs are mixed and
    added, so their order does not matter. Different contents collide with probability near 2^-60.
    """

    def __init__(self, task: Task) -> None:
        self.has_output = np.array([pair.output is not None for pair in task.pairs])
        blank = np.zeros((0, 0), np.uint8)
        grids = [blank if one is None else one for pair in task.pairs for one in (pair.input, pair.output)]
        # sums_GKC: for symmetry G, grid K (input and output alternate) and colour C, the sum of position words.
        self.sums_GKC = np.zeros((DIHEDRALS, len(grids), COLORS), np.uint64)
        self.shapes_GK = np.zeros((DIHEDRALS, len(grids)), np.uint64)
        for number, grid in enumerate(grids):
            self.shapes_GK[:, number] = [_SHAPE[turn(grid, symmetry).shape] for symmetry in range(DIHEDRALS)]
            words_GN = _turned_words(*grid.shape)
            for color in np.unique(grid):
                self.sums_GKC[:, number, color] = words_GN[:, grid.ravel() == color].sum(axis=1)

    def __call__(self, dihedral_N: npt.NDArray[np.uint8], colors_NC: Colors) -> Words:
        weights_NC = _COLOR[colors_NC]
        grids_NK = np.empty((len(dihedral_N), self.sums_GKC.shape[1]), np.uint64)
        for symmetry in range(DIHEDRALS):
            chosen = dihedral_N == symmetry
            # An integer matrix product that wraps around mod 2^64, as a hash should.
            grids_NK[chosen] = weights_NC[chosen] @ self.sums_GKC[symmetry].T + self.shapes_GK[symmetry]
        mixed_NK = mix(grids_NK)
        pairs_NP = mixed_NK[:, 0::2] + mix(mixed_NK[:, 1::2]) * self.has_output.astype(np.uint64)
        return mix(pairs_NP).sum(axis=1, dtype=np.uint64)


@lru_cache(maxsize=256)
def _turned_words(height: int, width: int) -> Words:
    """Return [G, cell]: for each symmetry, the word of the position that each cell of a grid is turned to."""
    words_GN = np.empty((DIHEDRALS, height * width), np.uint64)
    for symmetry in range(DIHEDRALS):
        turned = turn(words_GN[symmetry].reshape(height, width), symmetry)  # shares its memory
        turned[...] = _POSITION[: turned.shape[0], : turned.shape[1]]
    return words_GN


def _random_colors(rng: np.random.Generator, count: int, fixed: Sequence[int] = ()) -> Colors:
    colors = np.tile(np.arange(COLORS, dtype=np.uint8), (count, 1))
    moving = [color for color in range(1, COLORS) if color not in fixed]
    colors[:, moving] = rng.permuted(colors[:, moving], axis=1)
    return colors
