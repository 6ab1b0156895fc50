"""Updates as CUDA graphs: recorded once for each group of slots, then replayed with one call.

An update of a small model is a thousand short kernels, and a host needs longer to launch them than a GPU to run them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import torch
from torch import Tensor, nn

from charm.training.slots import Slots

WARM_UP = (
    3  # updates launched kernel by kernel: kernels are built and optimizer states made before the recording
)

Update = Callable[[Slots], dict[str, Tensor]]


class UpdateGraphs:
    """Calls `update`, which moves the weights of `model`, and later replays its kernels, on the same slots."""

    def __init__(self, update: Update, model: nn.Module, say: Callable[[str], None] = print) -> None:
        self.update, self.model, self.say = update, model, say
        self.made: Counter[int] = Counter()
        self.graphs: dict[int, tuple[torch.cuda.CUDAGraph, dict[str, Tensor]]] = {}
        # Nothing lives from one replay to the next but what the slots, weights and optimizers hold, and the metrics,
        # which keep their place: so all graphs share one pool of memory.
        self.pool = torch.cuda.graph_pool_handle()
        self.failed = False

    def __call__(self, slots: Slots) -> dict[str, Tensor]:
        self.made[id(slots)] += 1
        if self.failed or self.made[id(slots)] <= WARM_UP:
            return self.update(slots)
        if id(slots) not in self.graphs and not self.record(slots):
            return self.update(slots)
        graph, metrics = self.graphs[id(slots)]
        graph.replay()
        # The next replay writes them anew: what is read later must be a copy.
        return dict(zip(metrics, torch.stack(list(metrics.values())).unbind(), strict=True))

    def record(self, slots: Slots) -> bool:
        """Record an update without making it; whether that worked."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self.pool):
                metrics = self.update(slots)
        except RuntimeError as error:
            self.failed = True
            self.model.zero_grad(set_to_none=True)  # gradients of kernels that never ran
            reason = str(error).splitlines()[0]
            self.say(
                f"updates cannot be recorded as CUDA graphs ({reason}); they are launched kernel by kernel"
            )
            return False
        self.graphs[id(slots)] = graph, metrics
        return True
