"""Each layer against loops in float64 that share nothing with it but the weights."""

import cmath
import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.errors import CharmError
from charm.models.canvas.config import CanvasConfig
from charm.models.layers import (
    Attention,
    Block,
    ConvSwiGLU,
    Linear,
    SwiGLU,
    coordinates,
    rms_norm,
    rotate,
    rotation,
)

CPU = torch.device("cpu")
SIDE = 3
CONFIG = CanvasConfig(width=16, heads=2, layers=2, prefix=2, compute_dtype="float32")
LENGTH = CONFIG.prefix + SIDE * SIDE


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def turn(config: CanvasConfig, side: int = SIDE) -> tuple[Tensor, Tensor]:
    return rotation(side, config.prefix, config.rope, config.rope_base, config.head_width, CPU)


def close(ours: Tensor, slow: Tensor, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(ours.detach().double(), slow, rtol=tolerance, atol=tolerance)


# Slow versions: one example [L, D], float64.


def slow_norm(x: Tensor) -> Tensor:
    rows = [[v / math.sqrt(sum(w * w for w in row) / len(row) + 1e-5) for v in row] for row in x.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


def slow_angles(config: CanvasConfig, side: int) -> list[list[float]]:
    """The angle of each pair at each position, written down from the definition."""
    p, angles = config.prefix, []
    if config.rope == "1d":
        places = [(i,) for i in range(p)] + [(p + 30 * r + c,) for r in range(side) for c in range(side)]
    else:
        places = [(i, i) for i in range(p)] + [(p + r, p + c) for r in range(side) for c in range(side)]
    for place in places:
        pairs = config.head_width // 2 // len(place)
        angles.append([axis * config.rope_base ** (-i / pairs) for axis in place for i in range(pairs)])
    return angles


def slow_rotate(x: Tensor, angles: list[list[float]]) -> Tensor:
    """Pair (i, i + H/2) as a complex number times e^(i angle)."""
    half = x.shape[1] // 2
    out = torch.empty_like(x)
    for t in range(len(x)):
        for i in range(half):
            z = complex(x[t, i], x[t, i + half]) * cmath.exp(1j * angles[t][i])
            out[t, i], out[t, i + half] = z.real, z.imag
    return out


@torch.no_grad()
def slow_attention(layer: Attention, x: Tensor, angles: list[list[float]]) -> Tensor:
    width, heads = x.shape[1], layer.heads
    size = width // heads
    weight = layer.qkv.weight.double()
    q, k, v = (x @ weight[n * width : (n + 1) * width].T for n in range(3))
    mixed = torch.empty_like(x)
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        q_h, k_h = slow_rotate(q[:, part], angles), slow_rotate(k[:, part], angles)
        for t in range(len(x)):
            scores = [math.exp(float(q_h[t] @ k_h[s]) / math.sqrt(size)) for s in range(len(x))]
            mixed[t, part] = sum(score * v[s, part] for s, score in enumerate(scores)) / sum(scores)
    return mixed @ layer.out.weight.double().T


def silu(x: Tensor) -> Tensor:
    return x / (1 + torch.exp(-x))


@torch.no_grad()
def slow_feed_forward(layer: SwiGLU, x: Tensor) -> Tensor:
    gate, up = layer.gate_up.weight.double().split(layer.down.weight.shape[1])
    inner = silu(x @ gate.T) * (x @ up.T)
    if isinstance(layer, ConvSwiGLU):
        kernel, bias = layer.kernel.double()[:, 0], layer.bias.double()
        before, mixed = torch.zeros_like(inner[0]), []
        for now in inner:
            mixed.append(silu(kernel[:, 0] * before + kernel[:, 1] * now + bias))
            before = now
        inner = torch.stack(mixed)
    return inner @ layer.down.weight.double().T


def test_norm() -> None:
    x = 30 * random(LENGTH, 16)
    close(rms_norm(x), slow_norm(x.double()))
    assert rms_norm(torch.zeros(1, 4)).tolist() == [[0.0] * 4]
    # bfloat16 in, bfloat16 out, but the mean square is taken in float32: only the two roundings remain.
    close(rms_norm(x.bfloat16()), slow_norm(x.bfloat16().double()), 2**-8)


@pytest.mark.parametrize("rope", ["1d", "2d"])
def test_rotation(rope: str) -> None:
    config = CanvasConfig(width=32, heads=2, prefix=3, rope=rope)
    x = random(2, 3 + 25, 4, config.head_width)
    ours = rotate(x, turn(config, side=5))
    angles = slow_angles(config, 5)
    for b in range(2):
        for head in range(4):
            close(ours[b, :, head], slow_rotate(x[b, :, head].double(), angles))


@pytest.mark.parametrize("rope", ["1d", "2d"])
def test_a_cell_has_the_same_position_on_every_canvas(rope: str) -> None:
    config = CanvasConfig(rope=rope)
    for side in (1, 10, 17, 30):
        cells = [30 * r + c for r in range(side) for c in range(side)]
        chosen = torch.tensor([*range(config.prefix), *(config.prefix + cell for cell in cells)])
        for small, full in zip(turn(config, side), turn(config, 30), strict=True):
            assert torch.equal(small, full[chosen])
    if rope == "1d":  # on the full canvas the positions are simply the sequence's
        assert coordinates(30, 16, "1d")[:, 0].tolist() == list(range(916))


def test_no_two_positions_coincide() -> None:
    for rope in ("1d", "2d"):
        assert len(coordinates(30, 16, rope).unique(dim=0)) == 916


def test_a_canvas_too_large_is_refused() -> None:
    with pytest.raises(CharmError, match="got 65"):
        coordinates(65, 16, "1d")


@pytest.mark.parametrize("rope", ["1d", "2d"])
def test_attention(rope: str) -> None:
    config = CanvasConfig(width=16, heads=2, prefix=2, rope=rope)
    layer, x = Attention(config, generator()), 2 * random(2, LENGTH, 16)
    ours = layer(x, turn(config))
    for b in range(2):
        close(ours[b], slow_attention(layer, x[b].double(), slow_angles(config, SIDE)))


@pytest.mark.parametrize("kind", [SwiGLU, ConvSwiGLU])
def test_feed_forward(kind: type[SwiGLU]) -> None:
    layer, x = kind(CONFIG, generator()), 2 * random(2, LENGTH, 16)
    for b in range(2):
        close(layer(x)[b], slow_feed_forward(layer, x[b].double()))


def test_convolution_is_conv1d_with_its_last_output_trimmed() -> None:
    layer, x = ConvSwiGLU(CONFIG, generator()).double(), random(2, LENGTH, CONFIG.inner_width).double()
    torch_conv = F.conv1d(x.mT, layer.kernel, layer.bias, padding=1, groups=CONFIG.inner_width)[..., :-1].mT
    torch.testing.assert_close(layer.convolve(x), torch_conv)
    gradients = []
    for output in (layer.convolve(x), torch_conv):
        gradients.append(torch.autograd.grad(output.square().sum(), [layer.kernel, layer.bias]))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("ffn", ["swiglu", "conv_swiglu"])
def test_block(ffn: str) -> None:
    config = CanvasConfig(width=16, heads=2, layers=2, prefix=2, ffn=ffn)
    block = Block(config, generator())
    state, injected = random(2, LENGTH, 16), random(2, LENGTH, 16, seed=1)
    ours = block(state, injected, turn(config))
    for b in range(2):
        x = state[b].double() + injected[b].double()
        for layer in block.layers:
            x = slow_norm(x + slow_attention(layer.attention, x, slow_angles(config, SIDE)))
            x = slow_norm(x + slow_feed_forward(layer.feed_forward, x))
        close(ours[b], x)


def test_starting_weights() -> None:
    weight = Linear(400, 1000, generator()).weight.detach()
    assert abs(float(weight.std()) * 20 - 1) < 0.005
    layer = ConvSwiGLU(CanvasConfig(), generator())
    for tensor in (layer.kernel, layer.bias):  # uniform within 1/sqrt(2)
        assert 0.70 < float(tensor.detach().abs().max()) <= 2**-0.5
        assert abs(float(tensor.detach().std()) - 2**-0.5 / math.sqrt(3)) < 0.02
    assert layer.kernel.shape == torch.nn.Conv1d(1536, 1536, 2, groups=1536).weight.shape


def test_weights_stay_float32_while_activations_are_bfloat16() -> None:
    block = Block(CONFIG, generator())
    out = block(random(1, LENGTH, 16).bfloat16(), random(1, LENGTH, 16).bfloat16(), turn(CONFIG))
    out.float().square().sum().backward()
    assert out.dtype == torch.bfloat16
    for parameter in block.parameters():
        assert parameter.dtype == torch.float32
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32
