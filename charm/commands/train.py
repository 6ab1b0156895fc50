"""`charm train`: run a preset, with any of its fields changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import cleandoc
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeVar

from tyro.conf import arg

from charm.commands.parsing import parse
from charm.commands.shared import Gpus, NewRun, Preset, Restart, Resume
from charm.config import read_run_config
from charm.domains import DOMAINS, domain_of, domain_of_preset
from charm.errors import CharmError
from charm.progress import print_line

if TYPE_CHECKING:
    from charm.devices import Place
    from charm.runs.config import EngineConfig

Config = TypeVar("Config", bound="EngineConfig")
CPU_BATCH = 32  # examples computed at once on a CPU by presets that are meant for a GPU


def train(
    preset: Preset, *, out: NewRun = None, resume: Resume = False, restart: Restart = False, gpus: Gpus = None
) -> None:
    """Train a preset; any field of its configuration can be given, as in --optimizer.lr 2e-4.

    ARC's tasks: arc1, arc2, arc1-train, urm-arc1, trm-arc1, hrm-arc1 (also -arc2), varc-arc1, loopvit-arc1,
    loopvit-medium-arc1, loopvit-small-arc1, quickstart, speedrun, speedrun-public, writer, base. Cellular automata:
    car-single, car-all, car-small. Text: lm-d12, lm-d20, lm-tiny. The last two kinds may be followed by a memory:
    car-small-low-rank, lm-d12-cose-x5. `charm reproduce` has the variants of the paper's tables.

    Example: charm train arc1 --out runs/arc1 --batch 96

    Example: charm train --resume runs/arc1

    Args:
        preset: name of a preset.
    """
    raise CharmError(f"give the preset before its flags, as in `charm train {preset} --resume`")


def run_resume(run: Path, flags: Sequence[str]) -> None:
    """Run `charm train --resume RUN ...`: the run's own configuration decides the defaults of the flags."""
    if not run.is_dir():
        raise CharmError(f"{run}: no such run folder; name the folder of the run to resume")
    train_preset(str(run), read_run_config(run, domain_of(run).config_type), flags, resumes=True)


def run_train(name: str, flags: Sequence[str]) -> None:
    """Run `charm train NAME ...`: the preset decides the defaults of all the flags that follow it."""
    train_preset(name, domain_of_preset(name).configuration(name), flags)


@dataclass(frozen=True)
class Options(Generic[Config]):
    """The defaults below are the preset's, and any of them can be changed."""

    config: Annotated[Config, arg(name="")]
    out: Path
    """The run folder."""
    resume: bool = False
    """Resume from the newest intact checkpoint in the run folder."""
    restart: bool = False
    """Erase the run in the folder and start over."""
    gpus: int | Literal["all"] | None = None
    """Train on this many GPUs of this machine, or on all of them: starts torchrun."""


def parse_preset(name: str, config: Config, flags: Sequence[str], resumes: bool = False) -> Options[Config]:
    """Parse `charm train NAME FLAGS`, as in `charm train arc1 --batch 96`; the name may be of a run to resume.

    Fields that have no effect next to the values of others are not in the help, and refused unless those change too.
    """
    hidden = set()
    for one in (*getattr(config, "unused", ()), *(getattr(config, "idle", ()) if {"-h", "--help"} & {*flags} else ())):
        path, _, field = one.rpartition(".")
        hidden.add((type(attrgetter(path)(config) if path else config), field))
    kind: type[Options[Config]] = Options[type(config)]  # type: ignore[assignment, misc]  # a type that only runs know
    make = domain_of_preset(name).get("presets").get(name)  # none for a run, and for a preset with a memory's name
    about = cleandoc(getattr(make, "func", make).__doc__ or "") if make else "Train a model of this configuration."
    found = parse(
        kind,
        f"charm train --resume {name}" if resumes else f"charm train {name}",
        flags,
        hidden,
        default=Options(config, Path(name) if resumes else Path("runs") / name, resumes),
        description=f"{about}\n\n{Options.__doc__}",
    )
    for one, remedy in getattr(found.config, "idle", {}).items():
        before, now = map(attrgetter(one), (config, found.config))
        if now != before and now is not False:  # what has no effect may be switched off
            raise CharmError(f"--{one.replace('_', '-')} {now} would have no effect: {remedy}")
    return found


def train_preset(name: str, config: Config, flags: Sequence[str], resumes: bool = False) -> None:
    """Parse the flags and train; the name is that of a preset, or the folder of a run that `resumes`."""
    from charm.devices import place, start_torchrun, unused_gpus
    from charm.runs.folder import clear_run

    options = parse_preset(name, config, flags, resumes)
    if options.resume and options.restart:
        raise CharmError("--resume continues a run and --restart erases it; give only one of them")
    if options.gpus is not None:
        start_torchrun(options.gpus, ["train", *(["--resume"] if resumes else []), name, *flags])
    with place(options.config.device) as here:
        say = print_line if here.is_main else lambda text: None
        say(f"{name} -> {options.out} on {here.describe()}")
        if found := unused_gpus(here):
            say(f"{found} more GPUs are not used; --gpus all trains on all of them")
        config = fit_to_device(options.config, here, say)
        if options.restart:
            clear_run(options.out, here, say)
        engine = DOMAINS[config.domain].get("train")(config, options.out, here, options.resume, say)
        if engine.finished:
            evaluated = getattr(getattr(config, "data", None), "evaluate", True)
            after = f"eval {options.out}" if evaluated else f"solve TASKS --checkpoint {options.out}"
            say(f"finished; next: charm {after}")
    if not engine.finished:
        raise engine.interrupt


def fit_to_device(config: Config, here: Place, say: Callable[[str], None]) -> Config:
    """Warn where a preset for a GPU trains on a CPU, and split its batches so that they fit the memory."""
    model = getattr(config, "reasoner", None) or getattr(config, "gpt", None)
    if here.device.type != "cpu" or getattr(model, "compute_dtype", "float32") == "float32":
        return config
    say(
        "warning: this preset is meant for a GPU; on a CPU an update may take minutes (charm train quickstart does not)"
    )
    data = getattr(config, "data", None)  # a domain may have none
    splits = "accumulate" not in getattr(config, "unused", ("accumulate",))  # text has its own batches
    if getattr(config, "accumulate", 0) != 1 or not splits or getattr(data, "canvas", "full") == "fit":
        return config
    share = getattr(config, "batch", 0) // here.world
    split = next((n for n in range(1, share + 1) if share % n == 0 and share // n <= CPU_BATCH), 1)
    if split > 1:
        say(f"each update is computed in {split} parts of {share // split} examples to save memory (--accumulate)")
    return replace(config, accumulate=split)  # type: ignore[call-arg]  # it has the field
