import math
from dataclasses import replace

import pytest
import torch
from torch.optim import AdamW

from charm.models.canvas.config import CanvasConfig
from charm.models.model import CharmModel
from charm.models.vit.config import LOOPVIT
from charm.models.writer.config import WriterConfig
from charm.runs.checkpoint import optimizer_tensors, restore_optimizers
from charm.runs.settings import OptimizerConfig, RowChoice
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.training.optimizers import (
    URM_STAGES,
    AdamAtan2,
    MovingAverage,
    Muon,
    Optimizers,
    clip_together,
    lr_scale,
    orthogonalize,
)
from tests.toy.models import REASONER, some_instances


def groups(
    memory: MemoryConfig, config: OptimizerConfig, reasoner: CanvasConfig = REASONER
) -> dict[str, dict[str, float]]:
    """Optimizer name -> parameter name -> learning rate."""
    model = CharmModel(reasoner, memory, ArcKey(some_instances()))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found: dict[str, dict[str, float]] = {}
    for optimizer in Optimizers(model, config).all:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                found.setdefault(type(optimizer).__name__, {})[names[id(parameter)]] = group["lr"]
    assert sum(map(len, found.values())) == len(names)
    return found


def test_grouping_is_the_papers() -> None:
    """2-D dense tensors to Muon, other dense ones to AdamW, instance rows to SignSGD."""
    found = groups(MemoryConfig(rank=8, gate=True), OptimizerConfig())
    assert set(found["RowSignSGD"].values()) == {1e-2}
    assert list(found["RowSignSGD"]) == ["memory.residual.rows.weight"]
    assert "memory.base.rows.weight" in found["Muon"]  # the factor tables are dense matrices too
    assert "reasoner.tokens" in found["Muon"]
    assert "reasoner.halt_weight" in found["Muon"]
    kernel = "reasoner.blocks.0.layers.0.feed_forward.kernel"
    assert {kernel, "reasoner.halt_bias", "memory.gate.bias"} <= set(found["AdamW"])


def test_factor_tables_can_have_their_own_optimizer() -> None:
    adamw = groups(MemoryConfig(rank=8), OptimizerConfig(factors="adamw", factor_lr=3e-2))
    assert adamw["AdamW"]["memory.base.rows.weight"] == 3e-2
    assert adamw["AdamW"]["memory.modifiers.1.slots"] == 3e-2


def test_adamw_alone_is_a_choice() -> None:
    found = groups(MemoryConfig(design="table", rank=64), OptimizerConfig(dense="adamw", factors="adamw"))
    assert set(found) == {"AdamW", "RowSignSGD"}


def test_adam_atan2_takes_every_dense_weight() -> None:
    found = groups(MemoryConfig(design="table", rank=64), OptimizerConfig(dense="adam-atan2", factors="adamw"))
    assert set(found) == {"AdamAtan2", "RowSignSGD"}
    assert {"reasoner.tokens", "reasoner.halt_bias"} <= set(found["AdamAtan2"])


def test_a_writers_token_vectors_are_left_to_adamw() -> None:
    writer = WriterConfig(
        width=64,
        heads=4,
        layers=1,
        recurrences=1,
    )
    found = groups(MemoryConfig(rank=0, colors="free"), OptimizerConfig(), writer)
    assert {"reasoner.tokens", "reasoner.head.weight"} <= set(found["AdamW"])
    layer = "reasoner.layers.0."
    maps = {f"{layer}{name}.weight" for name in ("qkv", "out", "gate_up", "down")}
    assert maps <= set(found["Muon"])


def test_learning_rates_rise_hold_and_fall() -> None:
    config = OptimizerConfig(warmup=4, cooldown=0.5)
    scales = [lr_scale(update, 20, config) for update in range(20)]
    assert scales[:4] == [0.25, 0.5, 0.75, 1.0]
    assert scales[4:11] == [1.0] * 7
    assert scales[11:] == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    assert [lr_scale(u, 20, OptimizerConfig(warmup=0)) for u in (0, 19)] == [1.0, 1.0]


