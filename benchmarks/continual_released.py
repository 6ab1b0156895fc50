"""Continual learning from the released base, which knows its tasks well and so has much to lose.

    python -m benchmarks.continual_released run --jobs 10     # every method, on one order of the stream
    python -m benchmarks.continual_released run --orders 3    # on three
    python -m benchmarks.continual_released run --stream concept-arc    # another stream, once it is fetched
    python -m benchmarks.continual_released report            # the table from what is finished

The base is the writer of `charm solve`. It learns 24 unseen tasks with small grids, chosen by a hash of their ids, as
`charm adapt` does, and is asked along the way about them and about 48 of the tasks that it was trained on.

Nothing is chosen by its result: all rates are in the table. A rate is a multiple of `charm solve`'s own: of the vector
where it alone moves, else of shared weights. `rehearsal` needs the generated pairs that the base was trained on
(`charm data rearc`, `charm rearc2 build`). Interrupted, the same command resumes. `--size smoke` runs on a CPU.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin slow each other down on a shared CPU

from benchmarks.continual_study import attempt
from charm.continual.results import gather, write_results
from charm.continual.run import StreamOptions, run_stream
from charm.continual.streams import TaskStream
from charm.devices import place
from charm.models.model import CharmModel
from charm.paths import released_model
from charm.processes import process_pool
from charm.solving.options import WriterRecipe
from charm.solving.solver import choose
from charm.tasks.sources import load_source
from charm.training.adaptation import Recipe

LONGEST = 10  # side of the largest visible grid of the stream


@dataclass(frozen=True)
class Size:
    stream: int
    """Tasks of the stream."""
    own: int
    """Tasks of the base that are asked."""
    updates: int
    """Of a stage."""
    views: int
    """Of each task that are learned."""
    voters: int
    """Views that vote."""
    recheck: int
    """Stages between questions about all tasks."""


SIZES = {"gpu": Size(24, 48, 150, 256, 8, 4), "smoke": Size(1, 1, 2, 8, 1, 1)}


@dataclass(frozen=True)
class Trial:
    method: str
    rate: float = 1.0
    order: int = 0

    @property
    def name(self) -> str:
        return f"{self.method}-x{self.rate:g}-o{self.order}"

    def options(self, size: Size, stream: Path) -> StreamOptions:
        own, frozen = WriterRecipe(), self.method == "memory-only"
        recipe = Recipe(
            steps=size.updates,
            task_lr=own.task_lr * (self.rate if frozen else 1.0),
            shared_lr=own.lr * (1.0 if frozen else self.rate),
            seed=self.order,
        )
        return StreamOptions(
            *(str(stream), self.method, "rows" if frozen else "full", recipe),
            views=size.views,
            evaluate_views=size.voters,
            base_views=size.voters,
            base_tasks=size.own,
            recheck_every=size.recheck,
        )


# The first ones matter most.
TRIALS = (
    Trial("memory-only"),
    Trial("naive"),
    Trial("rehearsal"),
    Trial("naive", 0.1),
    Trial("rehearsal", 0.1),
    Trial("memory-only", 3.0),
    Trial("replay", 0.1),
    Trial("naive", 0.01),
    Trial("oracle"),
)


def write_stream(source: str, size: Size, path: Path) -> Path:
    """Write the tasks of a source that the base does not know, as a file that `charm adapt` takes."""
    known = CharmModel.from_pretrained(released_model()).instances
    unseen = [task for task in load_source(source).tasks if task.id not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    TaskStream(source, tuple(choose(unseen, size.stream, LONGEST))).save(path)
    return path


def run_trial(size: Size, stream: Path, device: str, out: Path, trial: Trial) -> None:
    with place(device) as here:
        run_stream(released_model(), out / trial.name, trial.options(size, stream), here)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("run", "report"))
    parser.add_argument("--size", choices=sorted(SIZES), default="gpu")
    methods = sorted({trial.method for trial in TRIALS})
    parser.add_argument("--methods", nargs="+", choices=methods, default=methods)
    parser.add_argument("--stream", default="arc1/evaluation", help="source of the unseen tasks")
    parser.add_argument("--orders", type=int, default=1, help="of the stream")
    parser.add_argument("--jobs", type=int, default=1, help="trials side by side")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("runs/continual-released"))
    options = parser.parse_args()
    size, name = SIZES[options.size], options.stream.replace("/", "-")
    out = options.out / f"{options.size}-{name}"
    if options.part == "run":
        began, stream = time.monotonic(), write_stream(options.stream, size, out / f"{name}.json")
        chosen = [trial for trial in TRIALS if trial.method in options.methods]
        trials = [Trial(one.method, one.rate, order) for order in range(options.orders) for one in chosen]
        work = partial(attempt, partial(run_trial, size, stream, options.device, out))
        with process_pool(options.jobs) as children:
            for _ in range(2):  # what ran out of memory while others ran is tried again
                list(children.map(work, trials))
        print(f"{options.jobs} jobs, {(time.monotonic() - began) / 60:.1f} minutes")
    table, *others = write_results(gather(out), out)
    print(table.read_text(), *others, sep="\n")


if __name__ == "__main__":
    main()
