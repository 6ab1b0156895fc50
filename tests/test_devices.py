import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch

from charm import devices
from charm.cli import main
from charm.devices import Place, unused_gpus

FAULTS = """
import resource, torch
from charm.devices import keep_freed_memory
keep_freed_memory()
for round in range(23):
    if round == 20:  # the heap grows for up to nine rounds, as its layout happens to be
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux's C library keeps memory")
def test_freed_memory_is_used_again_without_asking_the_system() -> None:
    """Three tensors of 64 MB after others that were freed: without this, each of their pages is new."""
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 3 * 64 // 2  # not even pages of 2 MB


SPINNING = """
import time, torch

def burned():
    before = time.process_time()
    for _ in range(40):
        torch.ones(1 << 18).exp()  # on all threads
        time.sleep(0.01)
    return time.process_time() - before

burned()
before = burned()
import charm
burned()
print(before, burned())
"""


@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2, reason="needs two CPUs of Linux")
def test_threads_wait_asleep_though_torch_was_imported_first() -> None:
    """Seconds of CPU that 40 small operations and the waiting between them take, before and after `import charm`."""
    others = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", SPINNING],
        env=others | {"OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = map(float, ran.stdout.split())
    assert after < before / 2


def test_another_openmp_is_told_to_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_loaded_gnu_openmp", set)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    with pytest.warns(RuntimeWarning, match="import charm first, or set OMP_WAIT_POLICY=PASSIVE"):
        devices.let_waiting_threads_sleep()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        devices.let_waiting_threads_sleep()


@pytest.mark.parametrize(("given", "count"), [(["--gpus", "all"], 4), (["--gpus=3"], 3)])
def test_gpus_start_torchrun_with_the_same_command(
    given: list[str], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stand-in has four GPUs, and another notes what would replace this process."""
    begun: list[list[str]] = []

    def replaced(program: str, words: list[str]) -> None:
        begun.append(words)
        raise SystemExit

    monkeypatch.setattr("os.execv", replaced)
    flags = ["quickstart", "--out", str(tmp_path / "run"), *given, "--steps", "2"]
    with pytest.raises(SystemExit):
        main(["train", *flags])
    assert "--gpus needs a GPU, and torch sees none" in capsys.readouterr().err
    monkeypatch.setattr("torch.accelerator.device_count", lambda: 4)
    with pytest.raises(SystemExit):
        main(["train", *flags])
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}", "-m", "charm"]
    assert begun == [[sys.executable, *torchrun, "train", *flags[:3], "--steps", "2"]]
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(SystemExit):
        main(["train", *flags])
    assert "leave out --gpus" in capsys.readouterr().err


def test_gpus_that_are_left_idle_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.accelerator.device_count", lambda: 4)
    gpu, cpu = torch.device("cuda", 0), torch.device("cpu")
    assert [unused_gpus(place) for place in (Place(gpu), Place(gpu, 0, 4), Place(cpu))] == [3, 0, 0]
