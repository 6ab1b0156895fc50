"""Running tables: what is done is skipped, what was stopped continues, and nothing that was computed is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import paper_record
from benchmarks.records import read_records
from benchmarks.reproduction import reproduced, verdict_of
from charm.automata.benchmark import BenchmarkConfig
from charm.automata.dataset import load_benchmark
from charm.automata.presets import CAR_MEMORIES, car_preset
from charm.cli import main
from charm.devices import place
from charm.errors import CharmError
from charm.files import read_sealed, write_sealed
from charm.paper import plans
from charm.paper.comparison import Comparison
from charm.paper.plans import Reproduction, commands_by_hand, run_here, run_on_slurm
from charm.paper.runs import VARIANTS, small_tasks
from charm.paper.tables import EMERGED, TABLES, PaperClaim, PaperLine
from charm.paper.work import PaperRun, Shelf, identity, run_one, updates_until_unseen
from charm.runs.folder import write_result
from charm.signals import StoppedEarly, stop_early
from charm.tasks.pairs_file import (
    Manifest,
    Plan,
    TaskRecord,
    load_pairs,
    pack_pairs,
    write_block,
    write_manifest,
)
from charm.tasks.task import Pair
from tests import forks

LABEL = "tab:cose-arc1training-ablations"
COSE, TABLE = VARIANTS["train.cose"], VARIANTS["train.table"]


def store(shelf: Shelf, key: str, seed: int, **scores: float) -> None:
    """A result as a run would write it."""
    variant = VARIANTS[key]
    named = {name.replace("_", "@"): value for name, value in scores.items()}
    result = {
        "variant": variant.home(shelf.size),
        "size": shelf.size,
        "seed": seed,
        "scores": named,
        "seconds_of_last_attempt": 2.0,
        "settings": identity(variant.at(shelf.size, seed)),
    }
    run = shelf.run(variant, seed)
    write_result(run.result_path, result, run.folder)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path, "smoke")


def test_one_run_from_start_to_result(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    with place("cpu") as here:
        assert run_one(shelf.run(COSE, 0), here)
        folder = shelf.run(COSE, 0).folder
        assert (folder / "checkpoints" / "step_000000002").is_dir()
        result = shelf.run(COSE, 0).read()
        assert result is not None
        evaluated = read_sealed(folder / "eval" / "continual.json")
        assert result["scores"]["pass@2"] == pytest.approx(100 * evaluated["metrics"]["pass@2"])
        assert result["settings"]["memory"]["rank"] == 8
        assert result["settings"]["seed"] == 0
        assert [line["step"] for line in result["curve"]] == [1, 2]
        assert result["parameters"]["memory"] > 0
        assert len(json.dumps(result)) < 20_000
        # Another result of the same run, after the first was lost: nothing is trained again.
        shelf.run(COSE, 0).result_path.unlink()
        before = (folder / "metrics.jsonl").read_text()
        assert run_one(shelf.run(COSE, 0), here)
        assert (folder / "metrics.jsonl").read_text() == before
        assert shelf.run(COSE, 0).read()["scores"] == result["scores"]  # type: ignore[index]


def test_a_half_finished_run_with_other_settings_is_refused(shelf: Shelf) -> None:
    folder = shelf.run(COSE, 0).folder
    with place("cpu") as here:
        COSE.domain.get("train")(COSE.at("smoke", seed=5), folder, here, False, lambda text: None)
        with pytest.raises(CharmError, match="an unfinished run with other settings; delete it") as refused:
            run_one(shelf.run(COSE, 0), here)
    assert str(folder) in str(refused.value)


def test_a_result_with_other_settings_is_refused(shelf: Shelf) -> None:
    store(shelf, "train.cose", 0, pass_2=1.0)
    path = shelf.run(COSE, 0).result_path
    found = read_sealed(path)
    found["settings"]["steps"] = 7
    write_sealed(path, found)
    with pytest.raises(CharmError, match=r"s0\.json was made with other settings \(steps\); delete it"):
        shelf.run(COSE, 0).read()


def test_a_result_from_before_a_setting_existed_counts_if_that_has_its_default(shelf: Shelf) -> None:
    store(shelf, "train.cose", 0, pass_2=1.0)
    path = shelf.run(COSE, 0).result_path
    found = read_sealed(path)
    del found["settings"]["start"], found["settings"]["data"]["fixed_colors"]
    write_sealed(path, found)
    assert shelf.run(COSE, 0).read() is not None
    del found["settings"]["steps"]  # the run's is not the default
    write_sealed(path, found)
    with pytest.raises(CharmError, match=r"other settings \(steps\)"):
        shelf.run(COSE, 0).read()


def test_finished_runs_are_skipped_and_seeds_come_in_turn(shelf: Shelf) -> None:
    store(shelf, "train.table", 0, pass_2=1.0)
    plan = Reproduction.of([LABEL], "smoke", 2, ["table", "cose"], shelf.out, None)
    assert [(job.variant.name, job.seed) for job in plan.missing_runs()] == [("cose", 0), ("table", 1), ("cose", 1)]
    # At this size the tables without Re-ARC share their runs.
    shared = Reproduction.of([LABEL, "tab:arc-repeat-ablation"], "smoke", 1, ["cose"], shelf.out, None).missing_runs()
    assert [job.variant.key for job in shared] == ["train.cose", "arc1.cose", "arc2-plain.cose", "arc2.cose"]


SCRIPT = """
import json, os, sys, time
from pathlib import Path
state, name, behaviour, result = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
with (state / "started").open("a") as file: file.write(name + "\\n")
if behaviour == "memory" and not (state / (name + ".again")).exists():
    (state / (name + ".again")).touch()
    print("torch.OutOfMemoryError: CUDA out of memory"); sys.exit(1)
