"""A selection of the attacks of `benchmarks/faults.py`: another one for each seed."""

import json
import os
import random
from pathlib import Path

import pytest

from tests.faults.attack import DAMAGES, Target, call, forgeries, hostile_settings, hostile_tasks, plan

SEED = int(os.environ.get("CHARM_FAULTS_SEED", "0"))


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    return Target(tmp_path_factory.mktemp("target"))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_gives_the_right_result_or_a_sentence(damage: str, target: Target) -> None:
    rng = random.Random(f"{SEED} {damage}")
    cases = [case for case in plan(target) if case[1] == damage]
    for file, _, command in rng.sample(cases, 15):
        outcome, text = target.attack(file, damage, command, rng)
        assert outcome in ("right", "refused"), f"{file}, {damage}, {command}: {outcome}\n{text}"


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("checkpoints/step_000000012/model.safetensors", "solve"),
        ("checkpoints/step_000000012/model.safetensors", "blank"),
        ("checkpoints/step_000000012/instances.npz", "adapt"),
        ("checkpoints/step_000000012/calibration.json", "solve"),
        ("config.json", "eval"),
        ("eval/xrm.json", "report"),
        ("adapt/unseen/cose-r8-memory-only-rows-h0-s0/rows/0001.safetensors", "adapt"),
    ],
)
def test_what_a_command_reads_it_checks(file: str, command: str, target: Target) -> None:
    """The attack itself works: here the damage cannot go unnoticed."""
    if command == "blank":  # it reads the model where the votes are gone
        run = target.copy()
        (run / "votes_blank" / "step_12" / "loops_3" / "rank_0.npz").unlink()
        (run / file).write_bytes((run / file).read_bytes()[:-1])
        assert target.judge(command, target.blank(run))[0] == "refused"
        return
    assert target.attack(Path(file), "cut", command, random.Random(SEED))[0] == "refused"


@pytest.mark.parametrize("command", ["train", "eval", "adapt", "solve"])
def test_a_killed_command_started_again_gives_the_same(command: str, target: Target) -> None:
    outcome, text = target.kill(command, random.Random(f"{SEED} {command}"), 0.3)
    assert outcome == "right", text


def test_a_forged_value_gives_a_result_or_a_sentence(target: Target) -> None:
    """In every JSON file of a run: a number of 400 digits, deep nesting, another type; under a seal that fits."""
    rng = random.Random(f"{SEED} forged")
    for file, command in rng.sample(forgeries(target), 20):
        outcome, text = target.forge(file, command, rng)
        assert outcome != "traceback", f"{file}, {command}\n{text}"


def test_a_forged_value_or_bit_in_the_files_of_a_solve(target: Target) -> None:
    rng = random.Random(f"{SEED} solve")
    for _ in range(8):
        outcome, text = target.forge_solve(rng)
        assert outcome != "traceback", text


def test_hostile_tasks_are_refused(target: Target, tmp_path: Path) -> None:
    for name, content in hostile_tasks().items():
        file = tmp_path / f"{name}.json"
        file.write_bytes(content)
        answer = call(["solve", file, "--checkpoint", target.run, "--out", tmp_path / "out.json", "--device", "cpu"])
        assert target.judge("solve", answer)[0] == "refused", (name, answer.error)
    assert not (tmp_path / "out.json").exists()


def test_hostile_settings_are_refused_or_harmless(target: Target) -> None:
    """Settings of any type and size in an unsealed config.json, as an earlier version wrote it."""
    rng = random.Random(f"{SEED} settings")
    settings = json.loads(target.settings.read_text())
    for name, changed in rng.sample(list(hostile_settings(settings)), 40):
        run = target.copy()
        (run / "config.json").write_text(json.dumps(changed))
        outcome, text = target.judge("eval", target.rank(run))
        assert outcome != "traceback", (name, text)
