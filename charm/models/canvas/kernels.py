"""The fast path of a block on NVIDIA GPUs: library matrix products, and Triton kernels for everything between them.

With gradients, a layer is the library's attention between two autograd functions, `_Project` and `_Mix`. Without
gradients, it works in place and uses the attention kernel of this file.

Between matrix products, memory traffic limits the speed. Each kernel therefore reads its inputs once, writes its
outputs once, computes in float32 and rounds once. U is the bytes of one [M, D] activation. Besides its products and
attention, a layer with F = 3D moves

    without gradients   rotate 2, norms 2 x 2, gate and convolution 9              15 U
    forward             rotate 4, norms 2 x 3, gate and convolution 9              19 U
    backward            norms 2 x 3, gate and convolution 18, rotate 6             30 U

and keeps 12 U for the backward pass: its output, the rotated q, k, v, the attention's output, the first norm's output
and [gate, up]. The input of the down product is recomputed in the pass that reads [gate, up] anyway. Products add the
residual sums where torch can do that without a copy.

Weights are cast once for all applications of a block. Each application adds its gradients to the float32 masters, in
float32.

Shapes: B examples, L positions, M = B * L rows, D width, N heads, H head width, F feed-forward inner width,
E = 3D (queries, keys, values), G = 2F (gate, up).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.attention import SDPBackend, sdpa_kernel

from charm.models.layers import NORM_EPS, Block, ConvSwiGLU, Layer, Rotation

# In order of preference: cuDNN's attention is the fastest on Hopper, but not every GPU and type has it.
BACKENDS = [
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
]


# --- Kernels. Row offsets are int64, because a batch of 768 has more than 2^31 gate and up values. ---


@triton.jit
def _add_norm_kernel(
    x_ptr: tl.tensor,  # [M, D]
    y_ptr: tl.tensor,  # [M, D]; without ADD, not read and treated as 0
    after_ptr: tl.tensor,  # [M, D]; without AFTER, not read and treated as 0
    out_ptr: tl.tensor,  # [M, D] (x + y) / rms(x + y) + after; may be x
    scale_ptr: tl.tensor,  # [M] 1 / rms(x + y), float32
    rows: tl.tensor,
    width: tl.constexpr,
    eps: tl.constexpr,
    ADD: tl.constexpr,
    AFTER: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    at = row[:, None] * width + column[None, :]
    there = (row < rows)[:, None] & (column < width)[None, :]
    total = tl.load(x_ptr + at, there, 0.0).to(tl.float32)
    if ADD:
        total += tl.load(y_ptr + at, there, 0.0).to(tl.float32)
    scale = 1 / tl.sqrt(tl.sum(total * total, 1) / width + eps)
    out = total * scale[:, None]
    if AFTER:
        out += tl.load(after_ptr + at, there, 0.0).to(tl.float32)
    tl.store(out_ptr + at, out.to(out_ptr.dtype.element_ty), there)
    tl.store(scale_ptr + row, scale, row < rows)


@triton.jit
def _norm_backward_kernel(
    dout_ptr: tl.tensor,  # [M, D]
    out_ptr: tl.tensor,  # [M, D] as the forward kernel wrote it
    scale_ptr: tl.tensor,  # [M]
    dsum_ptr: tl.tensor,  # [M, D] the gradient of x + y
    rows: tl.tensor,
    width: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    # The sum itself is not needed: out = sum * scale, so dsum = scale * (dout - out * mean(dout * out)).
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, WIDTH)
    at = row[:, None] * width + column[None, :]
    there = (row < rows)[:, None] & (column < width)[None, :]
    dout = tl.load(dout_ptr + at, there, 0.0).to(tl.float32)
    out = tl.load(out_ptr + at, there, 0.0).to(tl.float32)
    scale = tl.load(scale_ptr + row, row < rows, 0.0)
    mean = tl.sum(dout * out, 1) / width
    dsum = scale[:, None] * (dout - out * mean[:, None])
    tl.store(dsum_ptr + at, dsum.to(dsum_ptr.dtype.element_ty), there)


@triton.jit
def _rotate_kernel(
    q_ptr: tl.tensor,  # three tensors of M rows, each row of D = heads * 2 * half columns, x_stride apart
    k_ptr: tl.tensor,
    v_ptr: tl.tensor,
    out_ptr: tl.tensor,  # [M, 3D]: q, k and v side by side
    cos_ptr: tl.tensor,  # [L, H/2] float32
    sin_ptr: tl.tensor,
    rows: tl.tensor,
    length: tl.tensor,
    x_stride: tl.tensor,
    heads: tl.constexpr,
    half: tl.constexpr,  # H/2: the partner of column i of a head is i + H/2
    FIRST: tl.constexpr,  # 0 starts with the queries, 1 with the keys
    INVERSE: tl.constexpr,
    ROWS: tl.constexpr,
    HEADS: tl.constexpr,
    HALF: tl.constexpr,
) -> None:
    part = tl.program_id(1) + FIRST
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, HEADS)
    pair = tl.arange(0, HALF)
    angle = (row % length)[:, None] * half + pair[None, :]
    known = (row < rows)[:, None] & (pair < half)[None, :]
    turned = known & (part < 2)  # values are only copied
    cos = tl.load(cos_ptr + angle, turned, 1.0)[:, None, :]
    sin = tl.load(sin_ptr + angle, turned, 0.0)[:, None, :]
    if INVERSE:
        sin = -sin
    there = known[:, None, :] & (head < heads)[None, :, None]
    column = head[:, None] * (2 * half) + pair[None, :]
    x_ptr = q_ptr
    if part == 1:
        x_ptr = k_ptr
    if part == 2:
        x_ptr = v_ptr
    at = row[:, None, None] * x_stride + column[None, :, :]
    first = tl.load(x_ptr + at, there, 0.0).to(tl.float32)
    second = tl.load(x_ptr + at + half, there, 0.0).to(tl.float32)
    width = heads * 2 * half
    at = row[:, None, None] * (3 * width) + part * width + column[None, :, :]
    type = out_ptr.dtype.element_ty
    tl.store(out_ptr + at, (first * cos - second * sin).to(type), there)
    tl.store(out_ptr + at + half, (second * cos + first * sin).to(type), there)


# Attention without gradients. The library's handles any length. This one knows the length of a canvas, so it masks
# only the last tile of keys and pads it little. It rotates the queries as it loads them, which saves a pass over
# them. The softmax is the usual running one, in powers of two.


@triton.jit
def _attend_kernel(
    qkv_ptr: tl.tensor,  # [M, 3D], the keys rotated
    cos_ptr: tl.tensor,  # [L, H/2] float32
    sin_ptr: tl.tensor,
    out_ptr: tl.tensor,  # [M, D]
    scale: tl.constexpr,  # log2(e) / sqrt(H)
    length: tl.constexpr,
    heads: tl.constexpr,
    half: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    TAIL: tl.constexpr,  # size of the tile for the remaining keys, 0 if there are none
) -> None:
    width: tl.constexpr = heads * 2 * half
    example, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    q_ptr = qkv_ptr + example.to(tl.int64) * (length * 3 * width) + head * (2 * half)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    there = (row < length)[:, None]
    pair = tl.arange(0, half)
    angle = row[:, None] * half + pair[None, :]
    cos, sin = tl.load(cos_ptr + angle, there, 0.0), tl.load(sin_ptr + angle, there, 0.0)
    at = row[:, None] * (3 * width) + pair[None, :]
    first = tl.load(q_ptr + at, there, 0.0).to(tl.float32) * scale
    second = tl.load(q_ptr + at + half, there, 0.0).to(tl.float32) * scale
    both = tl.join(first * cos - second * sin, second * cos + first * sin)  # [ROWS, half, 2]
    q = both.permute(0, 2, 1).reshape(ROWS, 2 * half).to(qkv_ptr.dtype.element_ty)

    column = tl.arange(0, 2 * half)
    key = tl.arange(0, KEYS)
    k_ptr = q_ptr + width + key[None, :] * (3 * width) + column[:, None]
    v_ptr = q_ptr + 2 * width + key[:, None] * (3 * width) + column[None, :]
    most = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sum = tl.zeros([ROWS, 2 * half], tl.float32)
    for start in range(0, length // KEYS * KEYS, KEYS):
        score = tl.dot(q, tl.load(k_ptr + start * (3 * width)), input_precision="ieee")
        new = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(weight, 1)
        v = tl.load(v_ptr + start * (3 * width))
        sum = tl.dot(weight.to(v.dtype), v, sum * shrink[:, None], input_precision="ieee")
        most = new
    if TAIL > 0:
        key = length // KEYS * KEYS + tl.arange(0, TAIL)
        k_ptr = q_ptr + width + key[None, :] * (3 * width) + column[:, None]
        v_ptr = q_ptr + 2 * width + key[:, None] * (3 * width) + column[None, :]
        score = tl.dot(q, tl.load(k_ptr, (key < length)[None, :], 0.0), input_precision="ieee")
        score = tl.where((key < length)[None, :], score, float("-inf"))
        new = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(weight, 1)
        v = tl.load(v_ptr, (key < length)[:, None], 0.0)
        sum = tl.dot(weight.to(v.dtype), v, sum * shrink[:, None], input_precision="ieee")
    out = (sum / total[:, None]).to(out_ptr.dtype.element_ty)
    at = (example.to(tl.int64) * length + row)[:, None] * width + head * (2 * half) + column[None, :]
    tl.store(out_ptr + at, out, there)


@triton.jit
def _sigmoid(x: tl.tensor) -> tl.tensor:
    return 1 / (1 + tl.exp(-x))


# In the gate kernels, each program takes ROWS consecutive positions of one example and a range of columns. It walks
# along the positions, so that the neighbour for the convolution is still in registers. `taps` is [3, F] float32: the
# weight of the previous position, the weight of this one, the bias. Without CONV they are not read, and
# out = silu(gate) * up.


@triton.jit
def _gate_kernel(
    gate_up_ptr: tl.tensor,  # [M, 2F]
    taps_ptr: tl.tensor,
    out_ptr: tl.tensor,  # [M, F] silu(convolution(silu(gate) * up))
    length: tl.tensor,
    inner: tl.constexpr,
    CONV: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
) -> None:
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < inner
    runs = tl.cdiv(length, ROWS)
    first = (tl.program_id(0) % runs) * ROWS
    start = (tl.program_id(0) // runs).to(tl.int64) * length
    type = out_ptr.dtype.element_ty
    if CONV:
        tap_before = tl.load(taps_ptr + column, inside, 0.0)
        tap_now = tl.load(taps_ptr + inner + column, inside, 0.0)
        bias = tl.load(taps_ptr + 2 * inner + column, inside, 0.0)
        at = gate_up_ptr + (start + first - 1) * (2 * inner) + column
        gate = tl.load(at, inside & (first > 0), 0.0).to(tl.float32)
        before = gate * _sigmoid(gate) * tl.load(at + inner, inside & (first > 0), 0.0).to(tl.float32)
    for step in tl.range(0, ROWS, num_stages=STAGES):
        row = start + first + step
        there = inside & (first + step < length)
        at = gate_up_ptr + row * (2 * inner) + column
        gate = tl.load(at, there, 0.0).to(tl.float32)
        now = gate * _sigmoid(gate) * tl.load(at + inner, there, 0.0).to(tl.float32)
        if CONV:
            mixed = tap_before * before + tap_now * now + bias
            before = now
            now = mixed * _sigmoid(mixed)
        tl.store(out_ptr + row * inner + column, now.to(type), there)


@triton.jit
def _gate_backward_kernel(
    gate_up_ptr: tl.tensor,  # [M, 2F]
    taps_ptr: tl.tensor,
    dout_ptr: tl.tensor,  # [M, F]
    dgate_up_ptr: tl.tensor,  # [M, 2F]
    out_ptr: tl.tensor,  # [M, F] recomputed for the gradient of the down product's weight
    dtaps_ptr: tl.tensor,  # [runs of all examples, 3, F] float32: a partial sum from each run
    length: tl.tensor,
    inner: tl.constexpr,
    CONV: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
) -> None:
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < inner
    runs = tl.cdiv(length, ROWS)
    first = (tl.program_id(0) % runs) * ROWS
    last = tl.minimum(first + ROWS, length) - 1
    start = (tl.program_id(0) // runs).to(tl.int64) * length
    type = out_ptr.dtype.element_ty
    if not CONV:
        for step in tl.range(0, ROWS, num_stages=STAGES):
            there = inside & (first + step <= last)
            row = start + first + step
            at = row * (2 * inner) + column
            gate = tl.load(gate_up_ptr + at, there, 0.0).to(tl.float32)
            up = tl.load(gate_up_ptr + at + inner, there, 0.0).to(tl.float32)
            dout = tl.load(dout_ptr + row * inner + column, there, 0.0).to(tl.float32)
            share = _sigmoid(gate)
            tl.store(out_ptr + row * inner + column, (gate * share * up).to(type), there)
            tl.store(dgate_up_ptr + at, (dout * up * share * (1 + gate * (1 - share))).to(type), there)
            tl.store(dgate_up_ptr + at + inner, (dout * gate * share).to(type), there)
    else:
        tap_before = tl.load(taps_ptr + column, inside, 0.0)
        tap_now = tl.load(taps_ptr + inner + column, inside, 0.0)
        bias = tl.load(taps_ptr + 2 * inner + column, inside, 0.0)
        dtap_before = tl.zeros([COLUMNS], tl.float32)
        dtap_now = tl.zeros([COLUMNS], tl.float32)
        dbias = tl.zeros([COLUMNS], tl.float32)
        # Walk the run backwards, because a position's gradient comes from itself and from the next one. At the top
        # of the loop, gate, up and share = sigmoid(gate) belong to this position, dafter to the next one.
        beyond = inside & (last + 1 < length)
        at = (start + last) * (2 * inner) + column
        gate = tl.load(gate_up_ptr + at, inside, 0.0).to(tl.float32)
        up = tl.load(gate_up_ptr + at + inner, inside, 0.0).to(tl.float32)
        share = _sigmoid(gate)
        gate_after = tl.load(gate_up_ptr + at + 2 * inner, beyond, 0.0).to(tl.float32)
        up_after = tl.load(gate_up_ptr + at + 3 * inner, beyond, 0.0).to(tl.float32)
        after = gate_after * _sigmoid(gate_after) * up_after
        mixed = tap_before * gate * share * up + tap_now * after + bias
        mixed_share = _sigmoid(mixed)
        dafter = tl.load(dout_ptr + (start + last + 1) * inner + column, beyond, 0.0).to(tl.float32)
        dafter *= mixed_share * (1 + mixed * (1 - mixed_share))
        for step in tl.range(0, ROWS, num_stages=STAGES):
            position = last - step
            there = inside & (position >= first)
            row = start + position
            at = row * (2 * inner) + column
            earlier = there & (position > 0)
            gate_before = tl.load(gate_up_ptr + at - 2 * inner, earlier, 0.0).to(tl.float32)
            up_before = tl.load(gate_up_ptr + at - inner, earlier, 0.0).to(tl.float32)
            dmixed = tl.load(dout_ptr + row * inner + column, there, 0.0).to(tl.float32)
            share_before = _sigmoid(gate_before)
            before = gate_before * share_before * up_before
            now = gate * share * up
            mixed = tap_before * before + tap_now * now + bias
            mixed_share = _sigmoid(mixed)
            dmixed *= mixed_share * (1 + mixed * (1 - mixed_share))
            dtap_before += dmixed * before
            dtap_now += dmixed * now
            dbias += dmixed
            dnow = tap_now * dmixed + tap_before * dafter
            tl.store(out_ptr + row * inner + column, (mixed * mixed_share).to(type), there)
            tl.store(dgate_up_ptr + at, (dnow * up * share * (1 + gate * (1 - share))).to(type), there)
            tl.store(dgate_up_ptr + at + inner, (dnow * gate * share).to(type), there)
            gate, up, share, dafter = gate_before, up_before, share_before, dmixed
        part_ptr = dtaps_ptr + tl.program_id(0).to(tl.int64) * (3 * inner) + column
        tl.store(part_ptr, dtap_before, inside)
        tl.store(part_ptr + inner, dtap_now, inside)
        tl.store(part_ptr + 2 * inner, dbias, inside)


# --- Launches. Tile sizes were chosen by measurements on an H200; see benchmarks/gpu_notes.md. ---

NORM_ROWS, NORM_WARPS = 4, 4
ROTATE_ROWS, ROTATE_WARPS = 2, 2
ATTEND = {"ROWS": 64, "KEYS": 64, "num_warps": 4, "num_stages": 3}
GATE = {"ROWS": 32, "COLUMNS": 512, "STAGES": 3, "num_warps": 2}
GATE_BACKWARD = {"ROWS": 32, "COLUMNS": 256, "STAGES": 3, "num_warps": 2}


def _launch_norm(kernel: Any, tensors: Sequence[Tensor], *flags: float) -> None:
    rows, width = tensors[0].shape
    sizes = (rows, width, *flags, NORM_ROWS, triton.next_power_of_2(width))
    kernel[(triton.cdiv(rows, NORM_ROWS),)](*tensors, *sizes, num_warps=NORM_WARPS)


def add_norm(x_MD: Tensor, y_MD: Tensor) -> tuple[Tensor, Tensor]:
    """Return rms_norm(x + y), and 1 / rms(x + y) [M] for the backward pass."""
    out_MD, scale_M = torch.empty_like(x_MD), x_MD.new_empty(len(x_MD), dtype=torch.float32)
    _launch_norm(_add_norm_kernel, (x_MD, y_MD, x_MD, out_MD, scale_M), NORM_EPS, True, False)
    return out_MD, scale_M


def norm_(x_MD: Tensor, after_MD: Tensor | None = None) -> None:
    """Apply rms_norm in place and add `after`."""
    scale_M = x_MD.new_empty(len(x_MD), dtype=torch.float32)
    after, adds = (x_MD, False) if after_MD is None else (after_MD, True)
    _launch_norm(_add_norm_kernel, (x_MD, x_MD, after, x_MD, scale_M), NORM_EPS, False, adds)


def norm_backward(dout_MD: Tensor, out_MD: Tensor, scale_M: Tensor) -> Tensor:
    """Return the gradient of x + y."""
    dsum_MD = torch.empty_like(out_MD)
    _launch_norm(_norm_backward_kernel, (dout_MD, out_MD, scale_M, dsum_MD))
    return dsum_MD


def rotate(qkv_MD: Sequence[Tensor], out_ME: Tensor, turn: Rotation, parts: range, inverse: bool = False) -> None:
    """Write the queries and keys, rotated by their position's angle (or back), and the values into out [M, 3D].

    `parts` selects among the three. An input may be the same memory as its part of the output.
    """
    q_MD, k_MD, v_MD = qkv_MD
    assert q_MD.stride() == k_MD.stride() == v_MD.stride()
    rows, width = q_MD.shape
    length, half = turn[0].shape
    heads = width // (2 * half)
    sizes = (rows, length, q_MD.stride(0), heads, half, parts.start, inverse)
    tile = (ROTATE_ROWS, triton.next_power_of_2(heads), triton.next_power_of_2(half))
    grid = (triton.cdiv(rows, ROTATE_ROWS), len(parts))
    _rotate_kernel[grid](q_MD, k_MD, v_MD, out_ME, *turn, *sizes, *tile, num_warps=ROTATE_WARPS)


def attend(qkv_ME: Tensor, turn: Rotation) -> Tensor:
    """Return the attention [M, D] of [q, k, v], with keys already rotated. No gradients."""
    rows, width = qkv_ME.shape[0], qkv_ME.shape[1] // 3
    length, half = turn[0].shape
    heads = width // (2 * half)
    out_MD = qkv_ME.new_empty(rows, width)
    left = length % ATTEND["KEYS"]
    sizes = (math.log2(math.e) / math.sqrt(2 * half), length, heads, half)
    grid = (triton.cdiv(length, ATTEND["ROWS"]), rows // length * heads)
    tail = max(16, triton.next_power_of_2(left)) if left else 0
    _attend_kernel[grid](qkv_ME, *turn, out_MD, *sizes, TAIL=tail, **ATTEND)
    return out_MD


def gate(gate_up_MG: Tensor, taps_3F: Tensor | None, length: int) -> Tensor:
    """Return silu(convolution(silu(gate) * up)) [M, F]; without taps, silu(gate) * up."""
    rows, inner = gate_up_MG.shape[0], gate_up_MG.shape[1] // 2
    out_MF = gate_up_MG.new_empty(rows, inner)
    grid = (rows // length * triton.cdiv(length, GATE["ROWS"]), triton.cdiv(inner, GATE["COLUMNS"]))
    taps = gate_up_MG if taps_3F is None else taps_3F
    _gate_kernel[grid](gate_up_MG, taps, out_MF, length, inner, taps_3F is not None, **GATE)
    return out_MF


def gate_backward(
    gate_up_MG: Tensor, taps_3F: Tensor | None, dout_MF: Tensor, length: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return the gradient of [gate, up], the recomputed forward output, and the gradient of the taps."""
    rows, inner = dout_MF.shape
    dgate_up_MG, out_MF = torch.empty_like(gate_up_MG), torch.empty_like(dout_MF)
    runs = rows // length * triton.cdiv(length, GATE_BACKWARD["ROWS"])
    grid = (runs, triton.cdiv(inner, GATE_BACKWARD["COLUMNS"]))
    taps = parts = gate_up_MG  # not read without a convolution
    if taps_3F is not None:
        taps, parts = taps_3F, torch.empty(runs, 3, inner, dtype=torch.float32, device=dout_MF.device)
    tensors = (gate_up_MG, taps, dout_MF, dgate_up_MG, out_MF, parts)
    _gate_backward_kernel[grid](*tensors, length, inner, taps_3F is not None, **GATE_BACKWARD)
    return dgate_up_MG, out_MF, None if taps_3F is None else parts.sum(0)


