"""Every setting of a recipe and of a method does what it says, in a model that learns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from charm.continual import run as run_module
from charm.continual.drift import distance
from charm.continual.methods import METHODS, Base, make_anchor
from charm.models.model import CharmModel
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.settings import read_config
from charm.tasks.dataset import Dataset, load_dataset
from charm.training.adaptation import Adaptation, Recipe, private_rows, private_tables, shared_parameters
from tests.toy.runs import HERE
from tests.toy.streams import learn, prepared

VECTORS, ROWS = "memory.base.rows.weight", "memory.residual.rows.weight"
NEW = ("new0", "new1", "new2", "new3")


def test_methods_are_the_papers() -> None:
    """Appendix on continual learning: who anchors, rehearses, restores or learns jointly, and what may move."""
    assert {name for name, method in METHODS.items() if method.joint} == {"joint"}
    assert {name for name, method in METHODS.items() if method.restores} == {"oracle"}
    assert {name for name, method in METHODS.items() if method.rehearses} == {"rehearsal"}
    assert {name: (m.strength, m.by_importance) for name, m in METHODS.items() if m.strength} == {
        "l2sp": (0.1, False),
        "ewc": (0.01, True),
    }
    both = ("composition", "full")
    assert {name: method.scopes for name, method in METHODS.items()} == {
        "memory-only": ("rows",),
        "oracle": ("full",),
        "joint": ("full",),
        **dict.fromkeys(("naive", "l2sp", "ewc", "rehearsal"), both),
        # Not the paper's, but the field's.
        "replay": both,
        "lora": ("matrices",),
        "sparse": ("feed-forward",),
    }


def base_of(run: Path, halt_weight: float = 0.5) -> Base:
    model = CharmModel.from_pretrained(newest_checkpoint(run))
    config = replace(read_config(run), halt_weight=halt_weight)
    return Base(model, config, lambda: load_dataset(config.data, model.instances), HERE)


def test_anchors_have_the_papers_strength(base: Path) -> None:
    """1e-1 for L2-SP and 1e-2 for EWC; the first pulls all weights alike, the second by their importance."""
    alike, weighed = (
        make_anchor(METHODS[name], base_of(base), "composition", Recipe(batch=4)) for name in ("l2sp", "ewc")
    )
    assert (alike.strength, weighed.strength) == (0.1, 0.01)
    assert alike.importance is None
    assert weighed.importance is not None
    assert [one.shape for one in weighed.importance] == [p.shape for p in weighed.shared.values()]
    assert sum(float(one.sum()) for one in weighed.importance) > 0
    names = set(shared_parameters(base_of(base).model, "composition"))
    assert set(alike.shared) == set(weighed.shared) == names


def test_the_importance_of_the_halt_head_goes_with_the_square_of_the_bases_halting_weight(base: Path) -> None:
    """Nothing else in the loss reaches the halt head, and a Fisher value is the square of a gradient."""
    found = {}
    for weight in (0.0, 0.25, 0.5):
        settled = base_of(base, weight)
        anchor = make_anchor(METHODS["ewc"], settled, "full", Recipe(batch=4))
        assert anchor.importance is not None
        names = list(shared_parameters(settled.model, "full"))
        found[weight] = dict(zip(names, anchor.importance, strict=True))["reasoner.halt_bias"]
    assert not found[0.0].any()
    assert found[0.5].any()
    torch.testing.assert_close(found[0.5], 4 * found[0.25])


def first_update(base: Path, unseen: Path, start: float = 0.0, **recipe: Any) -> dict[str, torch.Tensor]:
    """How far one update moves private rows (from `start`) and shared weights, without those it did not reach."""
    model, data = prepared(base, unseen)
    own = private_rows(model, NEW)
    tables = private_tables(model)
    with torch.no_grad():
        for name, table in tables.items():
            table.weight[own[name]] = start
    shared = {n: p.detach().clone() for n, p in shared_parameters(model, "composition").items()}
    settings = {"steps": 4, "batch": 8, "warmup": 0, "shared_decay": 0.0, "row_decay": 0.0, **recipe}
    Adaptation(model, data, Recipe(**settings), "composition", HERE).update()
    moved = {name: tables[name].weight.detach()[own[name]] - start for name in own}
    parameters = shared_parameters(model, "composition")
    moved["shared"] = torch.cat([(parameters[n].detach() - before).flatten() for n, before in shared.items()])
    return {name: change[change != 0] for name, change in moved.items()}


def test_every_learning_rate_moves_its_own_weights(base: Path, unseen: Path) -> None:
    """The first step of AdamW, and every step of SignSGD, is as long as the learning rate."""
    for task_lr, row_lr, shared_lr in ((3e-3, 1e-2, 1e-4), (1e-2, 2e-3, 5e-4)):
        moved = first_update(base, unseen, task_lr=task_lr, row_lr=row_lr, shared_lr=shared_lr)
        for name, rate in ((VECTORS, task_lr), (ROWS, row_lr), ("shared", shared_lr)):
            # AdamW's epsilon shortens the step of a tiny gradient, so the longest step decides.
            assert float(moved[name].abs().max()) == pytest.approx(rate, rel=0.01)
    for still, rate in ((VECTORS, "task_lr"), (ROWS, "row_lr"), ("shared", "shared_lr")):
        moved = first_update(base, unseen, **{rate: 0.0})
        assert {name for name, change in moved.items() if not len(change)} == {still}


def test_learning_rates_rise_over_the_warm_up(base: Path, unseen: Path) -> None:
    moved = first_update(base, unseen, warmup=4, task_lr=4e-3, row_lr=8e-3, shared_lr=4e-4)
    for name, quarter in ((VECTORS, 1e-3), (ROWS, 2e-3), ("shared", 1e-4)):
        assert float(moved[name].abs().max()) == pytest.approx(quarter, rel=0.01)
    model, data = prepared(base, unseen)
    adaptation = Adaptation(model, data, Recipe(batch=4, warmup=4, task_lr=4e-3), "rows", HERE)
    rates = []
    for _ in range(6):
        adaptation.update()
        rates.append(float(adaptation.optimizers.all[0].param_groups[0]["lr"]))
    assert rates == pytest.approx([1e-3, 2e-3, 3e-3, 4e-3, 4e-3, 4e-3])


def test_rows_decay_and_vectors_do_not(base: Path, unseen: Path) -> None:
    """From 1, a row falls by rate times decay before its step of one rate; a vector makes its step alone."""
    moved = first_update(base, unseen, start=1.0, task_lr=1e-2, row_lr=1e-2, row_decay=0.5)
    steps = (moved[ROWS] + 1e-2 * 0.5).abs()
    assert torch.logical_or((steps - 1e-2).abs() < 1e-6, steps < 1e-6).all()
    assert float(moved[VECTORS].abs().max()) == pytest.approx(1e-2, rel=0.01)


def test_recipes_settings_reach_their_optimizers(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    recipe = Recipe(batch=4, betas=(0.5, 0.7), row_decay=0.3, shared_decay=0.2)
    found = Adaptation(model, data, recipe, "full", HERE)
    vectors, rows, shared = (optimizer.param_groups[0] for optimizer in found.optimizers.all)
    assert vectors["betas"] == shared["betas"] == (0.5, 0.7)
    assert (vectors["weight_decay"], rows["weight_decay"], shared["weight_decay"]) == (0.0, 0.3, 0.2)


def test_the_halting_weight_of_a_recipe_decides_whether_the_halt_head_learns(base: Path, unseen: Path) -> None:
    for weight in (0.0, 0.5):
        model, data = prepared(base, unseen)
        before = model.reasoner.halt_bias.detach().clone()
        recipe = Recipe(batch=4, warmup=0, halt_weight=weight, shared_decay=0.0)
        Adaptation(model, data, recipe, "full", HERE).update()
        assert torch.equal(model.reasoner.halt_bias.detach(), before) == (weight == 0)


def examples(model: CharmModel, data: Dataset, recipe_seed: int, seed: int) -> list[Any]:
    """Which rows an adaptation's slots meet first, and what chance decides in its first update."""
    adaptation = Adaptation(model, data, Recipe(batch=32, seed=recipe_seed), "rows", HERE, seed=seed)
    rows = [group.next_row_B.tolist() for group in adaptation.examples.groups.values()]
    adaptation.update()
    return [rows, [group.exploration_B2.tolist() for group in adaptation.examples.groups.values()]]


