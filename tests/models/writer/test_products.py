import pytest
import torch
import torch.nn.functional as F

from charm.models.writer import products


def random(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")
@pytest.mark.parametrize("shape", [(40,), (3, 20), (7,), (2, 3)])  # the last two are too few for oneDNN
def test_products_and_gradients_are_torchs(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "has_slow_mkl", lambda: True)
    used = []
    monkeypatch.setattr(products, "_multiply", lambda *ab, of=products._multiply: used.append(1) or of(*ab))
    own, x = (random(*size, 24, seed=1).requires_grad_() for size in ((33,), shape))
    weight = random(*shape, 33, seed=2)
    found = products.linear(x, own)
    found.backward(weight)
    exact = x.detach().double().requires_grad_()
    matrix = own.detach().double().requires_grad_()
    expected = F.linear(exact, matrix)
    expected.backward(weight.double())
    for ours, torchs in ((found, expected), (x.grad, exact.grad), (own.grad, matrix.grad)):
        torch.testing.assert_close(ours.double(), torchs, rtol=1e-4, atol=1e-5)
    assert len(used) == (3 if found.numel() >= 8 * 33 else 0)

    used.clear()
    products.linear(x, own.detach()).backward(weight)  # a frozen matrix costs no product
    assert len(used) == (2 if found.numel() >= 8 * 33 else 0)


def test_other_types_are_multiplied_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "has_slow_mkl", lambda: True)
    monkeypatch.setattr(products, "_multiply", None)
    for dtype in (torch.float64, torch.bfloat16):
        x, weight = random(9, 4, seed=1).to(dtype), random(5, 4, seed=2).to(dtype)
        assert torch.equal(products.linear(x, weight), F.linear(x, weight))
