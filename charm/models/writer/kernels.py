"""Attention within the sequences of a pack, as one Triton kernel forward and two backward.

A token sees the whole question and every token up to itself: query i sees keys begin .. max(i, answer - 1), where its
sequence begins at `begin` and its answer at `answer`. A question that is read forward counts as empty, answer = begin.

- Queries, keys and values are read where the product wrote them, and their gradients are written in the same layout.
- Queries and keys are rotated as they are loaded, each as two halves: pair (i, i + K/2) turns by its token's angle.
- The softmax is the usual running one, in float32 and powers of two. Nothing is summed by atomics.
- Programs are launched for real blocks alone: a table lists the blocks of every sequence. Its size depends on the shape
  of the pack only, so an update can be recorded; programs without a block return at once.

Operations for each pair of a query and a key it sees, K columns: 4 K forward; backward 6 K for the queries and 8 K for
keys and values (scores are computed again in both).

Shapes: L tokens of a pack, N sequences, H heads, K head width, P = K/2 pairs of columns, T blocks of the table.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import Tensor

# Queries and keys of a block, and how the compiler arranges the loop: the fastest of those that
# `benchmarks/writer_attention.py` times on an H200.
FORWARD = {"QUERIES": 64, "KEYS": 64, "num_warps": 4, "num_stages": 3}
BACKWARD_QUERIES = {"QUERIES": 64, "KEYS": 64, "num_warps": 4, "num_stages": 2}
BACKWARD_KEYS = {"QUERIES": 64, "KEYS": 128, "num_warps": 8, "num_stages": 2}


@triton.jit
def _rotated(
    x_ptr: tl.tensor,
    turn_ptr: tl.tensor,  # [2, L, P] cosines, sines
    row: tl.tensor,
    there: tl.tensor,
    tokens: tl.tensor,
    stride: tl.constexpr,
    P: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor]:
    """Load rows of one head and turn their pairs: two halves [rows, P]."""
    pair = tl.arange(0, P)
    at = row[:, None] * P + pair[None, :]
    cos = tl.load(turn_ptr + at, there[:, None], 0.0).to(tl.float32)
    sin = tl.load(turn_ptr + tokens * P + at, there[:, None], 0.0).to(tl.float32)
    at = row[:, None].to(tl.int64) * stride + pair[None, :]
    first = tl.load(x_ptr + at, there[:, None], 0.0)
    second = tl.load(x_ptr + at + P, there[:, None], 0.0)
    dtype = first.dtype
    first, second = first.to(tl.float32), second.to(tl.float32)
    return (first * cos - second * sin).to(dtype), (second * cos + first * sin).to(dtype)


@triton.jit
def _store_turned_back(
    x_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    first: tl.tensor,  # [rows, P] gradients of the rotated halves, float32
    second: tl.tensor,
    row: tl.tensor,
    there: tl.tensor,
    tokens: tl.tensor,
    stride: tl.constexpr,
    P: tl.constexpr,
) -> None:
    pair = tl.arange(0, P)
    at = row[:, None] * P + pair[None, :]
    cos = tl.load(turn_ptr + at, there[:, None], 0.0).to(tl.float32)
    sin = tl.load(turn_ptr + tokens * P + at, there[:, None], 0.0).to(tl.float32)
    at = row[:, None].to(tl.int64) * stride + pair[None, :]
    dtype = x_ptr.dtype.element_ty
    tl.store(x_ptr + at, (first * cos + second * sin).to(dtype), there[:, None])
    tl.store(x_ptr + at + P, (second * cos - first * sin).to(dtype), there[:, None])


@triton.jit
def _rows(x_ptr: tl.tensor, row: tl.tensor, there: tl.tensor, stride: tl.constexpr, K: tl.constexpr) -> tl.tensor:
    """Load rows of one head, [rows, K]."""
    at = row[:, None].to(tl.int64) * stride + tl.arange(0, K)[None, :]
    return tl.load(x_ptr + at, there[:, None], 0.0)


@triton.jit
def _block(blocks_ptr: tl.tensor) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """Load this program's block: its first token, and begin, answer and end of its sequence."""
    at = blocks_ptr + 4 * tl.program_id(0)
    return tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3)


