"""What the study of continual learning concludes, from results made by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.continual_study import (
    BASES,
    STUDIES,
    advantage,
    bases_record,
    best,
    learning_forgetting,
    record,
    sweep_trials,
    train_base,
    trials_for,
    write_tasks,
)
from benchmarks.continual_together import learn_together, run_together
from benchmarks.records import read_record
from charm.continual.results import write_json
from charm.continual.run import StreamBase, StreamJob, StreamOptions, run_stream
from charm.devices import place
from charm.models.model import CharmModel
from charm.paper.runs import SIZES
from charm.training.adaptation import private_tables


def result(memory: str, acc: float, old: float = 0.5, final: Any = (), **trial: Any) -> dict[str, Any]:
    settings = {"part": "sweep", "method": "memory-only", "scope": "rows", "rate": 1.0, "strength": None}
    summary = {
        "ACC": acc,
        "base ACC": old,
        "immediate pass@2": acc,
        "forgetting": 0.1,
        "base forgetting": 0.5 - old,
        "memory": f"{memory} (r=1)",
    }
    return {"trial": {**settings, "memory": memory, **trial}, "summary": summary, "final": dict(final)}


def test_the_advantage_by_hand() -> None:
    """Differences of 10, 20 and 30 points: mean 20, deviation 10, t of two degrees of freedom 4.3027."""
    results = []
    for order, gap in enumerate((0.1, 0.2, 0.3)):
        results += [
            result("cose", 0.4 + gap, part="orders", order=order, base=0, final={"a": 1.0, "b": 0.0}),
            result("table", 0.4, part="orders", order=order, base=0, final={"a": 0.5, "b": 0.0}),
        ]
    difference, by_tasks = advantage(results)
    assert difference is not None
    assert by_tasks is not None
    assert difference.seeds == 3
    assert difference.mean == pytest.approx(20)
    assert difference.half_width == pytest.approx(4.3027 * 10 / 3**0.5, rel=1e-4)
    assert by_tasks == (0.0, 50.0)  # one task differs by 50 points, the other not at all
    assert advantage([]) == (None, None)


def test_the_record_of_the_study(tmp_path: Path) -> None:
    results = []
    for base, order, memory, acc in (
        (0, 0, "cose", 0.5),
        (0, 0, "table", 0.4),
        (1, 3, "cose", 0.25),
        (1, 3, "table", 0),
    ):
        one = result(memory, acc, part="orders", base=base, order=order)
        one["summary"] |= {"zero-shot pass@2": 0, "base before": 1, "base after": 1, "updated_parameters": 7}
        one["summary"]["stream"] = str(tmp_path / "test.json")  # a path of this machine stays out
        results.append(one | {"machine": "m", "date": "2026-11-16"})
    results.append(results[0] | {"trial": {**results[0]["trial"], "order": 4}})  # its partner is missing
    write_json(tmp_path / "study.json", record(results, "small"))
    found = read_record(tmp_path / "study.json")
    assert found.seeds == (0, 13)
    assert found.numbers["CoSE memory-only"] == (50, 25)
    assert found.numbers["table memory-only"] == (40, 0)
    assert "110 unseen tasks" in found.size
    assert "2 pairs of runs" in found.size
    assert {run["stream"] for run in found.runs} == {"test"}


def test_memories_are_compared_over_bases_and_tasks(tmp_path: Path) -> None:
    """Each base has the rate that was best for its memory on the validation stream; intervals are over both."""
    results = [
        result(memory, acc, part="rates", rate=rate) for memory in BASES for rate, acc in ((1.0, 0.3), (8.0, 0.4))
    ]
    results[0]["summary"]["immediate pass@2"] = 1.0  # settings are chosen by the end, not by what was learned at first
    trials = trials_for("bases", STUDIES["small"], results)
    assert [(one.memory, one.rate, one.base, one.order) for one in trials[-4:]] == [
        (memory, 8.0, 4, 4) for memory in ("cose", "table", "cose-r0", "table-full")
    ]
    assert len({one.name for one in trials}) == 20
    right = {"cose": (1.0, 1.0), "table": (0.0, 1.0), "cose-r0": (0.0, 1.0), "table-full": (0.0, 0.0)}
    for base in range(2):
        for memory, (one, other) in right.items():
            final = {"a": one, "b": other} if base == 0 else {"a": one, "b": other / 2}
            made = result(memory, sum(final.values()) / 2, part="bases", base=base, order=base, rate=8.0, final=final)
            made["summary"] |= {"base before": 1, "updated_parameters": 7}
            results.append(made)
    results.append(results[-1] | {"trial": {**results[-1]["trial"], "base": 2}})  # its partners are missing
    write_json(
        tmp_path / "bases.json",
        bases_record([one | {"machine": "m", "date": "2026-11-19"} for one in results], "small"),
    )
    found = read_record(tmp_path / "bases.json")
    assert found.seeds == (0, 1)
    assert found.numbers["cose: ACC"] == (100, 75)
    assert found.numbers["table-full: ACC"] == (0, 0)
    assert found.numbers["cose - table: mean"] == (50,)
    assert (found.numbers["cose - table: low"], found.numbers["cose - table: high"]) == ((0,), (100,))
    assert found.numbers["cose - table-full: mean"] == (87.5,)
    assert {run["stream"] for run in found.runs if run["part"] == "rates"} == {"validation"}


def test_settings_are_chosen_by_new_and_old_tasks_together() -> None:
    results = [
        result("cose", 0.4, 0.1, method="naive", scope="full", rate=2.0),
        result("cose", 0.3, 0.4, method="naive", scope="full", rate=0.5),
        result("cose", 0.2, rate=0.25),
    ]
    chosen = best(results)
    assert chosen["cose", "naive", "full"]["rate"] == 0.5
    assert chosen["cose", "memory-only", "rows"]["rate"] == 0.25
    trials = trials_for("orders", STUDIES["small"], results)
    assert len(trials) == 5 * 2 * 2
    assert {(one.memory, one.rate) for one in trials} == {("cose", 0.25), ("table", 1.0)}
    assert len({one.name for one in trials}) == len(trials)
    others = trials_for("methods", STUDIES["small"], results)
    assert {one.rate for one in others if (one.method, one.scope) == ("naive", "full")} == {0.5}


def test_every_method_has_a_curve_and_no_two_trials_a_name() -> None:
    trials = sweep_trials(STUDIES["small"])
    assert len({one.name for one in trials}) == len(trials)
    assert {one.method for one in trials} == {
        *("memory-only", "naive", "l2sp", "ewc", "rehearsal", "replay", "lora", "sparse")
    }
    panels = learning_forgetting([result("cose", 0.3, 0.4), result("table", 0.2, 0.5)])
    assert list(panels) == ["the stream", "the base's tasks"]
    assert [(point.x, point.mean) for point in panels["the base's tasks"]["cose memory-only"]] == [
        (pytest.approx(10), 30)
    ]


@pytest.mark.parametrize("memory", ["cose", "table"])
def test_tasks_that_learn_together_learn_what_they_learn_one_by_one(
    tmp_path: Path, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_together(tmp_path, memory, "cpu", monkeypatch, rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_tasks_that_learn_together_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With updates recorded as graphs. Rows move by the sign of a gradient, which rounding can turn around."""
    check_together(tmp_path, "cose", "cuda", monkeypatch, rtol=1e-2, atol=5e-2)


