"""Metrics of a run: lines of metrics.jsonl, a progress line with an ETA, and other places when asked for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from charm.config import to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.files import write_atomically
from charm.progress import Bar, bar
from charm.training.config import RunConfig

METRICS = "metrics.jsonl"


class Logs:
    """Adds up metrics on the device between lines, so that logging costs no synchronisation."""

    def __init__(self, out: Path, config: RunConfig, enabled: bool, device: torch.device) -> None:
        self.device = device
        self.out, self.config, self.enabled = out, config, enabled
        self._names: list[str] = []
        self._sums: Tensor | None = None  # one for each name
        self._count = 0
        self._since, self._since_step = time.perf_counter(), 0
        self._bar: Bar | None = None
        self._others = _other_writers(out, config) if enabled else []

    def add(self, metrics: dict[str, Tensor]) -> None:
        values = torch.stack([value.detach() for value in metrics.values()])
        values = values.double() if values.device.type != "mps" else values
        self._names, self._sums = list(metrics), values if self._sums is None else self._sums + values
        self._count += 1

    def means(self, place: Place) -> dict[str, float]:
        """Means since the last line, over all processes; starts the next line."""
        assert self._sums is not None
        packed = self._sums / self._count
        if place.world > 1:
            dist.all_reduce(packed)
            packed /= place.world
        self._sums, self._count = None, 0
        means = dict(zip(self._names, packed.tolist(), strict=True))
        # Of the examples that halted; where none did they are all still being refined.
        steps, halted = means.pop("halted_steps"), means["halted"]
        limit = self.config.reasoner.refinement_steps
        means["refinement_steps"] = steps / halted if halted else float(limit)
        return means

    def write(self, step: int, means: dict[str, float], batch: int) -> None:
        now = time.perf_counter()
        rate = (step - self._since_step) * batch / max(now - self._since, 1e-9)
        self._since, self._since_step = now, step
        if not self.enabled:
            return
        self._write(step, {**means, "samples_per_second": round(rate, 1)})
        if self._bar is not None:
            shown = (
                f"loss {means['loss']:.3f}  exact {means['exact_accuracy']:.1%}  "
                f"refinements {means['refinement_steps']:.1f}  {rate:,.0f} samples/s"
            )
            self._bar.update(step, text=shown)

    def voting(self, done: int, total: int) -> None:
        """Progress of an evaluation, in the place of the last metrics."""
        if self._bar is not None:
            self._bar.update(text=f"evaluation: {done:,} of {total:,} votes")

    def has_evaluation(self, step: int) -> bool:
        """Whether the headline of this step's evaluation was written."""
        path = self.out / METRICS
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
        return any(_step_of(line) == step and '"evaluation/' in line for line in lines)

    def evaluation(self, step: int, scores: dict[str, Any]) -> None:
        """The headline of an evaluation, beside the metrics."""
        flat = {f"evaluation/{name}": value for name, value in scores.items() if isinstance(value, float)}
        self._write(step, flat)
        if self._bar is not None:
            shown = ", ".join(f"{name.removeprefix('evaluation/')} {v:.2%}" for name, v in flat.items())
            self._bar.say(f"step {step}: {shown}")

    def _write(self, step: int, values: dict[str, float]) -> None:
        write_line(self.out, step, values)
        for write in self._others:
            write(step, values)

    @contextmanager
    def progress(self, step: int, steps: int) -> Iterator[None]:
        """A live line while the block runs."""
        self._since, self._since_step = time.perf_counter(), step
        if not self.enabled:
            yield
            return
        with bar(total=steps, done=step, stays=True) as self._bar:
            yield
        self._bar = None

    def state(self) -> dict[str, Any]:
        """The line in the making, for a checkpoint."""
        sums = [] if self._sums is None else self._sums.tolist()
        return {"count": self._count, "sums": dict(zip(self._names, sums, strict=False))}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up the line in the making."""
        self._count = state["count"]
        self._names = list(state["sums"])
        self._sums = None
        if state["sums"]:
            self._sums = torch.tensor(list(state["sums"].values()), dtype=torch.float64, device=self.device)


def write_line(run: Path, step: int, values: dict[str, float]) -> None:
    """Add a line to a run's metrics."""
    with (run / METRICS).open("a") as file:
        file.write(json.dumps({"step": step, **values, "time": round(time.time(), 3)}) + "\n")


def forget_later_lines(run: Path, step: int) -> bool:
    """Drop what a run that goes on from this step will write again, and a line cut short by a kill.

    Returns whether there was any.
    """
    path = run / METRICS
    if not path.is_file():
        return False
    if step == 0:  # it will also evaluate again before its first update
        path.unlink()
        return True
    lines = path.read_text(errors="replace").splitlines()
    kept = [line for line in lines if _step_of(line) <= step]
    write_atomically(path, "".join(line + "\n" for line in kept))
    return len(kept) < len(lines)


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")  # a line cut short by a kill


def _other_writers(out: Path, config: RunConfig) -> list[Any]:
    writers: list[Any] = []
    if config.tensorboard:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise CharmError("TensorBoard is not installed: pip install 'charm-arc[tensorboard]'") from error
        board = SummaryWriter(str(out / "tensorboard"))

        def to_board(step: int, values: dict[str, float]) -> None:
            for name, value in values.items():
                board.add_scalar(name, value, step)

        writers.append(to_board)
    if config.wandb:
        try:
            import wandb
        except ImportError as error:
            raise CharmError("Weights & Biases is not installed: pip install 'charm-arc[wandb]'") from error
        run = wandb.init(project=config.wandb, name=out.name, config=to_json(config), dir=str(out))
        writers.append(lambda step, values: run.log(values, step=step))
    return writers
