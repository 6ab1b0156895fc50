"""The fused kernels against the plain path in float64. They need a GPU, or Triton's interpreter:

TRITON_INTERPRET=1 python -m pytest tests/models/canvas/test_kernels.py
"""

import copy
import os
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.errors import CharmError
from charm.models.canvas.backbone import Reasoner, plain
from charm.models.canvas.config import CanvasConfig
from charm.models.layers import Block, rotate, rotation

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not CUDA and os.environ.get("TRITON_INTERPRET") != "1",
        reason="neither a GPU nor Triton's interpreter",
    ),
]
BATCH, SIDE = 2, 6


def config(**change: object) -> CanvasConfig:
    small = {"width": 48, "heads": 3, "layers": 2, "prefix": 2, "expansion": 2.0, "inner_multiple": 24}
    return CanvasConfig(**{**small, **change})  # type: ignore[arg-type]


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def error(ours: Tensor, exact: Tensor) -> float:
    return float((ours.detach().double() - exact.detach()).norm() / exact.detach().norm())


def turn_of(shape: CanvasConfig, side: int = SIDE) -> tuple[Tensor, Tensor]:
    return rotation(side, shape.prefix, shape.rope, shape.rope_base, shape.head_width, DEVICE)


def results(
    block: Block, apply: Callable[..., Tensor], inputs: list[Tensor], out_weight: Tensor, cut: int = 0
) -> list[Tensor]:
    """Output and all gradients of two applications; a cut leaves none for the state."""
    state, injected = (tensor.clone().requires_grad_() for tensor in inputs)
    block.zero_grad()
    out = apply(state, injected, 2, cut)
    (out * out_weight.to(out.dtype)).sum().backward()
    assert (state.grad is None) == bool(cut)
    assert injected.grad is not None
    gradients = [parameter.grad for parameter in block.parameters()]
    return [
        out,
        *([] if state.grad is None else [state.grad]),
        injected.grad,
        *(gradient.clone() for gradient in gradients if gradient is not None),
    ]


def compare(shape: CanvasConfig, side: int, dtype: torch.dtype, cut: int = 0) -> list[tuple[float, float]]:
    """(error of the fused path, error of the plain one) against float64, for the output and every gradient."""
    from charm.models.canvas.kernels import fused

    block = Block(shape, torch.Generator().manual_seed(0)).to(DEVICE)
    exact = copy.deepcopy(block).double()
    turn, length = turn_of(shape, side), shape.prefix + side * side
    inputs = [random(BATCH, length, shape.width, seed=seed).to(dtype) for seed in (1, 2)]
    weight = random(BATCH, length, shape.width, seed=3)
    slow = results(exact, plain(exact, turn), [one.double() for one in inputs], weight, cut)
    eager = results(block, plain(block, turn), inputs, weight, cut)
    ours = results(block, fused(block, turn, dtype), inputs, weight, cut)
    assert len(ours) == len(eager) == len(slow) == 3 - bool(cut) + len(list(block.parameters()))
    return [(error(a, c), error(b, c)) for a, b, c in zip(ours, eager, slow, strict=True)]


class TestFused:
    pytestmark = gpu

    @pytest.mark.parametrize("ffn", ["conv_swiglu", "swiglu"])
    @pytest.mark.parametrize("rope", ["1d", "2d"])
    def test_float32_is_exact_but_for_rounding(self, ffn: str, rope: str) -> None:
        """Odd sizes: 38 positions leave tails in every tile, 48 columns and 3 heads are no powers of two."""
        for ours, _ in compare(config(ffn=ffn, rope=rope), SIDE, torch.float32):
            assert ours < 2e-5

    def test_gradients_stop_at_a_cut(self) -> None:
        for ours, _ in compare(config(layers=3), SIDE, torch.float32, cut=2):
            assert ours < 2e-5

    @pytest.mark.skipif(not CUDA, reason="the interpreter rounds bfloat16 downwards")
    @pytest.mark.parametrize("ffn", ["conv_swiglu", "swiglu"])
    def test_bfloat16_is_as_exact_as_the_plain_path(self, ffn: str) -> None:
        for ours, eager in compare(CanvasConfig(ffn=ffn, layers=1), 30, torch.bfloat16):
            assert ours < 1.5 * eager
            assert ours < 0.05

    @pytest.mark.parametrize("ffn", ["conv_swiglu", "swiglu"])
    @pytest.mark.parametrize("times", [0, 1, 3])
    def test_without_gradients(self, ffn: str, times: int) -> None:
        from charm.models.canvas.kernels import fused

        shape = config(ffn=ffn)
        block = Block(shape, torch.Generator().manual_seed(0)).to(DEVICE)
        state, injected = (random(BATCH, 38, 48, seed=seed) for seed in (1, 2))
        kept = state.clone()
        with torch.no_grad():
            ours = fused(block, turn_of(shape), torch.float32)(state, injected, times)
            exact = plain(block.double(), turn_of(shape))(state.double(), injected.double(), times)
        assert error(ours, exact) < 5e-6
        assert torch.equal(state, kept)  # it works in place, but not on what it was given

    @pytest.mark.parametrize("side", [2, 6, 9])
    def test_attention(self, side: int) -> None:
        """Fewer keys than a tile, several tiles, and large scores, whose maximum moves from tile to tile."""
        from charm.models.canvas import kernels

        turn, length = rotation(side, 2, "1d", 10000.0, 16, DEVICE), 2 + side * side
        qkv = 5 * random(BATCH * length, 3 * 48)
        q, k, v = qkv.double().view(BATCH, length, 3, 3, 16).unbind(2)
        q, k = rotate(q, turn).double(), rotate(k, turn).double()
        exact = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        kernels.rotate(qkv.split(48, dim=1), qkv, turn, range(1, 2))
        ours = kernels.attend(qkv, turn)
        assert error(ours, exact.transpose(1, 2).reshape(ours.shape)) < 1e-5

    @pytest.mark.skipif(not CUDA, reason="a reasoner uses the kernels on a GPU only")
    def test_a_whole_training_step_agrees_with_the_plain_path(self) -> None:
        tokens = torch.randint(12, (4, 121), generator=torch.Generator().manual_seed(0)).to(DEVICE)
        found = []
        for kernels in ("plain", "fused"):
            shape = CanvasConfig(layers=2, recurrences=3, horizon=2, compute_dtype="float32", kernels=kernels)
            reasoner = Reasoner(shape).to(DEVICE)
            assert reasoner.uses_fused_kernels() == (kernels == "fused")
            state, logits, _ = reasoner(reasoner.initial_state(4, 121), tokens, random(4, 512), 11)
            (logits * random(4, 121, 12, seed=1)).sum().backward()
            gradients = [p.grad for p in reasoner.parameters() if p.grad is not None]
            found.append([state, logits, *(gradient for gradient in gradients if gradient.any())])
        assert len(found[0]) == len(found[1]) == 2 + 2 + 2 * 6
        for eager, ours in zip(*found, strict=True):
            assert error(ours, eager.double()) < 1e-3


def test_the_fused_kernels_are_refused_where_they_cannot_run() -> None:
    reasoner = Reasoner(config(kernels="fused", compute_dtype="float32"))
    tokens = torch.zeros(1, 4, dtype=torch.long)
    with pytest.raises(CharmError, match=r"need Triton, an NVIDIA GPU .* is on cpu"):
        reasoner(reasoner.initial_state(1, 4), tokens, torch.zeros(1, 48), 2)
    assert not Reasoner(config()).uses_fused_kernels()
