"""`charm eval`: score a run of any domain."""

from collections.abc import Sequence
from pathlib import Path

from charm.commands.parsing import parse_options
from charm.commands.shared import Device, Json, Run, output
from charm.domains import domain_of
from charm.errors import CharmError
from charm.paths import model_at


def evaluate(run: Run, *, device: Device = "auto", json: Json = False) -> None:
    """Score a run. Its domain decides the other flags: `charm eval RUN --help` lists them.

    On ARC tasks, checkpoints vote, votes are ranked (--protocol, --views, --window) and a submission is written.
    Cellular automata are scored by votes too, per rule and horizon; text is scored in bits per byte.

    Example: charm eval runs/quickstart --protocol continual --views 4 --loops 2

    Args:
        run: a run folder.
    """
    raise CharmError(f"give the run before its flags, as in `charm eval {run} --json`")


def run_evaluate(run: Path, flags: Sequence[str]) -> None:
    """Run `charm eval RUN ...`: the run's domain decides which flags may follow."""
    from charm.devices import place

    if model_at(run) != run:
        raise CharmError(
            f"{run} is a model that comes with CHARM, not a run; use `charm solve TASKS --checkpoint {run} --score`"
        )
    domain = domain_of(run)
    wanted = parse_options(f"charm eval {run}", domain.get("evaluate_options"), flags)
    with place(wanted.device) as here:
        found = domain.get("evaluate")(run, wanted.options, here)
    if found is not None:  # on the main process
        output(wanted.json, *found)
