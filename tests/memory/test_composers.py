"""Every composer against a slow float64 version written out by hand."""

import math

import pytest
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.memory import COMPOSERS, Film, FilmHeads, Hypernetwork, MixtureOfExperts

B, D, M = 3, 4, 2


def affine(layer: torch.nn.Linear, x: list[float]) -> list[float]:
    weight = layer.weight.double().tolist()
    bias = [0.0] * len(weight) if layer.bias is None else layer.bias.double().tolist()
    return [sum(w * v for w, v in zip(row, x, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def mlp(layers: torch.nn.Sequential, x: list[float]) -> list[float]:
    for layer in layers:
        linear = isinstance(layer, torch.nn.Linear)
        x = affine(layer, x) if linear else [v / (1 + math.exp(-v)) for v in x]
    return x


def film(composer, p: list[float], context: list[float]) -> list[float]:
    scale, shift = mlp(composer.scale, context), mlp(composer.shift, context)
    return [(1 + g) * v + b for g, v, b in zip(scale, p, shift, strict=True)]


def total(*vectors: list[float]) -> list[float]:
    return [sum(column) for column in zip(*vectors, strict=True)]


def slow(name: str, composer, p: list[float], u: list[float], c: list[float]) -> list[float]:
    """One example, plain Python numbers (which are float64)."""
    context = u + c
    if name == "add":
        return total(p, u, c)
    if name in ("film", "film-deep", "film-wide"):
        return film(composer, p, context)
    if name == "film-add":
        return film(composer.film, p, total(u, c))
    if name == "film-heads":
        return affine(composer.mix, [v for head in composer.heads for v in film(head, p, context)])
    if name == "hypernetwork":
        down, up = affine(composer.down, context), affine(composer.up, context)
        hidden = [sum(down[r * D + d] * p[d] for d in range(D)) for r in range(composer.rank)]
        change = [sum(up[d * composer.rank + r] * hidden[r] for r in range(composer.rank)) for d in range(D)]
        return total(p, change, affine(composer.shift, context))
    if name == "experts":
        logits = affine(composer.router, context)
        shares = [math.exp(v) / sum(math.exp(w) for w in logits) for v in logits]
        answers = [affine(expert, total(p, u, c)) for expert in composer.experts]
        return [sum(s * a[d] for s, a in zip(shares, answers, strict=True)) for d in range(D)]
    raise AssertionError(f"no slow version of {name}")


def vectors(seed: int) -> tuple[Tensor, list[Tensor]]:
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(B, D, generator=rng), [torch.randn(B, D, generator=rng) for _ in range(M)]


@pytest.mark.parametrize("name", COMPOSERS)
def test_composer_equals_the_slow_version(name: str):
    composer = COMPOSERS[name](D, M)
    rng = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in composer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng) / 2)
    base, modifiers = vectors(2)
    expected = [slow(name, composer, *(v[b].double().tolist() for v in (base, *modifiers))) for b in range(B)]
    torch.testing.assert_close(
        composer(base, modifiers).double(), torch.tensor(expected, dtype=torch.float64), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("name", sorted(set(COMPOSERS) - {"experts"}))
def test_zero_modifiers_leave_the_base(name: str):
    """All factors start at zero, so the base comes through unchanged at first (not so with experts)."""
    composer = COMPOSERS[name](D, M)
    base, _ = vectors(3)
    torch.testing.assert_close(composer(base, [torch.zeros(B, D)] * M), base)


@pytest.mark.parametrize("name", COMPOSERS)
def test_factors_learn_from_an_all_zero_start(name: str):
    composer = COMPOSERS[name](D, M)
    factors = [torch.zeros(B, D, requires_grad=True) for _ in range(M + 1)]
    composer(factors[0], factors[1:]).square().sum().backward()
    assert all(factor.grad is not None for factor in factors)
    for factor in factors:
        factor.grad = None
    (composer(factors[0], factors[1:]) - 1).square().sum().backward()
    assert all(factor.grad.abs().min() > 0 for factor in factors)


def test_the_hypernetwork_map_learns_while_the_modifiers_are_still_zero():
    composer = Hypernetwork(D, M)
    base, _ = vectors(5)
    (composer(base, [torch.zeros(B, D)] * M) - 1).square().sum().backward()
    assert composer.up.bias.grad.abs().min() > 0


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("film", 2 * (2 * 512**2 + 512)),
        ("film-add", 2 * (512**2 + 512)),
        ("film-wide", 2 * (1024 * 1024 + 1024 + 1024 * 512 + 512)),
        ("film-deep", 2 * (1024 * 512 + 512 + 512 * 512 + 512 + 512 * 512 + 512)),
        ("film-heads", 4 * 2 * (2 * 512**2 + 512) + 4 * 512**2),
        ("add", 0),
        ("hypernetwork", 2 * (1024 * 4 * 512 + 4 * 512) + 1024 * 512 + 512),
        ("experts", 1024 * 4 + 4 + 4 * (512**2 + 512)),
    ],
)
def test_parameter_counts_at_width_512(name: str, count: int):
    with torch.device("meta"):
        composer = COMPOSERS[name](512, 2)
    assert sum(p.numel() for p in composer.parameters()) == count
    assert composer.row_parameters() == []


@pytest.mark.parametrize("name", COMPOSERS)
def test_composers_compute_under_autocast(name: str):
    torch.manual_seed(0)
    composer = COMPOSERS[name](D, M)
    base, modifiers = vectors(4)
    with torch.autocast("cpu", torch.bfloat16):
        low = composer(base, modifiers)
    torch.testing.assert_close(low.float(), composer(base, modifiers), rtol=0.05, atol=0.05)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Film(4, modifiers=0), "modifiers must be >= 1"),
        (lambda: Film(0), "width must be >= 1"),
        (lambda: FilmHeads(4, heads=0), "heads must be >= 1"),
        (lambda: Hypernetwork(4, rank=5), "rank must be <= the width 4, got 5"),
        (lambda: MixtureOfExperts(4, experts=0), "experts must be >= 1"),
    ],
)
def test_impossible_composers_are_refused(build, message: str):
    with pytest.raises(CharmError, match=message):
        build()
