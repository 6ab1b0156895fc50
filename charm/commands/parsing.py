"""How the command line is read: parsing comes first, and a mistake in it is reported in one sentence.

tyro prints a box of 5 to 13 lines for a misspelled flag. Its words are taken from there and said more briefly.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from functools import partial, wraps
from shutil import get_terminal_size
from textwrap import TextWrapper
from typing import Any, TextIO

from tyro.extras import SubcommandApp

from charm.errors import CharmError

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
    r"Expected one of {(.*?)}": r"name a command: \1; HELP",
}


class Commands(SubcommandApp):
    """Commands that are parsed first and run then, so that mistakes in flags differ from mistakes in commands."""

    def cli(self, *, prog: str | None = "charm", args: Sequence[str] | None = None, **options: Any) -> Any:
        """Run the command that the arguments name."""
        words = list(sys.argv[1:] if args is None else args)
        named = [word for word in words[:1] if not word.startswith("-")]
        with one_sentence(" ".join((prog or "charm", *named))), wrapped_help(words):
            call = super().cli(prog=prog, args=words, **options)
        return call()

    def command(self, func: Any = None, **options: Any) -> Any:
        """Register a function or a group of commands; usable as a decorator that returns the function unchanged."""
        if func is None:
            return lambda later: self.command(later, **options)
        super().command(func if isinstance(func, SubcommandApp) else _deferred(func), **options)
        return func


def _deferred(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same flags that returns the call to make."""

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        return partial(func, *args, **kwargs)

    return call


@contextmanager
def one_sentence(prog: str) -> Iterator[None]:
    """Raise CharmError where tyro would print a box and exit; `prog` is the command whose --help is named."""
    printed = io.StringIO()
    try:
        with redirect_stderr(printed):
            yield
    except SystemExit as stopped:
        if stopped.code != 2:
            raise
        raise CharmError(sentence(printed.getvalue(), prog)) from None


@contextmanager
def wrapped_help(words: Sequence[str]) -> Iterator[None]:
    """Break the prose of a help page between words; tyro leaves it in one line for each paragraph."""
    with redirect_stdout(_Wrapping(sys.stdout)) if {"-h", "--help"} & {*words} else nullcontext():
        yield


class _Wrapping:
    """A stream whose long lines of prose are as wide as the terminal at most; boxes have that width already."""

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
    first = " ".join(" ".join(sections[0]).split())
    flat = " ".join(" ".join(line.split()) for section in sections for line in section)
    help_hint = f"see `{prog} --help`"
    if found := re.match(r"Unrecognized options: (.*)", first):
        tokens = found[1].split(", ")
        commands = re.search(r"Available subcommands: (.*?) For full", flat)
        if commands and not tokens[0].startswith("-"):
            close = get_close_matches(tokens[0], commands[1].split(", "), 1)
            known = f"did you mean {close[0]}?" if close else f"the commands are {commands[1]}"
            return f"there is no command {tokens[0]}; {known}"
        flags = [token for token in tokens if token.startswith("-")]
        if not flags:
            return f"unexpected argument {tokens[0]}; {help_hint}"
        near = _similar(sections, flags[0], prog)
        meant = f"; did you mean {near}?" if near else f"; {help_hint}"
        return f"unknown option {flags[0]}{meant}"
    if found := re.match(r"invalid choice (.*) for argument '(.*?)'\. Expected one of \((.*?),?\)", first):
        return f"{found[2]} must be one of {found[3].replace(chr(39), '')}; got {found[1]}"
    for pattern, said in SENTENCES.items():
        if found := re.match(pattern, first):
            return found.expand(said).replace("HELP", help_hint)
    if re.match(r"Missing from ", first):
        names = [line.strip() for line in sections[0] if re.match(r" {5}\S", line)]
        return f"`{prog}` needs {' and '.join(names)}; {help_hint}"
    return f"{first[:1].lower()}{first[1:].rstrip('.')}; {help_hint}"


def _similar(sections: Sequence[Sequence[str]], flag: str, prog: str) -> str | None:
    """Return the flag of this command that tyro thinks was meant, if it names one."""
    for section in sections:
        if not re.search(rf"Perhaps you meant|similar to {re.escape(flag)}:", section[0] if section else ""):
            continue
        found: list[tuple[str, str]] = []  # flags, and the command they belong to
        for line in section[1:]:
            if name := re.match(r" {5}(-\S+)", line):
                found.append((name[1].split(",")[0], prog))
            elif found and (other := re.match(r" +in (charm .*) --help", line)):
                found[-1] = (found[-1][0], other[1])
        return next((name for name, command in found if command == prog), None)
    return None
