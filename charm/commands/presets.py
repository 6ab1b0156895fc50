"""Commands that train: their first word names a preset, and the flags that follow are its fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, NoReturn, TypeVar

import tyro
from tyro.conf import arg

from charm.errors import CharmError

if TYPE_CHECKING:
    from charm.devices import Place
    from charm.language.config import LMConfig
    from charm.training.config import RunConfig

Config = TypeVar("Config", bound="RunConfig | LMConfig")


@dataclass(frozen=True)
class Options(Generic[Config]):
    """Train a preset; the defaults below are its own, and any of them can be given."""

    config: Annotated[Config, arg(name="")]
    out: Path
    """The run folder."""
    resume: bool = False
    """Go on from the newest whole checkpoint in the run folder."""


def parse_preset(command: str, name: str, config: Config, flags: Sequence[str]) -> Options[Config]:
    """What `command name flags` asks for, as in `charm train arc1 --batch 96`."""
    kind: type[Options[Config]] = Options[type(config)]  # type: ignore[assignment, misc]  # a type that only runs know
    return tyro.cli(
        kind,
        prog=f"{command} {name}",
        args=flags,
        default=Options(config, Path("runs") / name),
        config=(tyro.conf.FlagCreatePairsOff,),
    )


def train_preset(
    command: str,
    name: str,
    config: Config,
    flags: Sequence[str],
    train: Callable[[Config, Path, Place, bool, Callable[[str], None]], object],
) -> None:
    """Parse and train; `train` takes the configuration, the run folder, where, whether to resume, and who is told."""
    from charm.devices import place

    options = parse_preset(command, name, config, flags)
    with place(options.config.device) as here:
        say = print if here.is_main else lambda text: None
        say(f"{name} -> {options.out} on {here.describe()}")
        train(options.config, options.out, here, options.resume, say)


def refuse_flags_first(command: str, preset: str) -> NoReturn:
    """A command line without a preset is parsed only to be refused: its flags have no meaning yet."""
    raise CharmError(f"the preset comes before its flags, as in `{command} {preset} --resume`")
