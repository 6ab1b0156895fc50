"""The exception whose message is shown to users."""

from collections.abc import Iterator
from contextlib import contextmanager


class CharmError(Exception):
    """Bad input or an impossible request, described in one sentence; the command line prints it and exits with 2."""


# What code raises when a record that it reads has missing fields or values of other types.
ODD_VALUES = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@contextmanager
def charm_errors(problem: str, *kinds: type[Exception]) -> Iterator[None]:
    """Re-raise errors of these kinds as a CharmError: the problem, and the reason in brackets."""
    try:
        yield
    except kinds as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())  # some libraries break lines
        raise CharmError(f"{problem} ({reason})") from error
