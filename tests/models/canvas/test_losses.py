import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from charm.models.canvas.training import continue_loss, refinement_loss, stablemax, stablemax_cross_entropy


def slow_stablemax(x: float) -> float:
    return x + 1 if x >= 0 else 1 / (1 - x)


def slow_cross_entropy(logits: list[float], target: int) -> float:
    """-ln of the quotient; Python's floats are float64, and log1p keeps tiny losses apart from zero."""
    others = sum(slow_stablemax(z) for j, z in enumerate(logits) if j != target)
    return math.log1p(others / slow_stablemax(logits[target]))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=2, max_size=12), st.data())
def test_float32_cross_entropy_equals_float64(logits: list[float], data: st.DataObject) -> None:
    target = data.draw(st.integers(0, len(logits) - 1))
    ours = stablemax_cross_entropy(torch.tensor([[logits]]), torch.tensor([[target]]))
    assert float(ours) == pytest.approx(slow_cross_entropy(logits, target), rel=2e-6)


def test_cross_entropy_is_the_logarithm_of_a_probability() -> None:
    logits = torch.tensor([[[0.0, 1.0, -1.0, 2.5]]], dtype=torch.float64).expand(1, 4, 4)
    losses = stablemax_cross_entropy(logits, torch.tensor([[0, 1, 2, 3]]))
    assert float(losses[0, 0]) == pytest.approx(-math.log(1 / (1 + 2 + 0.5 + 3.5)))
    assert float(torch.exp(-losses).sum()) == pytest.approx(1)


@pytest.mark.parametrize("big", [1e4, 1e18])
def test_huge_logits_stay_finite(big: float) -> None:
    logits = torch.tensor([[[big, -big, 0.0]]]).repeat(1, 3, 1).requires_grad_()
    losses = stablemax_cross_entropy(logits, torch.tensor([[0, 1, 2]]))
    for t in range(3):
        assert losses[0, t].item() == pytest.approx(slow_cross_entropy([big, -big, 0.0], t), rel=1e-6)
    losses.sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


# 0 is where the branches meet, 1 and -1 are where the branch not taken has its pole.
LOGITS = [1e4, -1e4, 3.0, 1.0, 0.0, -1.0, -0.25, 50.0]


@pytest.mark.parametrize("target", range(len(LOGITS)))
def test_gradients_equal_finite_differences(target: int) -> None:
    logits = torch.tensor([[LOGITS]], requires_grad=True)
    stablemax_cross_entropy(logits, torch.tensor([[target]])).sum().backward()
    assert logits.grad is not None
    for j in range(len(LOGITS)):
        step = 1e-4 * max(1.0, abs(LOGITS[j]))
        up, down = list(LOGITS), list(LOGITS)
        up[j] += step
        down[j] -= step
        slope = (slow_cross_entropy(up, target) - slow_cross_entropy(down, target)) / (2 * step)
        # At 0 the second derivative jumps, which costs the central difference about step / 2.
        assert float(logits.grad[0, 0, j]) == pytest.approx(slope, rel=2e-4, abs=1e-12)


