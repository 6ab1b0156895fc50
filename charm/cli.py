"""The command line: every command is a typed function in `charm.commands`; this file only gathers them.

Command modules import nothing heavy at the top, so that `charm --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

# OpenMP threads that wait by spinning make torch 3 to 20 times slower on a CPU that others use too; sleeping costs
# nearly nothing on a free one. Read when torch is first imported, which the commands do.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import tyro  # noqa: E402
from tyro.extras import SubcommandApp  # noqa: E402

from charm.commands import data, evaluate, params, train  # noqa: E402
from charm.errors import CharmError  # noqa: E402

DESCRIPTION = "CHARM: a compact recurrent reasoner for ARC-AGI with structured sparse task memory."


def app() -> SubcommandApp:
    """All commands, as `charm --help` lists them."""
    everything = SubcommandApp()
    everything.command(data.app, name="data", help="what data is there; draw, audit, generate")
    everything.command(params.params)
    everything.command(train.train)
    everything.command(name="eval")(evaluate.evaluate)
    return everything


def main(args: Sequence[str] | None = None) -> None:
    args = list(sys.argv[1:] if args is None else args)
    try:
        if args[:1] == ["train"]:  # its flags are the fields of the preset that its first word names
            train.run_train(args[1:])
            return
        app().cli(prog="charm", description=DESCRIPTION, args=args, config=(tyro.conf.FlagCreatePairsOff,))
    except CharmError as error:
        print(f"charm: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("charm: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)  # the reader of our output went away, as `| head` does
