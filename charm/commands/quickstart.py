"""`charm quickstart`: train a tiny CHARM on real tasks, evaluate it and write a report page."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

from charm.commands.shared import Json, flag, output


def quickstart(
    *,
    out: Annotated[Path, flag("DIR")] = Path("runs/quickstart"),
    seed: int = 0,
    steps: Annotated[int | None, flag("INT", "the preset's, about three minutes on two cores")] = None,
    json: Json = False,
) -> None:
    """Train a tiny CHARM on real ARC tasks on a CPU in a few minutes, evaluate it and write a report page.

    The tasks are small ones from ARC-AGI-1's training set. The model learns from their demonstrations and answers their
    test inputs by voting over views. The same model with its task memory set to zero shows what the memory contributes.

    Example: charm quickstart --out runs/quickstart

    Args:
        out: the run folder; the same run there is continued, and a finished one is shown again.
        seed: seed for everything random.
        steps: number of updates; a few are enough to see that everything works.
    """
    from dataclasses import replace

    from charm.arc.presets import quickstart as preset
    from charm.progress import print_line, say
    from charm.quickstart import results_table, run_quickstart

    config = preset() if steps is None else replace(preset(), steps=steps)
    tell = say if json else print_line
    found = run_quickstart(out, seed, tell, config)
    output(json, found, results_table(found))
    activate = Path(sys.executable).with_name("activate")
    if Path(shutil.which("charm") or "").parent != activate.parent and activate.is_file():
        near = activate.relative_to(Path.cwd()) if activate.is_relative_to(Path.cwd()) else activate
        tell(f"for `charm` in this shell: . {near}")
    tell(f"look at it: {found['report']}")
    tell("try an unseen task: charm solve TASK.json (by a larger model that comes with CHARM)")
    tell(f"look around: charm view {out}")