def test_stablemax_gradcheck() -> None:
    x = torch.tensor([-30.0, -1.0, -0.5, 0.5, 1.0, 30.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(stablemax, x)
    zero = torch.zeros(1, requires_grad=True)
    stablemax(zero).backward()
    assert zero.grad is not None
    assert zero.grad.item() == 1  # the limit from both sides


def example(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Four examples of five cells over four tokens: all right, one wrong, no target at all, all wrong."""
    targets = torch.tensor([[1, 2, 3, 0, 0], [1, 1, 2, 2, 0], [0, 0, 0, 0, 0], [3, 0, 0, 0, 0]])
    logits = torch.randn(4, 5, 4, generator=torch.Generator().manual_seed(seed))
    guesses = torch.tensor([[1, 2, 3, 1, 1], [1, 1, 2, 3, 0], [0, 1, 2, 3, 0], [2, 3, 3, 3, 3]])
    logits.scatter_(2, guesses.unsqueeze(2), 5.0)
    return logits, torch.tensor([2.0, 1.0, -1.0, -3.0]), targets


def test_loss_on_a_hand_written_batch() -> None:
    logits, halt, targets = example()
    token, doubt = [], []
    for b, exact in ((0, 1), (1, 0), (3, 0)):
        cells = [t for t in range(5) if targets[b, t] != 0]
        token.append(sum(slow_cross_entropy(logits[b, t].tolist(), int(targets[b, t])) for t in cells) / len(cells))
        p = 1 / (1 + math.exp(-float(halt[b])))
        doubt.append(-math.log(p if exact else 1 - p))
    loss, metrics = refinement_loss(logits, halt, targets, global_batch=8)
    assert float(loss) == pytest.approx((sum(token) + 0.5 * sum(doubt)) / 8, rel=1e-5)
    expected = {
        "token_loss": sum(token) / 3,
        "halt_loss": sum(doubt) / 3,
        "token_accuracy": (1 + 3 / 4 + 0) / 3,
        "exact_accuracy": 1 / 3,
        "halt_accuracy": 2 / 3,  # right about the first and the last
        "examples": 3,
    }
    assert {name: float(value) for name, value in metrics.items()} == pytest.approx(expected, rel=1e-5)
    assert not any(value.requires_grad for value in metrics.values())
    heavier, _ = refinement_loss(logits, halt, targets, global_batch=8, halt_weight=2.0)
    assert float(heavier) == pytest.approx((sum(token) + 2 * sum(doubt)) / 8, rel=1e-5)


def test_an_example_without_targets_contributes_nothing() -> None:
    logits, halt, targets = example()
    logits.requires_grad_()
    halt.requires_grad_()
    refinement_loss(logits, halt, targets, 4)[0].backward()
    assert logits.grad is not None
    assert halt.grad is not None
    assert not logits.grad[2].any()
    assert halt.grad[2] == 0
    assert not logits.grad[targets == 0].any()  # nor does any pad of the others
    assert logits.grad[targets != 0].any(-1).all()
    alone, metrics = refinement_loss(logits[2:3], halt[2:3], targets[2:3], 4)
    assert alone.item() == 0
    assert all(float(value) == 0 for value in metrics.values())


def test_micro_batches_add_up() -> None:
    logits, halt, targets = example()
    whole, _ = refinement_loss(logits, halt, targets, 4)
    parts = [refinement_loss(logits[b : b + 1], halt[b : b + 1], targets[b : b + 1], 4)[0] for b in range(4)]
    torch.testing.assert_close(sum(parts), whole)


def test_targets_may_be_bytes_and_the_second_halt_output_is_ignored() -> None:
    logits, halt, targets = example()
    two_way = torch.stack([halt, torch.full((4,), 9.0)], 1).requires_grad_()
    loss, _ = refinement_loss(logits, two_way, targets.to(torch.uint8), 4)
    assert loss.detach() == refinement_loss(logits, halt, targets, 4)[0]
    loss.backward()
    assert two_way.grad is not None
    assert not two_way.grad[:, 1].any()


def test_continue_loss_foresees_the_next_step() -> None:
    halt = torch.tensor([[0.0, 0.3], [0.0, -0.7], [0.0, 1.1]], requires_grad=True)
    following = torch.tensor([[1.0, 2.0], [-1.0, -2.0], [-1.0, 4.0]], requires_grad=True)
    last = torch.tensor([False, False, True])
    loss = continue_loss(halt, following, last, global_batch=6)
    aims = torch.sigmoid(torch.tensor([2.0, -1.0, -1.0]))
    expected = 0.5 * F.binary_cross_entropy(torch.sigmoid(torch.tensor([0.3, -0.7, 1.1])), aims, reduction="sum") / 6
    torch.testing.assert_close(loss.detach(), expected)
    loss.backward()
    assert following.grad is None
    assert halt.grad is not None
    assert not halt.grad[:, 0].any()
