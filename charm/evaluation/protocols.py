"""Evaluation protocols: which views, checkpoints and refinement depths vote. Ballots: the votes that then count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError, charm_errors
from charm.runs.archive import Expected, Header, damaged_passes, pass_folder, passes, read_pass
from charm.runs.votes import Votes
from charm.tasks.task import Question

Floats = npt.NDArray[np.float64]

# Voting rules: what puts a candidate first, of the weighted votes and the mean confidence of all candidates. Equal ones
# are ordered by weighted votes, then by confidence, which is a model's likelihood or halting (`NetworkConfig.sure`).
ORDERS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "votes": lambda weight_K, confidence_K: weight_K,
    "likelihood": lambda weight_K, confidence_K: weight_K * confidence_K,
}


# What a model's confidence in an answer is called, and what it means.
SURE = {
    "likelihood": "how probable the model finds the whole grid, 1 at most; right answers are often below 0.5",
    "halting": "how sure the halt head is that the answer is right, 1 at most; wrong answers are often above 0.9",
    "mixed": "the mean of what models of different kinds say of their answers; it orders equal votes alone",
}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


@dataclass(frozen=True)
class Protocol:
    views: int | Literal["all"] = "all"
    """Number of views per puzzle that vote, the original first."""
    window: int | Literal["current", "half", "all"] = 10
    """Which checkpoints vote, counted back from the newest; half of an odd number is rounded up."""
    half_life: float | None = None
    """Number of newer checkpoints after which a vote's weight is halved; None: equal weights."""
    loops: tuple[int, ...] = (16,)
    """Refinement depths; each gives one vote per view and checkpoint."""
    order: str | None = None
    """What puts a candidate first, by name in `ORDERS`; None is "likelihood" for a writer and "votes" for others."""

    def __post_init__(self) -> None:
        if self.views != "all" and not _is_count(self.views):
            raise CharmError(f"protocol: views is {self.views!r}, not a whole number above 0 or 'all'")
        if self.window not in ("current", "half", "all") and not _is_count(self.window):
            raise CharmError(
                f"protocol: window is {self.window!r}, not a whole number above 0, 'current', 'half' or 'all'"
            )
        if self.half_life is not None and not (isfinite(self.half_life) and self.half_life > 0):
            raise CharmError(f"protocol: half_life is {self.half_life!r}, not a number above 0 or None")
        depths = [_is_count(depth) and depth <= 255 for depth in self.loops]  # votes store them in a byte
        if not depths or len(set(self.loops)) < len(depths) or not all(depths):
            raise CharmError(f"protocol: loops is {self.loops!r}, not different whole numbers from 1 to 255")
        if self.order is not None and self.order not in ORDERS:
            raise CharmError(f"protocol order must be one of {', '.join(ORDERS)}; got {self.order!r}")

    def weights(self, steps: Iterable[int]) -> dict[int, float]:
        """Return the checkpoints that vote, newest first, each with the weight of its votes (1 for the newest)."""
        newest_first = sorted(set(steps), reverse=True)
        windows = {"current": 1, "half": (len(newest_first) + 1) // 2, "all": len(newest_first)}
        size = windows[self.window] if isinstance(self.window, str) else self.window
        return {
            step: 1.0 if self.half_life is None else 0.5 ** (age / self.half_life)
            for age, step in enumerate(newest_first[:size])
        }


PROTOCOLS = {
    "none": Protocol(views=1, window="current"),
    "standard": Protocol(),
    "extra": Protocol(window="half", half_life=10.0, loops=(16, 24)),
    "xrm": Protocol(window="all"),
    "urm": Protocol(window="all", loops=(16, 24)),
    "continual": Protocol(window="current"),
}


def protocol_named(name: str) -> Protocol:
    """Return a protocol of the paper; `dataclasses.replace` overrides any of its fields."""
    if name not in PROTOCOLS:
        raise CharmError(f"there is no protocol {name!r}; the names are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def depths_text(loops: Sequence[int]) -> str:
    """Say when votes are taken: after steps of refinement, or a vit's placements; "" where there is a single step."""
    first, last = loops[0], loops[-1]
    if [*loops] == [1]:
        return ""
    if len(loops) > 2 and [*loops] == [*range(first, last + 1)]:
        return f"steps {first} to {last}"
    return f"{' and '.join(map(str, loops))} refinement steps"


def settings_text(protocol: Protocol) -> str:
    """Say who votes and how candidates are ranked."""
    windows = {
        "current": "the newest checkpoint",
        "half": "the newer half of the checkpoints",
        "all": "all checkpoints",
    }
    window = windows.get(str(protocol.window), f"at most {protocol.window} checkpoints")
    views = {"all": "all views", 1: "1 view"}.get(protocol.views, f"at most {protocol.views} views")
    weight = f"half-life {protocol.half_life:g} checkpoints" if protocol.half_life else ""
    orders = {None: "", "likelihood": "ranked by votes x likelihood"}
    order = orders.get(protocol.order, f"ranked by {protocol.order}")
    return ", ".join(filter(None, (views, window, weight, depths_text(protocol.loops), order)))


def protocol_text(protocol: Protocol) -> str:
    """Return a protocol's name in the paper, if it has one, and its settings in words."""
    asked = [(name, replace(one, loops=protocol.loops, order=protocol.order)) for name, one in PROTOCOLS.items()]
    name = next((name for name, one in [*PROTOCOLS.items(), *asked] if one == protocol), None)
    return f"{name} ({settings_text(protocol)})" if name else settings_text(protocol)


def stored_protocol(found: Mapping[str, Any], where: object) -> Protocol:
    """Read the protocol of a stored evaluation."""
    with charm_errors(f"{where}: not the protocol of an evaluation", TypeError, ValueError, KeyError, AttributeError):
        fields = {name: value for name, value in found["protocol"].items() if name != "name"}
        return Protocol(**fields | {"loops": tuple(fields["loops"])})


@dataclass(frozen=True, eq=False)
class Ballot:
    """Votes of one checkpoint, each with the same `weight`."""

    votes: Votes
    step: int = 0
    weight: float = 1.0


def first_views(votes: Votes, count: int | Literal["all"]) -> Votes:
    """Select the votes of each question's first `count` views, in the order of their memory rows, or all."""
    if count == "all":
        return votes
    jobs, place_V = np.unique(votes.job_V, return_inverse=True)
    question = jobs >> 32
    view = np.arange(len(jobs)) - np.searchsorted(question, question, side="left")
    return votes.select(view[place_V] < count)


def load_ballots(
    votes_folder: Path, protocol: Protocol, steps: Iterable[int] | None = None, expected: Expected | None = None
) -> tuple[tuple[Question, ...], list[Ballot]]:
    """Read the questions, and the ballots of the checkpoints that the protocol selects among `steps`.

    `steps` defaults to every checkpoint that has votes, damaged ones included. A pass that the protocol needs and that
    is not there, not finished, made by another run or answers something else than is `expected` is an error: a ranking
    over fewer votes than it claims would be no result.
    """
    if steps is None:
        depths = set(protocol.loops)
        damaged = {step for step, loops in damaged_passes(votes_folder).items() if depths & set(loops)}
        steps = {*passes(votes_folder), *damaged}
    weights = protocol.weights(steps)
    if not weights:
        raise CharmError(f"{votes_folder}: no checkpoint has votes yet")
    newest: Header | None = None
    ballots = []
    for step, weight in weights.items():
        for loops in protocol.loops:
            found, votes, missing = read_pass(votes_folder, step, loops)
            folder = pass_folder(votes_folder, step, loops)
            if missing:
                ranks = ", ".join(map(str, missing))
                raise CharmError(f"{folder}: the votes of rank {ranks} are missing or not finished")
            if protocol.views != "all" and 0 < found.views < protocol.views:
                raise CharmError(
                    f"{folder}: protocol needs votes from {protocol.views} views but only {found.views} have them; "
                    "run `charm eval` first"
                )
            newest = newest or found
            if found.questions != newest.questions:
                raise CharmError(f"{folder}: these votes answer other questions than the newest")
            wanted = expected or Expected({}, blank=newest.blank, some=True)
            replace(wanted, run=wanted.run or newest.run).require(folder, found)
            ballots.append(Ballot(first_views(votes, protocol.views), step, weight))
    assert newest is not None  # a protocol has at least one refinement depth
    return newest.questions, ballots
