"""Randomness without state: bits and permutations that are pure functions of (key, position).

Any position of a training run can be computed alone, by any process, in any order. Nothing has to be saved to
resume, and slices for different ranks agree without communication.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = 6


def key_of(*parts: int | str) -> int:
    """Return a 64-bit key of names and numbers; equal on every machine, unlike Python's own hash()."""
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def mix(words: Words) -> Words:
    """Mix words as SplitMix64 finishes: a bijection in which every input bit reaches every output bit."""
    with np.errstate(over="ignore"):
        words = words ^ (words >> np.uint64(30))
        words = words * np.uint64(0xBF58476D1CE4E5B9)
        words = words ^ (words >> np.uint64(27))
        words = words * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))


def bits(key: int, counters: npt.NDArray[np.integer]) -> Words:
    """Return 64 random bits for each counter under `key`."""
    with np.errstate(over="ignore"):
        return mix(mix(counters.astype(np.uint64) * _GOLDEN + np.uint64(key)) ^ np.uint64(key))


def uniform(key: int, counters: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Return a number in [0, 1) for each counter: the top 53 bits, so that every value is exact."""
    return (bits(key, counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def below(key: int, counters: npt.NDArray[np.integer], limits: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return an integer in 0..limit-1 for each counter (bias under limit / 2^64)."""
    return (bits(key, counters) % limits.astype(np.uint64)).astype(np.int64)


def permute(key: int, positions: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.int64]:
    """Permute positions by a keyed pseudo-random permutation of 0..size-1, without storing it.

    A Feistel network over the rectangle a x b, the smallest near-square one with a*b >= size: each round adds a hash
    of one coordinate to the other, which can be undone, so the whole is a bijection of the rectangle. The few images
    beyond `size` (fewer than 2 sqrt(size)) are sent through again until they land inside: a bijection of 0..size-1.
    """
    a = math.isqrt(size - 1) + 1
    b = -(-size // a)
    keys = [key_of(key, turn) for turn in range(_ROUNDS)]
    image = positions.astype(np.int64)
    outside = np.arange(len(image))
    while len(outside):
        left, right = np.divmod(image[outside], b)
        for turn, round_key in enumerate(keys):
            if turn % 2 == 0:
                left = (left + (bits(round_key, right) % np.uint64(a)).astype(np.int64)) % a
            else:
                right = (right + (bits(round_key, left) % np.uint64(b)).astype(np.int64)) % b
        image[outside] = left * b + right
        outside = outside[image[outside] >= size]
    return image
