"""VARC's vision transformer, and LoopViT: from an input canvas to an output canvas in one pass.

A canvas of 64 x 64 tokens is cut into patches of 2 x 2. The task's vector is one more token. Attention reads the task
and the patches that hold a part of the input grid; every patch asks. LoopViT repeats the same layers, with a learned
vector for each repeat, and learns from all of them. Each step of an answer is a new random placement of the question.

Shapes: B examples, T cells, P patches, L = 1 + P positions, M = B * L, D width, F inner width, N heads (in answers,
questions under views), H head width, V tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.varlen import varlen_attn

from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.models.canvas.answers import Placement, lift_grids, place_inputs, refine
from charm.models.canvas.training import CanvasNetwork
from charm.models.layers import NORM_EPS, Rotation, drop, rotate, rotation
from charm.models.network import AskedBatch, BatchSize, Metrics, log_odds
from charm.models.vit.config import PATCH, VitConfig
from charm.tasks import keyed
from charm.tasks.canvas import FULL_SIDE, LARGE_SIDE, MARGIN, PAD, VOCABULARY, most_scale
from charm.tasks.keyed import Numbers

PATCHES = LARGE_SIDE // PATCH  # along a side
VECTOR_STD = 0.02  # of symbols, positions and repeats at the start


class Affine(nn.Module):
    """A linear map with a bias, [..., inputs] -> [..., outputs].

    At the start its weights have the spread of torch's own linear maps. With sqrt(3) times as much, as the reasoners
    have it, layers that normalise last hardly learn in their first thousand updates.
    """

    def __init__(self, inputs: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(truncated_normal_(torch.empty(outputs, inputs), (3 * inputs) ** -0.5, generator))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Norm(nn.Module):
    """Layer normalisation with gain and bias; torch computes its sums in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        gain, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)
        return F.layer_norm(x, self.weight.shape, gain, bias, NORM_EPS)


class Readable(NamedTuple):
    """What attention may read, in two forms: as a mask, and as the order in which such positions come first."""

    seen_BL: Tensor
    order_M: Tensor  # of the M = B * L positions of all examples, those that may be read, then the others
    place_M: Tensor  # where each position has its place in that order
    asking_B: Tensor  # where the positions of each example begin, and their end; int32 [B + 1]
    read_B: Tensor  # the same in the order, of positions that may be read

    @staticmethod
    def of(seen_BL: Tensor) -> Readable:
        count, length = seen_BL.shape
        seen_M = seen_BL.flatten()
        before_M = seen_M.cumsum(0)
        all_M = torch.arange(len(seen_M), device=seen_M.device)
        # A hidden position comes after all that may be read and the hidden ones before it.
        place_M = torch.where(seen_M, before_M - 1, before_M[-1] + all_M - before_M)
        order_M = torch.empty_like(all_M).scatter_(0, place_M, all_M)
        asking_B = torch.arange(0, (count + 1) * length, length, device=seen_M.device, dtype=torch.int32)
        read_B = F.pad(before_M[length - 1 :: length], (1, 0)).to(torch.int32)
        return Readable(seen_BL, order_M, place_M, asking_B, read_B)


