"""The command line: every command is a typed function in `charm.commands`; this file only gathers them.

Command modules import nothing heavy at the top, so that `charm --help` answers at once. Groups of commands are loaded
only when one of theirs is called.
"""

import errno
import importlib
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from charm.commands import adapt, bench, evaluate, export, params, quickstart, report, reproduce, solve, train, view
from charm.commands.parsing import GROUPS, Commands
from charm.errors import CharmError
from charm.files import Terminated, terminates_as_interrupt
from charm.progress import say
from charm.signals import StoppedEarly, stop_early
from charm.version import __version__

DESCRIPTION = "CHARM: small models that learn ARC-AGI from scratch, and sparse task memory."

# What `charm --help` prints: one line for each command.
OVERVIEW = f"""\
usage: charm [-h] [--version] COMMAND ...

{DESCRIPTION}

start here
  quickstart   train a tiny model on a CPU in minutes, evaluate it, write a page
  solve        answer task files within a time budget
  view         browse tasks and runs in a browser; draw a task and solve it

train and evaluate
  train        train a preset, or resume a run
  eval         score a run: votes, ranking, pass@k, a submission
  report       write a page about a run, or about several side by side
  adapt        learn a stream of unseen tasks and measure what is forgotten
  reproduce    run tables of the paper at any size and compare
  params       count the parameters of a preset exactly
  bench        measure the speed of a preset
  export       write the weights of a run to a small folder

data and other domains
  data         show, count, audit, fetch and generate tasks
  rearc2       generators and verifiers for ARC-AGI-2 tasks
  car          the cellular-automata reasoning benchmark
  lm           a GPT with n-gram memory
  completion   print a script that completes commands and flags in your shell

`charm COMMAND --help` explains a command and shows an example.
"""


def completion(shell: Annotated[Positional[Literal["bash", "zsh", "fish"]], arg(metavar="SHELL")]) -> None:
    """Print a script that completes commands and flags in bash, zsh or fish.

    Example: charm completion bash > ~/.local/share/bash-completion/completions/charm

    Args:
        shell: bash, zsh or fish.
    """
    app(whole=True).cli(prog="charm", args=["--tyro-write-completion", shell, "-"])


def app(whole: bool = False) -> Commands:
    """Gather the commands. Groups are only names, since `_run` loads them, unless all of it is wanted."""
    everything = Commands()
    commands: tuple[Callable[..., None], ...] = (
        *(quickstart.quickstart, solve.solve, view.view, train.train, evaluate.evaluate, report.report),
        *(adapt.adapt, reproduce.reproduce, params.params, bench.bench, export.export, completion),
    )
    for command in commands:
        everything.command(command, name="eval" if command is evaluate.evaluate else command.__name__)
    for name in GROUPS:
        everything.command(importlib.import_module(GROUPS[name][0]).app if whole else lambda: None, name=name)
    return everything


def _run(args: list[str]) -> None:
    match args:  # the preset or the run decides which flags may follow it
        case [] | ["-h"] | ["--help"]:
            print(OVERVIEW, end="")
            sys.exit(0 if args else 2)
        case ["--version"]:
            print(f"charm {__version__}")
        case ["train", "--resume", run, *flags] if not run.startswith("-"):
            with stop_early():
                train.run_resume(Path(run), flags)
        case ["train", name, *flags] if not name.startswith("-"):
            with stop_early():
                train.run_train(name, flags)
        case ["eval", run, *flags] if not run.startswith("-"):
            evaluate.run_evaluate(Path(run), flags)
        case ["bench", name, *_] if not name.startswith("-"):
            bench.run_bench(args[1:])
        case [name, *words] if name in GROUPS:
            module, description = GROUPS[name]
            group: Commands = importlib.import_module(module).app
            group.cli(prog=f"charm {name}", description=description, args=words)
        case _:
            app().cli(prog="charm", description=DESCRIPTION, args=args)


def main(args: Sequence[str] | None = None) -> None:
    args = list(sys.argv[1:] if args is None else args)
    try:
        with terminates_as_interrupt():
            _run(args)
    except CharmError as error:
        say(f"charm: {error}")
        sys.exit(2)
    except StoppedEarly as stop:
        say(f"charm: {stop}")
        sys.exit(stop.exit_code)
    except Terminated:
        say("charm: stopped by SIGTERM")
        sys.exit(128 + signal.SIGTERM)
    except KeyboardInterrupt:
        say("charm: interrupted")
        sys.exit(128 + signal.SIGINT)
    except BrokenPipeError:
        sys.exit(141)  # the reader of our output went away, as `| head` does
    except OSError as error:
        if error.filename is None and error.errno != errno.ENOSPC:
            raise  # neither about a file of the user's nor a full disk: a fault of ours
        place = "" if error.filename is None else f"{error.filename}: "
        say(f"charm: {place}{error.strerror}")
        sys.exit(2)
