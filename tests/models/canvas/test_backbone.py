"""The recurrences: what is applied, where gradients flow, what is carried on."""

import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import pytest
import safetensors.torch
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.models.canvas import backbone
from charm.models.canvas import config as reasoner_config
from charm.models.canvas.answers import refine
from charm.models.canvas.backbone import Reasoner, count_parameters
from charm.models.canvas.config import CanvasConfig
from charm.models.canvas.training import refinement_loss
from charm.models.layers import rotation

SIDE, BATCH = 3, 2
TINY = {"width": 16, "heads": 2, "prefix": 2, "compute_dtype": "float32"}
URM = CanvasConfig(kind="urm", layers=2, recurrences=5, horizon=2, **TINY)
TRM = CanvasConfig(kind="trm", layers=1, recurrences=3, inner=4, horizon=1, halt_outputs=2, **TINY)
HRM = CanvasConfig(kind="hrm", layers=1, recurrences=2, inner=2, horizon=1, halt_outputs=2, **TINY)
ALL = pytest.mark.parametrize("config", [URM, TRM, HRM], ids=["urm", "trm", "hrm"])


def inputs(config: CanvasConfig, side: int = SIDE, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens [B, T], task [B, D], and a state that has left the initial one."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, config.vocab, (BATCH, side * side), generator=generator)
    task = torch.randn(BATCH, config.width, generator=generator)
    state = torch.randn(config.states, BATCH, config.prefix + side * side, config.width, generator=generator)
    return tokens, task, state


def lively(config: CanvasConfig, seed: int = 0) -> Reasoner:
    """A reasoner whose halt head is not silent, so that its gradients can be compared too."""
    reasoner = Reasoner(config, seed)
    torch.nn.init.normal_(reasoner.halt_weight, generator=torch.Generator().manual_seed(seed))
    return reasoner


def unrolled(reasoner: Reasoner, state: Tensor, tokens: Tensor, task: Tensor) -> list[Tensor]:
    """The step written out as a list of applications, cut by detaching before those that keep their graph."""
    config = reasoner.config
    rows = [reasoner.tokens[row] for row in tokens]
    empty = torch.zeros(BATCH, config.prefix - 1, config.width)
    x = torch.cat([task[:, None], empty, torch.stack(rows)], 1) * config.width**0.5
    turn = rotation(SIDE, config.prefix, "1d", 10000.0, config.head_width, torch.device("cpu"))
    first, last = reasoner.blocks[0], reasoner.blocks[-1]
    if config.kind == "urm":
        plan, gradient = ["self"] * config.recurrences, config.horizon
    else:
        plan = [*["low"] * config.inner, "high"] * config.recurrences
        gradient = 2 if config.kind == "hrm" else (config.inner + 1) * config.horizon
    z = dict(zip(("self",) if config.kind == "urm" else ("high", "low"), state, strict=True))
    for number, name in enumerate(plan):
        if number == len(plan) - gradient:
            z = {key: value.detach() for key, value in z.items()}
        if name == "self":
            z["self"] = first(z["self"], x, turn)
        elif name == "low":
            z["low"] = last(z["low"], z["high"] + x, turn)
        else:
            z["high"] = first(z["high"], z["low"], turn)
    answer = next(iter(z.values()))
    logits = answer[:, config.prefix :] @ reasoner.head.weight.T
    halt = answer[:, 0] @ reasoner.halt_weight.T + reasoner.halt_bias
    carried = torch.stack([value.detach() for value in z.values()])
    return [carried, logits, halt if config.halt_outputs == 2 else halt[:, 0]]


@ALL
def test_a_step_and_its_gradients_equal_the_unrolled_tail(config: CanvasConfig) -> None:
    reasoner = lively(config)
    tokens, task, state = inputs(config)
    task.requires_grad_()
    wanted = [*reasoner.parameters(), task]
    results, gradients = [], []
    for step in (partial(reasoner, side=SIDE), partial(unrolled, reasoner)):
        results.append(step(state, tokens, task))
        _, logits, halt = results[-1]
        gradients.append(torch.autograd.grad(logits.square().sum() + halt.square().sum(), wanted))
    for ours, slow in zip(*results, strict=True):
        torch.testing.assert_close(ours, slow, rtol=1e-5, atol=1e-5)
    for ours, slow in zip(*gradients, strict=True):
        assert slow.any()
        torch.testing.assert_close(ours, slow, rtol=1e-4, atol=1e-4 * float(slow.abs().max()))


def exact_layer(layer: torch.nn.Module, x: Tensor, heads: int, angle: Tensor) -> Tensor:
    """A layer with plain SwiGLU on float64 inputs, with gradients, from its definition."""

    def norm(x: Tensor) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()

    def turned(x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    weights = {name: weight.double() for name, weight in layer.named_parameters()}
    parts = (x @ weights["attention.qkv.weight"].T).chunk(3, -1)
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
    mixed = (turned(q) @ turned(k).mT / q.shape[-1] ** 0.5).softmax(-1) @ v
    x = norm(x + mixed.transpose(1, 2).flatten(2) @ weights["attention.out.weight"].T)
    gate, up = (x @ weights["feed_forward.gate_up.weight"].T).chunk(2, -1)
    return norm(x + (gate * gate.sigmoid() * up) @ weights["feed_forward.down.weight"].T)


@pytest.mark.parametrize("learning", [3, 4, 5, 6, 8, 12])
def test_a_horizon_in_layers_cuts_where_a_layer_by_layer_unrolling_does(learning: int) -> None:
    """Three layers four times; 3 and 6 layers are whole blocks, 4, 5 and 8 cut through one."""
    config = CanvasConfig(layers=3, recurrences=4, horizon=1, horizon_layers=learning, ffn="swiglu", **TINY)
    reasoner = lively(config)
    tokens, task, state = inputs(config)
    task.requires_grad_()
    wanted = [*reasoner.blocks.parameters(), reasoner.tokens, task]
    _, logits, _ = reasoner(state, tokens, task, SIDE)
    ours = torch.autograd.grad(logits.square().sum(), wanted)

    cells = [0, 1, *(2 + 30 * r + c for r in range(SIDE) for c in range(SIDE))]
    speed = 10000.0 ** -(torch.arange(config.head_width // 2).double() / (config.head_width // 2))
    angle = torch.tensor(cells).double()[:, None] * speed
    empty = torch.zeros(BATCH, 1, config.width).double()
    x = config.width**0.5 * torch.cat([task.double()[:, None], empty, reasoner.tokens.double()[tokens]], 1)
    h = state[0].double()
    for number in range(12):
        if number == 12 - learning:
            h = h.detach()
        if number % 3 == 0:
            h = h + x
            if number < 12 - learning:
                h = h.detach()
        h = exact_layer(reasoner.blocks[0].layers[number % 3], h, config.heads, angle)
    slow_logits = h[:, config.prefix :] @ reasoner.head.weight.double().T
    slow = torch.autograd.grad(slow_logits.square().sum(), wanted)
    torch.testing.assert_close(logits.double(), slow_logits, rtol=1e-4, atol=1e-4)
    for one, exact in zip(ours, slow, strict=True):
        assert exact.any()
        torch.testing.assert_close(one, exact, rtol=1e-3, atol=1e-4 * float(exact.abs().max()))


def test_a_compiled_block_can_be_cut() -> None:
    config = replace(URM, horizon_layers=3)
    tokens, task, state = inputs(config)
    found = []
    for compiled in (False, True):
        reasoner = Reasoner(config)
        if compiled:
            reasoner.compile_parts(backend="aot_eager")
        _, logits, _ = reasoner(state, tokens, task, SIDE)
        found.append([logits, *torch.autograd.grad(logits.square().sum(), [*reasoner.blocks.parameters()])])
    for plain, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain)


@ALL
def test_which_applications_run_with_gradients(config: CanvasConfig) -> None:
    reasoner = Reasoner(config)
    calls: list[tuple[int, bool]] = []
    for number, block in enumerate(reasoner.blocks):
        block.register_forward_pre_hook(lambda *_, n=number: calls.append((n, torch.is_grad_enabled())))
    tokens, task, state = inputs(config)
    reasoner(state, tokens, task, SIDE)
    assert (
        calls
        == {
            "urm": [(0, False)] * 3 + [(0, True)] * 2,
            "trm": [(0, False)] * 10 + [(0, True)] * 5,
            # Block 0 is the high one, block 1 the low one.
            "hrm": [(1, False), (1, False), (0, False), (1, False), (1, True), (0, True)],
        }[config.kind]
    )


@pytest.mark.parametrize("config", [URM, TRM], ids=["urm", "trm"])
def test_the_horizon_changes_gradients_and_nothing_else(config: CanvasConfig) -> None:
    tokens, task, state = inputs(config)
    outcomes = []
    for horizon in (1, config.recurrences):
        reasoner = Reasoner(replace(config, horizon=horizon))
        after, logits, halt = reasoner(state, tokens, task, SIDE)
        weights = list(reasoner.blocks.parameters())
        outcomes.append((after, logits, halt, *torch.autograd.grad(logits.square().sum(), weights)))
    for short, full in zip(outcomes[0][:3], outcomes[1][:3], strict=True):
        assert torch.equal(short, full)
    for short, full in zip(outcomes[0][3:], outcomes[1][3:], strict=True):
        assert not torch.allclose(short, full)


@ALL
def test_no_gradient_crosses_a_step(config: CanvasConfig) -> None:
    reasoner = Reasoner(config)
    tokens, task, state = inputs(config)
    state.requires_grad_()
    after, logits, _ = reasoner(state, tokens, task, SIDE)
    assert not after.requires_grad
    assert after.shape == state.shape
    logits.sum().backward()
    assert state.grad is None


@ALL
def test_the_states_are_one_fixed_vector_at_first(config: CanvasConfig) -> None:
    reasoner = Reasoner(config)
    state = reasoner.initial_state(BATCH, SIDE * SIDE)
    assert state.shape == (config.states, BATCH, config.prefix + SIDE * SIDE, config.width)
    assert torch.equal(state, reasoner.initial[:, None, None].expand_as(state))
    assert "initial" in reasoner.state_dict()
    assert "initial" not in dict(reasoner.named_parameters())
    counted = count_parameters(reasoner) - count_parameters(reasoner, initial_state=False)
    assert counted == config.states * config.width


@ALL
def test_halted_slots_restart(config: CanvasConfig) -> None:
    reasoner = Reasoner(config)
    _, _, state = inputs(config)
    mixed = reasoner.restart(state, torch.tensor([True, False]))
    assert torch.equal(mixed[:, 0], reasoner.initial_state(1, SIDE * SIDE)[:, 0])
    assert torch.equal(mixed[:, 1], state[:, 1])


def test_an_untrained_model_does_not_halt() -> None:
    for config in (URM, TRM):
        tokens, task, state = inputs(config)
        _, _, halt = Reasoner(config)(state, tokens, task, SIDE)
        assert halt.shape == ((BATCH,) if config.halt_outputs == 1 else (BATCH, 2))
        assert (halt == -5).all()


def test_the_task_is_heard_everywhere_and_the_prefix_is_not_predicted() -> None:
    reasoner = lively(URM)
    tokens, task, state = inputs(URM)
    _, logits, halt = reasoner(state, tokens, task, SIDE)
    _, other, other_halt = reasoner(state, tokens, -task, SIDE)
    assert logits.shape == (BATCH, SIDE * SIDE, URM.vocab)
    assert ((logits - other).abs().amax(-1) > 1e-3).all()
    assert (halt != other_halt).all()


def test_examples_do_not_see_each_other() -> None:
    reasoner = lively(TRM)
    tokens, task, state = inputs(TRM)
    together = reasoner(state, tokens, task, SIDE)
    for b in range(BATCH):
        alone = reasoner(state[:, b : b + 1], tokens[b : b + 1], task[b : b + 1], SIDE)
        torch.testing.assert_close(alone[0][:, 0], together[0][:, b])
        torch.testing.assert_close(alone[1][0], together[1][b])


def test_a_fitted_canvas_is_another_computation() -> None:
    """The same grid on a smaller canvas keeps its positions, yet attention has fewer pads to look at."""
    reasoner = Reasoner(URM)
    small = torch.randint(2, 12, (1, 3, 3), generator=torch.Generator().manual_seed(0))
    large = torch.nn.functional.pad(small, (0, 2, 0, 2))
    task = torch.ones(1, URM.width)
    (_, few, _), (_, many, _) = (
        reasoner(reasoner.initial_state(1, side * side), grid.flatten(1), task, side)
        for grid, side in ((small, 3), (large, 5))
    )
    difference = (few.view(3, 3, -1) - many.view(5, 5, -1)[:3, :3]).abs().max()
    assert difference > 0.01


def test_bfloat16_agrees_with_float32() -> None:
    config = replace(URM, width=64, heads=4, recurrences=2, horizon=1)
    tokens, task, state = inputs(config)
    exact = lively(config)
    rounded = Reasoner(replace(config, compute_dtype="bfloat16"))
    rounded.load_state_dict(exact.state_dict())
    (after, logits, _), (after_16, logits_16, halt_16) = (
        model(state.to(model.compute_dtype), tokens, task, SIDE) for model in (exact, rounded)
    )
    assert after_16.dtype == torch.bfloat16
    assert logits_16.dtype == halt_16.dtype == torch.float32
    assert {parameter.dtype for parameter in rounded.parameters()} == {torch.float32}
    # States have unit mean square. Eight roundings of 2^-9 and products of them: a few hundredths at worst.
    assert float((after_16.float() - after).square().mean().sqrt()) < 0.02
    assert float((logits_16 - logits).detach().square().mean().sqrt()) < 0.02
    assert not torch.equal(logits_16, logits)


def test_the_seed_decides_the_start() -> None:
    first, again, other = Reasoner(HRM, seed=1), Reasoner(HRM, seed=1), Reasoner(HRM, seed=2)
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    assert not torch.equal(first.tokens, other.tokens)
    assert not torch.equal(first.initial, other.initial)
    assert not torch.equal(next(first.blocks[0].parameters()), next(first.blocks[1].parameters()))


def test_weights_survive_copying_and_saving() -> None:
    reasoner = lively(TRM)
    tokens, task, state = inputs(TRM)
    expected = reasoner(state, tokens, task, SIDE)
    loaded = Reasoner(TRM, seed=5)
    loaded.load_state_dict(safetensors.torch.load(safetensors.torch.save(reasoner.state_dict())))
    for twin in (copy.deepcopy(reasoner), loaded):
        assert all(torch.equal(a, b) for a, b in zip(twin(state, tokens, task, SIDE), expected, strict=True))


def test_a_wrong_side_is_refused() -> None:
    tokens, task, state = inputs(URM)
    with pytest.raises(CharmError, match="side 4 must have 16 cells, got 9"):
        Reasoner(URM)(state, tokens, task, 4)


@ALL
def test_blocks_compile_once_for_all_recurrences_and_for_many_sizes(config: CanvasConfig) -> None:
    torch._dynamo.reset()
    graphs = 0

    def count_graphs(graph: torch.fx.GraphModule, _: list[Tensor]) -> object:
        nonlocal graphs
        graphs += 1
        return graph.forward

    plain = lively(replace(config, layers=1))
    compiled = copy.deepcopy(plain)
    compiled.compile_parts(backend=count_graphs)
    assert list(compiled.state_dict()) == list(plain.state_dict())
    for number, side in enumerate((1, 2, 3, 4, 1, 2), start=1):
        tokens, task, state = inputs(config, side)
        for ours, expected in zip(compiled(state, tokens, task, side), plain(state, tokens, task, side), strict=True):
            torch.testing.assert_close(ours, expected)
        # Without gradients, with, and with for a state that already has some: then nothing new is met.
        assert 2 * min(number, 4) <= graphs <= 3 * min(number, 4)


def test_refine_shows_every_step() -> None:
    reasoner = lively(URM)
    tokens, task, _ = inputs(URM)
    state = reasoner.initial_state(BATCH, SIDE * SIDE)
    steps = 0
    for logits, halt in refine(reasoner, tokens, task, steps=3):
        assert not torch.is_inference_mode_enabled()  # the caller's own work is left alone
        assert logits.is_inference()
        state, expected, expected_halt = reasoner(state, tokens, task, SIDE)
        torch.testing.assert_close(logits, expected.detach())
        torch.testing.assert_close(halt, expected_halt.detach())
        steps += 1
    assert steps == 3
    with pytest.raises(CharmError, match="expected a square canvas, got 8 cells"):
        next(refine(reasoner, tokens[:, :8], task, steps=1))


def test_training_works_after_evaluation() -> None:
    """The rotary tables are cached; those made during inference must serve training as well."""
    rotation.cache_clear()
    reasoner = Reasoner(URM)
    tokens, task, state = inputs(URM)
    list(refine(reasoner, tokens, task, steps=1))
    reasoner(state, tokens, task, SIDE)[1].sum().backward()
    assert reasoner.tokens.grad is not None


@ALL
def test_it_learns_two_tasks_told_apart_by_their_embedding(config: CanvasConfig) -> None:
    """The whole loop in small: the same input must become all 3 for one task and all 7 for the other."""
    reasoner = Reasoner(config)
    task = torch.randn(2, config.width, generator=torch.Generator().manual_seed(0))
    tokens = torch.full((2, 4), 5)
    targets = torch.tensor([[3] * 4, [7] * 4])
    optimizer = torch.optim.AdamW(reasoner.parameters(), lr=1e-2)
    state = reasoner.initial_state(2, 4)
    for _ in range(80):
        state, logits, halt = reasoner(state, tokens, task, 2)
        loss, metrics = refinement_loss(logits, halt, targets, global_batch=2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert metrics["exact_accuracy"] == 1
    assert metrics["halt_accuracy"] == 1
    *_, (logits, _) = refine(reasoner, tokens, task, steps=4)
    assert torch.equal(logits.argmax(-1), targets)


def test_a_recurrence_needs_its_function_and_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/extend.md says: entries of RECUR and Recurrence; only saved models need the one of NETWORKS."""

    def recur_once(states: list[Tensor], x: Tensor, apply: list[Any], config: CanvasConfig) -> list[Tensor]:
        return [apply[0](states[0], x, 1), states[1]]

    monkeypatch.setitem(backbone.RECUR, "once", recur_once)
    monkeypatch.setattr(reasoner_config, "Recurrence", Literal["urm", "trm", "hrm", "once"])
    shape = {
        "width": 16,
        "heads": 2,
        "layers": 1,
        "prefix": 1,
        "inner_multiple": 8,
        "compute_dtype": "float32",
    }
    config = CanvasConfig(kind="once", **shape)  # type: ignore[arg-type]
    reasoner = backbone.Reasoner(config)
    tokens, task = torch.ones(2, 9, dtype=torch.long), torch.zeros(2, 16)
    before = reasoner.initial_state(2, 9)
    state, logits, _ = reasoner(before, tokens, task, 3)
    assert logits.shape == (2, 9, config.vocab)
    assert not torch.equal(state[0], before[0])
    assert torch.equal(state[1], before[1])
