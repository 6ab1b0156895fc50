import gc
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn

from charm.accounting import account
from charm.continual.drift import changed_values, distance, snapshot
from charm.continual.methods import diagonal_fisher, method_named
from charm.errors import CharmError
from charm.models.canvas.config import CanvasConfig
from charm.models.model import CharmModel, ModelConfig
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import read_config
from charm.tasks.dataset import load_dataset
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey, MemoryConfig
from charm.training.adaptation import (
    Adaptation,
    Recipe,
    Scope,
    private_rows,
    shared_parameters,
    updated_parameters,
)
from charm.training.forms import Anchored
from charm.training.graphs import UpdateGraphs
from tests.toy.runs import HERE
from tests.toy.streams import prepared

RECIPE = Recipe(steps=4, batch=4, warmup=2, shared_lr=1e-2)


def two_parameters() -> list[nn.Parameter]:
    return [nn.Parameter(torch.tensor([1.0])), nn.Parameter(torch.tensor([-2.0]))]


def test_l2sp_by_hand() -> None:
    """0.1 / 2 * ((3 - 1)^2 + (-2.5 + 2)^2) has the gradients 0.1 * 2 and 0.1 * -0.5."""
    a, b = two_parameters()
    anchor = Anchored({"a": a, "b": b}, 0.1)
    a.data.fill_(3.0)
    b.data.fill_(-2.5)
    a.grad = torch.tensor([1.0])
    anchor.after_backward()
    torch.testing.assert_close(a.grad, torch.tensor([1.2]))
    torch.testing.assert_close(b.grad, torch.tensor([-0.05]))


def test_ewc_by_hand() -> None:
    """The loss of batch x is (a x + b - 1)^2. At a = 1, b = -2 its gradient is 2 (x - 3) (x, 1): for x = 1 and 4
    that is (-4, -4) and (8, 2), so the Fisher diagonal is ((16 + 64) / 2, (16 + 4) / 2) = (40, 10).
    """
    a, b = parameters = two_parameters()
    batches = [1.0, 4.0]

    def backward(number: int) -> None:
        ((a * batches[number] + b - 1) ** 2).sum().backward()

    fisher = diagonal_fisher(parameters, backward, 2)
    assert [float(value) for value in fisher] == [40.0, 10.0]
    assert a.grad is None
    anchor = Anchored({"a": a, "b": b}, 0.01, fisher)
    a.data.fill_(1.5)
    b.data.fill_(0.0)
    # 0.01 / 2 * (40 * 0.25 + 10 * 4) has the gradients 0.01 * 40 * 0.5 and 0.01 * 10 * 2.
    anchor.after_backward()
    torch.testing.assert_close(a.grad, torch.tensor([0.2]))
    torch.testing.assert_close(b.grad, torch.tensor([0.2]))


def test_the_gradient_of_the_anchor_is_that_of_its_loss() -> None:
    generator = torch.Generator().manual_seed(0)
    parameter = nn.Parameter(torch.randn(5, generator=generator, dtype=torch.float64))
    importance = torch.rand(5, generator=generator, dtype=torch.float64)
    anchor = Anchored({"w": parameter}, 0.3, [importance])
    base = parameter.detach().clone()
    parameter.data += torch.randn(5, generator=generator, dtype=torch.float64)
    anchor.after_backward()
    free = parameter.detach().clone().requires_grad_()
    loss = 0.3 / 2 * (importance * (free - base) ** 2).sum()
    loss.backward()
    torch.testing.assert_close(parameter.grad, free.grad)


BACKBONE, COMPOSITION, UP = 13_662_721, 1_054_208, 16_384
PAPER = [  # memory, private parameters for m views, shared parameters of the memory
    (MemoryConfig(rank=0, task_width=32), lambda m: 32, COMPOSITION + UP),
    (MemoryConfig(rank=0), lambda m: 512, COMPOSITION),
    (MemoryConfig(rank=32, task_width=32), lambda m: 32 + 32 * m, COMPOSITION + 2 * UP),
    (MemoryConfig(rank=32), lambda m: 512 + 32 * m, COMPOSITION + UP),
    (MemoryConfig(rank=512), lambda m: 512 + 512 * m, COMPOSITION),
    (MemoryConfig(design="table", rank=32), lambda m: 32 * m, UP),
    (MemoryConfig(design="table", rank=512), lambda m: 512 * m, 0),
]


def test_updated_parameters_are_the_papers() -> None:
    """Table cose-cl-core, exactly: the initial state is never updated and not counted."""
    instances = Instances()
    instances.add("old", torch.arange(3).numpy())
    instances.add("new", torch.arange(7).numpy())
    assert account(ModelConfig(CanvasConfig(), MemoryConfig()), 1, 1).reasoner == BACKBONE
    small = CanvasConfig(layers=1)  # the count of a memory does not depend on the depth of the backbone
    backbone = account(ModelConfig(small, MemoryConfig()), 1, 1).reasoner
    for memory, private, shared in PAPER:
        model = CharmModel(small, memory, ArcKey(instances))
        assert updated_parameters(model, "rows", "new") == (private(7), 0)
        assert updated_parameters(model, "full", "new") == (private(7), backbone + shared)
        if memory.design == "cose":
            assert updated_parameters(model, "composition", "new") == (private(7), shared)
        else:
            with pytest.raises(CharmError, match="no composition"):
                shared_parameters(model, "composition")


