"""A writer learns a stream: what each method moves, what is measured, and what a resumed run ends with."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from charm.arc.run import train
from charm.commands.adapt import adapt
from charm.continual import run as run_module
from charm.continual.methods import METHODS
from charm.continual.run import StreamJob, StreamOptions, run_stream
from charm.errors import CharmError
from charm.files import Terminated, read_sealed
from charm.models.model import CharmModel
from charm.models.writer.packs import Packs
from charm.runs.checkpoint import newest_checkpoint, steps_of
from charm.tasks.sequences import LONGEST
from charm.training.adaptation import Adaptation, Recipe, shared_parameters
from tests.toy.runs import HERE, write_unseen
from tests.toy.streams import assert_same, stages
from tests.toy.writer import writer_config

RECIPE = Recipe(steps=3, tokens=LONGEST, warmup=0, task_lr=0.1, shared_lr=1e-3)
OPTIONS = StreamOptions("", recipe=RECIPE, tasks=2, views=4, evaluate_views=2, base_views=2, recheck_every=2)
VECTORS = "memory.base.rows.weight"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy writer that knows two tasks."""
    folder = tmp_path_factory.mktemp("writer")
    config = writer_config(folder, steps=60, checkpoint_every=60)
    config = replace(config, optimizer=replace(config.optimizer, lr=1e-2, factor_lr=3e-2))
    train(config, folder / "run", HERE, say=lambda text: None)
    return folder / "run"


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unseen(tmp_path_factory.mktemp("stream"))


def learn(base: Path, out: Path, stream: Path, **changes: Any) -> dict[str, Any]:
    return run_stream(base, out, replace(OPTIONS, stream=str(stream), **changes), HERE, lambda text: None)


def moved(base: Path, out: Path) -> set[str]:
    """Tensors of the base that are not the same to the bit in the end; rows of new tasks apart."""
    old, new = (load_file(path / "model.safetensors") for path in (newest_checkpoint(base), out / "model"))
    assert set(old) == set(new)
    bits = {name: (new[name][: len(value)], value) for name, value in old.items()}
    return {name for name, (a, b) in bits.items() if not torch.equal(a.view(torch.int32), b.view(torch.int32))}