def weight_gradient(dout_MO: Tensor, x_MI: Tensor) -> Tensor:
    """Return the gradient [O, I] of a weight, summed and kept in float32."""
    if x_MI.device.type == "cpu":  # torch has no product of mixed types there
        return dout_MO.float().T @ x_MI.float()
    return torch.mm(dout_MO.T, x_MI, out_dtype=torch.float32)


# --- The two halves of a layer around its attention. Each weight is passed twice: the float32 master, which receives
# the gradient, and its copy in the activations' type, which is used. ---


class _Project(torch.autograd.Function):
    """Map x to rotated queries and keys, and values, each [B, L, N, H] and views of one tensor; also return x.

    The residual sum uses the returned x. Its gradient then passes through here, where the product adds to it.
    """

    @staticmethod
    def forward(
        ctx: Any, x_BLD: Tensor, heads: int, turn: Rotation, master: Tensor, weight: Tensor
    ) -> tuple[Tensor, ...]:
        batch, length, width = x_BLD.shape
        x_MD = x_BLD.view(-1, width)
        qkv_ME = x_MD @ weight.T
        rotate(qkv_ME.split(width, dim=1), qkv_ME, turn, range(0, 2))
        ctx.turn = turn
        ctx.save_for_backward(x_MD, weight)
        return (*qkv_ME.view(batch, length, 3, heads, width // heads).unbind(2), x_BLD.view_as(x_BLD))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dq_BLNH: Tensor, dk_BLNH: Tensor, dv_BLNH: Tensor, dx_BLD: Tensor) -> tuple[Any, ...]:
        x_MD, weight = ctx.saved_tensors
        width = x_MD.shape[1]
        dqkv_ME = x_MD.new_empty(len(x_MD), 3 * width)
        parts = [part.reshape(-1, width) for part in (dq_BLNH, dk_BLNH, dv_BLNH)]
        rotate(parts, dqkv_ME, ctx.turn, range(0, 3), inverse=True)
        dx_BLD.view(-1, width).addmm_(dqkv_ME, weight)  # safe in place, because _Mix made it only for this
        return dx_BLD, None, None, weight_gradient(dqkv_ME, x_MD), None


class _Mix(torch.autograd.Function):
    """Map the layer's input and its attention's output to the layer's output: two residual sums with norms."""

    @staticmethod
    def forward(
        ctx: Any,
        x_BLD: Tensor,
        mixed_BLD: Tensor,
        taps_3F: Tensor | None,
        out_master: Tensor,
        gate_up_master: Tensor,
        down_master: Tensor,
        out: Tensor,
        gate_up: Tensor,
        down: Tensor,
    ) -> Tensor:
        length, width = x_BLD.shape[1:]
        x_MD, mixed_MD = x_BLD.view(-1, width), mixed_BLD.view(-1, width)
        middle_MD, middle_scale_M = add_norm(x_MD, mixed_MD @ out.T)
        gate_up_MG = middle_MD @ gate_up.T
        last_MD, last_scale_M = add_norm(middle_MD, gate(gate_up_MG, taps_3F, length) @ down.T)
        ctx.length = length
        norms = (middle_MD, middle_scale_M, last_MD, last_scale_M)
        ctx.save_for_backward(mixed_MD, gate_up_MG, *norms, taps_3F, out, gate_up, down)
        return last_MD.view_as(x_BLD)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dlast_BLD: Tensor) -> tuple[Any, ...]:
        mixed_MD, gate_up_MG, *norms, taps_3F, out, gate_up, down = ctx.saved_tensors
        middle_MD, middle_scale_M, last_MD, last_scale_M = norms
        dlast_MD = dlast_BLD.reshape(last_MD.shape)
        # Both terms of a residual sum have the sum's gradient.
        dmiddle_MD = norm_backward(dlast_MD, last_MD, last_scale_M)
        dgate_up_MG, gated_MF, dtaps_3F = gate_backward(gate_up_MG, taps_3F, dmiddle_MD @ down, ctx.length)
        ddown = weight_gradient(dmiddle_MD, gated_MF)
        dgate_up = weight_gradient(dgate_up_MG, middle_MD)
        dmiddle_MD.addmm_(dgate_up_MG, gate_up)  # added by the product, which saves a pass
        dx_MD = norm_backward(dmiddle_MD, middle_MD, middle_scale_M)
        dout = weight_gradient(dx_MD, mixed_MD)
        dmixed_BLD, dx_BLD = (dx_MD @ out).view_as(dlast_BLD), dx_MD.view_as(dlast_BLD)
        return dx_BLD, dmixed_BLD, dtaps_3F, dout, dgate_up, ddown, None, None, None


class _Layer:
    """A layer with its weights cast. `learn` saves what gradients need; `infer` works in place on its input."""

    def __init__(self, layer: nn.Module, turn: Rotation, dtype: torch.dtype) -> None:
        assert isinstance(layer, Layer)
        attention, ffn = layer.attention, layer.feed_forward
        self.heads, self.turn = attention.heads, turn
        self.masters = [part.weight for part in (attention.qkv, attention.out, ffn.gate_up, ffn.down)]
        self.weights = [weight.detach().to(dtype) for weight in self.masters]
        self.taps_3F = None
        if isinstance(ffn, ConvSwiGLU):
            self.taps_3F = torch.cat([ffn.kernel[:, 0].T, ffn.bias[None]])

    def learn(self, x_BLD: Tensor) -> Tensor:
        parts = _Project.apply(x_BLD, self.heads, self.turn, self.masters[0], self.weights[0])
        q_BNLH, k_BNLH, v_BNLH = (part.transpose(1, 2) for part in parts[:3])
        mixed_BNLH = F.scaled_dot_product_attention(q_BNLH, k_BNLH, v_BNLH)
        mixed_BLD = mixed_BNLH.transpose(1, 2).reshape(x_BLD.shape)
        return _Mix.apply(parts[3], mixed_BLD, self.taps_3F, *self.masters[1:], *self.weights[1:])

    def infer(self, x_BLD: Tensor, after_BLD: Tensor | None = None) -> Tensor:
        """Return the layer's output plus `after`."""
        qkv, out, gate_up, down = self.weights
        length, width = x_BLD.shape[1:]
        x_MD = x_BLD.view(-1, width)
        qkv_ME = x_MD @ qkv.T
        rotate(qkv_ME.split(width, dim=1), qkv_ME, self.turn, range(1, 2))
        norm_(x_MD.addmm_(attend(qkv_ME, self.turn), out.T))
        after_MD = None if after_BLD is None else after_BLD.view(-1, width)
        norm_(x_MD.addmm_(gate(x_MD @ gate_up.T, self.taps_3F, length), down.T), after_MD)
        return x_BLD


def fused(block: nn.Module, turn: Rotation, dtype: torch.dtype) -> Callable[..., Tensor]:
    """Return a function (state, injected, times, cut=0) -> state that applies the block `times` times.

    With a cut, gradients stop before that layer of the first application. The function uses the current weights, so
    build it again after each update.
    """
    assert isinstance(block, Block)
    layers = [_Layer(layer, turn, dtype) for layer in block.layers]

    def infer(state_BLD: Tensor, injected_BLD: Tensor, times: int) -> Tensor:
        if times == 0:
            return state_BLD
        x_BLD = state_BLD + injected_BLD
        for application in range(times):
            for layer in layers[:-1]:
                x_BLD = layer.infer(x_BLD)
            # The last norm of this application adds the injection for the next one.
            x_BLD = layers[-1].infer(x_BLD, injected_BLD if application + 1 < times else None)
        return x_BLD

    def apply(state_BLD: Tensor, injected_BLD: Tensor, times: int, cut: int = 0) -> Tensor:
        if not torch.is_grad_enabled():
            return infer(state_BLD, injected_BLD, times)
        with sdpa_kernel(BACKENDS, set_priority=True):
            for application in range(times):
                state_BLD = state_BLD + injected_BLD
                for number, layer in enumerate(layers):
                    if cut and application == 0 and number == cut:
                        state_BLD = state_BLD.detach()
                    state_BLD = layer.learn(state_BLD)
        return state_BLD

    return apply
