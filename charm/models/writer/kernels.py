"""Attention within the sequences of a pack, as Triton kernels: one that turns, one forward and two backward.

A token sees the whole question and every token up to itself: query i sees keys 0 .. max(i, asked - 1), both counted
from the begin of their sequence, whose question has `asked` tokens. A question that is read forward counts as empty.

- Queries and keys are turned once, into memory of their own, and kept for the backward pass: pair (i, i + K/2) of the
  columns turns by its token's angle. So the loops load tiles that the matrix unit takes as they are, and the copies run
  ahead of it. Gradients are turned back as they are stored, in the layout of what the product wrote.
- The softmax is the usual running one, in float32 and powers of two. Nothing is summed by atomics.
- Programs are launched for real blocks alone: a table lists the blocks of every sequence, the longest first. Its size
  depends on the shape of the pack only, so an update can be recorded; programs without a block return at once.

Operations for each pair of a query and a key it sees, K columns: 4 K forward; backward 6 K for the queries and 8 K for
keys and values (scores are computed again in both).

Shapes: L tokens of a pack, N sequences, H heads, K head width, P = K/2 pairs of columns, T blocks of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import Tensor

# Queries and keys of a block; whether blocks that need a mask have a separate loop (2) or share one (1); and how
# the compiler arranges the loop. `benchmarks/writer_attention.py` times them on an H200.
FORWARD = {"QUERIES": 64, "KEYS": 64, "LOOPS": 1, "num_warps": 4, "num_stages": 3}
BACKWARD_QUERIES = {"QUERIES": 64, "KEYS": 64, "LOOPS": 1, "num_warps": 4, "num_stages": 3}
BACKWARD_KEYS = {"QUERIES": 64, "KEYS": 64, "LOOPS": 1, "num_warps": 4, "num_stages": 3}
TURN_TOKENS = 32  # of a program that turns queries and keys


class BackwardInputs(NamedTuple):
    """What both backward kernels read, and the gradient that they write."""

    turned: Tensor  # [L, 2, H, K]
    qkv: Tensor  # [L, 3, H, K]
    turn: Tensor  # [2, L, P]
    dout: Tensor  # [L, H, K]
    dqkv: Tensor  # [L, 3, H, K]


@triton.jit
def _turns(turn_ptr: tl.tensor, row: tl.tensor, there: tl.tensor, tokens: tl.tensor, P: tl.constexpr) -> Any:
    """Load cosines and sines of rows from `turn_ptr` [2, L, P], in float32."""
    at = row[:, None] * P + tl.arange(0, P)[None, :]
    cos = tl.load(turn_ptr + at, there[:, None], 0.0)
    sin = tl.load(turn_ptr + tokens * P + at, there[:, None], 0.0)
    return cos.to(tl.float32), sin.to(tl.float32)


@triton.jit
def _turn_kernel(
    qkv_ptr: tl.tensor,  # [L, 3, H, K]
    turn_ptr: tl.tensor,  # [2, L, P]
    turned_ptr: tl.tensor,  # [L, 2, H, K]: queries and keys
    tokens: tl.tensor,
    H: tl.constexpr,
    P: tl.constexpr,
    TOKENS: tl.constexpr,
) -> None:
    row = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    there = row < tokens
    cos, sin = _turns(turn_ptr, row, there, tokens, P)
    row, pair = row[:, None].to(tl.int64), tl.arange(0, P)[None, :]
    for head in tl.static_range(2 * H):
        at = qkv_ptr + row * (6 * H * P) + head * (2 * P) + pair
        first = tl.load(at, there[:, None], 0.0)
        second = tl.load(at + P, there[:, None], 0.0)
        dtype = first.dtype
        first, second = first.to(tl.float32), second.to(tl.float32)
        at = turned_ptr + row * (4 * H * P) + head * (2 * P) + pair
        tl.store(at, (first * cos - second * sin).to(dtype), there[:, None])
        tl.store(at + P, (second * cos + first * sin).to(dtype), there[:, None])


@triton.jit
def _store_turned_back(
    x_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    gradient: tl.tensor,  # [rows, K] of the turned ones, float32
    row: tl.tensor,
    there: tl.tensor,
    begin: tl.tensor,  # the token at which rows are counted from
    tokens: tl.tensor,
    stride: tl.constexpr,
    P: tl.constexpr,
) -> None:
    cos, sin = _turns(turn_ptr + begin * P, row, there, tokens, P)
    halves = tl.permute(tl.reshape(gradient, [gradient.shape[0], 2, P]), (0, 2, 1))
    first, second = tl.split(halves)
    at = x_ptr + row[:, None] * stride + tl.arange(0, P)[None, :]
    dtype = x_ptr.dtype.element_ty
    tl.store(at, (first * cos + second * sin).to(dtype), there[:, None])
    tl.store(at + P, (second * cos - first * sin).to(dtype), there[:, None])


@triton.jit
def _rows(x_ptr: tl.tensor, row: tl.tensor, length: tl.tensor, stride: tl.constexpr, K: tl.constexpr) -> tl.tensor:
    """Load rows of one head, [rows, K]; zeros beyond the end of the sequence."""
    at = row[:, None] * stride + tl.arange(0, K)[None, :]
    return tl.load(x_ptr + at, (row < length)[:, None], 0.0)


@triton.jit
def _block(blocks_ptr: tl.tensor, H: tl.constexpr) -> Any:
    """Load this program's block: its head, its first token, the question's and the sequence's length, and the begin.

    Tokens are counted from the begin of the sequence; those of padding, which has no length, from its end.
    """
    at = blocks_ptr + 4 * (tl.program_id(0) // H)
    first, begin, answer, end = tl.load(at), tl.load(at + 1), tl.load(at + 2), tl.load(at + 3)
    return tl.program_id(0) % H, first - begin, answer - begin, end - begin, begin.to(tl.int64)


@triton.jit
def _seen(first: tl.tensor, asked: tl.tensor, length: tl.tensor, QUERIES: tl.constexpr, KEYS: tl.constexpr) -> Any:
    """Return how many keys all queries of a block see, in whole blocks of keys, and how many some of them see."""
    free = (tl.maximum(first, asked - 1) + 1) // KEYS * KEYS
    return free, tl.maximum(tl.minimum(first + QUERIES, length), asked)


@triton.jit
def _forward_kernel(
    turned_ptr: tl.tensor,  # [L, 2, H, K]
    qkv_ptr: tl.tensor,  # [L, 3, H, K]
    blocks_ptr: tl.tensor,  # [T, 4] first query, and begin, answer and end of its sequence
    out_ptr: tl.tensor,  # [L, H, K]
    lse_ptr: tl.tensor,  # [H, L] float32: log2 of the sum of the exponentials
    tokens: tl.tensor,
    scale: tl.constexpr,  # log2(e) / sqrt(K)
    H: tl.constexpr,
    K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    LOOPS: tl.constexpr,
) -> None:
    head, first, asked, length, begin = _block(blocks_ptr, H)
    if first >= length:
        return
    width: tl.constexpr = H * K
    q_ptr = turned_ptr + begin * (2 * width) + head * K
    v_ptr = qkv_ptr + begin * (3 * width) + 2 * width + head * K
    query = first + tl.arange(0, QUERIES)
    limit = tl.maximum(query, asked - 1)
    q = _rows(q_ptr, query, length, 2 * width, K)
    most = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    mixed = tl.zeros([QUERIES, K], tl.float32)
    free, last = _seen(first, asked, length, QUERIES, KEYS)
    for loop in tl.static_range(LOOPS):
        for start in range(free if loop else 0, last if loop == LOOPS - 1 else free, KEYS):
            key = start + tl.arange(0, KEYS)
            k = _rows(q_ptr + width, key, length, 2 * width, K)
            v = _rows(v_ptr, key, length, 3 * width, K)
            score = tl.dot(q, tl.trans(k), input_precision="ieee")
            if loop == LOOPS - 1 and start >= free:
                score = tl.where(key[None, :] <= limit[:, None], score, float("-inf"))
            new = tl.maximum(most, tl.max(score, 1) * scale)
            weight = tl.exp2(score * scale - new[:, None])
            shrink = tl.exp2(most - new)
            total = total * shrink + tl.sum(weight, 1)
            mixed = tl.dot(weight.to(v.dtype), v, mixed * shrink[:, None], input_precision="ieee")
            most = new
    some = total > 0  # padding sees nothing
    there = query < length
    mixed = mixed / tl.where(some, total, 1.0)[:, None]
    at = out_ptr + begin * width + query[:, None] * width + head * K + tl.arange(0, K)[None, :]
    tl.store(at, mixed.to(out_ptr.dtype.element_ty), there[:, None])
    lse = tl.where(some, most + tl.log2(tl.where(some, total, 1.0)), 0.0)
    tl.store(lse_ptr + head * tokens + begin + query, lse, there)


@triton.jit
def _backward_queries_kernel(
    turned_ptr: tl.tensor,
    qkv_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    blocks_ptr: tl.tensor,
    out_ptr: tl.tensor,
    lse_ptr: tl.tensor,
    dout_ptr: tl.tensor,  # [L, H, K]
    sums_ptr: tl.tensor,  # [H, L, 2] float32: the logarithm and out . dout, written here for the keys' kernel
    dqkv_ptr: tl.tensor,  # [L, 3, H, K], of which the queries are written
    tokens: tl.tensor,
    scale: tl.constexpr,
    H: tl.constexpr,
    K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    LOOPS: tl.constexpr,
) -> None:
    head, first, asked, length, begin = _block(blocks_ptr, H)
    if first >= length:
        return
    width: tl.constexpr = H * K
    q_ptr = turned_ptr + begin * (2 * width) + head * K
    v_ptr = qkv_ptr + begin * (3 * width) + 2 * width + head * K
    query = first + tl.arange(0, QUERIES)
    there = query < length
    limit = tl.maximum(query, asked - 1)
    q = _rows(q_ptr, query, length, 2 * width, K)
    dout = _rows(dout_ptr + begin * width + head * K, query, length, width, K)
    out = _rows(out_ptr + begin * width + head * K, query, length, width, K)
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), 1)
    lse = tl.load(lse_ptr + head * tokens + begin + query, there, 0.0)
    at = sums_ptr + 2 * (head * tokens + begin) + 2 * query[:, None] + tl.arange(0, 2)[None, :]
    tl.store(at, tl.join(lse, delta), there[:, None])
    dq = tl.zeros([QUERIES, K], tl.float32)
    free, last = _seen(first, asked, length, QUERIES, KEYS)
    for loop in tl.static_range(LOOPS):
        for start in range(free if loop else 0, last if loop == LOOPS - 1 else free, KEYS):
            key = start + tl.arange(0, KEYS)
            k = _rows(q_ptr + width, key, length, 2 * width, K)
            v = _rows(v_ptr, key, length, 3 * width, K)
            score = tl.dot(q, tl.trans(k), input_precision="ieee")
            dweight = tl.dot(dout, tl.trans(v), input_precision="ieee")
            weight = tl.exp2(score * scale - lse[:, None])
            if loop == LOOPS - 1 and start >= free:
                weight = tl.where(key[None, :] <= limit[:, None], weight, 0.0)
            dscore = (weight * (dweight - delta[:, None])).to(k.dtype)
            dq = tl.dot(dscore, k, dq, input_precision="ieee")
    natural: tl.constexpr = scale * 0.6931471805599453  # 1 / sqrt(K)
    dq_ptr = dqkv_ptr + begin * (3 * width) + head * K
    _store_turned_back(dq_ptr, turn_ptr, dq * natural, query, there, begin, tokens, 3 * width, K // 2)


@triton.jit
def _backward_keys_kernel(
    turned_ptr: tl.tensor,
    qkv_ptr: tl.tensor,
    turn_ptr: tl.tensor,
    blocks_ptr: tl.tensor,  # [T, 4] first key, and begin, answer and end of its sequence
    sums_ptr: tl.tensor,
    dout_ptr: tl.tensor,
    dqkv_ptr: tl.tensor,  # [L, 3, H, K], of which keys and values are written
    tokens: tl.tensor,
    scale: tl.constexpr,
    H: tl.constexpr,
    K: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    LOOPS: tl.constexpr,
) -> None:
    head, first, asked, length, begin = _block(blocks_ptr, H)
    if first >= length:
        return
    width: tl.constexpr = H * K
    q_ptr = turned_ptr + begin * (2 * width) + head * K
    dout_ptr += begin * width + head * K
    sums_ptr += 2 * (head * tokens + begin)
    key = first + tl.arange(0, KEYS)
    inside = key < length
    k = _rows(q_ptr + width, key, length, 2 * width, K)
    v = _rows(qkv_ptr + begin * (3 * width) + 2 * width + head * K, key, length, 3 * width, K)
    dk = tl.zeros([KEYS, K], tl.float32)
    dv = tl.zeros([KEYS, K], tl.float32)
    # Queries from `start` on see some keys of the block, those from `free` on all of them. Padding has no queries.
    start = tl.where(first < asked, 0, first)
    newest = tl.minimum(first + KEYS, length) - 1
    free = start
    if newest >= asked:
        free = tl.minimum(start + tl.cdiv(newest - start, QUERIES) * QUERIES, length)
    for loop in tl.static_range(LOOPS):
        for from_query in range(free if loop else start, length if loop == LOOPS - 1 else free, QUERIES):
            query = from_query + tl.arange(0, QUERIES)
            q = _rows(q_ptr, query, length, 2 * width, K)
            dout = _rows(dout_ptr, query, length, width, K)  # 0 beyond the end, where it adds nothing
            lse, delta = tl.split(_rows(sums_ptr, query, length, 2, 2))
            score = tl.dot(k, tl.trans(q), input_precision="ieee")  # [KEYS, QUERIES]
            dweight = tl.dot(v, tl.trans(dout), input_precision="ieee")
            weight = tl.exp2(score * scale - lse[None, :])
            if loop == 0 and from_query < free:
                limit = tl.maximum(query, asked - 1)
                weight = tl.where(key[:, None] <= limit[None, :], weight, 0.0)
            dv = tl.dot(weight.to(v.dtype), dout, dv, input_precision="ieee")
            dscore = (weight * (dweight - delta[None, :])).to(v.dtype)
            dk = tl.dot(dscore, q, dk, input_precision="ieee")
    natural: tl.constexpr = scale * 0.6931471805599453
    dk_ptr = dqkv_ptr + begin * (3 * width) + width + head * K
    _store_turned_back(dk_ptr, turn_ptr, dk * natural, key, inside, begin, tokens, 3 * width, K // 2)
    at = dk_ptr + width + key[:, None] * (3 * width) + tl.arange(0, K)[None, :]
    tl.store(at, dv.to(dqkv_ptr.dtype.element_ty), inside[:, None])


def tables(edges_N2: Tensor, answers_N: Tensor, tokens: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the tables of blocks of a pack: for the forward kernel, the queries' gradients, and the keys'.

    Answers begin at `answers_N`; where a question is read forward, that is where its sequence begins. Never waits for
    the device.
    """
    sizes = FORWARD["QUERIES"], BACKWARD_QUERIES["QUERIES"], BACKWARD_KEYS["KEYS"]
    sequences = longest_first(edges_N2, answers_N)
    forward, queries, keys = (blocks_of(sequences, tokens, size) for size in sizes)
    return forward, queries, keys


