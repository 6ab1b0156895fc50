"""Metrics of a run: lines of metrics.jsonl, a progress line with an ETA, and other places when asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from charm.config import to_json
from charm.devices import Place
from charm.errors import charm_errors
from charm.progress import Bar, bar
from charm.runs.config import EngineConfig
from charm.runs.metrics import write_line


class Logs:
    """Adds up metrics on the device between lines, so that logging costs no synchronisation."""

    def __init__(self, out: Path, config: EngineConfig, place: Place) -> None:
        self.out, self.config, self.place, self.enabled = out, config, place, place.is_main
        self._names: list[str] = []
        self._sums: Tensor | None = None  # one for each name
        self._count = 0
        self._since, self._since_step = time.perf_counter(), 0
        self._bar: Bar | None = None
        self._others = _other_writers(out, config) if self.enabled else []

    def add(self, metrics: dict[str, Tensor]) -> None:
        values = torch.stack([value.detach() for value in metrics.values()]).to(self.place.sum_dtype)
        self._names, self._sums = list(metrics), values if self._sums is None else self._sums + values
        self._count += 1

    def means(self) -> dict[str, float]:
        """Means since the last line, over all processes; starts the next line."""
        means = (self._over_processes() / self._count).tolist()
        self._sums, self._count = None, 0
        return dict(zip(self._names, means, strict=True))

    def write(self, step: int, values: Mapping[str, float], text: str, batch: int, unit: str) -> None:
        """Write a line of metrics, with the speed in `unit`s per second at `batch` per update."""
        now = time.perf_counter()
        rate = (step - self._since_step) * batch / max(now - self._since, 1e-9)
        self._since, self._since_step = now, step
        if not self.enabled:
            return
        self._write(step, {**values, f"{unit}_per_second": round(rate, 1)})
        if self._bar is not None:
            self._bar.update(step, text=f"{text}  {rate:,.0f} {unit}/s")

    def report(self, text: str) -> None:
        """Show a status text instead of the last metrics."""
        if self._bar is not None:
            self._bar.update(text=text)

    def evaluation(self, step: int, scores: Mapping[str, float], text: str) -> None:
        """Write the headline of an evaluation to the metrics; its time does not count as training time."""
        if self.enabled:
            self._write(step, {f"evaluation/{name}": value for name, value in scores.items()})
        if self._bar is not None:
            self._bar.say(f"step {step}: {text}")
        self._since, self._since_step = time.perf_counter(), step

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
        # A run that has nothing left to do leaves no line behind.
        with bar(total=steps, done=step, stays=step < steps) as self._bar:
            yield
        self._bar = None

    def state(self) -> dict[str, Any]:
        """The line in the making, for a checkpoint; all processes must ask together."""
        sums = [] if self._sums is None else self._over_processes().tolist()
        return {"count": self._count, "sums": dict(zip(self._names, sums, strict=False))}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up the line in the making."""
        if "loss_sum" in state:  # of an older run on text
            state = {"count": state["loss_count"], "sums": {"loss": state["loss_sum"]}}
        self._count = state["count"]
        self._names = list(state["sums"])
        self._sums = None
        if state["sums"] and self._count:
            values = list(state["sums"].values())
            self._sums = torch.tensor(values, dtype=self.place.sum_dtype, device=self.place.device)

    def _over_processes(self) -> Tensor:
        """The sums, mean over all processes."""
        assert self._sums is not None
        if self.place.world == 1:
            return self._sums
        sums = self._sums.clone()
        dist.all_reduce(sums)
        return sums / self.place.world


def _other_writers(out: Path, config: EngineConfig) -> list[Any]:
    writers: list[Any] = []
    if config.tensorboard:
        with charm_errors("TensorBoard is not installed: pip install 'charm-arc[tensorboard]'", ImportError):
            from torch.utils.tensorboard import SummaryWriter
        board = SummaryWriter(str(out / "tensorboard"))

        def to_board(step: int, values: dict[str, float]) -> None:
            for name, value in values.items():
                board.add_scalar(name, value, step)

        writers.append(to_board)
    if config.wandb:
        with charm_errors("Weights & Biases is not installed: pip install 'charm-arc[wandb]'", ImportError):
            import wandb
        run = wandb.init(project=config.wandb, name=out.name, config=to_json(config), dir=str(out))
        writers.append(lambda step, values: run.log(values, step=step))
    return writers
