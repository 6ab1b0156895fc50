"""Attention of the new tokens of each answer to themselves and to all tokens before them, as one Triton kernel.

A program has one head of one answer, and G new tokens, each of which sees those up to itself. It turns their queries
and keys as it loads them, keeps keys and values, then reads those before, as many as that answer has: nothing is
padded, so the bytes read are those that must be, once for all new tokens. The softmax is the usual running one, in
float32 and powers of two.

Shapes: B answers in flight, G new tokens of each, H heads, K head width, P = K/2 pairs of columns, R tokens for which
there is room, of all answers together.
"""

from __future__ import annotations

import math

import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import Tensor

# Keys that a program reads at once, and how the compiler arranges the loop.
SHAPE = {"KEYS": 64, "num_warps": 4, "num_stages": 3}
FEWEST_ROWS = 16  # of a product: with fewer new tokens, the other rows are dropped


@triton.jit
def _rotated(
    x_ptr: tl.tensor,
    turn_ptr: tl.tensor,  # [2, B G, P] cosines, sines
    token: tl.tensor,
    there: tl.tensor,
    tokens: tl.tensor,
    stride: tl.constexpr,
    P: tl.constexpr,
) -> tl.tensor:
    """Load tokens of one head and turn their pairs, (i, i + P)."""
    column = tl.arange(0, 2 * P)[None, :]
    turn = token[:, None] * P + column % P
    cos = tl.load(turn_ptr + turn, there[:, None], 0.0).to(tl.float32)
    sin = tl.load(turn_ptr + tokens * P + turn, there[:, None], 0.0).to(tl.float32)
    x_ptr += token[:, None] * stride
    own = tl.load(x_ptr + column, there[:, None], 0.0)
    other = tl.load(x_ptr + (column + P) % (2 * P), there[:, None], 0.0).to(tl.float32)
    turned = own.to(tl.float32) * cos + tl.where(column < P, -other, other) * sin
    return turned.to(own.dtype)


@triton.jit
def _attend_kernel(
    qkv_ptr: tl.tensor,  # [B, G, 3, H, K], not rotated
    turn_ptr: tl.tensor,  # [2, B, G, P]: cosines and sines of the keys
    ahead_ptr: tl.tensor,  # [2, B, G, P]: those of the queries
    kept_ptr: tl.tensor,  # [2, H, R, K]: keys and values
    base_ptr: tl.tensor,  # [B] int64: where the tokens of each answer begin
    length_ptr: tl.tensor,  # [B] int64: how many there are, not counting the new ones
    seen_ptr: tl.tensor,  # [B] int64: how many of them are read
    out_ptr: tl.tensor,  # [B, G, H, K]
    tokens: tl.tensor,  # B G
    room: tl.tensor,
    scale: tl.constexpr,  # log2(e) / sqrt(K)
    G: tl.constexpr,
    H: tl.constexpr,
    P: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
) -> None:
    K: tl.constexpr = 2 * P
    stride: tl.constexpr = 3 * H * K
    row, head = tl.program_id(0), tl.program_id(1)
    column = tl.arange(0, K)
    new = tl.arange(0, ROWS)
    there = new < G
    token = row * G + new
    q_ptr = qkv_ptr + head * K
    q = _rotated(q_ptr, ahead_ptr, token, there, tokens, stride, P)
    new_k = _rotated(q_ptr + H * K, turn_ptr, token, there, tokens, stride, P)
    new_v = tl.load(q_ptr + 2 * H * K + token[:, None] * stride + column[None, :], there[:, None], 0.0)

    own = tl.dot(q, tl.trans(new_k), input_precision="ieee") * scale
    own = tl.where((new[None, :] <= new[:, None]) & there[None, :], own, float("-inf"))
    most = tl.max(own, 1)
    own = tl.exp2(own - most[:, None])
    total = tl.sum(own, 1)
    mixed = tl.dot(own.to(new_v.dtype), new_v, input_precision="ieee")

    begin = tl.load(base_ptr + row)
    keys_ptr = kept_ptr + (head.to(tl.int64) * room + begin) * K
    values_ptr = keys_ptr + H * room.to(tl.int64) * K
    seen = tl.load(seen_ptr + row).to(tl.int32)
    for start in range(0, seen, KEYS):
        key = start + tl.arange(0, KEYS)
        inside = key < seen
        at = key[:, None] * K + column[None, :]
        k = tl.load(keys_ptr + at, inside[:, None], 0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        score = tl.where(inside[None, :], score, float("-inf"))
        larger = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(most - larger)
        total = total * shrink + tl.sum(weight, 1)
        v = tl.load(values_ptr + at, inside[:, None], 0.0)
        mixed = tl.dot(weight.to(v.dtype), v, mixed * shrink[:, None], input_precision="ieee")
        most = larger
    newest = (tl.load(length_ptr + row) + new)[:, None] * K + column[None, :]
    tl.store(keys_ptr + newest, new_k, there[:, None])
    tl.store(values_ptr + newest, new_v, there[:, None])
    out = (token[:, None] * H + head) * K + column[None, :]
    tl.store(out_ptr + out, (mixed / total[:, None]).to(out_ptr.dtype.element_ty), there[:, None])


def attend_newest(
    qkv_BG3HK: Tensor,
    turn_2BGP: Tensor,
    ahead_2BGP: Tensor,
    kept_2HRK: Tensor,
    base_B: Tensor,
    length_B: Tensor,
    seen_B: Tensor,
) -> Tensor:
    """Keep the keys and values of new tokens, and return what their queries find there and before, [B, G, H, K].

    Keys turn by `turn`, queries by `ahead`. The tokens of an answer begin at its base; there are `length_B` of them
    before the new ones, of which the first `seen_B` are read. Never waits for the device.
    """
    count, new, _, heads, width = qkv_BG3HK.shape
    tensors = (qkv_BG3HK, turn_2BGP, ahead_2BGP, kept_2HRK, base_B, length_B, seen_B)
    found = qkv_BG3HK.new_empty(count, new, heads, width)
    scale = math.log2(math.e) / math.sqrt(width)
    rows = max(FEWEST_ROWS, triton.next_power_of_2(new))
    sizes = (count * new, kept_2HRK.shape[2], scale, new, heads, width // 2, rows)
    _attend_kernel[count, heads](*(one.contiguous() for one in tensors), found, *sizes, **SHAPE)
    return found
