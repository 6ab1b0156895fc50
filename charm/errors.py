"""The one exception a user is meant to read."""


class CharmError(Exception):
    """Bad input or an impossible request, described in one sentence; the command line prints it and exits with 2."""