def test_step_sets_the_scheduled_rate_and_clears_gradients() -> None:
    model = CharmModel(REASONER, MemoryConfig(rank=8), ArcKey(some_instances()))
    optimizers = Optimizers(model, OptimizerConfig())
    rows = torch.tensor([1, 2])
    model.task(rows).sum().backward()
    optimizers.scale(0.3)
    optimizers.step()
    rates = {type(o).__name__: o.param_groups[0]["lr"] for o in optimizers.all}
    assert rates == pytest.approx({"Muon": 3e-5, "AdamW": 3e-5, "RowSignSGD": 3e-3})
    assert all(parameter.grad is None for parameter in model.parameters())


def test_muon_and_adamw_have_the_papers_settings() -> None:
    model = CharmModel(REASONER, MemoryConfig(rank=8), ArcKey(some_instances()))
    muon, adamw, *_ = Optimizers(model, OptimizerConfig()).all
    assert type(muon) is Muon
    assert type(adamw) is AdamW
    assert muon.param_groups[0]["momentum"] == 0.95
    assert adamw.param_groups[0]["betas"] == (0.9, 0.95)


@pytest.mark.parametrize("on_device", [False, True])
def test_muon_makes_the_updates_of_torchs_own(on_device: bool) -> None:
    """Matrices of three shapes, wide, tall and square, one of which has no gradient at first."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(4, 12), (12, 4), (4, 12), (8, 8)]
    ours, theirs = (
        [torch.nn.Parameter(torch.randn(shape, generator=torch.Generator().manual_seed(1))) for shape in shapes]
        for _ in range(2)
    )
    mine = Muon(ours, lr=0.02, weight_decay=0.3, momentum=0.9)
    reference = torch.optim.Muon(
        theirs, lr=0.02, weight_decay=0.3, momentum=0.9, nesterov=True, adjust_lr_fn="match_rms_adamw"
    )
    if on_device:
        mine.param_groups[0]["lr"] = torch.tensor(0.02)
    for step in range(4):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if step or number != 3:
                one.grad = torch.randn(one.shape, generator=generator)
                other.grad = one.grad.clone()
        mine.step()
        reference.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=2e-4)  # bfloat16 sums in another order; changes are 0.02


@pytest.mark.parametrize("on_device", [False, True])
def test_adam_atan2_is_its_formula(on_device: bool) -> None:
    """One weight at a time in plain Python; stopped, saved and resumed on the way."""
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn(6, 5, generator=generator)
    gradients[:, 4] = 0.0  # decay only
    start = torch.randn(5, generator=generator)
    weight = torch.nn.Parameter(start.clone())
    optimizer = AdamAtan2([weight], lr=0.02, betas=(0.9, 0.95), weight_decay=0.3)
    for step, gradient in enumerate(gradients):
        if step == 3:
            saved = optimizer_tensors([optimizer])
            optimizer = AdamAtan2([weight], lr=0.02, betas=(0.9, 0.95), weight_decay=0.3)
            restore_optimizers([optimizer], saved)
        if on_device:
            optimizer.param_groups[0]["lr"] = torch.tensor(0.02)
        weight.grad = gradient.clone()
        optimizer.step()
    for number, value in enumerate(start.tolist()):
        average = square = 0.0
        for count, gradient in enumerate(gradients[:, number].tolist(), start=1):
            average = 0.9 * average + 0.1 * gradient
            square = 0.95 * square + 0.05 * gradient**2
            angle = math.atan2(average, math.sqrt(square / (1 - 0.95**count)))
            value = value * (1 - 0.02 * 0.3) - 0.02 / (1 - 0.9**count) * angle
        assert weight[number].item() == pytest.approx(value, abs=1e-6)


def test_adam_atan2_steps_are_bounded_whatever_the_gradients_size() -> None:
    for size in (1e-12, 1.0, 1e12):
        weight = torch.nn.Parameter(torch.zeros(1))
        optimizer = AdamAtan2([weight], lr=1.0, weight_decay=0.0)
        for _ in range(200):
            before = weight.item()
            weight.grad = torch.full((1,), size)
            optimizer.step()
        assert before - weight.item() == pytest.approx(math.pi / 4, rel=1e-3)


@pytest.mark.parametrize("shape", [(6, 24), (24, 6), (8, 8)])
def test_urms_muon_is_its_formula(shape: tuple[int, int]) -> None:
    """By the singular value decomposition, in float64, from two gradients; only the sum of gradients is rounded."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.randn(shape, generator=generator))
    expected, buffer = weight.detach().double(), torch.zeros(shape)
    optimizer = Muon([weight], lr=0.02, weight_decay=0.3, momentum=0.95, urm=True)
    for _ in range(2):
        gradient = torch.randn(shape, generator=generator)
        weight.grad = gradient.clone()
        optimizer.step()
        buffer = 0.95 * buffer + gradient
        # The iteration starts from bfloat16, which alone makes a difference of up to 5e-4.
        u, values, v = torch.linalg.svd((gradient + 0.95 * buffer).bfloat16().double(), full_matrices=False)
        values = values / values.norm()
        for a, b, c in [(7.2086, -15.5131, 9.0178), (3.9623, -2.5813, 0.4542), (3.9466, -2.5765, 0.4544),
                        (3.8991, -2.5671, 0.4566), (3.7186, -2.5308, 0.4653)]:  # fmt: skip
            values = a * values + b * values**3 + c * values**5
        expected = expected * (1 - 0.02 * 0.3) - 0.02 * 0.2 * max(shape) ** 0.5 * (u * values) @ v
    torch.testing.assert_close(weight.detach().double(), expected, rtol=0, atol=1e-5)


