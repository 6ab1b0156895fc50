"""Our measures of continual learning against Avalanche's, on random matrices.

    pip install avalanche-lib
    python benchmarks/continual_measures.py

Avalanche's metrics receive the accuracies in the order in which a stream produces them. Its "forgetting" takes the
accuracy right after learning where Chaudhry et al. take the best one so far, so those two are compared on matrices in
which a task is never better than right after it was learned. Fails where two numbers differ by more than rounding.
"""

from __future__ import annotations

import numpy as np
from avalanche.evaluation.metrics.forgetting_bwt import BWT, Forgetting
from avalanche.evaluation.metrics.forward_transfer import ForwardTransfer

from charm.continual.measures import backward_transfer, forgetting, forward_transfer


def theirs(r: np.ndarray) -> dict[str, float]:
    """Compute BWT, forgetting and FWT as Avalanche does, from a stream of evaluations."""
    bwt, forgot, forward = BWT(), Forgetting(), ForwardTransfer()
    tasks = r.shape[1]
    for task in range(tasks):
        forward.update(task, r[0, task], initial=True)
    for stage in range(1, tasks + 1):
        bwt.reset_last(), forgot.reset_last()
        for task in range(tasks):
            if task + 1 == stage:
                bwt.update(task, r[stage, task], initial=True)
                forgot.update(task, r[stage, task], initial=True)
            else:
                bwt.update(task, r[stage, task])
                forgot.update(task, r[stage, task])
            if task == stage:  # the one that comes next
                forward.update(task, r[stage, task])
    found = {"BWT": bwt.result(), "forgetting": forgot.result(), "FWT": forward.result()}
    return {name: float(np.mean(list(values.values()))) for name, values in found.items()}


def main() -> None:
    rng = np.random.default_rng(0)
    most = dict.fromkeys(("BWT", "forgetting", "FWT"), 0.0)
    for _ in range(1000):
        tasks = int(rng.integers(2, 40))
        r, learned = rng.random((tasks + 1, tasks)), np.arange(1, tasks + 1)
        falling = r.copy()
        for task in range(tasks):
            falling[:, task] = np.minimum(r[:, task], r[task + 1, task])
        pairs = {
            "BWT": (backward_transfer(r, learned), theirs(r)["BWT"]),
            "FWT": (forward_transfer(r, learned), theirs(r)["FWT"]),
            "forgetting": (forgetting(falling, learned), theirs(falling)["forgetting"]),
        }
        for name, (ours, other) in pairs.items():
            assert ours is not None
            most[name] = max(most[name], abs(ours - other))
    for name, difference in most.items():
        print(f"{name}: 1,000 matrices of 2 to 39 tasks, largest difference {difference:.1e}")
    assert max(most.values()) < 1e-12


if __name__ == "__main__":
    main()