@pytest.mark.parametrize("scope", ["rows", "composition", "full"])
def test_a_scope_moves_what_it_says(base: Path, unseen: Path, scope: Scope) -> None:
    """Everything outside is the same to the bit, rows of the base and of tasks that were not read included."""
    model, data = prepared(base, unseen)
    before = snapshot(model)
    adaptation = Adaptation(model, data, RECIPE, scope, HERE)
    for _ in range(RECIPE.steps):
        adaptation.update()
    moved = changed_values(model, before, private_rows(model, tuple(f"new{n}" for n in range(4))))
    assert all(name.startswith("memory.") for name in moved) == (scope != "full")
    assert set(moved) == set(shared_parameters(model, scope))
    for name, rows in private_rows(model, ("new0",)).items():
        assert not torch.equal(model.state_dict()[name][rows], before[name][rows])


def test_rehearsal_takes_every_second_update_and_moves_no_row(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    rehearsal = load_dataset(read_config(base).data, model.instances)
    adaptation = Adaptation(model, data, RECIPE, "composition", HERE, rehearsal=rehearsal)
    own = private_rows(model, tuple(f"new{n}" for n in range(4)))
    for update in range(4):
        before = snapshot(model)
        adaptation.update()
        moved = changed_values(model, before, own)
        everything = changed_values(model, before, {})
        assert set(moved) == set(shared_parameters(model, "composition"))
        # Own rows move on the task's turn only; rows of the base, which rehearsal reads, never.
        assert ("memory.residual.rows.weight" in everything) == (update % 2 == 0)


def test_an_anchor_holds_shared_weights_back(base: Path, unseen: Path) -> None:
    travelled = []
    for strength in (0.0, 100.0):
        model, data = prepared(base, unseen)
        shared = shared_parameters(model, "composition")
        start = {name: parameter.detach().clone() for name, parameter in shared.items()}
        anchor = Anchored(shared, strength)
        adaptation = Adaptation(model, data, RECIPE, "composition", HERE, anchor)
        for _ in range(12):
            adaptation.update()
        travelled.append(distance(start, shared))
    assert travelled[1] < 0.7 * travelled[0]


def test_an_adaptation_goes_on_from_its_state(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    whole = Adaptation(model, data, RECIPE, "full", HERE)
    for _ in range(2):
        whole.update()
    weights, state = snapshot(model), {name: t.clone() for name, t in whole.state().items()}
    for _ in range(2):
        whole.update()
    other, data = prepared(base, unseen)
    with torch.no_grad():
        for name, parameter in other.named_parameters():
            parameter.copy_(weights[name])
    resumed = Adaptation(other, data, RECIPE, "full", HERE)
    resumed.restore(state)
    for _ in range(2):
        resumed.update()
    assert changed_values(other, snapshot(model), {}) == {}


def test_drift_counts_bits(base: Path) -> None:
    model = CharmModel.from_pretrained(newest_checkpoint(base))
    with torch.no_grad():
        model.reasoner.halt_bias.fill_(float("nan"))
        model.reasoner.tokens[0, :2] = 0.0
    before = snapshot(model)
    assert changed_values(model, before, {}) == {}
    with torch.no_grad():
        model.reasoner.tokens[0, :2] = -0.0
        model.reasoner.initial[0, 0] += 1
        model.memory.residual.rows.weight[1:3] += 1
    own = {"memory.residual.rows.weight": torch.tensor([2])}
    assert changed_values(model, before, own) == {
        "memory.residual.rows.weight": 8,
        "reasoner.tokens": 2,
        "reasoner.initial": 1,
    }


def test_growing_keeps_predictions_on_old_tasks(base: Path, unseen: Path) -> None:
    """Bit for bit, before and after new rows have learned."""
    model = CharmModel.from_pretrained(newest_checkpoint(base))
    data = load_dataset(read_config(base).data, model.instances)
    rows = torch.arange(1, len(model.instances))
    tokens = torch.randint(0, 12, (len(rows), 121), generator=torch.Generator().manual_seed(0))
    state = model.reasoner.initial_state(len(rows), 121)
    assert len(data.instances) == len(rows) + 1
    with torch.no_grad():
        first = model(state, tokens, rows, 11)
        grown, new = prepared(base, unseen)
        second = grown(state, tokens, rows, 11)
    adaptation = Adaptation(grown, new, RECIPE, "rows", HERE)
    for _ in range(4):
        adaptation.update()
    with torch.no_grad():
        third = grown(state, tokens, rows, 11)
    for before, after, later in zip(first, second, third, strict=True):
        assert torch.equal(before, after)
        assert torch.equal(before, later)


def test_methods_and_scopes_are_named() -> None:
    assert method_named("memory-only")[1] == "rows"
    assert method_named("ewc")[1] == "composition"
    assert method_named("naive", "full")[1] == "full"
    with pytest.raises(CharmError, match="no method 'magic'"):
        method_named("magic")
    with pytest.raises(CharmError, match="oracle has no scope 'composition'"):
        method_named("oracle", "composition")


def test_an_adaptation_is_freed_without_the_garbage_collector(
    base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its CUDA graphs may be destroyed while the next task's are captured, which fails then."""
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
    model, data = prepared(base, unseen)
    before = gc.isenabled()
    gc.disable()
    try:
        adaptation = Adaptation(model, data, RECIPE, "full", HERE)
        adaptation.graphs = UpdateGraphs(model)
        for _ in range(2):
            adaptation.update()
        closed = []

        class Graph:
            def reset(self) -> None:
                closed.append(True)

        graph = Graph()
        adaptation.graphs.graphs[0] = graph, {}  # type: ignore[assignment]
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        held = weakref.ref(adaptation), weakref.ref(adaptation.graphs), weakref.ref(graph)
        adaptation.close()
        assert closed == [True]
        del adaptation, graph
        assert [one() for one in held] == [None, None, None]
    finally:
        (gc.enable if before else gc.disable)()
