"""`charm car`: the cellular-automata reasoning benchmark (see docs/car.md)."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from charm.automata.benchmark import BenchmarkConfig, build_in, initial_grids, read_benchmark
from charm.automata.rules import evolve, parse_rule
from charm.commands.parsing import Commands
from charm.commands.shared import Data, Device, Json, RunData, Switch, flag, output
from charm.config import refuse_below
from charm.drawing import terminal
from charm.errors import CharmError
from charm.files import require_ending
from charm.paths import data_dir
from charm.progress import bar
from charm.tasks.pictures import abreast, grid_lines, marked_lines

app = Commands()

SHOWN_SIDE = 100  # cells of a torus that a terminal can still show


@app.command
def build(
    *,
    config: Annotated[BenchmarkConfig, arg(name="")] = BenchmarkConfig(),  # noqa: B008
    replace: Switch = False,
    json: Json = False,
    data: Data = None,
) -> None:
    """Build the benchmark: rules, initial grids and their exact futures, identical to the bit for the same seed.

    Example: charm car build

    Args:
        replace: overwrite a different benchmark in the folder.
    """
    folder = data_dir(data) / "car"
    with bar() as line:
        found = build_in(folder, config, replace, lambda kind, kept: line.update(kept, config.rules, f"{kind} rules"))
    manifest = found.manifest
    size = sum(array.nbytes for array in found.arrays.values())
    output(
        json,
        {"folder": str(folder), "bytes": size, **manifest},
        f"{folder}: {config.describe()}; {size / 1e6:.1f} MB",
        *(f"{family:>12} {digest}" for family, digest in manifest["sha256"].items()),
    )


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
    """Draw a rollout of a rule; with a run, also its answers at every horizon with wrong cells marked.

    Example: charm car show B3/S23 --steps 4

    Args:
        rule: a rule such as B3/S23, B2/S/C3 or R5,C0,M1,S33..57,B34..45.
        run: folder of a run on cellular automata; its newest checkpoint answers.
        example: which initial grid; with a run, which of the four held-out ones.
        steps: updates to show.
        side: side of the torus (with a run: as in training).
        seed: seed for the initial grids (with a run: as in training).
        animate: animate one grid instead of printing all.
    """
    from charm.automata.run import predictions
    from charm.devices import place

    chosen = parse_rule(rule)
    refuse_below(0, {"example": example, "steps": steps})
    if side > SHOWN_SIDE:
        raise CharmError(f"side must be <= {SHOWN_SIDE}, got {side}")
    answers = []
    if run is None:
        start = initial_grids(chosen, seed, side, example, 1)[0]
    else:
        with place(device) as here:
            answers = predictions(run, chosen, example, here, data)
        start = answers[0].input
    grids = evolve(start[None], chosen, range(steps + 1))[:, 0]
    named = {f"t={moment}": grid for moment, grid in enumerate(grids)}
    if animate:
        terminal.animate_grids(named)
    else:
        print(*abreast(*([name, *grid_lines(grid), ""] for name, grid in named.items())), sep="\n")
    for one in answers:
        truth = ["truth", *grid_lines(one.truth)]
        answer = ["answer (! marks wrong cells)", *marked_lines(one.answer, one.truth)]
        print(one, *abreast(truth, answer), "", sep="\n")


@app.command
def export(
    *, out: Annotated[Path, flag("FILE")], puzzles: int = 25, demonstrations: int = 8, data: Data = None
) -> None:
    """Write puzzles of the benchmark as prompts for a language model, one JSON object per line.

    Example: charm car export --out prompts.jsonl

    Args:
        out: the JSONL file to write.
        puzzles: puzzles per horizon, drawn from the trained combinations.
        demonstrations: training pairs per prompt.
    """
    from charm.automata.prompts import ATTEMPTS
    from charm.automata.prompts import export as write_prompts

    require_ending(out, "a file of prompts", ".jsonl")
    count = write_prompts(out, read_benchmark(data_dir(data) / "car"), puzzles, demonstrations)
    terminal.show(f'{out}: {count} prompts; answer each {ATTEMPTS} times, in lines {{"id": ..., "answer": ...}}')


@app.command
def score(
    prompts: Annotated[Positional[Path], flag("PROMPTS")],
    answers: Annotated[Positional[Path], flag("ANSWERS")],
    *,
    json: Json = False,
) -> None:
    """Score answers to prompts of `charm car export`: pass@1 and pass@2 at each horizon.

    Example: charm car score prompts.jsonl answers.jsonl

    Args:
        prompts: the exported file.
        answers: a JSONL file; each line has "id" and "answer" (a text that ends with the grids, or a list of grids).
    """
    from charm.automata.prompts import answers_table, score_answers

    found = score_answers(prompts, answers)
    output(json, found, answers_table(found))
