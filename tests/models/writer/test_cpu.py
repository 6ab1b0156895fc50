"""The writer's parts on a CPU against the formulas that a GPU computes, and their gradients against differences."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.layers import rms_norm
from charm.models.writer import cpu
from charm.models.writer.cpu import GatedSilu, RmsNorm, Rotate, add_dropped


def drawn(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_()


def test_norm() -> None:
    x = drawn(5, 8)
    torch.testing.assert_close(RmsNorm.apply(x).float(), rms_norm(x.float()))
    assert torch.autograd.gradcheck(RmsNorm.apply, (x,))


def test_rotation() -> None:
    x, angle = drawn(5, 2, 8), drawn(5, 1, 4).detach()
    cos, sin = angle.cos(), angle.sin()
    turned = torch.view_as_real(torch.complex(x[..., :4], x[..., 4:]) * torch.complex(cos, sin))
    torch.testing.assert_close(Rotate.apply(x, cos, sin), torch.cat(turned.unbind(-1), dim=-1))
    assert torch.autograd.gradcheck(Rotate.apply, (x, cos, sin))
    across = drawn(5, 8, 2).transpose(1, 2)  # as it comes from a larger tensor
    assert torch.autograd.gradcheck(Rotate.apply, (across, cos, sin))


def test_swiglu() -> None:
    x = drawn(5, 8)
    torch.testing.assert_close(GatedSilu.apply(x), F.silu(x[:, :4]) * x[:, 4:])
    assert torch.autograd.gradcheck(GatedSilu.apply, (x,))


def test_dropping() -> None:
    torch.manual_seed(1)
    x, branch = torch.zeros(333, 301), torch.ones(333, 301, requires_grad=True)
    added = add_dropped(x, branch, 0.1)
    assert set(added.unique().tolist()) == {0.0, torch.tensor(1 / 0.9).item()}
    kept = (added > 0).double()
    assert abs(kept.mean().item() - 0.9) < 0.004  # four standard errors of a hundred thousand draws
    assert (kept.mean(0) - 0.9).abs().max() < 0.09  # and in every column, whichever of the four numbers it is
    added.sum().backward()
    assert torch.equal(branch.grad, added)  # what is dropped is not learned from
    torch.manual_seed(1)
    assert torch.equal(add_dropped(x, branch, 0.1), added)
    assert not torch.equal(add_dropped(x, branch, 0.1), added)


def random(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")
@pytest.mark.parametrize("shape", [(40,), (3, 20), (7,), (2, 3)])  # the last two are too few for oneDNN
def test_products_and_gradients_are_torchs(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "has_slow_mkl", lambda: True)
    used = []
    monkeypatch.setattr(cpu, "_multiply", lambda *ab, of=cpu._multiply: used.append(1) or of(*ab))
    own, x = (random(*size, 24, seed=1).requires_grad_() for size in ((33,), shape))
    weight = random(*shape, 33, seed=2)
    found = cpu.linear(x, own)
    found.backward(weight)
    exact = x.detach().double().requires_grad_()
    matrix = own.detach().double().requires_grad_()
    expected = F.linear(exact, matrix)
    expected.backward(weight.double())
    for ours, torchs in ((found, expected), (x.grad, exact.grad), (own.grad, matrix.grad)):
        torch.testing.assert_close(ours.double(), torchs, rtol=1e-4, atol=1e-5)
    assert len(used) == (3 if found.numel() >= 8 * 33 else 0)

    used.clear()
    cpu.linear(x, own.detach()).backward(weight)  # a frozen matrix costs no product
    assert len(used) == (2 if found.numel() >= 8 * 33 else 0)


def test_other_types_are_multiplied_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "has_slow_mkl", lambda: True)
    monkeypatch.setattr(cpu, "_multiply", None)
    for dtype in (torch.float64, torch.bfloat16):
        x, weight = random(9, 4, seed=1).to(dtype), random(5, 4, seed=2).to(dtype)
        assert torch.equal(cpu.linear(x, weight), F.linear(x, weight))