@triton.jit
def _scores(
    q1: tl.tensor,
    q2: tl.tensor,
    key: tl.tensor,
    k_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    tokens: tl.tensor,
    end: tl.tensor,
    width: tl.constexpr,
    P: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """Return keys as two halves, values, and queries . keys."""
    k1, k2 = _rotated(k_ptr, turn_ptr, key, key < end, tokens, 3 * width, P)
    v = _rows(k_ptr + width, key, key < end, 3 * width, 2 * P)
    score = tl.dot(q1, tl.trans(k1), input_precision="ieee")
    return k1, k2, v, tl.dot(q2, tl.trans(k2), score, input_precision="ieee")


@triton.jit
def _forward_kernel(
    qkv_ptr: tl.tensor,  # [L, 3, H, K]
    turn_ptr: tl.tensor,  # [2, L, P]
    blocks_ptr: tl.tensor,  # [T, 4] first query, and begin, answer and end of its sequence
    out_ptr: tl.tensor,  # [L, H, K]
    lse_ptr: tl.tensor,  # [H, L] float32: log2 of the sum of the exponentials
    tokens: tl.tensor,
    scale: tl.constexpr,  # log2(e) / sqrt(K)
    H: tl.constexpr,
    P: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
) -> None:
    first, begin, answer, end = _block(blocks_ptr)
    if first >= end:
        return
    head = tl.program_id(1)
    width: tl.constexpr = H * 2 * P
    q_ptr = qkv_ptr + head * (2 * P)
    k_ptr = q_ptr + width
    query = first + tl.arange(0, QUERIES)
    inside = query < end
    limit = tl.maximum(query, answer - 1)
    q1, q2 = _rotated(q_ptr, turn_ptr, query, inside, tokens, 3 * width, P)
    most = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    mixed = tl.zeros([QUERIES, 2 * P], tl.float32)
    # All queries of the block see the keys before `free`; some of them see those before `last`.
    free = begin + (tl.maximum(first, answer - 1) + 1 - begin) // KEYS * KEYS
    last = tl.maximum(tl.minimum(first + QUERIES, end), answer)
    for masked in tl.static_range(2):
        for start in range(free if masked else begin, last if masked else free, KEYS):
            key = start + tl.arange(0, KEYS)
            _, _, v, score = _scores(q1, q2, key, k_ptr, turn_ptr, tokens, end, width, P)
            if masked:
                score = tl.where(key[None, :] <= limit[:, None], score, float("-inf"))
            new = tl.maximum(most, tl.max(score, 1) * scale)
            weight = tl.exp2(score * scale - new[:, None])
            shrink = tl.exp2(most - new)
            total = total * shrink + tl.sum(weight, 1)
            mixed = tl.dot(weight.to(v.dtype), v, mixed * shrink[:, None], input_precision="ieee")
            most = new
    some = total > 0  # padding sees nothing
    mixed = mixed / tl.where(some, total, 1.0)[:, None]
    at = query[:, None].to(tl.int64) * width + head * (2 * P) + tl.arange(0, 2 * P)[None, :]
    tl.store(out_ptr + at, mixed.to(out_ptr.dtype.element_ty), inside[:, None])
    lse = tl.where(some, most + tl.log2(tl.where(some, total, 1.0)), 0.0)
    tl.store(lse_ptr + head * tokens + query, lse, inside)


@triton.jit
def _backward_queries_kernel(
    qkv_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    blocks_ptr: tl.tensor,
    out_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    dout_ptr: tl.tensor,  # [L, H, K]
    delta_ptr: tl.tensor,  # [H, L] float32: out . dout, written here for the keys' kernel
    dqkv_ptr: tl.tensor,  # [L, 3, H, K], of which the queries are written
    tokens: tl.tensor,
    scale: tl.constexpr,
    H: tl.constexpr,
    P: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
) -> None:
    first, begin, answer, end = _block(blocks_ptr)
    if first >= end:
        return
    head = tl.program_id(1)
    width: tl.constexpr = H * 2 * P
    q_ptr = qkv_ptr + head * (2 * P)
    k_ptr = q_ptr + width
    query = first + tl.arange(0, QUERIES)
    inside = query < end
    limit = tl.maximum(query, answer - 1)
    q1, q2 = _rotated(q_ptr, turn_ptr, query, inside, tokens, 3 * width, P)
    dout = _rows(dout_ptr + head * (2 * P), query, inside, width, 2 * P)
    out = _rows(out_ptr + head * (2 * P), query, inside, width, 2 * P)
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), 1)
    tl.store(delta_ptr + head * tokens + query, delta, inside)
    lse = tl.load(lse_ptr + head * tokens + query, inside, 0.0)
    dq1 = tl.zeros([QUERIES, P], tl.float32)
    dq2 = tl.zeros([QUERIES, P], tl.float32)
    free = begin + (tl.maximum(first, answer - 1) + 1 - begin) // KEYS * KEYS
    last = tl.maximum(tl.minimum(first + QUERIES, end), answer)
    for masked in tl.static_range(2):
        for start in range(free if masked else begin, last if masked else free, KEYS):
            key = start + tl.arange(0, KEYS)
            k1, k2, v, score = _scores(q1, q2, key, k_ptr, turn_ptr, tokens, end, width, P)
            weight = tl.exp2(score * scale - lse[:, None])
            if masked:
                weight = tl.where(key[None, :] <= limit[:, None], weight, 0.0)
            dweight = tl.dot(dout, tl.trans(v), input_precision="ieee")
            dscore = (weight * (dweight - delta[:, None])).to(k1.dtype)
            dq1 = tl.dot(dscore, k1, dq1, input_precision="ieee")
            dq2 = tl.dot(dscore, k2, dq2, input_precision="ieee")
    natural: tl.constexpr = scale * 0.6931471805599453  # 1 / sqrt(K)
    dq_ptr = dqkv_ptr + head * (2 * P)
    _store_turned_back(dq_ptr, turn_ptr, dq1 * natural, dq2 * natural, query, inside, tokens, 3 * width, P)


