"""The command line: every command is a typed function in `charm.commands`; this file only gathers them.

Command modules import nothing heavy at the top, so that `charm --help` answers at once.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import tyro
from tyro.extras import SubcommandApp

from charm.commands import (
    adapt,
    bench,
    car,
    data,
    evaluate,
    lm,
    params,
    quickstart,
    rearc2,
    report,
    solve,
    train,
    view,
)
from charm.errors import CharmError
from charm.signals import StoppedEarly, stop_early

DESCRIPTION = "CHARM: a compact recurrent reasoner for ARC-AGI with structured sparse task memory."


def app() -> SubcommandApp:
    """All commands, as `charm --help` lists them."""
    everything = SubcommandApp()
    everything.command(quickstart.quickstart)
    everything.command(data.app, name="data", help="what data is there; draw, audit, generate")
    everything.command(rearc2.app, name="rearc2", help="the Re-ARC2 workbench: packages, checks, builds")
    everything.command(params.params)
    everything.command(train.train)
    everything.command(name="eval")(evaluate.evaluate)
    everything.command(solve.solve)
    everything.command(adapt.adapt)
    everything.command(car.app, name="car", help="the cellular-automata reasoning benchmark")
    everything.command(lm.app, name="lm", help="a GPT with n-gram memory")
    everything.command(report.report)
    everything.command(view.view)
    everything.command(bench.bench)
    return everything


def main(args: Sequence[str] | None = None) -> None:
    # Threads that wait by spinning make torch 3 to 20 times slower on a CPU that others use too; sleeping costs
    # next to nothing on a free one. OpenMP reads this when torch is imported, which only the commands do.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    args = list(sys.argv[1:] if args is None else args)
    try:
        match args:  # the preset or the run decides which flags may follow it
            case ["train", name, *flags] if not name.startswith("-"):
                with stop_early():
                    train.run_train(name, flags)
            case ["eval", run, *flags] if not run.startswith("-"):
                evaluate.run_evaluate(Path(run), flags)
            case ["bench", name, *_] if not name.startswith("-"):
                bench.run_bench(args[1:])
            case _:
                app().cli(
                    prog="charm", description=DESCRIPTION, args=args, config=(tyro.conf.FlagCreatePairsOff,)
                )
    except CharmError as error:
        print(f"charm: {error}", file=sys.stderr)
        sys.exit(2)
    except StoppedEarly as stop:
        print(f"charm: {stop}", file=sys.stderr)
    except KeyboardInterrupt:
        print("charm: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)  # the reader of our output went away, as `| head` does
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise  # neither about a file of the user's nor a full disk: a fault of ours
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"charm: {place}{error.strerror}", file=sys.stderr)
        sys.exit(2)
