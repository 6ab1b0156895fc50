"""Text on the terminal, and progress: a line on stderr with a bar and the time left.

Ids, file and field names come from files of others. `plain` and `console` show their control characters instead of
sending them to the terminal. `rich` is loaded once a bar or a table is drawn.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Item = TypeVar("Item")
Echo = Callable[[str], None]  # such as `say`

# Control characters but for newline and tab, marks that turn the direction of text, and bytes that are not UTF-8.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LOG_EVERY = 60.0  # seconds between the lines that stand for a bar in a log file, where none can be drawn
NOTEBOOK_EVERY = 10.0  # and in a notebook without ipywidgets


def plain(text: str) -> str:
    """Escape what a terminal would obey: "\\x1b" becomes four visible characters."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def console(stderr: bool = False, width: int | None = None) -> Console:
    """Make a rich console that prints every text as `plain` does."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class PlainConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else plain(text), style, control)

    return PlainConsole(stderr=stderr, width=width)


class Bar:
    """A live line: text, a bar, how many of how many, and an ETA. See `bar`."""

    def __init__(self, progress: Progress, counts: bool, every: float) -> None:
        self._progress, self._task, self._counts, self._every = progress, progress.task_ids[0], counts, every
        self._logged = time.monotonic()

    def update(self, done: float | None = None, total: float | None = None, text: str | None = None) -> None:
        """Show a new state; None leaves a part unchanged."""
        self._progress.update(self._task, completed=done, total=total, description=text)
        self._log()

    def advance(self, text: str, more: float = 1) -> None:
        """Count `more` as done."""
        self._progress.update(self._task, description=text, advance=more)
        self._log()

    def _log(self) -> None:
        """Print the state as a plain line now and then, where no bar can be drawn."""
        if time.monotonic() - self._logged >= self._every:
            self._logged, state = time.monotonic(), self._progress.tasks[0]
            counted = f"{state.completed:.0f}/{'?' if state.total is None else f'{state.total:.0f}'}"
            say(f"{counted if self._counts else f'{state.percentage:.0f}%'} {state.description}")

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(line, highlight=False, markup=False)


@contextmanager
def bar(
    text: str = "",
    total: float | None = None,
    done: float = 0,
    shown: bool = True,
    stays: bool = False,
    counts: bool = True,  # print how many are done of how many
) -> Iterator[Bar]:
    """Show a bar while the block runs; it pulses while the total is None, and with `stays` its last state is kept."""
    from rich import progress as parts
    from rich.table import Column

    columns: list[parts.ProgressColumn] = [
        parts.BarColumn(),
        parts.TextColumn("{task.description}", markup=False),
        parts.TimeRemainingColumn(table_column=Column(no_wrap=True)),
    ]
    if counts:
        columns.insert(1, parts.MofNCompleteColumn(table_column=Column(no_wrap=True)))  # never shortened
    screen = console(stderr=True)
    drawn = screen.is_terminal or (screen.is_jupyter and find_spec("ipywidgets") is not None)
    every = math.inf if drawn or not shown else NOTEBOOK_EVERY if screen.is_jupyter else LOG_EVERY
    hidden = not shown or (screen.is_jupyter and not drawn)  # without widgets rich would only warn
    progress = parts.Progress(*columns, console=screen, transient=not stays, disable=hidden)
    progress.start()
    try:
        progress.add_task(text, total=total, completed=done)  # type: ignore[arg-type]  # rich rounds it itself
        yield Bar(progress, counts, every)
    finally:
        with _full_disk_ignored():
            progress.stop()


def say(line: str) -> None:
    """Print a line on stderr."""
    with _full_disk_ignored():
        print(plain(line), file=sys.stderr, flush=True)


def print_line(line: str) -> None:
    """Print a line on stdout."""
    print(plain(line))


@contextmanager
def _full_disk_ignored() -> Iterator[None]:
    """Ignore a log file that cannot be written, which must not end the work; a reader that went away does."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise


def status(text: str) -> AbstractContextManager[object]:
    """Show a spinner while the block runs, for work without known progress."""
    return console(stderr=True).status(text)


def track(items: Iterable[Item], text: str, total: int, shown: bool = True) -> Iterator[Item]:
    """Yield the items one by one, under a bar."""
    with bar(text, total, shown=shown) as line:
        for number, item in enumerate(items):
            yield item
            line.update(number + 1)
