"""The parts of a block: norm, rotary positions, attention, feed-forward.

Shapes: B examples, L positions (prefix + cells), D width, N heads, H head width, F feed-forward inner width.

Weights are float32 and are cast to the activations' type where they are used. The gradient of each use is
cast back before it is summed, so a block that is applied many times accumulates its gradient in float32.
"""

from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.models.canvas.config import CanvasConfig
from charm.tasks.canvas import FULL_SIDE, LARGE_SIDE, is_large

NORM_EPS = 1e-5

Rotation = tuple[Tensor, Tensor]  # cosines and sines, each [L, H/2] float32


def rms_norm(x: Tensor) -> Tensor:
    """Divide x by its root mean square along the last axis; no gain, computed in float32."""
    return F.rms_norm(x.float(), (x.shape[-1],), eps=NORM_EPS).to(x.dtype)


class Linear(nn.Module):
    """A linear map without bias, [..., inputs] -> [..., outputs], std 1/sqrt(inputs) at the start."""

    def __init__(self, inputs: int, outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(truncated_normal_(torch.empty(outputs, inputs), inputs**-0.5, generator))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype))


def coordinates(side: int, prefix: int, rope: str) -> Tensor:
    """Return where each position is: [L, 1] along the sequence ("1d") or [L, 2] row and column ("2d"), int64.

    A smaller canvas keeps the stride of the full one, so a cell has the same coordinates on every canvas:
    1d: slot i of the prefix at i, cell (r, c) at prefix + 30 r + c (+ 64 r + c on a large canvas).
    2d: slot i at (i, i), cell (r, c) at (prefix + r, prefix + c). The prefix walks down the diagonal to the
    canvas, so no slot shares a row or a column with a cell; only differences matter to rotary attention.
    """
    if not 1 <= side <= LARGE_SIDE:
        raise CharmError(f"the canvas side must be in 1..{LARGE_SIDE}, got {side}")
    slots = torch.arange(prefix, device="cpu")
    cells = torch.arange(side * side, device="cpu")
    row, column = cells // side, cells % side
    if rope == "1d":
        stride = LARGE_SIDE if is_large(side) else FULL_SIDE
        return torch.cat([slots, prefix + stride * row + column])[:, None]
    return torch.cat([slots[:, None].expand(-1, 2), prefix + torch.stack([row, column], 1)])


# The few canvas sizes of a run share their tables between models and calls.
@lru_cache(maxsize=64)
def rotation(side: int, prefix: int, rope: str, base: float, head_width: int, device: torch.device) -> Rotation:
    """Return the turn of every position, computed in float64 on the CPU and kept in float32 on `device`.

    The H/2 pairs of a head are shared out between the axes: with "2d" the first half turns with the row, the
    second with the column.
    """
    # Made under inference mode, a cached table could never be used in training again.
    with torch.inference_mode(False), torch.no_grad():
        where_LA = coordinates(side, prefix, rope).double()
        pairs = head_width // 2 // where_LA.shape[1]
        speed_P = base ** -(torch.arange(pairs, device="cpu").double() / pairs)
        angle_LP = (where_LA[:, :, None] * speed_P).flatten(1)
        return angle_LP.cos().float().to(device), angle_LP.sin().float().to(device)


def rotate(x: Tensor, turn: Rotation) -> Tensor:
    """Turn pair (i, i + H/2) of x [B, L, ..., H] by its position's angle, in float32."""
    shape = (x.shape[1], *[1] * (x.dim() - 3), x.shape[-1] // 2)
    cos, sin = turn[0].view(shape), turn[1].view(shape)
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)


def drop(x: Tensor, share: float, training: bool) -> Tensor:
    """Drop this share while learning; nothing where no gradient is needed."""
    return F.dropout(x, share) if share and training and torch.is_grad_enabled() else x


