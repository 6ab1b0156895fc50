"""The writer's parts on a CPU against the formulas that a GPU computes, and their gradients against differences."""

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.layers import rms_norm
from charm.models.writer.passes import GatedSilu, RmsNorm, Rotate, add_dropped


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