@triton.jit
def _backward_keys_kernel(
    qkv_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    blocks_ptr: tl.tensor,  # [T, 4] first key, and begin, answer and end of its sequence
    lse_ptr: tl.tensor,
    dout_ptr: tl.tensor,
    delta_ptr: tl.tensor,
    dqkv_ptr: tl.tensor,  # [L, 3, H, K], of which keys and values are written
    tokens: tl.tensor,
    scale: tl.constexpr,
    H: tl.constexpr,
    P: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
) -> None:
    first, begin, answer, end = _block(blocks_ptr)
    if first >= end:
        return
    head = tl.program_id(1)
    width: tl.constexpr = H * 2 * P
    q_ptr = qkv_ptr + head * (2 * P)
    k_ptr = q_ptr + width
    dout_ptr += head * (2 * P)
    lse_ptr += head * tokens
    delta_ptr += head * tokens
    key = first + tl.arange(0, KEYS)
    inside = key < end
    k1, k2 = _rotated(k_ptr, turn_ptr, key, inside, tokens, 3 * width, P)
    v = _rows(k_ptr + width, key, inside, 3 * width, 2 * P)
    dk1 = tl.zeros([KEYS, P], tl.float32)
    dk2 = tl.zeros([KEYS, P], tl.float32)
    dv = tl.zeros([KEYS, 2 * P], tl.float32)
    # Queries from `start` on see some keys of the block, those from `free` on all of them. Padding has no queries.
    start = tl.where(first < answer, begin, tl.maximum(first, begin))
    newest = tl.minimum(first + KEYS, end) - 1
    free = start
    if newest >= answer:
        free = tl.minimum(start + tl.cdiv(newest - start, QUERIES) * QUERIES, end)
    for seen in tl.static_range(2):  # by all queries of the loop
        for from_query in range(free if seen else start, end if seen else free, QUERIES):
            query = from_query + tl.arange(0, QUERIES)
            there = query < end  # a query beyond the end has gradient 0, and adds nothing
            q1, q2 = _rotated(q_ptr, turn_ptr, query, there, tokens, 3 * width, P)
            dout = _rows(dout_ptr, query, there, width, 2 * P)
            lse = tl.load(lse_ptr + query, there, 0.0)
            delta = tl.load(delta_ptr + query, there, 0.0)
            score = tl.dot(k1, tl.trans(q1), input_precision="ieee")  # [KEYS, QUERIES]
            score = tl.dot(k2, tl.trans(q2), score, input_precision="ieee")
            weight = tl.exp2(score * scale - lse[None, :])
            if not seen:
                limit = tl.maximum(query, answer - 1)
                weight = tl.where(key[:, None] <= limit[None, :], weight, 0.0)
            dv = tl.dot(weight.to(v.dtype), dout, dv, input_precision="ieee")
            dweight = tl.dot(v, tl.trans(dout), input_precision="ieee")
            dscore = (weight * (dweight - delta[None, :])).to(v.dtype)
            dk1 = tl.dot(dscore, q1, dk1, input_precision="ieee")
            dk2 = tl.dot(dscore, q2, dk2, input_precision="ieee")
    natural: tl.constexpr = scale * 0.6931471805599453
    dk_ptr = dqkv_ptr + width + head * (2 * P)
    _store_turned_back(dk_ptr, turn_ptr, dk1 * natural, dk2 * natural, key, inside, tokens, 3 * width, P)
    at = key[:, None].to(tl.int64) * (3 * width) + tl.arange(0, 2 * P)[None, :]
    tl.store(dk_ptr + width + at, dv.to(dqkv_ptr.dtype.element_ty), inside[:, None])


