"""Commands that train: their first word names a preset, and the flags that follow are its fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, is_dataclass, replace
from inspect import cleandoc
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin

import tyro
from tyro.conf import arg
from tyro.constructors import ConstructorRegistry, StructConstructorSpec, StructFieldSpec, StructTypeInfo

from charm.commands.parsing import one_sentence, wrapped_help
from charm.commands.shared import flag
from charm.domains import domain_of_preset
from charm.errors import CharmError

if TYPE_CHECKING:
    from charm.devices import Place
    from charm.runs.config import EngineConfig

Config = TypeVar("Config", bound="EngineConfig")
Chosen = TypeVar("Chosen")
Parsed = TypeVar("Parsed")
CPU_BATCH = 32  # examples computed at once on a CPU by presets that are meant for a GPU


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


@dataclass(frozen=True)
class Wanted(Generic[Chosen]):
    """The flags of a domain, and those that all domains have."""

    options: Annotated[Chosen, arg(name="")]
    device: str = "auto"
    """cuda, xpu, mps, cpu, or auto for the best available."""
    json: bool = False
    """Print JSON."""


READABLE = ConstructorRegistry()
_UNUSED: ContextVar[frozenset[tuple[type, str]]] = ContextVar("unused", default=frozenset())
"""Configurations and their fields that have no effect in a preset: they are no flags, or not in its help."""


@READABLE.struct_rule
def _readable(info: StructTypeInfo) -> StructConstructorSpec | None:
    """Return a configuration as tyro reads it, with better help: the library's configurations know nothing of flags."""
    if not is_dataclass(info.type) or _readable in info.markers:  # marked below, for tyro's own rules
        return None
    spec = ConstructorRegistry.get_struct_spec(replace(info, markers=(*info.markers, _readable)))
    if not isinstance(spec, StructConstructorSpec):
        return None
    shown = (field for field in spec.fields if (info.type, field.name) not in _UNUSED.get())
    return replace(spec, fields=tuple(_readable_field(field) for field in shown if _is_choice(field.type)))


def _is_choice(kind: Any) -> bool:
    """Return whether there is more than one value to choose."""
    return get_origin(kind) is not Literal or len(get_args(kind)) > 1


def _readable_field(field: StructFieldSpec) -> StructFieldSpec:
    def text() -> str | None:
        found = field.helptext() if callable(field.helptext) else field.helptext
        shown = found and " ".join(found.split())
        return f"Turn this off: {shown[0].lower()}{shown[1:]}" if shown and switched_on else shown

    switched_on = field.type is bool and field.default is True  # the flag is --no-...

    kind: Any = Annotated[field.type, flag(_value_word(field.type))]
    return replace(field, type=kind, helptext=text)


def _value_word(kind: Any) -> str | None:
    """Return the word for a value where tyro's own is hard to read."""
    inner = get_args(kind)
    if Path in (kind, *inner):
        return "DIR"
    if get_origin(kind) is tuple and inner[-1] is ...:
        return f"{_word(inner[0])} ..."
    if NoneType in inner:  # not given
        return "|".join(_value_word(one) or _word(one) for one in inner if one is not NoneType)
    return None


def _word(kind: Any) -> str:
    choices = get_args(kind)
    return f"{{{','.join(choices)}}}" if choices else kind.__name__.upper()


def parse_preset(
    command: str, name: str, config: Config, flags: Sequence[str], out: Path | None = None
) -> Options[Config]:
    """Parse `command name flags`, as in `charm train arc1 --batch 96`; `out` is a run to resume.

    Fields that have no effect next to the values of others are not in the help, and refused unless those change too.
    """
    asked = {"-h", "--help"} & {*flags}
    unused = (*getattr(config, "unused", ()), *(getattr(config, "idle", ()) if asked else ()))
    _UNUSED.set(frozenset((type(holder), last) for holder, last in (_holder(config, one) for one in unused)))
    kind: type[Options[Config]] = Options[type(config)]  # type: ignore[assignment, misc]  # a type that only runs know
    default = Options(config, out or Path("runs") / name, resume=out is not None)
    make = domain_of_preset(name).get("presets").get(name)  # none for a run, and for a preset with a memory's name
    about = cleandoc(getattr(make, "func", make).__doc__ or "") if make else "Train a model of this configuration."
    description = f"{about}\n\n{Options.__doc__}"
    found = _parse(kind, f"{command} {name}", flags, default=default, description=description)
    for one, remedy in getattr(found.config, "idle", {}).items():
        before, now = (getattr(*_holder(some, one)) for some in (config, found.config))
        if now != before and now is not False:  # what has no effect may be switched off
            raise CharmError(f"--{one.replace('_', '-')} {now} would have no effect: {remedy}")
    return found


def _holder(config: Any, name: str) -> tuple[Any, str]:
    """Return the configuration that has a field, given by its dotted name, and the field's own name."""
    *path, last = name.split(".")
    for part in path:
        config = getattr(config, part)
    return config, last


def parse_options(prog: str, kind: type[Chosen], flags: Sequence[str]) -> Wanted[Chosen]:
    """Parse flags that depend on the domain, as in `charm eval runs/arc1 --views 32`."""
    wanted: type[Wanted[Chosen]] = Wanted[kind]  # type: ignore[valid-type]  # a type that only domains know
    return _parse(wanted, prog, flags, description=cleandoc(kind.__doc__ or ""))


def _parse(kind: type[Parsed], prog: str, flags: Sequence[str], **more: Any) -> Parsed:
    settings = {"config": (tyro.conf.FlagCreatePairsOff,), "registry": READABLE, **more}
    with one_sentence(prog), wrapped_help(flags):
        found: Parsed = tyro.cli(kind, prog=prog, args=flags, **settings)
        return found


def train_preset(
    command: str,
    name: str,
    config: Config,
    flags: Sequence[str],
    train: Callable[[Config, Path, Place, bool, Callable[[str], None]], Any],
    out: Path | None = None,
) -> None:
    """Parse and train; `train` takes the configuration, run folder, device, whether to resume, and a printer.

    With `out`, the run in that folder is resumed and `config` is its own.
    """
    from charm.devices import place, start_torchrun, unused_gpus
    from charm.runs.folder import clear_run

    options = parse_preset(command, name, config, flags, out)
    if options.resume and options.restart:
        raise CharmError("--resume continues a run and --restart erases it; give only one of them")
    if options.gpus is not None:
        start_torchrun(options.gpus, [*command.split()[1:], name, *flags])
    with place(options.config.device) as here:
        say = print if here.is_main else lambda text: None
        say(f"{name} -> {options.out} on {here.describe()}")
        if found := unused_gpus(here):
            say(f"{found} more GPUs are not used; --gpus all trains on all of them")
        config = fit_to_device(options.config, here, say)
        if options.restart:
            clear_run(options.out, here, say)
        engine = train(config, options.out, here, options.resume, say)
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
