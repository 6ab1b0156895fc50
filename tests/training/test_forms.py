from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from charm.continual.drift import changed_values, snapshot
from charm.continual.methods import reservoir
from charm.errors import CharmError
from charm.training.adaptation import Adaptation, Recipe, private_rows, shared_parameters
from charm.training.forms import ACCESSES, LORA_SCALE, LowRank, Units, Usage, tf_idf, unit_usage
from tests.toy.runs import HERE
from tests.toy.streams import prepared

RECIPE = Recipe(steps=4, batch=4, warmup=0, shared_lr=1e-2)
NEW = tuple(f"new{number}" for number in range(4))


def test_a_low_rank_change_learns_as_autograd_says() -> None:
    """Against torch's own gradients of the two thin matrices, over three steps of plain descent."""
    generator = torch.Generator().manual_seed(0)
    matrix = nn.Parameter(torch.randn(5, 7, generator=generator))
    inputs, targets = torch.randn(4, 7, generator=generator), torch.randn(4, 5, generator=generator)
    form = LowRank({"w": matrix}, rank=2, seed=3)
    start = matrix.detach().clone()
    down, up = (p.detach().clone().requires_grad_() for p in (form.down["w"], form.up["w"]))
    assert not form.up["w"].any()
    assert form.count() == 2 * (5 + 7)
    for _ in range(3):
        ((inputs @ matrix.T - targets) ** 2).sum().backward()
        form.after_backward()
        assert matrix.grad is None
        ((inputs @ (start + LORA_SCALE * up @ down).T - targets) ** 2).sum().backward()
        for ours, theirs in ((form.down["w"], down), (form.up["w"], up)):
            torch.testing.assert_close(ours.grad, theirs.grad)
            ours.data -= 1e-3 * ours.grad
            theirs.data -= 1e-3 * theirs.grad
            ours.grad = theirs.grad = None
        form.after_step()
        torch.testing.assert_close(matrix.detach(), (start + LORA_SCALE * up @ down).detach())
    assert torch.linalg.matrix_rank(matrix.detach() - start, rtol=1e-4) == 2
    with pytest.raises(CharmError, match="rank must be <= 7, the longest side of a matrix of this model; got 8"):
        LowRank({"w": matrix}, rank=8, seed=3)


def test_lora_changes_the_matrices_of_the_blocks_and_nothing_else(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    before = snapshot(model)
    shared = shared_parameters(model, "matrices")
    adaptation = Adaptation(model, data, RECIPE, "matrices", HERE, form=LowRank(shared, 2, 0))
    for _ in range(RECIPE.steps):
        adaptation.update()
    moved = changed_values(model, before, private_rows(model, NEW))
    assert set(moved) == set(shared)
    assert all(".qkv." in n or ".out." in n or ".gate_up." in n or ".down." in n for n in shared)
    for name, matrix in shared.items():
        change = matrix.detach() - before[name]
        assert torch.linalg.matrix_rank(change.double(), rtol=1e-4) <= 2, name


def test_tf_idf_by_hand() -> None:
    """Ten uses by the task; of 9 pretraining examples 9, 4 and none use the units."""
    found = tf_idf(torch.tensor([5.0, 4.0, 1.0]), torch.tensor([9.0, 4.0, 0.0]), 9)
    expected = [0.5 * np.log(10 / 10), 0.4 * np.log(10 / 5), 0.1 * np.log(10 / 1)]
    assert found.tolist() == pytest.approx(expected)


def test_units_are_counted_per_example(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    before = snapshot(model)
    found = unit_usage(model, data, HERE, batch=4, batches=3, seed=0)
    assert found.examples == 12
    layers = [name for name, _ in model.named_modules() if name.endswith(".feed_forward")]
    assert list(found.counts) == layers
    for counts in found.counts.values():
        assert int(counts.sum()) == 12 * min(ACCESSES, len(counts))
        assert int(counts.max()) <= 12
    assert changed_values(model, before, {}) == {}
    assert model.reasoner.config == model.config.reasoner


def test_only_the_chosen_units_learn(base: Path, unseen: Path) -> None:
    """Those that the task uses and pretraining does not: their rows inwards, their columns outwards, to the bit."""
    model, data = prepared(base, unseen)
    shared = shared_parameters(model, "feed-forward")
    assert all(".feed_forward." in name for name in shared)
    layer = next(name for name, _ in model.named_modules() if name.endswith(".feed_forward"))
    width = model.config.reasoner.inner_width
    task, pretraining = torch.zeros(width), torch.full((width,), 50.0)
    task[[3, 8]], pretraining[[3, 8]] = 4.0, 0.0
    task[5] = 4.0  # which pretraining uses as well
    form = Units(shared, Usage({layer: task}, 4), Usage({layer: pretraining}, 100), 2)
    before = snapshot(model)
    adaptation = Adaptation(model, data, RECIPE, "feed-forward", HERE, form=form)
    for _ in range(RECIPE.steps):
        adaptation.update()
    down, inwards = (f"{layer}.{name}.weight" for name in ("down", "gate_up"))
    changed = {name: model.state_dict()[name] != before[name] for name in (down, inwards)}
    assert changed[down].any(0).nonzero().flatten().tolist() == [3, 8]
    assert changed[inwards].any(1).nonzero().flatten().tolist() == [3, 8, width + 3, width + 8]
    moved = changed_values(model, before, private_rows(model, NEW))
    assert all(name.startswith(layer) for name in moved)
    assert sum(moved.values()) <= form.count()


def test_a_reservoir_gives_every_task_the_same_chance() -> None:
    assert reservoir(0, 3, 0) == []
    assert sorted(reservoir(3, 3, 0)) == [0, 1, 2]
    kept = [reservoir(12, 3, seed) for seed in range(2000)]
    assert all(len(set(one)) == 3 for one in kept)
    shares = np.bincount(np.concatenate(kept), minlength=12) / len(kept)
    assert abs(shares - 3 / 12).max() < 0.04  # four deviations of a share over 2,000 draws
    # It changes one task at a time: what is in it stays until it is replaced.
    for stage in range(3, 20):
        assert len(set(reservoir(stage, 3, 7)) & set(reservoir(stage + 1, 3, 7))) >= 2