class _Gather(torch.autograd.Function):
    """Rows [M, ...] in another order. A hidden row has no gradient, regardless of what the kernel wrote there."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order_M: Tensor, place_M: Tensor, seen_M: Tensor) -> Tensor:
        ctx.save_for_backward(place_M, seen_M)
        return x.index_select(0, order_M)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        place_M, seen_M = ctx.saved_tensors
        shape = (-1, *[1] * (grad.dim() - 1))
        return torch.where(seen_M.view(shape), grad.index_select(0, place_M), 0), None, None, None


def packs(x: Tensor) -> bool:
    """Return whether a kernel for sequences of any length gets only what may be read, a third of all on average."""
    return x.is_cuda and x.dtype == torch.bfloat16


def attend(q_BLNH: Tensor, k_BLNH: Tensor, v_BLNH: Tensor, readable: Readable, dropout: float = 0.0) -> Tensor:
    """Let every position ask those that may be read, [B, L, N, H]; `dropout` is the share of weights dropped."""
    if dropout or not packs(q_BLNH):  # the kernel of packed sequences cannot drop
        q, k, v = (part.transpose(1, 2) for part in (q_BLNH, k_BLNH, v_BLNH))
        seen_B11L = readable.seen_BL[:, None, None]
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=seen_B11L, dropout_p=dropout)
        return mixed.transpose(1, 2)
    length, order = q_BLNH.shape[1], (readable.order_M, readable.place_M, readable.seen_BL.flatten())
    k_MNH, v_MNH = (_Gather.apply(part.flatten(0, 1), *order) for part in (k_BLNH, v_BLNH))
    q_MNH = q_BLNH.flatten(0, 1).contiguous()
    found = varlen_attn(q_MNH, k_MNH, v_MNH, readable.asking_B, readable.read_B, length, length)
    assert isinstance(found, Tensor)
    return found.view_as(q_BLNH)


class VitLayer(nn.Module):
    """Attention, then a GELU between two maps; each is added to what came in and normalised afterwards.

    Dropout is where VARC has it, at five places: the attention weights, what attention gives (twice), the inner
    activations and what the maps give.
    """

    def __init__(self, config: VitConfig, generator: torch.Generator) -> None:
        super().__init__()
        width, inner = config.width, config.inner_width
        self.heads, self.dropout = config.heads, config.dropout
        self.qkv, self.out = Affine(width, 3 * width, generator), Affine(width, width, generator)
        self.up, self.down = Affine(width, inner, generator), Affine(inner, width, generator)
        self.norm_attention, self.norm_feed_forward = Norm(width), Norm(width)

    def forward(self, x_BLD: Tensor, turn: Rotation, readable: Readable) -> Tensor:
        qkv_BL3NH = self.qkv(x_BLD).unflatten(-1, (3, self.heads, -1))
        q_BLNH, k_BLNH = rotate(qkv_BL3NH[:, :, :2], turn).unbind(2)
        thin = partial(drop, share=self.dropout, training=self.training)
        dropout = self.dropout if self.training and torch.is_grad_enabled() else 0.0
        mixed_BLNH = attend(q_BLNH, k_BLNH, qkv_BL3NH[:, :, 2], readable, dropout)
        x_BLD = self.norm_attention(x_BLD + thin(thin(self.out(mixed_BLNH.flatten(2)))))
        inner_BLF = thin(F.gelu(self.up(x_BLD)))
        return self.norm_feed_forward(x_BLD + thin(self.down(inner_BLF)))


class Vit(CanvasNetwork):
    """Symbol embedding, patches, layers and head; `seed` decides its start. It answers as a reasoner does that takes
    one refinement step, carries no state and has no halt head."""

    config: VitConfig

    def __init__(self, config: VitConfig, seed: int = 0) -> None:
        super().__init__(config)
        generator = torch.Generator().manual_seed(seed)
        width = config.width

        def vectors(count: int) -> nn.Parameter:
            return nn.Parameter(truncated_normal_(torch.empty(count, width), VECTOR_STD, generator))

        self.rope = (config.rope_base, config.head_width)
        self.tokens = vectors(VOCABULARY)
        self.patch = Affine(PATCH**2 * width, width, generator)
        self.positions = vectors(PATCHES**2)
        self.blocks = nn.ModuleList(VitLayer(config, generator) for _ in range(config.layers))
        self.repeats = vectors(config.recurrences) if config.recurrences > 1 else None
        self.norm = Norm(width)
        self.head = Affine(width, PATCH**2 * VOCABULARY, generator)

    def elementwise_parameters(self) -> list[nn.Parameter]:
        repeats = [] if self.repeats is None else [self.repeats]
        return [self.tokens, self.positions, self.head.weight, *repeats]

    def forward(
        self, state_SBLD: Tensor, tokens_BT: Tensor, task_BD: Tensor, side: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the state as it was (there is none), the logits of every cell [B, T, V] and halt logits of 0, [B]."""
        if side != LARGE_SIDE or tokens_BT.shape[1] != LARGE_SIDE**2:
            raise CharmError(f"a vit answers canvases of side {LARGE_SIDE}, got {side}; set data.canvas to large")
        config = self.config
        cos_PH, sin_PH = rotation(PATCHES, 0, "2d", *self.rope, tokens_BT.device)
        # The task is not turned, and so stands where the first patch does: at (0, 0).
        turn = F.pad(cos_PH, (0, 0, 1, 0), value=1.0), F.pad(sin_PH, (0, 0, 1, 0))
        patches_BPK = cut(tokens_BT)
        x_BLD = torch.cat([task_BD[:, None].to(self.compute_dtype), self.embed(patches_BPK)], dim=1)
        x_BLD = drop(x_BLD, config.dropout, self.training)
        readable = Readable.of(find_readable(patches_BPK))
        for repeat in range(config.recurrences):
            if self.repeats is not None:
                x_BLD = x_BLD + self.repeats[repeat].to(x_BLD.dtype)
            for block in self.blocks:
                x_BLD = block(x_BLD, turn, readable)
        logits_BPKV = self.head(self.norm(x_BLD[:, 1:])).unflatten(-1, (PATCH**2, VOCABULARY))
        return state_SBLD, join(logits_BPKV).float(), logits_BPKV.new_zeros(len(tokens_BT)).float()

    def embed(self, patches_BPK: Tensor) -> Tensor:
        """Return each patch's vector [B, P, D]: the convolution of its symbols' vectors, and its learned position.

        Twelve symbols at four places give 48 possible terms. They are computed first, and each patch adds up its four.
        """
        weight_DKD = self.patch.weight.unflatten(1, (PATCH**2, -1))
        terms_KVD = torch.einsum("vi,oki->kvo", self.tokens, weight_DKD)
        symbols_V = torch.arange(VOCABULARY, device=patches_BPK.device)
        which_BPKV = (patches_BPK[..., None] == symbols_V).to(self.compute_dtype)
        x_BPD = which_BPKV.flatten(2) @ terms_KVD.flatten(0, 1).to(self.compute_dtype)
        return x_BPD + (self.patch.bias + self.positions).to(self.compute_dtype)

    def loss(self, logits_BTV: Tensor, halt: Tensor, targets_BT: Tensor, size: BatchSize) -> tuple[Tensor, Metrics]:
        return canvas_loss(logits_BTV, targets_BT, size.examples)

    def answers(self, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
        bound_N = np.array(asked.bounds, np.int64)[asked.question_N.cpu()]
        for draw in range(1, steps + 1):
            where = random_placement(asked.question_N, asked.row_N, bound_N, draw)
            for logits_NTV, _ in refine(self, place_inputs(asked, where), asked.task_ND, 1):
                found_NT, best_NT = logits_NTV.log_softmax(-1).max(-1)
                answer_NT, inside_NT = lift_grids(best_NT, where)
                # The tokens of a cell count as one.
                mean_N = torch.where(inside_NT, found_NT, 0.0).sum(1) / inside_NT.sum(1).clamp(min=1)
                sure_N = torch.where(inside_NT.any(1), mean_N * (answer_NT > 0).sum(1), -100.0)
                yield answer_NT, log_odds(sure_N.clamp(max=-1e-7))

    def try_shapes(self, learning: Collection[int], voting: int) -> None:
        device, cells = self.tokens.device, LARGE_SIDE**2
        for count, learns in (*((count, True) for count in learning), (voting, False)):
            tokens_BT = torch.zeros(count, cells, dtype=torch.uint8, device=device)
            task_BD = torch.zeros(count, self.config.width, device=device, requires_grad=learns)
            with torch.inference_mode(not learns):
                logits = self(self.initial_state(count, cells), tokens_BT, task_BD, LARGE_SIDE)[1]
            if learns:
                logits.sum().backward()


def canvas_loss(logits_BTV: Tensor, targets_BT: Tensor, global_batch: int) -> tuple[Tensor, Metrics]:
    """Return the mean softmax cross-entropy of all targets of the batch, and what to log.

    Large grids count for more, as they do in VARC. The loss of a part of the batch is weighed by its examples.
    """
    wanted_BT = targets_BT != PAD
    nll_BT = F.cross_entropy(logits_BTV.flatten(0, 1), targets_BT.long().flatten(), reduction="none")
    nll_BT = nll_BT.view_as(targets_BT)
    mean = torch.where(wanted_BT, nll_BT, 0.0).sum() / wanted_BT.sum().clamp(min=1)
    right_BT = (logits_BTV.argmax(-1) == targets_BT) & wanted_BT
    valid_B = wanted_BT.any(1)
    examples = valid_B.sum()
    exact_B = (right_BT | ~wanted_BT).all(1) & valid_B
    metrics = {
        "token_loss": mean.detach(),
        "token_accuracy": right_BT.sum() / wanted_BT.sum().clamp(min=1),
        "exact_accuracy": exact_B.sum() / examples.clamp(min=1),
        "examples": examples,
    }
    return mean * (len(targets_BT) / global_batch), metrics


def cut(tokens_BT: Tensor) -> Tensor:
    """Return canvases [B, T] as patches [B, P, 4]: patches row by row, cells of a patch row by row."""
    squares = tokens_BT.view(-1, PATCHES, PATCH, PATCHES, PATCH)
    return squares.transpose(2, 3).reshape(len(tokens_BT), PATCHES**2, PATCH**2)


def join(patches_BPKV: Tensor) -> Tensor:
    """Undo `cut` for values [B, P, 4, V] of cells: [B, T, V]."""
    count, _, _, vocab = patches_BPKV.shape
    squares = patches_BPKV.view(count, PATCHES, PATCHES, PATCH, PATCH, vocab)
    return squares.transpose(2, 3).reshape(count, LARGE_SIDE**2, vocab)


def find_readable(patches_BPK: Tensor) -> Tensor:
    """Return what attention may read, [B, L] bool: the task, and patches that have a cell of the input grid."""
    return F.pad((patches_BPK != PAD).any(-1), (1, 0), value=True)


def random_placement(question_N: Tensor, row_N: Tensor, bound_N: Numbers, draw: int) -> Placement:
    """Draw the `draw`-th random scale and place of each question, decided by (question, memory row, draw) alone.

    Uniform over the scales at which a grid of side `bound_N` fits, then over its places. The bound is the longest side
    that the task shows: the answer's own size is not known.
    """
    counters = question_N.cpu().numpy().astype(np.int64) << 32 | row_N.cpu().numpy()
    table = np.array([1, *(most_scale(longest, LARGE_SIDE) for longest in range(1, FULL_SIDE + 1))])
    scale = 1 + keyed.below(keyed.key_of("asked scale", draw), counters, table[bound_N])
    room = LARGE_SIDE - MARGIN - bound_N * scale
    top, left = (MARGIN + keyed.below(keyed.key_of(f"asked {side}", draw), counters, room) for side in ("top", "left"))
    return Placement(*(torch.from_numpy(part).to(row_N.device) for part in (top, left, scale)))