def test_urms_muon_rounds_the_sum_of_gradients() -> None:
    """To the bits that the rounding leaves: the input of the iteration is bfloat16, all else float32."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(6, 24))
    buffer, expected = torch.zeros(6, 24), torch.zeros(6, 24)
    optimizer = Muon([weight], lr=1.0, weight_decay=0.0, momentum=0.95, urm=True)
    for _ in range(3):
        weight.grad = torch.randn(6, 24, generator=generator)
        buffer = 0.95 * buffer + weight.grad
        x = (weight.grad + 0.95 * buffer).bfloat16().float()
        x = x / x.norm()
        for a, b, c in URM_STAGES:
            gram = x @ x.mT
            x = a * x + (b * gram + c * gram @ gram) @ x
        expected -= 0.2 * 24**0.5 * x
        optimizer.step()
    torch.testing.assert_close(weight.detach(), expected, rtol=0, atol=2e-5)


def test_urms_muon_makes_larger_updates_than_ours() -> None:
    """The ratio that docs/train.md gives, for singular values that span up to four decades."""
    generator = torch.Generator().manual_seed(0)
    u, v = (torch.linalg.qr(torch.randn(size, 64, generator=generator)).Q for size in (64, 192))
    for decades in (1, 2, 4):
        matrix_K = ((u * torch.logspace(0, -decades, 64)) @ v.mT)[None]
        ratio = orthogonalize(matrix_K, URM_STAGES, torch.float32).norm() / orthogonalize(matrix_K).norm()
        assert 1.3 < ratio < 1.6, (decades, ratio)


def test_moving_average_is_the_formula_and_swaps_back() -> None:
    weight = torch.nn.Parameter(torch.zeros(3))
    average = MovingAverage([weight], 0.9)
    expected = 0.0
    for value in (1.0, 2.0, -4.0):
        weight.data.fill_(value)
        average.update()
        expected = 0.9 * expected + 0.1 * value
    with average.applied():
        assert weight.tolist() == pytest.approx([expected] * 3)
    assert weight.tolist() == [-4.0] * 3


def test_a_cosine_falls_as_torchs_does() -> None:
    config = OptimizerConfig(warmup=2, cooldown=0.9, decay="cosine")
    weight = torch.nn.Parameter(torch.zeros(1))
    sgd = torch.optim.SGD([weight], lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=18)
    for update in range(2, 20):  # 18 of 20 updates, after the warm-up
        assert lr_scale(update, 20, config) == pytest.approx(schedule.get_last_lr()[0])
        sgd.step()
        schedule.step()
    assert lr_scale(0, 20, config) == 0.5


def test_gradients_are_clipped_together_before_the_step() -> None:
    """Adam would hide it from a single step, so the gradients are looked at where AdamW is handed them."""
    moved = {}
    for clip in (0.0, 1.0):
        model = CharmModel(REASONER, MemoryConfig(rank=8), ArcKey(some_instances()))
        optimizers = Optimizers(model, OptimizerConfig(dense="adamw", factors="adamw", clip=clip))
        generator = torch.Generator().manual_seed(0)
        for parameter in optimizers.dense:
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        given = [parameter.grad.clone() for parameter in optimizers.dense if parameter.grad is not None]
        optimizers.step()
        adamw = next(one for one in optimizers.all if isinstance(one, AdamW))
        # After one step the first moment is (1 - beta) times the gradient.
        moved[clip] = [adamw.state[parameter]["exp_avg"] / 0.1 for parameter in optimizers.dense]
    norm = torch.cat([gradient.flatten() for gradient in given]).norm()
    assert norm > 1
    for plain, clipped, gradient in zip(moved[0.0], moved[1.0], given, strict=True):
        torch.testing.assert_close(plain, gradient)
        torch.testing.assert_close(clipped, gradient / norm, atol=1e-6, rtol=1e-4)


def test_the_norm_that_is_clipped_includes_instance_rows() -> None:
    """As torch does with a dense table; a row that was read twice counts with the sum of both."""
    generator = torch.Generator().manual_seed(0)
    weight, table = (torch.nn.Parameter(torch.randn(5, 3, generator=generator)) for _ in range(2))
    dense = [weight.detach().clone().requires_grad_(), table.detach().clone().requires_grad_()]
    read = torch.tensor([3, 1, 3])
    for one, rows, sparse in ((weight, table, True), (*dense, False)):
        found = torch.nn.functional.embedding(read, rows, sparse=sparse)
        (one.square().sum() + (found * torch.arange(9.0).view(3, 3)).sum()).backward()
    torch.nn.utils.clip_grad_norm_(dense, 0.5)
    sgd, rows = torch.optim.SGD([weight], 1.0), torch.optim.SGD([table], 1.0)
    clip_together([sgd, rows], 0.5)
    assert table.grad is not None
    torch.testing.assert_close(weight.grad, dense[0].grad)
    torch.testing.assert_close(table.grad.to_dense(), dense[1].grad)


@pytest.mark.parametrize(("choice", "kind"), [("adamw", "RowAdamW"), ("dense-adamw", "DenseAdamW")])
def test_rows_can_be_moved_by_adamw(choice: RowChoice, kind: str) -> None:
    found = groups(MemoryConfig(design="table", rank=64), OptimizerConfig(rows=choice, row_lr=3e-4))
    assert found[kind] == {"memory.residual.rows.weight": 3e-4}
    assert "RowSignSGD" not in found


def test_single_vectors_of_a_vit_are_not_matrices_to_muon() -> None:
    shape = {"width": 64, "heads": 4, "layers": 1, "recurrences": 2}
    found = groups(MemoryConfig(rank=8), OptimizerConfig(), replace(LOOPVIT, **shape))
    single = {"reasoner.tokens", "reasoner.positions", "reasoner.repeats", "reasoner.head.weight"}
    assert single <= set(found["AdamW"])
    assert {"reasoner.patch.weight", "reasoner.blocks.0.qkv.weight"} <= set(found["Muon"])