def check_together(
    tmp_path: Path, memory: str, device: str, monkeypatch: pytest.MonkeyPatch, rtol: float, atol: float
) -> None:
    monkeypatch.setattr("benchmarks.continual_together.GROUP", 2)  # of three tasks
    study = STUDIES["smoke"]
    write_tasks(study, tmp_path)
    train_base("smoke", device, tmp_path, (memory, 0))
    base = tmp_path / "bases" / f"{memory}-0"
    start = SIZES["stream1"][study.size].shrink(StreamOptions("", "memory-only", "rows"))
    recipe = replace(start.recipe, steps=6, batch=4, halt_weight=0.5)
    stream = str(tmp_path / "test.json")
    options = replace(start, stream=stream, recipe=recipe, views=4, scope="rows", recheck_every=100)
    with place(device) as here:
        alone = run_stream(base, tmp_path / "alone", options, here, say=lambda text: None)
        together, final = run_together(base, tmp_path / "together", options, here)
        job = StreamJob(StreamBase(base, options, here), tmp_path, options, here, say=lambda text: None)
        one_by_one = CharmModel.from_pretrained(tmp_path / "alone" / "model", device)
        learn_together(job)
    for name, table in private_tables(job.model).items():
        rows = dict(one_by_one.named_parameters())[name]
        torch.testing.assert_close(table.weight, rows, rtol=rtol, atol=atol)
        assert not torch.equal(table.weight, job.before[name])
    assert together["token_loss"] == pytest.approx(alone["token_loss"], rel=rtol)
    assert together["changed_values"] == alone["changed_values"] == 0
    measured = ("ACC", "BWT", "forgetting", "WC-ACC", "base ACC", "base forgetting", "immediate pass@2")
    assert {name: together[name] for name in measured} == {name: alone[name] for name in measured}
    assert (together["updated_parameters"], len(final)) == (alone["updated_parameters"], study.test)