if behaviour == "broken":
    print("charm: there is no data here"); sys.exit(2)
time.sleep(0.3)
os.replace(result + ".pending", result)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Processes that behave as specified instead of training; those that end well leave a result."""
    behaviours: dict[str, str] = {}
    state = tmp_path / "state"
    state.mkdir()

    def command(job: PaperRun, device: str, at_once: int) -> list[str]:
        behaviour = behaviours.get(job.variant.name, "")
        store(job.shelf, job.variant.key, job.seed, pass_1=1.0, pass_2=2.0)
        result = job.result_path
        result.rename(f"{result}.pending")  # which the process makes a result when it ends well
        name = f"{job.variant.name}{job.seed}"
        return [sys.executable, "-c", SCRIPT, str(state), name, behaviour, str(result)]

    monkeypatch.setattr(plans, "command", command)
    return behaviours


def test_failures_do_not_stop_the_others(shelf: Shelf, stand_in: dict[str, str]) -> None:
    stand_in["table"] = "broken"
    said: list[str] = []
    failed = run_here([shelf.run(TABLE, 0), shelf.run(COSE, 0)], "cpu", 2, said.append)
    (message,) = failed
    assert message.startswith("train.table seed 0: there is no data here (see ")
    assert any(line.startswith("train.cose seed 0: finished in 2 s: pass@1 1.00, pass@2 2.00") for line in said)


def test_out_of_memory_is_tried_again_with_fewer_at_once(shelf: Shelf, stand_in: dict[str, str]) -> None:
    stand_in["table"] = "memory"
    said: list[str] = []
    assert run_here([shelf.run(TABLE, 0), shelf.run(COSE, 0)], "cpu", 2, said.append) == []
    assert "train.table seed 0: out of memory while others ran; tried again with at most 1 at once" in said
    started = (shelf.out / "state" / "started").read_text().split()
    assert started.count("table0") == 2


def test_runs_are_spread_over_gpus(shelf: Shelf, stand_in: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "gpus", lambda device: ["4", "6"])
    seen = []
    real = subprocess.Popen

    def popen(words: list[str], **options: Any) -> subprocess.Popen[bytes]:
        seen.append(options["env"]["CUDA_VISIBLE_DEVICES"])
        return real(words, **options)

    monkeypatch.setattr(plans.subprocess, "Popen", popen)
    run_here([shelf.run(COSE, seed) for seed in range(4)], "auto", 4, lambda text: None)
    assert sorted(seen) == ["4", "4", "6", "6"]


def test_a_kill_leaves_checkpoints_and_the_same_command_continues(tmp_path: Path) -> None:
    """A real run, slow enough to be met in the middle."""
    words = ("-m", "charm", "reproduce", LABEL, "--size", "cpu", "--seeds", "1")
    process = forks.Program(*words, "--variants", "cose", "--out", tmp_path)
    folder = tmp_path / "cpu" / "runs" / "train.cose" / "seed_0"
    end = time.monotonic() + 120
    while time.monotonic() < end and not (folder / "metrics.jsonl").is_file():
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 128 + signal.SIGTERM
    assert "0 of 1 runs are finished; the same command continues" in process.stderr
    (saved,) = (folder / "checkpoints").glob("step_*")
    shelf = Shelf(tmp_path, "cpu")
    step = int(saved.name.removeprefix("step_"))
    assert 0 < step < COSE.at("cpu").steps
    # What it does next, without its hundreds of updates: it resumes there.
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        os.kill(os.getpid(), signal.SIGINT)

    with place("cpu") as here, stop_early(), pytest.raises(StoppedEarly):
        run_one(shelf.run(COSE, 0), here, say)
    assert said == [f"resumed at step {step}"]


def test_streams_wait_for_their_bases(shelf: Shelf, stand_in: dict[str, str]) -> None:
    plan = Reproduction.of(["tab:cose-cl-halt-comp"], "smoke", 1, ["ewc-composition-h0"], shelf.out, None)
    jobs = plan.missing_runs()
    assert [job.variant.key for job in jobs] == ["bases.cose-r32", "stream1.ewc-composition-h0"]
    stand_in["cose-r32"] = "broken"
    failed = run_here(jobs, "cpu", 2, lambda text: None)
    assert len(failed) == 2
    assert failed[1] == "stream1.ewc-composition-h0 seed 0: its base bases.cose-r32 failed"
    stand_in.clear()
    (shelf.out / "state" / "started").unlink()
    assert run_here(jobs[::-1], "cpu", 2, lambda text: None) == []
    assert (shelf.out / "state" / "started").read_text().split() == ["cose-r320", "ewc-composition-h00"]


def test_a_stream_from_start_to_result(shelf: Shelf) -> None:
    stream = VARIANTS["stream1.cose-r32-memory-only-h0"]
    assert stream.base is not None
    shelf.prepare([stream])
    with place("cpu") as here:
        with pytest.raises(CharmError, match=r"the base has no checkpoint; delete .*s0\.json"):
            run_one(shelf.run(stream, 0), here)
        assert run_one(shelf.run(stream.base, 0), here)
        assert run_one(shelf.run(stream, 0), here)
    result = shelf.run(stream, 0).read()
    assert result is not None
    assert result["summary"]["tasks"] == 2
    assert result["summary"]["changed_values"] == 0
    assert result["scores"]["final pass@2"] == 100 * result["summary"]["final pass@2"]
    assert result["parameters"]["updated"] > 0


def test_automata_from_start_to_result(shelf: Shelf) -> None:
    variant = VARIANTS["car.three-factor"]
    shelf.prepare([variant])
    with place("cpu") as here:
        assert run_one(shelf.run(variant, 0), here)
    result = shelf.run(variant, 0).read()
    assert result is not None
    found = read_sealed(shelf.run(variant, 0).folder / "eval" / "car.json")
    assert result["scores"]["unseen pass@2"] == 100 * found["unseen"]["all"]["pass@2"]
    assert result["scores"]["seen T=1 cells"] == pytest.approx(100 * found["seen"]["T=1"]["cells"], abs=1e-4)
    # At this size a table of all horizons shares the run.
    assert shelf.run(VARIANTS["car-280k.three-factor"], 0).read() == result


def test_automata_at_size_small_build_their_benchmark(tmp_path: Path) -> None:
    shelf, variant = Shelf(tmp_path, "small"), VARIANTS["car-all.two-factor"]
    shelf.prepare([variant])
    config = shelf.run(variant, 0).config
    assert load_benchmark(config.data).config == BenchmarkConfig(families=("life",), side=8, horizons=(1, 2))
    assert (config.data.split, config.data.canvas, config.memory.rank) == ("all", 8, 0)
    steps = [VARIANTS[f"{group}.low-rank"].at("small").steps for group in ("car", "car-280k", "car-all")]
    assert steps == [5000, 1800, 1800]  # both splits of the paper's shorter runs are as long
    assert config.reasoner == car_preset("car-small").reasoner
    written = (tmp_path / "small" / "data" / "car" / "life.npy").stat().st_mtime_ns
    shelf.prepare([VARIANTS["car.low-rank"]])  # it is there
    assert (tmp_path / "small" / "data" / "car" / "life.npy").stat().st_mtime_ns == written


def test_when_unseen_combinations_emerge() -> None:
    def line(step: int, share: float) -> dict[str, float]:
        return {"step": step, "evaluation/unseen pass@2": share}

    assert updates_until_unseen([]) is None
    assert updates_until_unseen([{"step": 50, "loss": 1.0}, line(100, 0.0), line(200, 0.01)]) is None
    assert updates_until_unseen([line(100, 0.0), line(200, 0.04), line(300, 0.0), line(400, 0.5)]) == pytest.approx(125)
    assert updates_until_unseen([line(100, 0.02)]) == pytest.approx(50)  # nothing is known before the first update


def test_missing_data_are_one_sentence(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, "small", tmp_path / "data")
    with place("cpu") as here:
        with pytest.raises(CharmError, match="lm-8192: no prepared text here; run `charm lm prepare`"):
            run_one(shelf.run(VARIANTS["text.d12"], 0), here)
        with pytest.raises(CharmError, match="run `charm car build` to build it"):
            run_one(replace(shelf, size="full").run(VARIANTS["car.low-rank"], 0), here)
        with pytest.raises(CharmError, match="charm data rearc"):
            run_one(shelf.run(VARIANTS["arc1.cose"], 0), here)


def test_the_comparison_by_hand(shelf: Shelf) -> None:
    for seed, (table, cose) in enumerate([(10.0, 12.0), (11.0, 14.0), (12.0, 15.0)]):
        store(shelf, "train.table", seed, pass_2=table, pass_1000=20.0 + seed)
        store(shelf, "train.cose", seed, pass_2=cose, pass_1000=25.0 + 2 * seed)
    printed = TABLES[LABEL]
    lines = tuple(line for line in printed.runs if line.variant.name in ("table", "cose"))
    comparison = Comparison.of(replace(printed, lines=lines), shelf)
    rows = comparison.scores_table().rows
    assert list(rows[0]) == ["Full task table", "49.75 ± 2.50", "71.75 ± 0.22"]
    assert list(rows[1]) == ["  ours: seeds 0, 1, 2", "11.00 ± 1.00", "21.00 ± 1.00"]
    claims = {row[0]: list(row[1:]) for row in comparison.claims_table().rows}
    # Differences 2, 3, 3: mean 2.667, half of the interval 4.3027 x 0.57735 / sqrt(3) = 1.434.
    assert claims["cose - table, pass@2"] == ["+1.50", "+2.67 ± 1.43 (n=3)", "same order"]
    # Differences -5, -6, -7: mean -6, half of the interval 4.3027 / sqrt(3) = 2.484.
    assert claims["table - cose, pass@1000"] == ["+4.56", "-6.00 ± 2.48 (n=3)", "opposite"]
    found = comparison.to_json()
    assert found["claims"][0]["verdict"] == "same order"
    assert found["lines"][0]["ours"]["pass@2"] == {0: 10.0, 1: 11.0, 2: 12.0}


def test_a_line_that_the_paper_does_not_have(shelf: Shelf) -> None:
    for seed in range(3):
        store(shelf, "train.cose", seed, pass_2=10.0 + seed)
        store(shelf, "train.add", seed, pass_2=8.0 - seed)
    printed = TABLES[LABEL]
    mine = PaperLine("mine", "train.add", {})
    claim = PaperClaim("train.add", "train.cose", "pass@2")
    extended = replace(printed, lines=(printed.line("train.cose"), mine), claims=(claim,))
    comparison = Comparison.of(extended, shelf)
    assert list(comparison.scores_table().rows[-1])[:2] == ["  ours: seeds 0, 1, 2", "7.00 ± 1.00"]
    # Differences -2, -4, -6: mean -4, half of the interval 4.3027 x 2 / sqrt(3) = 4.968.
    (row,) = comparison.claims_table().rows
    assert list(row[1:]) == ["-", "-4.00 ± 4.97 (n=3)", "undecided"]
    found = comparison.to_json()
    assert found["claims"][0]["paper"] is None
    assert found["lines"][-1]["ours"]["pass@2"] == {0: 8.0, 1: 7.0, 2: 6.0}


def test_tasks_that_one_variant_alone_answers(shelf: Shelf) -> None:
    """Among any number of runs: the paper's "19 puzzles solved by the table, but by none of the compositional"."""
    proposed = {
        ("train.table", 0): ["a", "b", "c"],
        ("train.table", 1): ["d"],
        ("train.film", 0): ["b"],
        ("train.add", 0): ["c", "e"],
    }
    for (key, seed), tasks in proposed.items():
        store(shelf, key, seed, pass_2=1.0)
        path = shelf.run(VARIANTS[key], seed).result_path
        write_sealed(path, {**read_sealed(path), "tasks": {"solved": [], "proposed": tasks}})
    printed = TABLES["tab:compo-ablations"]
    comparison = Comparison.of(printed, shelf)
    assert comparison.alone() == ["a", "d"]
    told = comparison.alone_text()
    assert told.startswith("2 tasks are answered by Full task table and by none of the 2 other variants, at any rank")
    assert told.endswith("(the paper: 19): a d")
    assert Comparison.of(TABLES[LABEL], shelf).alone() is None


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "reproduce",
        LABEL,
        "--size",
        "smoke",
        "--seeds",
        "1",
        "--variants",
        "cose",
        "--out",
        str(tmp_path),
    ]
    main([*words, "--dry-run"])
    planned = capsys.readouterr().out
    assert "charm train quickstart" in planned
    assert "1 of 1" in planned
    main(words)
    shown = capsys.readouterr().out
    assert "ours: seeds 0" in shown
    assert "51.25 ± 0.94" in shown
    main([*words, "--show", "--json"])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["lines"][0]["line"] == "train.cose"
    with pytest.raises(SystemExit) as ended:
        main([*words, "--show", "--seeds", "2"])
    assert ended.value.code == 2
    assert "1 of 2 runs are finished; the same command continues without --show" in capsys.readouterr().err