def longest_first(edges_N2: Tensor, answers_N: Tensor) -> Tensor:
    """Return the sequences [N + 1, 4] with the longest first: first token, begin, answer and end.

    Padding is a sequence whose tokens see nothing: its begin is its end. It comes last, as what is launched last should
    be short.
    """
    first, end = edges_N2[:-1], edges_N2[1:]
    begin, answer = (torch.cat([part, end[-1:]]) for part in (first[:-1], answers_N))
    order = (begin - end).argsort(stable=True)
    return torch.stack([first, begin, answer, end], dim=1)[order]


def blocks_of(sequences: Tensor, tokens: int, size: int) -> Tensor:
    """Return the blocks [T, 4] of all sequences: first token, and begin, answer and end of the sequence.

    T depends on shapes alone; rows beyond the last block are 0, so they begin at their end.
    """
    first, end = sequences[:, 0], sequences[:, 3]
    count = (end - first + size - 1) // size
    after = count.cumsum(0)
    number = torch.arange(-(-tokens // size) + len(first), device=first.device)
    sequence = torch.searchsorted(after, number, right=True)
    real = sequence < len(first)
    sequence = sequence.clamp(max=len(first) - 1)
    at = first[sequence] + (number - (after - count)[sequence]) * size
    return torch.where(real[:, None], torch.cat([at[:, None], sequences[sequence, 1:]], dim=1), 0).int()


def turn_parts(qkv: Tensor, turn: Tensor) -> Tensor:
    """Return queries and keys turned by their tokens' angles, [L, 2, H, K]."""
    tokens, _, heads, width = qkv.shape
    turned = qkv.new_empty(tokens, 2, heads, width)
    _turn_kernel[(triton.cdiv(tokens, TURN_TOKENS),)](qkv, turn, turned, tokens, heads, width // 2, TURN_TOKENS)
    return turned


def forward_pass(turned: Tensor, qkv: Tensor, blocks: Tensor, options: Mapping[str, int]) -> tuple[Tensor, Tensor]:
    """Return the attention [L, H, K] and log2 sums of exponentials [H, L]."""
    tokens, _, heads, width = qkv.shape
    out, lse = qkv.new_empty(tokens, heads, width), qkv.new_empty(heads, tokens, dtype=torch.float32)
    sizes = (tokens, _scale(width), heads, width)
    _forward_kernel[(len(blocks) * heads,)](turned, qkv, blocks, out, lse, *sizes, **options)
    return out, lse


def backward_queries(
    read: BackwardInputs, blocks: Tensor, out: Tensor, lse: Tensor, options: Mapping[str, int]
) -> Tensor:
    """Write the gradient of the queries; return what the keys need of them, [H, L, 2]."""
    tokens, _, heads, width = read.qkv.shape
    sums = lse.new_empty(heads, tokens, 2)
    sizes = (tokens, _scale(width), heads, width)
    _backward_queries_kernel[(len(blocks) * heads,)](
        read.turned, read.qkv, read.turn, blocks, out, lse, read.dout, sums, read.dqkv, *sizes, **options
    )
    return sums


def backward_keys(read: BackwardInputs, blocks: Tensor, sums: Tensor, options: Mapping[str, int]) -> None:
    """Write the gradients of keys and values."""
    tokens, _, heads, width = read.qkv.shape
    sizes = (tokens, _scale(width), heads, width)
    _backward_keys_kernel[(len(blocks) * heads,)](
        read.turned, read.qkv, read.turn, blocks, sums, read.dout, read.dqkv, *sizes, **options
    )


@torch.library.custom_op("charm::attend_packed", mutates_args=())
def attend_packed(
    qkv: Tensor, turn: Tensor, forward: Tensor, queries: Tensor, keys: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the attention [L, H, K] within the sequences of a pack, and for the backward pass log2 sums of
    exponentials [H, L] and the turned queries and keys [L, 2, H, K].

    `qkv` is [L, 3, H, K], not yet turned; `turn` [2, L, P] has the cosines and sines of the tokens' angles. The other
    three are the pack's `tables`.
    """
    qkv = qkv.contiguous()
    turned = turn_parts(qkv, turn.contiguous())
    return *forward_pass(turned, qkv, forward, FORWARD), turned


@torch.library.custom_op("charm::attend_packed_backward", mutates_args=())
def attend_packed_backward(
    dout: Tensor, qkv: Tensor, turn: Tensor, queries: Tensor, keys: Tensor, out: Tensor, lse: Tensor, turned: Tensor
) -> Tensor:
    """Return the gradient of `qkv`, [L, 3, H, K]."""
    qkv = qkv.contiguous()
    read = BackwardInputs(turned, qkv, turn.contiguous(), dout.contiguous(), torch.empty_like(qkv))
    sums = backward_queries(read, queries, out, lse, BACKWARD_QUERIES)
    backward_keys(read, keys, sums, BACKWARD_KEYS)
    return read.dqkv


def _scale(width: int) -> float:
    return math.log2(math.e) / math.sqrt(width)


@attend_packed.register_fake
def _(qkv: Tensor, turn: Tensor, forward: Tensor, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    tokens, _, heads, width = qkv.shape
    lse = qkv.new_empty(heads, tokens, dtype=torch.float32)
    return qkv.new_empty(tokens, heads, width), lse, qkv.new_empty(tokens, 2, heads, width)


@attend_packed_backward.register_fake
def _(
    dout: Tensor, qkv: Tensor, turn: Tensor, queries: Tensor, keys: Tensor, out: Tensor, lse: Tensor, turned: Tensor
) -> Tensor:
    return qkv.new_empty(qkv.shape)


def _keep(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    qkv, turn, _, queries, keys = inputs
    ctx.save_for_backward(qkv, turn, queries, keys, *output)


def _gradient(ctx: Any, dout: Tensor, *others: Tensor) -> tuple[Tensor | None, ...]:
    return attend_packed_backward(dout, *ctx.saved_tensors), None, None, None, None


attend_packed.register_autograd(_gradient, setup_context=_keep)
