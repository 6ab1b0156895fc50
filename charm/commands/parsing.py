"""How the command line is read: parsing comes first, and a mistake in it is reported in one sentence.

tyro prints a box of 5 to 13 lines for a misspelled flag. Its words are taken from there and said more briefly.
Flags may also be the fields of a configuration that the first words decide, such as a preset's.
"""

import io
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, is_dataclass, replace
from difflib import get_close_matches
from functools import partial, wraps
from inspect import cleandoc
from pathlib import Path
from shutil import get_terminal_size
from textwrap import TextWrapper
from types import NoneType
from typing import Annotated, Any, Generic, Literal, TextIO, TypeVar, get_args, get_origin

import tyro
from tyro.conf import FlagCreatePairsOff, arg
from tyro.constructors import ConstructorRegistry, StructConstructorSpec, StructFieldSpec, StructTypeInfo
from tyro.extras import SubcommandApp

from charm.commands.shared import flag
from charm.errors import CharmError

Chosen = TypeVar("Chosen")
Parsed = TypeVar("Parsed")

# Commands with subcommands: the module that defines them, and a description.
GROUPS = {
    "data": ("charm.commands.data", "show, count, audit, fetch and generate tasks"),
    "rearc2": ("rearc2.workbench.commands", "generators and verifiers for ARC-AGI-2 tasks: write, check, build"),
    "car": ("charm.commands.car", "the cellular-automata reasoning benchmark"),
    "lm": ("charm.commands.lm", "a GPT with n-gram memory"),
}
# What tyro prints, and what is said instead.
SENTENCES = {
    r"Error parsing (\S+?):+ .*invalid literal for int\(\) with base 10: (.*)": r"\1 must be an integer, got \2",
    r"Error parsing (\S+?):+ .*could not convert string to float: (.*)": r"\1 must be a number, got \2",
    r"Error parsing (\S+?):+ no type matching {None}\|INT could .* from \[(.*)\]": r"\1 must be an integer, got \2",
    r"Error parsing (\S+?):+ no type matching {None}\|FLOAT could .* from \[(.*)\]": r"\1 must be a number, got \2",
    r"Error parsing (\S+?):+ (.*)": r"\1: \2",
    r"Missing value for argument '(.*?)'": r"\1 needs a value; HELP",
}


class Commands(SubcommandApp):
    """Commands that are parsed first and run then, so that mistakes in flags differ from mistakes in commands."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[str, Any] = {}

    def command(self, func: Any = None, **options: Any) -> Any:
        """Register a function or a group of commands; usable as a decorator that returns the function unchanged."""
        if func is None:
            return lambda later: self.command(later, **options)
        self.functions[options.get("name") or func.__name__.replace("_", "-")] = func
        return super().command(func, **options)

    def cli(self, *, prog: str | None = "charm", args: Sequence[str] | None = None, **options: Any) -> None:
        """Run the command that the first argument names. tyro itself writes the help of all, and completions."""
        name, *words = args or [""]
        if name in self.functions:
            parse(_deferred(self.functions[name]), f"{prog} {name}", words)()
        elif not args:
            raise CharmError(f"name a command: {', '.join(self.functions)}; see `{prog} --help`")
        elif not name.startswith("-"):
            close = get_close_matches(name, self.functions, 1)
            known = f"did you mean {close[0]}?" if close else f"the commands are {', '.join(self.functions)}"
            raise CharmError(f"there is no command {name}; {known}")
        else:
            with readable(prog or "charm", args):
                super().cli(prog=prog, args=args, **how_to_read(), **options)


def _deferred(func: Any) -> Callable[..., Callable[[], Any]]:
    """Return a function with the same flags that returns the call to make."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        return partial(func, *args, **kwargs)

    return call


@contextmanager
def readable(prog: str, words: Sequence[str]) -> Iterator[None]:
    """Raise CharmError where tyro would print a box and exit; break the prose of its help pages between words."""
    printed = io.StringIO()
    wrapped = redirect_stdout(_Wrapping(sys.stdout)) if {"-h", "--help"} & {*words} else nullcontext()
    try:
        with redirect_stderr(printed), wrapped:
            yield
    except SystemExit as stopped:
        if stopped.code != 2:
            raise
        raise CharmError(sentence(printed.getvalue(), prog)) from None


