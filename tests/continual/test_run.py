import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from charm.continual import run as run_module
from charm.continual.methods import METHODS
from charm.continual.records import summarize
from charm.continual.run import run_stream
from charm.devices import Place
from charm.errors import CharmError
from charm.files import Terminated, lock_folder, read_sealed
from charm.models.model import CharmModel
from charm.runs.checkpoint import folder_of, newest_checkpoint, steps_of
from charm.tasks.keys import MemoryConfig
from charm.training.adaptation import Adaptation, Recipe, shared_parameters
from charm.training.engine import Engine
from tests.toy.runs import HERE, toy_run, write_unseen
from tests.toy.streams import OPTIONS, RECIPE, assert_same, learn, stages

OTHERS = ("rehearsal", "replay", "lora", "sparse")


class Killed(Exception):
    pass


def learn_killed(base: Path, out: Path, unseen: Path, kill_at: int = 1, **changes: Any) -> None:
    """A stream run that dies after its n-th checkpoint or recheck."""
    made = 0

    def dying(method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            nonlocal made
            found = method(*arguments)
            made += 1
            if made == kill_at:
                raise Killed
            return found

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "save", dying(Engine.save))
        patch.setattr(Engine, "evaluate", dying(Engine.evaluate))
        learn(base, out, unseen, **changes)


def test_memory_only_changes_nothing_but_new_rows(base: Path, unseen: Path, tmp_path: Path) -> None:
    found = learn(base, tmp_path / "out", unseen)
    old = load_file(newest_checkpoint(base) / "model.safetensors")
    new = load_file(tmp_path / "out" / "model" / "model.safetensors")
    assert set(old) == set(new)
    for name, tensor in old.items():
        kept = new[name][: len(tensor)] if "rows" in name else new[name]
        assert torch.equal(kept.view(torch.int32), tensor.view(torch.int32)), name
    rows = new["memory.residual.rows.weight"][len(old["memory.residual.rows.weight"]) :]
    assert (rows != 0).any(1).sum() > 3
    assert found["changed_values"] == 0
    assert found["distance"] == 0
    assert found["base after"] == found["base before"]
    assert found["final pass@2"] is not None
    assert [stage for stage, _ in found["retained"]] == [0, 2, 3]
    views = [one["views"] for one in stages(tmp_path / "out")]
    assert found["updated_parameters"] == sum(32 + 8 * count for count in views) / 3
    model = CharmModel.from_pretrained(tmp_path / "out" / "model")
    assert model.instances.puzzles[-3:] == read_sealed(tmp_path / "out" / "data.json")["order"]


