"""Recorded updates against launched ones, which needs a GPU; what happens where recording fails."""

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from charm.arc.presets import quickstart
from charm.arc.run import arc_job
from charm.devices import place
from charm.models.canvas.config import CanvasConfig
from charm.models.canvas.training import Slots
from charm.runs.settings import TrainConfig
from charm.tasks.keys import MemoryConfig
from charm.training import graphs

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need an NVIDIA GPU")


def small() -> TrainConfig:
    """Two canvas sizes, both optimizers of tables, bfloat16."""
    config = quickstart()
    tasks = ("25ff71a9", "3c9b0459", "d037b0a7", "007bbfb7", "00d62c1b")
    return replace(
        config,
        data=replace(config.data, tasks=tasks, views=8),
        reasoner=replace(config.reasoner, compute_dtype="bfloat16"),
        batch=32,
        compile="off",
    )


def weights_after(updates: int, config: TrainConfig) -> tuple[list[float], dict[str, torch.Tensor], int]:
    with place("cuda") as here:
        job = arc_job(config, here, pytest.fail)
        losses = []
        for step in range(updates):
            metrics = job.update(step)
            losses.append(float(metrics["loss"]))
        assert job.learner.graphs is not None
        recorded = len(job.learner.graphs.graphs)
        job.close()
        weights = {name: weight.detach().clone() for name, weight in job.model.named_parameters()}
        return losses, weights, recorded


@pytest.mark.gpu
@needs_gpu
@pytest.mark.parametrize(
    "memory", [MemoryConfig(rank=8, gate=True), MemoryConfig(design="table", rank=64)], ids=["cose", "table"]
)
def test_recorded_updates_are_the_launched_ones(memory: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the last bits, in which two launched runs differ as well."""
    config = replace(small(), memory=memory)
    losses, weights, recorded = weights_after(40, config)
    assert recorded == 2
    monkeypatch.setattr(graphs, "WARM_UP", 1000)
    launched_losses, launched, none = weights_after(40, config)
    assert none == 0
    assert losses == pytest.approx(launched_losses, rel=2e-3)
    moved = 3e-3 * 40  # the most that a sign could move a row: one bit more or less can turn a sign
    for name in weights:
        assert (weights[name] - launched[name]).abs().max() < moved, name


@pytest.mark.gpu
@needs_gpu
def test_the_plain_path_can_be_recorded_too() -> None:
    config = small()
    config = replace(config, reasoner=CanvasConfig(**{**vars(config.reasoner), "kernels": "plain"}))
    losses, _, recorded = weights_after(40, config)
    assert recorded == 2
    assert losses[-1] < losses[0]


class FakeCuda:
    """Stands in for torch.cuda, which captures nothing here: which stream is current, and what was reset."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stream, self.capturing, self.fails = "main", False, ""
        self.waited = 0
        self.graphs: list[weakref.ref[Any]] = []
        cuda = self

        class Graph:
            def __init__(self) -> None:
                self.replayed = self.was_reset = 0
                cuda.graphs.append(weakref.ref(self))

            def replay(self) -> None:
                self.replayed += 1

            def reset(self) -> None:
                self.was_reset += 1

        @contextmanager
        def graph(graph: object, pool: object) -> Iterator[None]:
            """Like torch's: a capture that fails leaves its own stream behind."""
            self.stream, self.capturing = "capture", True
            try:
                yield
            finally:
                self.capturing = False
            if self.fails:
                raise RuntimeError(self.fails)
            self.stream = "main"

        def synchronize() -> None:
            self.waited += 1

        monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
        monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
        monkeypatch.setattr(torch.cuda, "graph", graph)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda: self.stream)
        monkeypatch.setattr(torch.cuda, "set_stream", lambda stream: setattr(self, "stream", stream))
        monkeypatch.setattr(torch.cuda, "synchronize", synchronize)


def test_a_failed_recording_leaves_no_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the recording fails, updates are launched, on the stream from before and without what was recorded."""
    cuda, model, said = FakeCuda(monkeypatch), torch.nn.Linear(1, 1, bias=False), []
    cuda.fails = "operation not permitted\nwhen capturing"
    streams = []

    def update(slots: Slots) -> dict[str, torch.Tensor]:
        streams.append(cuda.stream)
        model(torch.ones(1)).backward()
        gradient = model.weight.grad
        assert gradient is not None
        found = {"gradient": gradient.clone()}
        if not cuda.capturing:
            model.zero_grad(set_to_none=True)
        return found

    graphed = graphs.UpdateGraphs(model, said.append)
    slots: Any = SimpleNamespace()
    made = graphs.WARM_UP + 2
    assert [float(graphed(update, slots)["gradient"]) for _ in range(made)] == [1.0] * made
    assert streams == ["main"] * graphs.WARM_UP + ["capture", "main", "main"]
    assert len(said) == 1
    assert "(operation not permitted)" in said[0]


@pytest.mark.parametrize("error", [None, RuntimeError("no capture"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("collecting", [True, False])
def test_nothing_is_collected_during_a_capture(
    error: BaseException | None, collecting: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbage that may hold an older graph goes before; collector and stream are always restored."""
    cuda, during = FakeCuda(monkeypatch), []

    class Cycle:
        def __init__(self) -> None:
            self.own = self

    def update(slots: Slots) -> dict[str, torch.Tensor]:
        if cuda.capturing:
            during.append((gc.isenabled(), garbage()))
            if error is not None:
                raise error
        return {"loss": torch.zeros(())}

    monkeypatch.setattr(graphs, "WARM_UP", 0)
    graphed = graphs.UpdateGraphs(torch.nn.Linear(1, 1), lambda text: None)
    slots: Any = SimpleNamespace()
    before = gc.isenabled()
    try:
        gc.disable()  # or the garbage could go by chance
        garbage = weakref.ref(Cycle())
        if collecting:
            gc.enable()
        expected = pytest.raises(KeyboardInterrupt) if isinstance(error, KeyboardInterrupt) else nullcontext()
        with expected:
            graphed(update, slots)
        assert during == [(False, None)]
        assert gc.isenabled() == collecting
        assert cuda.stream == "main"
    finally:
        (gc.enable if before else gc.disable)()


def test_closing_destroys_the_graphs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the collector, and after the GPU has finished with them; later updates are launched."""
    cuda = FakeCuda(monkeypatch)
    launched = []

    def update(slots: Slots) -> dict[str, torch.Tensor]:
        launched.append(slots)
        return {"loss": torch.ones(())}

    graphed = graphs.UpdateGraphs(torch.nn.Linear(1, 1), pytest.fail)
    slots: Any = SimpleNamespace()
    for _ in range(graphs.WARM_UP + 3):
        graphed(update, slots)
    assert len(launched) == graphs.WARM_UP + 1  # the last is the recorded one
    graph = cuda.graphs[0]()
    assert graph is not None
    assert (graph.replayed, graph.was_reset, cuda.waited) == (3, 0, 0)
    before = gc.isenabled()
    gc.disable()
    try:
        graphed.close()
        assert (graph.was_reset, cuda.waited) == (1, 1)
        del graph
        assert cuda.graphs[0]() is None
    finally:
        (gc.enable if before else gc.disable)()
    graphed(update, slots)
    graphed.close()  # a second time does nothing
    assert len(launched) == graphs.WARM_UP + 2
    assert (len(cuda.graphs), cuda.waited) == (1, 1)
