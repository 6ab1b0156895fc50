"""Muon against the singular value decomposition, torch's own Muon, and a slow float64 version of a whole step."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from charm.language.optimizers import POLAR_EXPRESS, NorMuon, even_out, polar

SHAPES = [(16, 16), (40, 12), (12, 40), (2, 12)]


def exact_polar(matrix: Tensor) -> Tensor:
    u, _, v = torch.linalg.svd(matrix.double(), full_matrices=False)
    return u @ v


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_polar_comes_near_the_polar_factor(shape: tuple[int, int], dtype: torch.dtype) -> None:
    """Five polynomials are not enough to be exact: the published ones leave singular values within 0.2 of 1."""
    generator = torch.Generator().manual_seed(0)
    matrices = torch.randn(5, *shape, generator=generator, dtype=torch.float64)
    found = polar(matrices, dtype).double()
    exact = torch.stack([exact_polar(matrix) for matrix in matrices])
    singular = torch.linalg.svdvals(found)
    assert (singular - 1).abs().max() < 0.2
    assert (found - exact).flatten(1).norm(dim=1).max() < 0.15 * math.sqrt(min(shape))
    # The singular vectors are right for any values: U^T X V is diagonal.
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    inner = u.mT @ found @ v.mT
    off = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
    rounding = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 0.05}[dtype]
    assert off.norm() < rounding * inner.norm()


def test_polar_is_the_polynomials_of_the_singular_values() -> None:
    """An odd matrix polynomial acts on singular values alone, from 1e-3 to 1."""
    generator = torch.Generator().manual_seed(1)
    u, _ = torch.linalg.qr(torch.randn(8, 8, generator=generator, dtype=torch.float64))
    v, _ = torch.linalg.qr(torch.randn(8, 8, generator=generator, dtype=torch.float64))
    values = torch.logspace(-3, 0, 8, dtype=torch.float64)
    expected = values / (values.norm() * 1.01 + 1e-6)
    for a, b, c in POLAR_EXPRESS:
        expected = a * expected + b * expected**3 + c * expected**5
    found = polar((u * values) @ v, torch.float64)
    torch.testing.assert_close(found, (u * expected) @ v, rtol=1e-9, atol=1e-9)
    assert expected.min() > 0.8  # even the small ones have grown


def best_quintic(low: float, high: float) -> np.ndarray:
    """The odd polynomial of degree 5 that comes closest to 1 on [low, high], by Remez's exchange."""
    points = np.array([low, (3 * low + high) / 4, (low + 3 * high) / 4, high])
    for _ in range(50):
        system = np.column_stack([points, points**3, points**5, [1, -1, 1, -1]])
        a, b, c, _ = np.linalg.solve(system, np.ones(4))
        points[1:3] = np.sqrt((-3 * b + np.array([-1, 1]) * math.sqrt(9 * b * b - 20 * a * c)) / (10 * c))
    return np.array([a, b, c])


def test_the_coefficients_are_those_of_the_polar_express_paper_to_all_digits() -> None:
    """By its algorithm: singular values from 1e-3, a cushion of 0.02, a safety factor of 0.02 but for the last."""
    low, high = 1e-3, 1.0
    powers = np.array([1, 3, 5])
    for found in POLAR_EXPRESS:
        expected = best_quintic(max(low, 0.02 * high), high)
        expected *= 2 / (expected @ low**powers + expected @ high**powers)
        if found != POLAR_EXPRESS[-1]:
            expected /= 1.02**powers
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        low = expected @ low**powers
        high = 2 - low


@pytest.mark.parametrize("shape", SHAPES)
def test_with_torchs_polynomial_polar_is_torchs(shape: tuple[int, int]) -> None:
    """From zero weights, one step of torch's Muon without momentum or decay is minus the factor, scaled."""
    gradient = torch.randn(*shape, generator=torch.Generator().manual_seed(2))
    weight = nn.Parameter(torch.zeros(*shape))
    weight.grad = gradient.clone()
    torch.optim.Muon([weight], lr=1.0, momentum=0.0, weight_decay=0.0, nesterov=False).step()
    ours = polar(gradient, torch.bfloat16, [(3.4445, -4.775, 2.0315)] * 5, safety=1.0).float()
    scale = math.sqrt(max(1, shape[0] / shape[1]))
    torch.testing.assert_close(-weight.detach() / scale, ours, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_evening_out_keeps_the_norm_and_levels_the_longer_axis(shape: tuple[int, int]) -> None:
    update = torch.randn(3, *shape, generator=torch.Generator().manual_seed(3))
    axis = -1 if shape[0] >= shape[1] else -2
    square = torch.zeros(3, shape[0], 1) if axis == -1 else torch.zeros(3, 1, shape[1])
    evened = even_out(update, square, beta2=0.9)
    torch.testing.assert_close(evened.norm(dim=(-2, -1)), update.norm(dim=(-2, -1)))
    torch.testing.assert_close(square, 0.1 * update.square().mean(axis, keepdim=True))
    lines = evened.square().mean(axis)
    torch.testing.assert_close(lines, lines.mean(-1, keepdim=True).expand_as(lines))  # after one step: all equal


def slow_steps(weight: Tensor, gradients: list[Tensor], lr: float, beta: float, beta2: float, decay: float) -> Tensor:
    """NorMuon with cautious decay, as published, on one matrix in float64."""
    weight = weight.double()
    rows, columns = weight.shape
    momentum = torch.zeros_like(weight)
    square = torch.zeros(max(rows, columns), dtype=torch.float64)
    for gradient in gradients:
        g = gradient.double()
        momentum = beta * momentum + (1 - beta) * g
        update = (1 - beta) * g + beta * momentum
        update = polar(update, torch.float64)
        lines = update if rows >= columns else update.T  # one line for each index of the longer axis
        norm = lines.norm()
        for n, line in enumerate(lines):
            square[n] = beta2 * square[n] + (1 - beta2) * (line @ line) / len(line)
        lines = torch.stack([line / square[n].clamp_min(1e-10).sqrt() for n, line in enumerate(lines)])
        lines = lines * norm / lines.norm()
        update = lines if rows >= columns else lines.T
        rate = lr * max(1.0, rows / columns) ** 0.5
        same = (update.sign() * weight.sign() >= 0).double()
        weight = weight - rate * update - rate * decay * weight * same
    return weight


def test_whole_steps_are_those_of_the_slow_version() -> None:
    generator = torch.Generator().manual_seed(4)
    weights = [nn.Parameter(torch.randn(*shape, generator=generator)) for shape in [*SHAPES, *SHAPES]]
    before = [weight.detach().clone() for weight in weights]
    gradients = [[torch.randn(*weight.shape, generator=generator) for _ in range(4)] for weight in weights]
    muon = NorMuon(weights, lr=0.05, momentum=0.9, beta2=0.8, weight_decay=0.3, dtype=torch.float32)
    for step in range(4):
        for weight, some in zip(weights, gradients, strict=True):
            weight.grad = some[step].clone()
        muon.step()
    for weight, start, some in zip(weights, before, gradients, strict=True):
        expected = slow_steps(start, some, 0.05, 0.9, 0.8, 0.3)
        torch.testing.assert_close(weight.detach().double(), expected, rtol=1e-3, atol=1e-4)


def test_nothing_moves_without_a_gradient() -> None:
    weight = nn.Parameter(torch.ones(3, 3))
    NorMuon([weight]).step()
    assert torch.equal(weight.detach(), torch.ones(3, 3))
