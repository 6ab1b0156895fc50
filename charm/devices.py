"""Devices and processes of a run: one process on any device torch supports, or many under torchrun."""

import ctypes
import gc
import importlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from charm.errors import CharmError


@dataclass(frozen=True)
class Place:
    """This process: its device, its rank and how many processes there are."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def share(self, batch: int) -> tuple[int, int]:
        """Return this process's slots of a global batch: from, to."""
        if batch % self.world:
            raise CharmError(f"a batch of {batch} cannot be split equally over {self.world} processes")
        size = batch // self.world
        return self.rank * size, (self.rank + 1) * size

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set in any process; all must call this together."""
        if self.world == 1:
            return flag
        raised = torch.tensor(int(flag), device=self.device)
        dist.all_reduce(raised, dist.ReduceOp.MAX)
        return bool(raised.item())

    @property
    def sum_dtype(self) -> torch.dtype:
        """For long sums: float64 where the device has it."""
        return torch.float32 if self.device.type == "mps" else torch.float64

    def barrier(self) -> None:
        if self.world > 1:
            dist.barrier()

    def describe(self) -> str:
        name = str(self.device)
        if self.device.type == "cuda":
            name = torch.cuda.get_device_name(self.device)
        elif self.device.type == "cpu":
            threads = torch.get_num_threads()
            name = f"CPU, {threads} thread{'s' if threads > 1 else ''}"
        return name if self.world == 1 else f"{self.world} x {name}"


def choose_device(wanted: str, local_rank: int = 0) -> torch.device:
    """Choose the device by name, or the accelerator torch finds (CUDA/ROCm, XPU, MPS), or the CPU."""
    found = torch.accelerator.current_accelerator(check_available=True)
    if wanted == "auto":
        wanted = found.type if found is not None else "cpu"
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise CharmError(f"{wanted} is not a valid torch device") from error
    if device.type != "cpu":
        if found is None or found.type != device.type:
            there = "the CPU only" if found is None else f"{found.type} and the CPU"
            raise CharmError(f"no {device.type} device is available; torch sees {there}")
        if device.type in ("cuda", "xpu") and device.index is None:
            device = torch.device(device.type, local_rank % torch.accelerator.device_count())
    return device


@contextmanager
def place(wanted: str = "auto") -> Iterator[Place]:
    """Give this process its place; under torchrun also a process group, gloo on the CPU, NCCL or XCCL on GPUs."""
    alone = int(os.environ.get("WORLD_SIZE", "1")) == 1
    device = choose_device(wanted, 0 if alone else int(os.environ.get("LOCAL_RANK", "0")))
    if device.type in ("cuda", "xpu"):
        torch.accelerator.set_device_index(device.index)
    if alone:
        yield Place(device)
        return
    backend = {"cuda": "nccl", "xpu": "xccl", "cpu": "gloo"}.get(device.type)
    if backend is None:
        raise CharmError(f"torch cannot run several processes on {device.type}")
    # If imported while a group exists, this module keeps it forever as a default argument of its functions:
    # gloo's threads would then outlive the group and sometimes abort the interpreter at exit.
    importlib.import_module("torch.distributed.nn")
    dist.init_process_group(backend, device_id=device if device.type != "cpu" else None)
    try:
        yield Place(device, dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def has_bfloat16(device: torch.device) -> bool:
    """Return whether a device computes in bfloat16 itself: most CPUs do not, nor do older GPUs, such as a T4."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type != "cpu"


def unused_gpus(place: Place) -> int:
    """Count the GPUs of this machine that a run in one process leaves idle."""
    return 0 if place.world > 1 or place.device.type == "cpu" else torch.accelerator.device_count() - 1


