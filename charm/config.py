"""Convert typed configurations to JSON and back, strictly: an unknown field is an error."""

import dataclasses
import math
import os
import sys
import types
import typing
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, Union

from charm.errors import CharmError
from charm.files import read_sealed

T = TypeVar("T")
MOST = 1e300  # larger numbers are taken for mistakes
MOST_SEED = 2**63  # of either sign
MOST_VIEWS = 100_000  # of a task; drawing more takes minutes


def to_json(config: Any) -> Any:
    """Convert a dataclass to plain JSON values, including nested ones."""
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        found = {field.name: to_json(getattr(config, field.name)) for field in dataclasses.fields(config)}
        for name in getattr(config, "unused", ()):  # fields that mean nothing here, by dotted name
            head, _, rest = name.partition(".")
            inside = found if not rest else found.get(head, {})
            inside.pop(rest or head, None)
        return found
    if isinstance(config, tuple | list):
        return [to_json(item) for item in config]
    return str(config) if isinstance(config, Path) else config


def from_json(kind: type[T], data: Any, where: str = "config") -> T:
    """Build the dataclass `kind` from JSON values; its own checks run as always."""
    if not isinstance(data, dict):
        raise CharmError(f"{where}: expected an object with the fields of {kind.__name__}")
    if choose := getattr(kind, "choose", None):  # a base class whose values say which of its classes they belong to
        kind, data = choose(data, where)
    hints = typing.get_type_hints(kind)
    # Files may still contain fields of earlier releases that only had one value.
    retired = getattr(kind, "retired", {})
    data = {name: value for name, value in data.items() if name not in retired or retired[name] != value}
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(data.keys() - fields.keys()):
        close = get_close_matches(unknown[0], fields, 1)
        near = f"; did you mean '{close[0]}'?" if close else ""
        raise CharmError(f"{where}: {kind.__name__} has no field '{unknown[0]}'{near}")
    for name, field in fields.items():
        if name not in data and field.default is field.default_factory is dataclasses.MISSING:
            raise CharmError(f"{where}: {kind.__name__} needs the field '{name}'")
    values = {name: checked(hints[name], value, f"{where}.{name}") for name, value in data.items()}
    try:
        return kind(**values)
    except CharmError as error:  # the class's own checks do not know the file
        raise CharmError(f"{where}: {error}") from error


def flags_between(base: Any, wanted: Any, start: str = "", idle: Collection[str] = ()) -> list[str]:
    """Return the flags that change the first configuration into the second, as a command line has them.

    Fields that have no effect in the second (`idle`) are no flags, except those that must be switched off.
    """
    flags: list[str] = []
    idle = idle or getattr(wanted, "idle", ())
    for field in dataclasses.fields(base):
        before, after = getattr(base, field.name), getattr(wanted, field.name)
        name = f"{start}{field.name}"
        if before == after or (name in idle and after is not False):
            continue
        if dataclasses.is_dataclass(before) and type(before) is type(after):
            flags += flags_between(before, after, f"{name}.", idle)
        else:
            flags += flag_words(name, after)
    return flags


def flag_words(name: str, value: Any) -> list[str]:
    """Return the flag that sets a field, given by its dotted name, and its values."""
    head, _, last = name.replace("_", "-").rpartition(".")
    start = f"--{head}." if head else "--"
    if isinstance(value, bool):
        return [f"{start}{last if value else f'no-{last}'}"]
    return [f"{start}{last}", *map(str, to_json(value if isinstance(value, tuple | list) else (value,)))]


def read_run_config(run: Path, kind: type[T]) -> T:
    """Read the configuration of a run folder; `kind` is the configuration type of its domain."""
    data = read_settings(run)
    if "steps" not in data:
        raise CharmError(f"{run} is a saved model, not a run folder")
    domain = data.pop("domain", None)  # the released run has none
    wanted = getattr(kind, "domain", None)
    if domain is not None and wanted is not None and domain != wanted:
        raise CharmError(f"{run}: expected a run of domain {wanted}, got {domain}")
    return from_json(kind, data, str(run / "config.json"))


def read_settings(run: Path) -> dict[str, Any]:
    """Read config.json of a run folder, before its values are checked."""
    path = run / "config.json"
    if not os.path.lexists(path):
        missing = "it has no config.json" if run.is_dir() else "no such folder"
        raise CharmError(f"{run} is not a run folder: {missing}")
    try:
        return read_sealed(path)
    except CharmError as error:
        raise CharmError(f"{run} is not a run folder: {error}") from error


def checked(hint: Any, value: Any, where: str) -> Any:
    """Return the JSON value, if it is what a type such as dict[str, int] or a TypedDict says; else raise a CharmError.

    An object may have more fields than its TypedDict names.
    """
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, value, where)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        *others, last = (arg for arg in args if arg is not type(None))
        for kind in others:
            with suppress(CharmError):
                return checked(kind, value, where)
        return checked(last, value, where)
    if origin is typing.Literal:
        if value not in args:
            raise CharmError(f"{where}: expected one of {', '.join(map(str, args))}, got {_short(value)}")
        return value
    if origin in (tuple, list):
        if not isinstance(value, list | tuple):
            raise CharmError(f"{where}: expected a list, got {_short(value)}")
        inner = args[0] if origin is list or args[-1] is Ellipsis else None
        if inner is None and len(args) != len(value):
            raise CharmError(f"{where}: expected {len(args)} values, got {len(value)}")
        return origin(checked(inner or args[k], item, f"{where}[{k}]") for k, item in enumerate(value))
    if origin is dict or typing.is_typeddict(hint):
        if not isinstance(value, dict):
            raise CharmError(f"{where}: expected an object, got {_short(value)}")
        if missing := sorted(getattr(hint, "__required_keys__", set()) - value.keys()):
            raise CharmError(f"{where}: the field '{missing[0]}' is missing")
        kinds = dict.fromkeys(value, args[1]) if origin is dict else typing.get_type_hints(hint)
        return {name: checked(kinds.get(name, Any), item, f"{where}.{name}") for name, item in value.items()}
    if hint is Any:
        return value
    if hint is Path and isinstance(value, str):
        return Path(value)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not -MOST < value < MOST:  # also catches NaN
            raise CharmError(f"{where}: expected a finite number, got {str(value)[:20]}")
        return float(value)
    if isinstance(hint, type) and (not isinstance(value, hint) or (hint is int and isinstance(value, bool))):
        raise CharmError(f"{where}: expected {hint.__name__}, got {_short(value)}")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def at_least(least: float, config: object, *names: str, where: str = "") -> None:
    """Refuse a configuration with one of these fields below `least` or not finite."""
    refuse_below(least, {f"{where}{name}": getattr(config, name) for name in names})


def refuse_below(least: float, numbers: Mapping[str, float | None]) -> None:
    """Refuse numbers, by name, below `least` or not finite; None is no number."""
    for name, value in numbers.items():
        if value is not None and not least <= value < math.inf:
            raise CharmError(f"{name} must be >= {least}, got {value}")


def at_most(most: int, config: object, *names: str, where: str = "") -> None:
    """Refuse a configuration with one of these fields above `most`."""
    for name in names:
        if getattr(config, name) > most:
            raise CharmError(f"{where}{name} must be <= {most}, got {getattr(config, name)}")


def check_seed(seed: int) -> None:
    """Refuse a seed that torch's generators do not take."""
    if not -MOST_SEED <= seed < MOST_SEED:
        raise CharmError(f"seed must be >= -2^63 and < 2^63, got {seed}")


def is_number(value: object) -> bool:
    """Return whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