def tables(edges_N2: Tensor, answers_N: Tensor, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the tables of blocks of a pack: for the forward kernel, the queries' gradients, and the keys'.

    Answers begin at `answers_N`; where a question is read forward, that is where its sequence begins.
    """
    sizes = FORWARD["QUERIES"], BACKWARD_QUERIES["QUERIES"], BACKWARD_KEYS["KEYS"]
    forward, queries, keys = (_blocks(edges_N2, answers_N, tokens, size) for size in sizes)
    return forward, queries, keys


def _blocks(edges_N2: Tensor, answers_N: Tensor, tokens: int, size: int) -> Tensor:
    """Return the blocks [T, 4] of all sequences: first token, and begin, answer and end of the sequence.

    T depends on shapes alone; rows beyond the last block are 0, so they begin at their end. Padding is a sequence whose
    tokens see nothing: its begin is its end. Never waits for the device.
    """
    begin, end = edges_N2[:-1], edges_N2[1:]
    count = (end - begin + size - 1) // size
    after = count.cumsum(0)
    number = torch.arange(-(-tokens // size) + len(begin), device=edges_N2.device)
    sequence = torch.searchsorted(after, number, right=True)
    real = sequence < len(begin)
    sequence = sequence.clamp(max=len(begin) - 1)
    first = begin[sequence] + (number - (after - count)[sequence]) * size
    shape = torch.stack([torch.cat([begin[:-1], end[-1:]]), torch.cat([answers_N, end[-1:]]), end], dim=1)
    return torch.where(real[:, None], torch.cat([first[:, None], shape[sequence]], dim=1), 0).int()


@torch.library.custom_op("charm::attend_packed", mutates_args=())
def attend_packed(qkv: Tensor, turn: Tensor, forward: Tensor, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the attention [L, H, K] within the sequences of a pack, and log2 sums of exponentials [H, L].

    `qkv` is [L, 3, H, K], not yet rotated; `turn` [2, L, P] has the cosines and sines of the tokens' angles. The other
    three are the pack's `tables`.
    """
    qkv, turn = qkv.contiguous(), turn.contiguous()
    tokens, _, heads, width = qkv.shape
    out = qkv.new_empty(tokens, heads, width)
    lse = qkv.new_empty(heads, tokens, dtype=torch.float32)
    _forward_kernel[(len(forward), heads)](
        qkv, turn, forward, out, lse, tokens, _scale(width), heads, width // 2, **FORWARD
    )
    return out, lse


@torch.library.custom_op("charm::attend_packed_backward", mutates_args=())
def attend_packed_backward(
    dout: Tensor, qkv: Tensor, turn: Tensor, queries: Tensor, keys: Tensor, out: Tensor, lse: Tensor
) -> Tensor:
    """Return the gradient of `qkv`, [L, 3, H, K]."""
    dout, qkv, turn = dout.contiguous(), qkv.contiguous(), turn.contiguous()
    tokens, _, heads, width = qkv.shape
    dqkv, delta = torch.empty_like(qkv), torch.empty_like(lse)
    sizes = (tokens, _scale(width), heads, width // 2)
    _backward_queries_kernel[(len(queries), heads)](
        qkv, turn, queries, out, lse, dout, delta, dqkv, *sizes, **BACKWARD_QUERIES
    )
    _backward_keys_kernel[(len(keys), heads)](qkv, turn, keys, lse, dout, delta, dqkv, *sizes, **BACKWARD_KEYS)
    return dqkv


def _scale(width: int) -> float:
    return math.log2(math.e) / math.sqrt(width)


@attend_packed.register_fake
def _(qkv: Tensor, turn: Tensor, forward: Tensor, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    tokens, _, heads, width = qkv.shape
    return qkv.new_empty(tokens, heads, width), qkv.new_empty(heads, tokens, dtype=torch.float32)


@attend_packed_backward.register_fake
def _(dout: Tensor, qkv: Tensor, turn: Tensor, queries: Tensor, keys: Tensor, out: Tensor, lse: Tensor) -> Tensor:
    return qkv.new_empty(qkv.shape)


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, Tensor]) -> None:
    qkv, turn, _, queries, keys = inputs
    ctx.save_for_backward(qkv, turn, queries, keys, *output)


def _gradient(ctx: Any, dout: Tensor, dlse: Tensor) -> tuple[Tensor | None, ...]:
    return attend_packed_backward(dout, *ctx.saved_tensors), None, None, None, None


attend_packed.register_autograd(_gradient, setup_context=_keep)