def test_an_adaptation_is_seeded_by_its_recipe_and_its_task(base: Path, unseen: Path) -> None:
    model, data = prepared(base, unseen)
    found = {pair: examples(model, data, *pair) for pair in ((0, 0), (0, 1), (1, 0), (1, 1))}
    for part in (0, 1):
        assert len({str(one[part]) for one in found.values()}) == 4
    assert examples(model, data, 0, 1) == found[0, 1]


@pytest.mark.parametrize("method", ["memory-only", "joint"])
def test_tasks_of_a_stream_have_seeds_of_their_own_and_joint_learning_has_one(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    seeds: list[int] = []

    class Watched(Adaptation):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            seeds.append(self.seed)

    monkeypatch.setattr(run_module, "Adaptation", Watched)
    learn(base, tmp_path / "out", unseen, method=method)
    assert len(seeds) == len(set(seeds)) == (1 if method == "joint" else 3)


def test_joint_learning_moves_the_rows_of_all_tasks_from_the_first_stage_on(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: dict[str, list[list[bool]]] = {"joint": [], "naive": []}
    for method, stages in moved.items():
        save = run_module.StreamJob._save_rows

        def look(self: Any, number: int, save: Any = save, stages: Any = stages) -> Any:
            table = private_tables(self.model)[ROWS].weight
            own = [private_rows(self.model, (task,))[ROWS] for task in self.stream.ids]
            stages.append([bool(table[rows].any()) for rows in own])
            return save(self, number)

        with monkeypatch.context() as patch:
            patch.setattr(run_module.StreamJob, "_save_rows", look)
            recipe = Recipe(steps=7, batch=8, warmup=2)
            learn(base, tmp_path / method, unseen, method=method, tasks=2, recipe=recipe)
    assert moved == {"joint": [[True, True], [True, True]], "naive": [[True, False], [True, True]]}


def test_distance_is_euclidean() -> None:
    """sqrt(3^2 + 4^2 + 12^2) = 13, over all tensors together."""
    before = {"a": torch.tensor([1.0, 1.0]), "b": torch.tensor([[5.0]])}
    after = {"a": torch.tensor([4.0, -3.0]), "b": torch.tensor([[17.0]])}
    assert distance(before, after) == distance(after, before) == 13.0
    assert distance(before, before) == distance({}, {}) == 0.0