def start_torchrun(gpus: int | Literal["all"], words: Sequence[str]) -> NoReturn:
    """Replace this process by torchrun with one process of `charm WORDS` per GPU; --gpus is left out of the words."""
    found = torch.accelerator.device_count()
    count = found if gpus == "all" else gpus
    if "WORLD_SIZE" in os.environ:
        raise CharmError("--gpus starts torchrun, but this process was started by it; leave out --gpus")
    if not found:
        raise CharmError("--gpus needs a GPU, and torch sees none")
    if not 1 <= count <= found:
        raise CharmError(f"--gpus must be all or from 1 to the number of GPUs that torch sees, {found}; got {gpus}")
    kept = [word for n, word in enumerate(words) if not word.startswith("--gpus") and words[n - 1] != "--gpus"]
    torchrun = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}", "-m", "charm")
    os.execv(sys.executable, [sys.executable, *torchrun, *kept])


def to_device(array: np.ndarray[Any, Any], device: torch.device) -> Tensor:
    """Copy the array to the device; a GPU does so asynchronously, without blocking the host."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def sum_gradients(parameters: Sequence[Tensor]) -> None:
    """Sum dense gradients over the ranks; the loss is already divided by the global batch."""
    if not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1):
        return
    pending = []
    for parameter in parameters:
        if parameter.grad is None:  # its share of the batch did not use it, but every rank must take part
            parameter.grad = torch.zeros_like(parameter)
        pending.append(dist.all_reduce(parameter.grad, async_op=True))
    for work in pending:
        if work is not None:
            work.wait()


def require_finite(tensors: Mapping[str, Tensor], where: object = "training diverged") -> None:
    """Raise a CharmError for the first tensor with NaN or infinity: a diverged model is neither saved nor loaded."""
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise CharmError(f"{where}: {name} has values that are not finite")


def let_waiting_threads_sleep() -> None:
    """Make waiting CPU threads sleep, although torch was loaded before OMP_WAIT_POLICY was set to PASSIVE.

    GNU's OpenMP has no call for this. But its threads hardly spin while there are more of them than processors, so
    idle ones are started and kept. Other OpenMPs are left as they are, with a warning.
    """
    if torch.get_num_threads() == 1:
        return  # no thread waits for another
    libraries = _loaded_gnu_openmp()
    for path in libraries:
        ready = threading.Event()
        threading.Thread(target=_keep_idle_threads, args=(path, ready), daemon=True).start()
        ready.wait()
    if not libraries:
        warnings.warn(
            "torch was imported before charm, so its CPU threads spin while they wait, which is slow when other "
            "programs use the CPU too: import charm first, or set OMP_WAIT_POLICY=PASSIVE",
            RuntimeWarning,
            stacklevel=2,
        )


def _loaded_gnu_openmp() -> set[str]:
    """Return the paths of GNU's OpenMP in this process, of which there may be several; none outside Linux."""
    maps = Path("/proc/self/maps")
    return set(re.findall(r"/.*/libgomp[^/\n]*$", maps.read_text(), re.M)) if maps.is_file() else set()


def _keep_idle_threads(path: str, ready: threading.Event) -> None:
    openmp = ctypes.CDLL(path)
    threads = len(os.sched_getaffinity(0)) + 1
    openmp.GOMP_parallel(openmp.omp_get_thread_num, None, threads, 0)  # any C function without an effect will do
    ready.set()
    threading.Event().wait()  # the team would end with this thread


@contextmanager
def undisturbed_capture() -> Iterator[None]:
    """Collect no garbage while a CUDA graph is captured; afterwards, restore the stream even if that failed.

    The collector may destroy another CUDA graph, which invalidates the capture. A capture that fails leaves its own
    stream as the current one.
    """
    stream, collecting = torch.cuda.current_stream(), gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        torch.cuda.set_stream(stream)
        if collecting:
            gc.enable()


def keep_freed_memory() -> None:
    """Let the C library keep what is freed on the CPU: to give it back to the system and take it again costs a tenth
    of an update of a small model. Only Linux's has this."""
    with suppress(AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: free memory at the end of the heap stays
        mallopt(-3, 2**30)  # M_MMAP_THRESHOLD: large tensors come from the heap