def test_memory_only_learns_a_task_and_no_bit_of_the_base_changes(writer: Path, stream: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = learn(writer, out, stream, recipe=replace(RECIPE, steps=30), tasks=1)
    assert moved(writer, out) == set()
    assert (found["changed_values"], found["distance"], found["updated_parameters"]) == (0, 0.0, 32)
    assert found["base after"] == found["base before"]
    known, vector = load_file(out / "model" / "model.safetensors")[VECTORS].split([2, 1])
    assert not torch.equal(vector[0], known.mean(0))  # where it began
    once = learn(writer, tmp_path / "once", stream, recipe=replace(RECIPE, steps=1), tasks=1)
    assert found["token_loss"] < 0.9 * once["token_loss"]


def test_new_vectors_start_at_the_mean_of_the_known_ones(writer: Path, stream: Path, tmp_path: Path) -> None:
    options = replace(OPTIONS, stream=str(stream), views=4)
    job = StreamJob(run_module.StreamBase(writer, options, HERE), tmp_path, options, HERE, lambda text: None)
    vectors = job.model.memory.base.rows.weight.detach()
    assert torch.equal(vectors[2:], vectors[:2].mean(0).expand(2, -1))


@pytest.mark.parametrize(
    ("method", "scope"),
    [
        *((m, s) for m in ("naive", "l2sp", "ewc", "rehearsal", "replay") for s in ("composition", "full")),
        *(("oracle", "full"), ("joint", "full"), ("lora", "matrices")),
    ],
)
def test_a_method_moves_what_its_scope_names(
    writer: Path, stream: Path, tmp_path: Path, method: str, scope: Any
) -> None:
    found = learn(writer, tmp_path / "out", stream, method=method, scope=scope)
    assert found["stages"] == 2
    assert found["changed_values"] > 0
    shared = shared_parameters(CharmModel.from_pretrained(newest_checkpoint(writer)), scope)
    parts = {"composition": {"memory"}, "full": {"memory", "reasoner"}, "matrices": {"reasoner"}}[scope]
    assert {name.split(".")[0] for name in shared} == parts
    if method == "oracle":
        assert found["base after"] is None
    else:
        assert moved(writer, tmp_path / "out") == set(shared)  # and no vector of the base's tasks
        assert found["base after"] is not None
    if scope == "matrices":
        assert all(".layers." in name for name in shared)
        assert {one["shared_parameters"] for one in stages(tmp_path / "out")} == {
            8 * sum(sum(matrix.shape) for matrix in shared.values())
        }


def test_every_method_is_tested_or_refused(writer: Path, stream: Path, tmp_path: Path) -> None:
    tested = {"memory-only", "naive", "l2sp", "ewc", "rehearsal", "replay", "oracle", "joint", "lora"}
    assert set(METHODS) - tested == {"sparse"}
    with pytest.raises(CharmError, match="a writer has no layers that the scope feed-forward could name"):
        learn(writer, tmp_path / "out", stream, method="sparse")


@pytest.mark.parametrize(("method", "puzzles"), [("rehearsal", {0, 1}), ("replay", {2}), ("naive", set())])
def test_every_second_update_draws_from_older_tasks(
    writer: Path,
    stream: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    puzzles: set[int],
) -> None:
    """Of the second task, whose number is 3: the base's tasks are 0 and 1, the stream's first is 2."""
    drawn: list[set[int]] = []
    gradients = Packs.gradients

    def noted(self: Packs, model: CharmModel, batch: Packs) -> Any:
        drawn.append(set(model.key(batch.row_N)["puzzle"].tolist()))
        return gradients(self, model, batch)

    monkeypatch.setattr(Packs, "gradients", noted)
    learn(writer, tmp_path / "out", stream, method=method, scope="full", recipe=replace(RECIPE, steps=4))
    assert drawn[4:] == [{3}, puzzles or {3}] * 2


@pytest.mark.parametrize("method", ["memory-only", "naive", "ewc", "rehearsal", "replay", "joint", "lora"])
def test_a_stream_stopped_inside_a_stage_ends_in_the_same_bits(
    writer: Path, stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Activations drop in this writer, so it holds for what chance decides as well."""
    recipe = replace(
        RECIPE, steps=4
    )  # two are left of the second stage, one of them of older tasks where there are any
    torch.manual_seed(1)
    learn(writer, tmp_path / "whole", stream, method=method, recipe=recipe)
    made = 0
    update = Adaptation.update

    def counted(self: Adaptation, passed: float = 0.0) -> Any:
        nonlocal made
        made += 1
        if made == 6:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, passed)

    monkeypatch.setattr(Adaptation, "update", counted)
    torch.manual_seed(2)
    with pytest.raises(Terminated):
        learn(writer, tmp_path / "parts", stream, method=method, recipe=recipe)
    assert steps_of(tmp_path / "parts")[-1] == 6
    learn(writer, tmp_path / "parts", stream, method=method, recipe=recipe)
    assert_same(tmp_path / "whole", tmp_path / "parts")


def test_votes_are_ranked_by_likelihood(
    writer: Path, stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: list[str] = []
    rank = run_module.rank

    def noted(ballots: Any, questions: Any, order: str = "votes") -> Any:
        orders.append(order)
        return rank(ballots, questions, order)

    monkeypatch.setattr(run_module, "rank", noted)
    learn(writer, tmp_path / "out", stream, tasks=1)
    assert orders == ["likelihood"] * 5  # the stream and the base's tasks before and after, and the task itself


def test_a_saved_writer_is_asked_about_the_tasks_it_was_trained_on(
    stream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the released one, which evaluated none and was saved with fewer views of a task than it was trained on."""
    config = writer_config(tmp_path, evaluate_every=0)
    config = replace(config, data=replace(config.data, train=config.data.evaluate, evaluate=()))
    train(config, tmp_path / "run", HERE, say=lambda text: None)
    saved = tmp_path / "saved"
    model = CharmModel.from_pretrained(newest_checkpoint(tmp_path / "run"))
    model.save(saved)
    with pytest.raises(CharmError, match=r"saved has no training\.json"):
        learn(saved, tmp_path / "out", stream)
    config = replace(config, data=replace(config.data, views=12))
    model.trained_by = {"domain": "arc", **run_module.to_json(config)}
    model.save(saved)
    monkeypatch.chdir(tmp_path)
    adapt(saved, stream=str(stream), tasks=1, steps=2, tokens=LONGEST, device="cpu")
    out = tmp_path / "runs" / "saved" / "adapt" / stream.name / "cose-r0-memory-only-rows-h0-s0"
    assert read_sealed(out / "R.json")["base"]["tasks"] == ["toy0", "toy1"]
    assert moved(saved, out) == set()
    grown = CharmModel.from_pretrained(out / "model").instances
    assert [len(some.rows("toy0")) for some in (model.instances, grown)] == [6, 12]
    assert "memory-only" in capsys.readouterr().out


@pytest.mark.parametrize("changes", [{"batch": 4}, {"halt_weight": 0.5}])
def test_settings_of_canvases_are_refused(writer: Path, stream: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(CharmError, match=f"a writer does not use {min(changes)}"):
        learn(writer, tmp_path / "out", stream, recipe=replace(RECIPE, **changes))


def test_tokens_are_refused_for_a_canvas(base: Path, unseen: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="does not use tokens: it must stay 4096, got 100"):
        learn(base, tmp_path / "out", unseen, recipe=Recipe(steps=1, batch=4, tokens=100))
