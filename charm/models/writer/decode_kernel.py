"""Attention of one new token of each answer to all tokens before it, as one Triton kernel.

A program has one head of one answer. It keeps the new token's key and value, then reads the keys and values before it,
as many as that answer has: nothing is padded, so the bytes read are those that must be. Each of its lanes has a running
softmax of its own over every KEYS-th key; they meet at the end. Everything is computed in float32.

Shapes: B new tokens, H heads, K head width, R tokens for which there is room, of all answers together.
"""

from __future__ import annotations

import math

import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import Tensor

# Keys that a program reads at once, and its warps. Chosen by counting, not measured yet.
SHAPE = {"KEYS": 64, "num_warps": 4}


@triton.jit
def _attend_kernel(
    q_ptr: tl.tensor,  # [B, H, K], rotated
    k_ptr: tl.tensor,  # [B, H, K], rotated
    v_ptr: tl.tensor,  # [B, H, K], rows `stride_v` apart
    kept_ptr: tl.tensor,  # [2, H, R, K]: keys and values
    base_ptr: tl.tensor,  # [B] int64: where the tokens of each answer begin
    length_ptr: tl.tensor,  # [B] int64: how many there are, not counting the new one
    seen_ptr: tl.tensor,  # [B] int64: how many of them are read
    out_ptr: tl.tensor,  # [B, H, K]
    stride_v: tl.tensor,
    room: tl.tensor,
    scale: tl.constexpr,  # log2(e) / sqrt(K)
    H: tl.constexpr,
    K: tl.constexpr,
    KEYS: tl.constexpr,
) -> None:
    row, head = tl.program_id(0), tl.program_id(1)
    column = tl.arange(0, K)
    own = (row * H + head) * K + column
    new_k = tl.load(k_ptr + own)
    new_v = tl.load(v_ptr + row.to(tl.int64) * stride_v + head * K + column)
    q = tl.load(q_ptr + own).to(tl.float32) * scale
    begin = tl.load(base_ptr + row)
    keys_ptr = kept_ptr + (head.to(tl.int64) * room + begin) * K
    values_ptr = keys_ptr + H * room.to(tl.int64) * K
    newest = tl.load(length_ptr + row) * K + column
    tl.store(keys_ptr + newest, new_k)
    tl.store(values_ptr + newest, new_v)
    own_score = tl.sum(q * new_k.to(tl.float32))

    most = tl.full([KEYS], -1e30, tl.float32)  # no infinities: their difference is not a number
    total = tl.zeros([KEYS], tl.float32)
    mixed = tl.zeros([KEYS, K], tl.float32)
    seen = tl.load(seen_ptr + row).to(tl.int32)
    for start in range(0, seen, KEYS):
        key = start + tl.arange(0, KEYS)
        inside = key < seen
        at = key[:, None] * K + column[None, :]
        k = tl.load(keys_ptr + at, inside[:, None], 0.0).to(tl.float32)
        v = tl.load(values_ptr + at, inside[:, None], 0.0).to(tl.float32)
        score = tl.where(inside, tl.sum(k * q[None, :], 1), -1e30)
        larger = tl.maximum(most, score)
        shrink = tl.exp2(most - larger)
        weight = tl.where(inside, tl.exp2(score - larger), 0.0)
        total = total * shrink + weight
        mixed = mixed * shrink[:, None] + weight[:, None] * v
        most = larger
    largest = tl.maximum(tl.max(most, 0), own_score)
    share = tl.exp2(most - largest)
    own_share = tl.exp2(own_score - largest)
    whole = tl.sum(total * share, 0) + own_share
    found = tl.sum(mixed * share[:, None], 0) + own_share * new_v.to(tl.float32)
    tl.store(out_ptr + own, (found / whole).to(out_ptr.dtype.element_ty))


def attend_newest(
    q_BHK: Tensor, k_BHK: Tensor, v_BHK: Tensor, kept_2HRK: Tensor, base_B: Tensor, length_B: Tensor, seen_B: Tensor
) -> Tensor:
    """Keep the keys and values of new tokens, and return what their queries find there and before, [B, H, K].

    The tokens of an answer begin at its base; there are `length_B` of them before the new one, of which the first
    `seen_B` are read. Never waits for the device.
    """
    count, heads, width = q_BHK.shape
    q_BHK, k_BHK = q_BHK.contiguous(), k_BHK.contiguous()
    if v_BHK.stride()[1:] != (width, 1):
        v_BHK = v_BHK.contiguous()
    found = q_BHK.new_empty(count, heads, width)
    scale = math.log2(math.e) / math.sqrt(width)
    about = (base_B.contiguous(), length_B.contiguous(), seen_B.contiguous())
    sizes = (v_BHK.stride(0), kept_2HRK.shape[2], scale, heads, width)
    _attend_kernel[count, heads](q_BHK, k_BHK, v_BHK, kept_2HRK, *about, found, *sizes, **SHAPE)
    return found