def test_a_record_reaches_the_page(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    for key, scores in {"train.table": (10.0, 12.0), "train.cose": (13.0, 15.0)}.items():
        for seed, score in enumerate(scores):
            store(shelf, key, seed, pass_2=score, pass_1000=20.0)
            path = shelf.run(VARIANTS[key], seed).result_path
            more = {"machine": "one GPU", "date": "2026-11-16", "at_once": 8}
            more |= {"curve": [{"step": 1, "loss": 2.0, "halted": 0.5}]}
            write_sealed(path, {**read_sealed(path), **more})
    store(shelf, "train.cose", 2, pass_2=99.0)  # a seed that the other lacks does not count
    folder = shelf.out / "records"
    words = [LABEL, "--size", "smoke", "--seeds", "2", "--variants", "table", "cose"]
    paper_record.main([str(folder), *words, "--out", str(shelf.out)])
    assert "cose-arc1training-ablations_smoke.json" in capsys.readouterr().out
    records = read_records(folder)
    (name,) = records
    assert records[name].seeds == (0, 1)
    assert records[name].command == (f"charm reproduce {LABEL} --size smoke --seeds 2 --jobs 8 --variants table cose")
    runs = records[name].runs
    assert [(run["variant"], run["seed"], "settings" in run) for run in runs] == [
        ("train.table", 0, True),
        ("train.table", 1, False),
        ("train.cose", 0, True),
        ("train.cose", 1, False),
    ]
    assert runs[0]["curve"] == [{"step": 1, "loss": 2.0}]
    assert reproduced(TABLES[LABEL], records) == {
        name: "size smoke: Full task table 11.0 ± 1.4; FiLM-concat + residual (r=32) 14.0 ± 1.4"
    }


def test_records_of_automata_and_text_reach_their_rows(tmp_path: Path) -> None:
    """Verdicts on seen and unseen combinations, on when those emerge, at both horizons, and on text, by hand."""
    shelf = Shelf(tmp_path, "small")

    def put(key: str, seed: int, scores: dict[str, float]) -> None:
        store(shelf, key, seed)
        path = shelf.run(VARIANTS[key], seed).result_path
        more = {"machine": "one GPU", "date": "2026-11-16", "scores": scores}
        curve = [{"step": 1, "evaluation/seen pass@2": 0.1, "evaluation/unseen pass@2": 0.01}]
        write_sealed(path, {**read_sealed(path), **more, "curve": curve})

    for seed in range(3):
        for group in ("car", "car-280k", "car-all"):
            for number, memory in enumerate(CAR_MEMORIES):
                if f"{group}.{memory}" not in VARIANTS:
                    continue
                scores = {"seen pass@2": 50.0 + 5 * number + seed * (1 + number % 2)}
                if group == "car":
                    scores |= {"unseen pass@2": 0.0 if number < 2 else 10.0 * number + seed}
                if group == "car" and memory.startswith("three"):
                    late = memory == "three-factor-cose"
                    scores |= {f"unseen T={t} pass@2": 20.0 / t + 5 * late * (1 + seed) for t in (1, 2)}
                    scores["seen T=1 pass@2"] = 90.0 + seed
                    scores[EMERGED] = 400.0 + 100 * late + 10 * seed * late
                put(f"{group}.{memory}", seed, scores)
        for width in (24, 48, 96):
            for number, kind in enumerate(("engram", "cose", "mixture")):
                bits = 1.0 - number * (0.1 + 0.001 * seed)
                put(f"text.d12-{kind}-x5-w{width}", seed, {"bits per byte": bits})
        for end, gap in (("", 0.02), ("-4640M", 0.01)):
            for kind in ("engram", "cose"):
                bits = 0.9 - gap * (1 + 0.1 * seed) * (kind == "cose")
                put(f"text.d12-{kind}-x5{end}", seed, {"bits per byte": bits})
    labels = ["tab:car-single-horizon", "tab:car-all-horizons", "tab:car-unseen-horizon"]
    labels += ["fig:car-late-emergence", "tab:car-gpt", "tab:nanochat-d12-width", "tab:nanochat-token-budget"]
    records = tmp_path / "records"
    for label in labels:
        names = ["d12-engram-x5", "d12-cose-x5", "d12-engram-x5-4640M", "d12-cose-x5-4640M"]
        chosen = ["--variants", *names] if label.endswith("budget") else []
        main(["reproduce", label, *chosen, "--show", "--out", str(tmp_path)])
        paper_record.main([str(records), label, *chosen, "--out", str(tmp_path)])
    found = read_records(records)
    assert len(found) == len(labels)
    rows = {label: verdict_of(replace(TABLES[label], ours=()), found) for label in labels}
    single = rows["tab:car-single-horizon"]
    # Seen 75, 77, 79 and 50, 51, 52: differences 25, 26, 27, and 4.3027 / sqrt(3) = 2.5. Unseen: the table has none.
    assert "**same order**: three-factor-cose - full-table seen pass@2 +26.0 ± 2.5" in single
    assert "three-factor - full-table unseen pass@2 +41.0 ± 2.5" in single
    assert single.endswith("three-factor - three-factor-cose unseen pass@2 -10.0 ± 0.0")  # undecided
    assert (
        "unseen: Full table 0.0 ± 0.0; "
        in reproduced(TABLES["tab:car-single-horizon"], found)["car-single-horizon_small"]
    )
    every = rows["tab:car-all-horizons"]
    assert "three-factor-cose - full-table seen pass@2 +26.0 ± 2.5" in every
    assert "two-factor - full-table seen pass@2 +10.0" in every
    # Updates 400 and 500, 510, 520: -110 ± 24.8.
    assert rows["fig:car-late-emergence"] == (
        "**same order**: three-factor - three-factor-cose updates to 1 % unseen -110.0 ± 24.8"
    )
    (text,) = reproduced(TABLES["fig:car-late-emergence"], found).values()
    assert text == "size small: Three-factor composition 400 ± 0; Three-factor CoSE 510 ± 10"
    assert (tmp_path / "small" / "figures" / "car-late-emergence.pdf").is_file()
    (text,) = reproduced(TABLES["tab:car-gpt"], found).values()
    assert text == "size small: T=1, three-factor CoSE 91.0 ± 1.0"
    horizons = rows["tab:car-unseen-horizon"]
    assert horizons.startswith(
        "**undecided**: three-factor@unseen T=1 - three-factor-cose@unseen T=1 pass@2 -10.0 ± 12.4"
    )
    assert "T=4" not in horizons
    assert len(found["car-unseen-horizon_small"].runs) == 2 * 3  # two memories, at any horizons
    assert rows["tab:nanochat-d12-width"].count("same order") == 1
    assert rows["tab:nanochat-d12-width"].count("-0.1010 ± 0.0025") == 3
    budget = rows["tab:nanochat-token-budget"]
    assert "d12-cose-x5-4640M - d12-engram-x5-4640M bits per byte -0.0110 ± 0.0025" in budget
    # Gaps of -0.02, -0.022, -0.024 and of -0.01, -0.011, -0.012: more tokens shrink them.
    gaps = "(d12-cose-x5-4640M - d12-engram-x5-4640M) - (d12-cose-x5 - d12-engram-x5)"
    assert budget.startswith("**same order**: ")
    assert budget.count("**") == 2
    assert f"{gaps} bits per byte +0.0110 ± 0.0025" in budget


def test_small_runs_with_synthetic_data_learn_from_small_pairs(tmp_path: Path) -> None:
    """The first hundred pairs of a task, without those that have a side beyond 15; other tasks are left out."""
    source, out = tmp_path / "data" / "rearc", tmp_path / "out"
    sides = [3, 16, 15, *[4] * 97, 5]  # the last is the 101st
    pairs = [Pair(np.full((side, 2), n % 10, np.uint8), np.ones((1, side), np.uint8)) for n, side in enumerate(sides)]
    manifest = Manifest(Plan("rearc", "v", 0, 101, 1.0))
    for task in (inside := small_tasks("training")[0], "no-task-of-ours"):
        block = pack_pairs(pairs, range(1, 102))
        write_block(source, task, block)
        manifest.tasks[task] = TaskRecord(101, 101, {}, block.content(), None)
    write_manifest(source, manifest)
    shelf, variant = Shelf(out, "small", tmp_path / "data"), VARIANTS["arc1.cose"]
    shelf.prepare([variant, VARIANTS["train.cose"]])
    folder = shelf.run(variant, 0).config.data.data
    assert folder.is_relative_to(out)
    assert shelf.run(VARIANTS["train.cose"], 0).config.data.data == tmp_path / "data"
    found = load_pairs(folder / "rearc")
    assert list(found) == [inside]
    kept = [n for n in range(100) if sides[n] <= 15]
    assert (found[inside].index - 1).tolist() == kept
    for number, n in enumerate(kept):
        assert all(map(np.array_equal, found[inside].pair(number), pairs[n].grids()))
    assert shelf.run(variant, 0).config.data.synthetic_view_count == 64
    assert identity(shelf.run(variant, 0).config) == identity(variant.at("small", 0))


def test_the_list_of_labels(capsys: pytest.CaptureFixture[str]) -> None:
    main(["reproduce", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found[LABEL]["variants"] == 4
    # 170k updates of TRM for ten runs.
    assert found[LABEL]["full"] > 100 > found[LABEL]["small"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tab:nothing"], "the paper has no table or figure 'tab:nothing'"),
        (
            [LABEL, "--variants", "nothing"],
            "there is no variant 'nothing'; expected some of table, cose-gated",
        ),
        ([LABEL, "--seeds", "0"], "--seeds must be from 1 to 100, got 0"),
        ([LABEL, "--jobs", "-1"], "--jobs must be >= 1, got -1"),
        ([LABEL, "--slurm", "--slurm-settings", "gpu"], "--slurm-settings must be KEY=VALUE, got 'gpu'"),
        ([LABEL, "--slurm"], "--slurm needs submitit: pip install"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *words, "--out", str(tmp_path)])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line


def test_dry_run_commands_do_the_same_by_hand(shelf: Shelf) -> None:
    train, evaluate = commands_by_hand(shelf.run(COSE, 1))
    folder = shelf.run(COSE, 1).folder
    assert train.startswith("charm train quickstart --steps 2 --seed 1 ")
    assert train.endswith(f"--out {folder}")
    assert evaluate == f"charm eval {folder} --protocol continual --views 2 --loops 2"


class Executor:
    """A stand-in for submitit's: jobs of a batch are called when the batch ends, as a cluster would."""

    made: list[Executor] = []  # noqa: RUF012

    def __init__(self, folder: Path) -> None:
        self.folder, self.parameters, self.called = folder, {}, 0
        Executor.made.append(self)

    def update_parameters(self, **parameters: Any) -> None:
        self.parameters = parameters

    def batch(self) -> Executor:
        self.jobs: list[Any] = []
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        for job in self.jobs:
            job()

    def submit(self, job: Any) -> SimpleNamespace:
        self.jobs.append(job)
        return SimpleNamespace(job_id=f"17_{len(self.jobs) - 1}")


def test_slurm_gets_an_array_and_results_are_collected(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ModuleType("submitit")
    fake.AutoExecutor = Executor  # type: ignore[attr-defined]
    fake.helpers = SimpleNamespace(DelayedSubmission=lambda job: ("again", job))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "submitit", fake)
    plan = Reproduction.of([LABEL], "smoke", 1, ["cose"], shelf.out, None)
    message = plan.submit("cpu", 5, ["slurm_partition=gpu", "timeout_min=60"])
    executor = Executor.made[-1]
    assert executor.parameters["slurm_array_parallelism"] == 5
    assert executor.parameters["slurm_partition"] == "gpu"
    assert executor.parameters["timeout_min"] == 60
    assert message.startswith("1 runs submitted as 17_0 to 17_0;")
    assert shelf.run(COSE, 0).read() is not None
    (job,) = executor.jobs
    assert job.checkpoint() == ("again", job)
    assert plan.submit("cpu", 5, []) == "1 of 1 runs are finished"
    assert run_on_slurm([shelf.run(COSE, 0)], "cpu", 1, {}) == ["17_0"]