class Attention(nn.Module):
    """Every position reads every other; one fused map gives queries, keys and values, in that order."""

    def __init__(self, config: CanvasConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = Linear(config.width, 3 * config.width, generator)
        self.out = Linear(config.width, config.width, generator)

    def forward(self, x_BLD: Tensor, turn: Rotation) -> Tensor:
        batch, length, width = x_BLD.shape
        qkv_BL3NH = self.qkv(x_BLD).view(batch, length, 3, self.heads, width // self.heads)
        q_BNLH, k_BNLH = rotate(qkv_BL3NH[:, :, :2], turn).permute(2, 0, 3, 1, 4)
        v_BNLH = qkv_BL3NH[:, :, 2].transpose(1, 2)
        mixed_BNLH = F.scaled_dot_product_attention(q_BNLH, k_BNLH, v_BNLH)
        return self.out(mixed_BNLH.transpose(1, 2).reshape(batch, length, width))


class SwiGLU(nn.Module):
    """down(silu(gate) * up), gate and up from one fused map, the gate first."""

    def __init__(self, config: CanvasConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.gate_up = Linear(config.width, 2 * config.inner_width, generator)
        self.down = Linear(config.inner_width, config.width, generator)

    def forward(self, x_BLD: Tensor) -> Tensor:
        gate_BLF, up_BLF = self.gate_up(x_BLD).chunk(2, dim=-1)
        return self.down(F.silu(gate_BLF) * up_BLF)


class ConvSwiGLU(SwiGLU):
    """SwiGLU whose inner activations also see those one position earlier, through a depthwise kernel of 2.

    The earlier position is the one before in the sequence: across row ends, and across the prefix.
    """

    def __init__(self, config: CanvasConfig, generator: torch.Generator) -> None:
        super().__init__(config, generator)
        # torch's shapes and start for a depthwise Conv1d; 3-D also shows optimizers that this is not a matrix.
        bound = 2**-0.5
        kernel_F12, bias_F = torch.empty(config.inner_width, 1, 2), torch.empty(config.inner_width)
        self.kernel = nn.Parameter(kernel_F12.uniform_(-bound, bound, generator=generator))
        self.bias = nn.Parameter(bias_F.uniform_(-bound, bound, generator=generator))

    def forward(self, x_BLD: Tensor) -> Tensor:
        gate_BLF, up_BLF = self.gate_up(x_BLD).chunk(2, dim=-1)
        return self.down(F.silu(self.convolve(F.silu(gate_BLF) * up_BLF)))

    def convolve(self, now_BLF: Tensor) -> Tensor:
        """Compute kernel[0] * previous + kernel[1] * now + bias: a shift and two multiply-adds beat conv1d here."""
        kernel_F2, bias_F = self.kernel[:, 0].to(now_BLF.dtype), self.bias.to(now_BLF.dtype)
        before_BLF = F.pad(now_BLF[:, :-1], (0, 0, 1, 0))
        mixed_BLF = torch.addcmul(bias_F, now_BLF, kernel_F2[:, 1])
        return torch.addcmul(mixed_BLF, before_BLF, kernel_F2[:, 0])


class Layer(nn.Module):
    """Attention, then feed-forward, each added to what came in and normalised afterwards."""

    def __init__(self, config: CanvasConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.attention = Attention(config, generator)
        self.feed_forward = (ConvSwiGLU if config.ffn == "conv_swiglu" else SwiGLU)(config, generator)

    def forward(self, x_BLD: Tensor, turn: Rotation) -> Tensor:
        x_BLD = rms_norm(x_BLD + self.attention(x_BLD, turn))
        return rms_norm(x_BLD + self.feed_forward(x_BLD))


class Block(nn.Module):
    """The U distinct layers, applied to the sum of a state and what is injected into it.

    With a `cut`, no gradient goes back beyond the input of that layer.
    """

    def __init__(self, config: CanvasConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, generator) for _ in range(config.layers))

    def forward(self, state_BLD: Tensor, injected_BLD: Tensor, turn: Rotation, cut: int = 0) -> Tensor:
        x_BLD = state_BLD + injected_BLD
        for number, layer in enumerate(self.layers):
            if cut and number == cut:
                x_BLD = x_BLD.detach()
            x_BLD = layer(x_BLD, turn)
        return x_BLD
