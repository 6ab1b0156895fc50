"""`charm car`: the cellular-automata reasoning benchmark (see docs/car.md)."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional
from tyro.extras import SubcommandApp

from charm.commands.flags import Data, Device, Json, NewRun, Preset, Resume, Run, RunData, Switch, flag
from charm.commands.presets import refuse_flags_first, train_preset

app = SubcommandApp()


@app.command
def build(
    *,
    seed: int = 0,
    families: Annotated[tuple[Literal["life", "generations", "larger"], ...], flag("FAMILY ...")] = (
        "life",
        "generations",
        "larger",
    ),
    rules: int = 500,
    examples: int = 500,
    side: int = 16,
    horizons: Annotated[tuple[int, ...], flag("INT ...")] = (1, 2, 4, 8),
    replace: Switch = False,
    json: Json = False,
    data: Data = None,
) -> None:
    """Make the benchmark: rules, initial grids and their exact futures, bit for bit the same from the same seed.

    Example: charm car build

    Args:
        seed: decides everything.
        families: of rules: life, generations, larger.
        rules: of each family.
        examples: initial grids of each rule to train on; four more are held out.
        side: of the torus.
        horizons: numbers of updates after which the grid is asked for.
        replace: replace another benchmark that is already there.
    """
    from rich.console import Console
    from rich.progress import Progress

    from charm.automata.benchmark import MANIFEST, BenchmarkConfig, read_benchmark, write_benchmark
    from charm.automata.benchmark import build as make
    from charm.errors import CharmError
    from charm.paths import data_dir

    config = BenchmarkConfig(seed, families, rules, examples, side, horizons)
    folder = data_dir(data) / "car"
    if (folder / MANIFEST).is_file() and not replace:
        found = read_benchmark(folder)
        if found.config != config:
            raise CharmError(
                f"{folder} holds another benchmark ({found.config.described()}); --replace replaces it"
            )
    else:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bars = {family: progress.add_task(family, total=rules) for family in families}
            found = make(config, lambda family, kept: progress.update(bars[family], completed=kept))
        write_benchmark(folder, found)
    manifest = found.manifest
    size = sum(array.nbytes for array in found.arrays.values())
    if json:
        print(jsonlib.dumps({"folder": str(folder), "bytes": size, **manifest}, indent=2))
        return
    print(f"{folder}: {config.described()}; {size / 1e6:.1f} MB")
    for family, digest in manifest["sha256"].items():
        print(f"{family:>12} {digest}")


@app.command
def train(preset: Preset, *, out: NewRun = None, resume: Resume = False) -> None:
    """Train a preset on cellular automata; any field of its configuration can be given.

    Its memory is three-factor CoSE, or what follows in the name: full-table, low-rank, two-factor, two-factor-cose,
    three-factor or three-factor-cose.

    Example: charm car train car-small-three-factor --seed 1 --out runs/car-1

    Args:
        preset: car-single, car-all or car-small, alone or followed by a memory, as in car-small-low-rank.
    """
    refuse_flags_first("charm car train", preset)


def run_train(name: str, flags: Sequence[str]) -> None:
    """`charm car train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    from charm.automata.run import train_car
    from charm.presets import car_preset

    train_preset("charm car train", name, car_preset(name), flags, train_car)


@app.command(name="eval")
def evaluate(
    run: Run,
    *,
    views: Annotated[int | None, flag("INT", "all")] = None,
    window: Annotated[int | Literal["current", "half", "all"], flag("WINDOW")] = "all",
    loops: Annotated[tuple[int, ...] | None, flag("INT ...", "as in training")] = None,
    batch: int = 512,
    device: Device = "auto",
    rank_only: Switch = False,
    json: Json = False,
    data: RunData = None,
) -> None:
    """pass@1 and pass@2 of a run on seen and unseen combinations, by horizon and by family.

    Votes already on disk are used as they are, so that another window over the same votes takes seconds.

    Example: charm car eval runs/car-small --window current

    Args:
        run: a run folder of `charm car train`.
        views: of the eight symmetries that vote.
        window: checkpoints that vote: how many, counted back from the newest, or current, half or all.
        loops: refinement depths that vote.
        batch: predictions made at once.
        rank_only: make no new votes.
    """
    from rich.console import Console

    from charm.automata.run import evaluate_car, read_car_config, scores_table
    from charm.devices import place
    from charm.evaluation.protocols import Protocol
    from charm.report.folder import require_kind

    require_kind(run, "car")
    protocol = Protocol(views or "all", window, None, loops or read_car_config(run).evaluate_loops)
    with place(device) as here:
        found = evaluate_car(run, protocol, here, batch, rank_only, data)
    if found is None:
        return  # not the main process
    if json:
        print(jsonlib.dumps(found, indent=2))
    else:
        Console().print(scores_table(found))


@app.command
def show(
    rule: Annotated[Positional[str], flag("RULE")],
    *,
    run: Annotated[Path | None, flag("DIR")] = None,
    example: int = 0,
    steps: int = 8,
    side: int = 16,
    seed: int = 0,
    animate: Switch = False,
    device: Device = "auto",
    data: RunData = None,
) -> None:
    """Draw a rollout of a rule; with a run, also its answers at every horizon, wrong cells marked.

    Example: charm car show B3/S23 --steps 4

    Args:
        rule: as in B3/S23, B2/S/C3 or R5,C0,M1,S33..57,B34..45.
        run: a run folder of `charm car train` whose newest checkpoint answers.
        example: which initial grid; with a run, which of the four held-out ones.
        steps: updates to show.
        side: of the torus (with a run: as in training).
        seed: of the initial grids (with a run: as in training).
        animate: show one grid that moves.
    """
    import time

    from rich.console import Console
    from rich.live import Live

    from charm.automata.benchmark import initial_grids
    from charm.automata.rules import parse_rule
    from charm.automata.show import prediction_text, predictions, rollout, rollout_table
    from charm.devices import place

    chosen = parse_rule(rule)
    console = Console()
    answers = []
    if run is None:
        start = initial_grids(chosen, seed, side, example, 1)[0]
    else:
        with place(device) as here:
            answers = predictions(run, chosen, example, here, data)
        start = answers[0].input
    grids = rollout(start, chosen, steps)
    if animate:
        with Live(console=console, auto_refresh=False) as live:
            for moment, grid in enumerate(grids):
                live.update(rollout_table(grid[None], moment), refresh=True)
                time.sleep(0.3)
    else:
        across = max(1, console.width // (2 * start.shape[1] + 3))
        for first in range(0, len(grids), across):
            console.print(rollout_table(grids[first : first + across], first))
            console.print()
    for answer in answers:
        console.print(prediction_text(answer))
