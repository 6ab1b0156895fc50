"""`charm adapt`: learn a stream of unseen tasks, and measure learning and forgetting."""

import re
from pathlib import Path
from typing import Annotated, Literal

from charm.commands.shared import Device, Json, Run, RunData, flag, output
from charm.errors import ODD_VALUES, charm_errors


def adapt(
    run: Run,
    *,
    stream: str = "arc2-training",
    method: str = "memory-only",
    scope: Annotated[
        Literal["rows", "composition", "full"] | None,
        flag("SCOPE", "composition, where the method has a choice"),
    ] = None,
    halt_weight: float = 0.0,
    seed: int = 0,
    tasks: Annotated[int, flag(default="all")] = 0,
    steps: int = 1000,
    batch: int = 128,
    tokens: int = 4096,
    views: Annotated[int, flag(default="as many as the base had")] = 0,
    task_lr: float = 1e-2,
    row_lr: float = 1e-2,
    row_optimizer: Literal["signsgd", "adamw"] = "signsgd",
    shared_lr: float = 1e-4,
    strength: Annotated[float | None, flag("FLOAT", "0.1 for l2sp, 0.01 for ewc")] = None,
    buffer: int = 10,
    rank: int = 8,
    units: int = 32,
    recheck_every: int = 15,
    device: Device = "auto",
    out: Annotated[Path | None, flag("DIR", "RUN/adapt/STREAM")] = None,
    json: Json = False,
    data: RunData = None,
) -> None:
    """Learn a stream of unseen tasks one by one, and measure how much is retained.

    Repeat the command to resume an interrupted run. Tables and figures in the output folder cover all finished runs
    in it, so run methods and seeds one by one to compare them.

    Example: charm adapt runs/arc1 --stream arc2-training --method memory-only

    Example: charm adapt runs/arc1 --method l2sp --scope composition --halt-weight 0.5 --seed 1

    Example: charm adapt base --stream arc2-evaluation --method memory-only

    Args:
        run: folder of the base run or of a saved model, or the name of a released one.
        stream: arc2-training (233 tasks), arc2-evaluation (114), a source, or a file or folder of tasks.
        method: memory-only, oracle, joint, naive, l2sp, ewc, rehearsal, replay, lora or sparse.
        scope: what learns: the task's rows (rows), also the memory's shared weights (composition), or all (full).
        halt_weight: weight of the halting loss; the paper compares 0 and 0.5.
        seed: seed for the order of the stream and of the examples.
        tasks: number of tasks, from the start of the stream.
        steps: updates for each task.
        batch: examples in an update, of canvases.
        tokens: tokens in an update, of writers.
        views: views of each task to learn.
        task_lr: learning rate of the task's vector.
        row_lr: learning rate of the task's instance rows.
        row_optimizer: optimizer of the instance rows; the paper found adamw less effective.
        shared_lr: learning rate of shared weights.
        strength: strength of the pull to the base, for l2sp and ewc.
        buffer: earlier tasks to keep, for replay.
        rank: rank of the change to each matrix, for lora.
        units: units to learn of each feed-forward layer, for sparse.
        recheck_every: stages between evaluations of the whole stream and the base's own puzzles.
        out: folder for the comparison, also of several bases; this run gets a subfolder.
    """
    from charm.config import to_json
    from charm.continual import results
    from charm.continual.methods import method_named
    from charm.continual.records import memory_name, settings_of
    from charm.continual.run import StreamOptions, run_stream
    from charm.devices import place
    from charm.models.model import read_model_config
    from charm.paths import model_at
    from charm.progress import say
    from charm.runs.checkpoint import newest_checkpoint
    from charm.training.adaptation import Recipe

    _, chosen = method_named(method, scope)
    recipe = Recipe(
        *(steps, batch, tokens),
        halt_weight=halt_weight,
        task_lr=task_lr,
        row_lr=row_lr,
        rows=row_optimizer,
        shared_lr=shared_lr,
        seed=seed,
    )
    options = StreamOptions(
        *(stream, method, chosen, recipe, tasks, views),
        strength=strength,
        buffer=buffer,
        rank=rank,
        units=units,
        recheck_every=recheck_every,
        data=data,
    )
    name = Path(stream).resolve().stem if Path(stream).exists() else stream.replace("/", "-")
    run = model_at(run)
    saved = newest_checkpoint(run)
    compared = out or (Path("runs") / run.name if saved == run else run) / "adapt" / name
    memory = memory_name(to_json(read_model_config(saved / "config.json")[0].memory))
    memory = memory.lower().replace("=", "")
    own = settings_of(to_json(options)).replace(" ", "").split(",")
    parts = (*re.findall(r"\w+", memory), method, chosen, *filter(None, own), f"h{halt_weight:g}", f"s{seed}")
    folder = compared / "-".join(parts)
    with place(device) as here:
        found = run_stream(run, folder, options, here, say)
    with charm_errors(f"{compared}: the result.json of a run is damaged", *ODD_VALUES):
        groups = results.gather(compared)
        written = results.write_results(groups, compared)
        table = results.results_table(groups)
    output(json, found, table, *map(str, written))