def test_a_folder_takes_one_stream_at_a_time(base: Path, unseen: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with lock_folder(tmp_path / "out", "training run"), pytest.raises(CharmError, match="by another training run"):
        learn(base, tmp_path / "out", unseen)
    assert not (tmp_path / "out" / "stages").exists()
    assert learn(base, tmp_path / "out", unseen)["final pass@2"] is not None


@pytest.mark.parametrize(
    ("method", "scope"),
    [
        ("oracle", None),
        ("joint", None),
        *((m, s) for m in ("naive", "l2sp", "ewc", "rehearsal", "replay") for s in ("composition", "full")),
    ],
)
def test_methods_that_move_shared_weights(base: Path, unseen: Path, tmp_path: Path, method: str, scope: Any) -> None:
    out = tmp_path / "out"
    found = learn(base, out, unseen, method=method, scope=scope, tasks=2)
    assert found["stages"] == 2
    assert json.loads((out / "result.json").read_text())["final pass@2"] == found["final pass@2"]
    assert found["changed_values"] > 0
    assert found["distance"] > 0
    assert found["scope"] == (scope or "full")
    model = CharmModel.from_pretrained(newest_checkpoint(base))
    memory = sum(
        p.numel() for n, p in model.memory.named_parameters() if n not in ("base.rows.weight", "residual.rows.weight")
    )
    shared = memory + (0 if scope == "composition" else sum(p.numel() for p in model.reasoner.parameters()))
    private = [32 + 8 * one["views"] for one in stages(out)]
    once = shared if method == "joint" else 2 * shared
    assert found["updated_parameters"] == (once + sum(private)) / 2
    assert (out / "model").is_dir() == (method != "oracle")
    stored = load_file(newest_state(out))
    assert set(stored) >= (set() if method == "oracle" else set(shared_parameters(model, found["scope"])))
    if method == "oracle":
        assert found["base after"] is None
        assert found["final pass@2"] == found["immediate pass@2"]
    else:
        assert found["base after"] is not None


@pytest.mark.parametrize(("method", "scope"), [("lora", "matrices"), ("sparse", "feed-forward")])
def test_methods_that_move_a_part_of_the_reasoner(
    base: Path, unseen: Path, tmp_path: Path, method: str, scope: str
) -> None:
    found = learn(
        base, tmp_path / "out", unseen, method=method, tasks=2, **({"rank": 2} if method == "lora" else {"units": 3})
    )
    assert found["scope"] == scope
    assert found["settings"] == {"lora": "rank 2, shared_lr 0.01", "sparse": "units 3, shared_lr 0.01"}[method]
    assert found["changed_values"] > 0
    model = CharmModel.from_pretrained(newest_checkpoint(base))
    shared = shared_parameters(model, found["scope"])
    if method == "lora":
        count = sum(2 * sum(matrix.shape) for matrix in shared.values())
    else:
        width = model.config.reasoner.inner_width
        count = sum(3 * tensor.numel() // width for tensor in shared.values())
    assert {one["shared_parameters"] for one in stages(tmp_path / "out")} == {count}


def test_methods_tell_what_they_keep(base: Path, unseen: Path, tmp_path: Path) -> None:
    """Besides the model: nothing, a copy of the base, two of it, or the pairs of the tasks in the buffer."""
    kept = {}
    for method in ("naive", "l2sp", "ewc", "replay"):
        learn(base, tmp_path / method, unseen, method=method, **({"buffer": 1} if method == "replay" else {}))
        kept[method] = [one["kept_bytes"] for one in stages(tmp_path / method)]
    shared = shared_parameters(CharmModel.from_pretrained(newest_checkpoint(base)), "composition")
    copy = 4 * sum(parameter.numel() for parameter in shared.values())
    assert kept["naive"] == [0, 0, 0]
    assert kept["l2sp"] == [copy] * 3
    assert kept["ewc"] == [2 * copy] * 3
    assert kept["replay"][0] == 0
    assert 0 < kept["replay"][2] < 10_000


def newest_state(out: Path) -> Path:
    return folder_of(out, steps_of(out)[-1]) / "stream.safetensors"


def test_every_method_is_tested_above() -> None:
    assert set(METHODS) == {"memory-only", "oracle", "joint", "naive", "l2sp", "ewc", *OTHERS}


class WholeRuns:
    """One stream, and for each method a run on it that nothing has interrupted, made where it is first needed."""

    def __init__(self, base: Path, folder: Path) -> None:
        self.base, self.folder, self.stream = base, folder, write_unseen(folder / "unseen")

    def of(self, method: str) -> Path:
        run = self.folder / method
        if not (run / "result.json").is_file():
            learn(self.base, run, self.stream, method=method)
        return run


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> WholeRuns:
    return WholeRuns(base, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("method", ["memory-only", "oracle", "joint", "ewc", *OTHERS])
def test_a_killed_run_goes_on_to_the_same_end(base: Path, whole: WholeRuns, tmp_path: Path, method: str) -> None:
    """Killed after each checkpoint and each recheck."""
    kills = 0
    while True:
        try:
            learn_killed(base, tmp_path / "killed", whole.stream, 2 if kills == 0 else 1, method=method)
        except Killed:
            kills += 1
            continue
        break
    # Three stages and three rechecks (of the oracle there is one only), but for the first: without a checkpoint a run
    # begins again.
    assert kills == (3 if method == "oracle" else 5)
    assert_same(whole.of(method), tmp_path / "killed")


@pytest.mark.parametrize("method", ["memory-only", "oracle", "joint", "ewc", *OTHERS])
@pytest.mark.parametrize("updates", [1, 5])
def test_a_signal_in_the_middle_of_a_stage_is_answered_with_a_checkpoint(
    base: Path, whole: WholeRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, updates: int
) -> None:
    """What was learned of the stage is kept, and the rest ends in the same bits."""
    expected = whole.of(method)
    made = 0
    update = Adaptation.update

    def counted(self: Adaptation, passed: float = 0.0) -> Any:
        nonlocal made
        made += 1
        if made == updates:
            os.kill(os.getpid(), signal.SIGTERM)
        return update(self, passed)

    monkeypatch.setattr(Adaptation, "update", counted)
    with pytest.raises(Terminated):
        learn(base, tmp_path / "stopped", whole.stream, method=method)
    assert steps_of(tmp_path / "stopped")[-1] == updates
    assert not (tmp_path / "stopped" / "result.json").exists()
    learn(base, tmp_path / "stopped", whole.stream, method=method)
    assert made == 3 * RECIPE.steps
    assert_same(expected, tmp_path / "stopped")


def test_a_run_killed_inside_a_stage_goes_on(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of learning, and between the files of a stage."""
    learn(base, tmp_path / "whole", unseen, method="naive")
    real = run_module.write_sealed
    writes: list[Path] = []

    def write(path: Path, value: Any) -> None:
        writes.append(path)
        if path.parent.name == "stages" and path.name == "0002.json":
            raise Killed
        real(path, value)

    updates = 0
    update = Adaptation.update

    def counted(self: Adaptation, passed: float = 0.0) -> Any:
        nonlocal updates
        updates += 1
        if updates == RECIPE.steps + 2:
            raise Killed
        return update(self, passed)

    with monkeypatch.context() as patch:
        patch.setattr(Adaptation, "update", counted)
        with pytest.raises(Killed):
            learn(base, tmp_path / "killed", unseen, method="naive")
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "write_sealed", write)
        with pytest.raises(Killed):
            learn(base, tmp_path / "killed", unseen, method="naive")
    assert (tmp_path / "killed" / "rows" / "0002.safetensors").is_file()
    assert len(stages(tmp_path / "killed")) == 1
    learn(base, tmp_path / "killed", unseen, method="naive")
    assert_same(tmp_path / "whole", tmp_path / "killed")


def test_a_finished_run_is_only_summed_up(base: Path, unseen: Path, tmp_path: Path) -> None:
    found = learn(base, tmp_path / "out", unseen)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages").iterdir()}
    assert learn(base, tmp_path / "out", unseen) == found
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "stages").iterdir()} == before
    with pytest.raises(CharmError, match="views"):
        learn(base, tmp_path / "out", unseen, views=2)


def test_a_full_disk_at_the_end_is_one_sentence(base: Path, unseen: Path, tmp_path: Path) -> None:
    def full(*rest: object) -> None:
        raise SafetensorError("No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("charm.models.model.save_file", full)
        with pytest.raises(CharmError, match=r"out/model: cannot be written \(No space left on device\)"):
            learn(base, tmp_path / "out", unseen)
    assert not list((tmp_path / "out").glob("model*"))
    assert learn(base, tmp_path / "out", unseen)["stages"] == 3  # the same command finishes it


@pytest.mark.parametrize("method", ["oracle", "memory-only"])
def test_what_came_before_a_task_does_not_matter(
    base: Path, unseen: Path, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle restores the base exactly, and memory-only never leaves it: learning the second task of a stream
    ends in the very same rows and shared weights as learning it alone.
    """
    ends: list[dict[str, torch.Tensor]] = []
    save = run_module.StreamJob._save_rows

    def keep(self: Any, number: int) -> Any:
        moved = {**self._rows(number - 1), **self.shared}
        ends.append({name: tensor.detach().clone() for name, tensor in moved.items()})
        return save(self, number)

    monkeypatch.setattr(run_module.StreamJob, "_save_rows", keep)
    learn(base, tmp_path / "both", unseen, method=method, tasks=2)
    second = read_sealed(tmp_path / "both" / "data.json")["order"][1]
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(unseen / f"{second}.json", alone)
    learn(base, tmp_path / "one", alone, method=method, tasks=1)
    assert len(ends) == 3
    assert set(ends[1]) == set(ends[2])
    for name, tensor in ends[1].items():
        assert torch.equal(tensor, ends[2][name]), name
    assert not torch.equal(ends[0]["memory.residual.rows.weight"], ends[1]["memory.residual.rows.weight"])


@pytest.mark.parametrize(
    "harm",
    [
        lambda model: model.reasoner.tokens.mul_(1 - 1e-6),  # as weight decay would
        lambda model: model.reasoner.initial.add_(1e-3),  # a buffer
        lambda model: model.memory.residual.rows.weight[2].add_(1e-6),  # a row of the base
        lambda model: model.memory.base.rows.weight[-1].add_(1e-6),  # the vector of another task of the stream
    ],
)
def test_drift_stops_the_run(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Any
) -> None:
    update = Adaptation.update

    def harmful(self: Adaptation, passed: float = 0.0) -> Any:
        with torch.no_grad():
            harm(self.model)
        return update(self, passed)

    monkeypatch.setattr(Adaptation, "update", harmful)
    with pytest.raises(CharmError, match=r"stage 1, task .* that must not"):
        learn(base, tmp_path / "out", unseen)
    assert stages(tmp_path / "out") == []


@pytest.mark.parametrize(("score", "when"), [(1, "recheck after 0 stages"), (3, "stage 1"), (5, "after 2 stages")])
def test_voting_must_not_change_anything_either(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: int, when: str
) -> None:
    """Drift is looked for from the end of one stage to the end of the next, votes and rechecks included."""
    real, asked = run_module.score_votes, []

    def harmful(model: CharmModel, *rest: Any) -> Any:
        asked.append(1)
        if len(asked) == score:
            with torch.no_grad():
                model.reasoner.tokens.mul_(1 - 1e-6)
        return real(model, *rest)

    monkeypatch.setattr(run_module, "score_votes", harmful)
    with pytest.raises(CharmError, match=rf"{when}.*values of reasoner\.tokens changed that must not"):
        learn(base, tmp_path / "out", unseen)


def test_a_named_source_comes_from_the_data_folder_of_the_base(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(base, run)
    config = read_sealed(run / "config.json")
    config["data"]["data"] = str(tmp_path / "elsewhere")
    (run / "config.json").write_text(json.dumps(config))
    with pytest.raises(CharmError, match=r"ConceptARC is not in .*elsewhere"):
        run_stream(run, tmp_path / "out", replace(OPTIONS, stream="concept-arc"), HERE)


def test_a_malformed_task_does_not_cost_the_others(base: Path, unseen: Path, tmp_path: Path) -> None:
    (unseen / "new2.json").write_text('{"train": [{"input": [[11]], "output": [[1]]}], "test": [{"input": [[1]]}]}')
    (unseen / "toy0.json").write_text((unseen / "new1.json").read_text())
    found = learn(base, tmp_path / "out", unseen, tasks=0)
    assert sorted(one["task"] for one in stages(tmp_path / "out")) == ["new0", "new1", "new3"]
    assert "colours must be in 0..9, got 11" in found["skipped"][str(unseen / "new2.json")]
    assert "already knows" in found["skipped"]["toy0"]


def test_held_out_answers_do_not_reach_learning(base: Path, unseen: Path, tmp_path: Path) -> None:
    learn(base, tmp_path / "true", unseen)
    for path in unseen.glob("*.json"):
        content = json.loads(path.read_text())
        content["test"][0]["output"] = [[9] * 30]
        path.write_text(json.dumps(content))
    learn(base, tmp_path / "false", unseen)
    for file in sorted((tmp_path / "true" / "rows").iterdir()):
        assert file.read_bytes() == (tmp_path / "false" / "rows" / file.name).read_bytes()


def test_blind_tasks_are_learned_and_not_scored(base: Path, unseen: Path, tmp_path: Path) -> None:
    for path in unseen.glob("*.json"):
        content = json.loads(path.read_text())
        del content["test"][0]["output"]
        path.write_text(json.dumps(content))
    found = learn(base, tmp_path / "out", unseen)
    assert found["stages"] == 3
    assert found["immediate pass@2"] is None
    assert found["final pass@2"] is None


def test_a_table_has_no_composition(unseen: Path, tmp_path: Path) -> None:
    table = toy_run(tmp_path / "table", MemoryConfig(design="table", rank=8))
    with pytest.raises(CharmError, match="no composition"):
        learn(table, tmp_path / "out", unseen, method="naive", scope="composition")
    found = learn(table, tmp_path / "rows", unseen, tasks=1)
    assert found["memory"] == "Table (r=8)"
    assert found["updated_parameters"] == 8 * stages(tmp_path / "rows")[0]["views"]


def test_several_processes_are_refused(base: Path, unseen: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="one process"):
        run_stream(base, tmp_path, replace(OPTIONS, stream=str(unseen)), Place(torch.device("cpu"), 0, 2))


def test_base_puzzles_are_a_fixed_choice(base: Path, unseen: Path, tmp_path: Path) -> None:
    """For any seed of the stream; and there are as many as requested."""
    chosen = set()
    for seed in (0, 1):
        options = replace(OPTIONS, stream=str(unseen), recipe=replace(RECIPE, seed=seed), base_tasks=2)
        found = run_module.StreamBase(base, options, HERE)
        job = run_module.StreamJob(found, tmp_path / str(seed), replace(options, views=4), HERE, print)
        chosen.add(job.base_data.config.tasks)
        assert len(job.stream.tasks) == 3
    assert len(chosen) == 1
    assert len(chosen.pop()) == 2


def test_an_unfinished_run_can_be_summed_up(base: Path, unseen: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        learn_killed(base, tmp_path / "out", unseen, kill_at=2)
    found = summarize(tmp_path / "out")
    assert found["stages"] == 1
    assert found["final pass@2"] is None


def test_bad_settings_are_refused() -> None:
    with pytest.raises(CharmError, match="recheck_every must be >= 1"):
        replace(OPTIONS, recheck_every=0)
    with pytest.raises(CharmError, match="must be >= 0"):
        replace(OPTIONS, tasks=-1)
    with pytest.raises(CharmError, match="batch must be >= 1"):
        Recipe(batch=0)
    with pytest.raises(CharmError, match="no method"):
        replace(OPTIONS, method="magic")
    with pytest.raises(CharmError, match="strength is for l2sp and ewc; the method naive does not use it"):
        replace(OPTIONS, method="naive", strength=0.5)
    with pytest.raises(CharmError, match="buffer is for replay; the method naive does not use it"):
        replace(OPTIONS, method="naive", buffer=3)