class _Wrapping:
    """A stream that breaks tyro's long lines of prose at the width of the terminal, which its boxes have already."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        wrapper = TextWrapper(max(40, get_terminal_size().columns), break_long_words=False, break_on_hyphens=False)
        lines = []
        for line in text.split("\n"):
            wrapper.subsequent_indent = " " * 4 * line.startswith("Example:")
            lines.append(wrapper.fill(line) if line[:1].isalpha() else line)
        return self.stream.write("\n".join(lines))


def sentence(box: str, prog: str) -> str:
    """Turn one of tyro's error boxes into a sentence."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", box).splitlines()[1:]  # the first is the title
    sections: list[list[str]] = [[]]
    for line in (line[1:].rstrip("│ ") for line in lines):  # terminals without UTF-8 have spaces and "-" instead
        if line.strip(" ─-╯"):
            sections[-1].append(line)
        elif sections[-1]:
            sections.append([])
    first, *others = (" ".join(" ".join(section).split()) for section in sections)
    help_hint = f"see `{prog} --help`"
    if found := re.match(r"Unrecognized options: (.*)", first):
        tokens = found[1].split(", ")
        option = next((token for token in tokens if token.startswith("-")), None)
        if option is None:
            return f"unexpected argument {tokens[0]}; {help_hint}"
        similar = re.compile(rf"(?:Perhaps you meant|.* similar to {re.escape(option)}): (-[^\s,]+)")
        near = next((meant[1] for section in others if (meant := similar.match(section))), None)
        return f"unknown option {option}; " + (f"did you mean {near}?" if near else help_hint)
    if found := re.match(r"invalid choice (.*) for argument '(.*?)'\. Expected one of \((.*?),?\)", first):
        return f"{found[2]} must be one of {found[3].replace(chr(39), '')}; got {found[1]}"
    for pattern, said in SENTENCES.items():
        if found := re.match(pattern, first):
            return found.expand(said).replace("HELP", help_hint)
    if re.match(r"Missing from ", first):
        names = [line.strip() for line in sections[0] if re.match(r" {5}\S", line)]
        return f"`{prog}` needs {' and '.join(names)}; {help_hint}"
    return f"{first[:1].lower()}{first[1:].rstrip('.')}; {help_hint}"


@dataclass(frozen=True)
class Wanted(Generic[Chosen]):
    """The flags of a domain, and those that all domains have."""

    options: Annotated[Chosen, arg(name="")]
    device: str = "auto"
    """cuda, xpu, mps, cpu, or auto for the best available."""
    json: bool = False
    """Print JSON."""


def parse_options(prog: str, kind: type[Chosen], flags: Sequence[str]) -> Wanted[Chosen]:
    """Parse flags that depend on the domain, as in `charm eval runs/arc1 --views 32`."""
    wanted: type[Wanted[Chosen]] = Wanted[kind]  # type: ignore[valid-type]  # a type that only domains know
    return parse(wanted, prog, flags, description=cleandoc(kind.__doc__ or ""))


def parse(
    what: Callable[..., Parsed], prog: str, flags: Sequence[str], hidden: Collection[tuple[type, str]] = (), **more: Any
) -> Parsed:
    """Call a function or a dataclass with its flags, but for `hidden` fields of configurations of these types."""
    with readable(prog, flags):
        found: Parsed = tyro.cli(what, prog=prog, args=flags, **how_to_read(hidden), **more)
        return found


def how_to_read(hidden: Collection[tuple[type, str]] = ()) -> dict[str, Any]:
    """Return options of tyro for better help of configurations: the library's know nothing of flags."""
    registry = ConstructorRegistry()

    @registry.struct_rule
    def read(info: StructTypeInfo) -> StructConstructorSpec | None:
        if not is_dataclass(info.type) or read in info.markers:  # marked below, for tyro's own rules
            return None
        spec = ConstructorRegistry.get_struct_spec(replace(info, markers=(*info.markers, read)))
        if not isinstance(spec, StructConstructorSpec):
            return None
        # A field with one choice is no flag.
        choices = (one for one in spec.fields if get_origin(one.type) is not Literal or len(get_args(one.type)) > 1)
        shown = (one for one in choices if (info.type, one.name) not in hidden)
        return replace(spec, fields=tuple(map(_explained, shown)))

    return {"config": (FlagCreatePairsOff,), "registry": registry}


def _explained(field: StructFieldSpec) -> StructFieldSpec:
    """Return a field with a text and a word for its value that are easier to read than tyro's own."""

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
