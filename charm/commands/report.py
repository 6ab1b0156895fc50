"""`charm report`: a page to look at."""

from __future__ import annotations

from pathlib import Path

from tyro.conf import Positional


def report(run: Positional[Path], *, protocol: str | None = None, data: Path | None = None) -> None:
    """Write report.html into a run folder: scores, curves, every task with its candidates and their votes.

    Example: charm report runs/quickstart

    Args:
        run: a run folder with votes (`charm eval` makes them).
        protocol: which votes count (default: standard, at the depths that were voted on in training).
        data: where downloaded and generated data lie (default: as in training).
    """
    from charm.evaluation.protocols import protocol_named
    from charm.report.page import write_report

    print(write_report(run, protocol_named(protocol) if protocol else None, data))
