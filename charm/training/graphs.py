"""Updates as CUDA graphs: recorded once for each group of slots, then replayed with one call.

An update of a small model is a thousand short kernels, and a host needs longer to launch them than a GPU to run them.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from charm.devices import undisturbed_capture

WARM_UP = 3  # updates before the recording, in which kernels are built and optimizer states made

Batch = TypeVar("Batch")  # what an update reads, always at the same place in memory


class UpdateGraphs:
    """Runs updates of `model`; after a warm-up, replays their recorded kernels on the same slots.

    The update is passed with every call and never stored: its owner holds the graphs, and a cycle of references would
    leave it to the garbage collector when they are destroyed. `close` destroys them at once.
    """

    def __init__(self, model: nn.Module, say: Callable[[str], None] = print) -> None:
        self.model, self.say = model, say
        self.made: Counter[int] = Counter()
        self.graphs: dict[int, tuple[torch.cuda.CUDAGraph, dict[str, Tensor]]] = {}
        # Nothing lives from one replay to the next but what the slots, weights and optimizers hold, and the metrics,
        # which keep their place: so all graphs share one pool of memory.
        self.pool = torch.cuda.graph_pool_handle()
        self.failed = False

    def __call__(self, update: Callable[[Batch], dict[str, Tensor]], slots: Batch) -> dict[str, Tensor]:
        self.made[id(slots)] += 1
        if self.failed or self.made[id(slots)] <= WARM_UP:
            return update(slots)
        if id(slots) not in self.graphs and not self.record(update, slots):
            return update(slots)
        graph, metrics = self.graphs[id(slots)]
        graph.replay()
        # The next replay overwrites them: what is read later must be a copy.
        return dict(zip(metrics, torch.stack(list(metrics.values())).unbind(), strict=True))

    def record(self, update: Callable[[Batch], dict[str, Tensor]], slots: Batch) -> bool:
        """Record an update without making it; whether that worked."""
        graph = torch.cuda.CUDAGraph()
        try:
            gc.collect()  # a graph that is garbage must not keep its memory
            with undisturbed_capture(), torch.cuda.graph(graph, pool=self.pool):
                metrics = update(slots)
        except RuntimeError as error:
            self.failed = True
            self.model.zero_grad(set_to_none=True)  # gradients of kernels that never ran
            reason = str(error).splitlines()[0]
            self.say(f"updates cannot be CUDA graphs ({reason}); they are launched kernel by kernel")
            return False
        self.graphs[id(slots)] = graph, metrics
        return True

    def close(self) -> None:
        """Destroy the recorded graphs and free their memory. Later updates are launched kernel by kernel."""
        self.failed = True
        if self.graphs:
            torch.cuda.synchronize()  # no replay may still be running
        while self.graphs:
            graph, _ = self.graphs.popitem()[1]
            graph.reset()
