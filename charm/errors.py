"""The exception whose message is shown to users."""


class CharmError(Exception):
    """Bad input or an impossible request, described in one sentence; the command line prints it and exits with 2."""
