"""How often answers with such votes were right, counted in a solve of tasks whose answers are known.

A saved model may have a record of it, calibration.json, which `benchmarks/calibration.py` makes from the log of a
solve. It is loaded, saved and exported with the weights (`CharmModel.calibration`), counts for the weights and the mode
that it names, and nothing is said where there is none. Attempts are of three kinds, since the same share of the votes
means different things: a first attempt far ahead of all others, a first attempt with a close runner-up, and a second
attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from charm.config import from_json
from charm.errors import CharmError
from charm.models.model import CALIBRATION, CharmModel, weights_sha256

FEWEST = 8  # votes on a test input; the shares of fewer say little
CLOSE = 0.5  # of the first attempt's votes: a runner-up with at least as many is close
KINDS = ("ahead", "close", "second")
WORDS = {0.95: "almost certain", 0.75: "very likely", 0.5: "likely", 0.2: "possible", 0.05: "unlikely"}


@dataclass(frozen=True)
class RightCount:
    """Cases with at least this share of the votes, and less than the next block's."""

    share: float
    right: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or not 0 <= self.right <= self.of or not self.of:
            raise CharmError(f"{self.right} of {self.of} right from a share of {self.share} on is no count")

    @property
    def word(self) -> str:
        """How probable a right answer is, in words."""
        return next((word for least, word in WORDS.items() if self.right >= least * self.of), "very unlikely")


@dataclass(frozen=True)
class Calibration:
    weights: str
    """What `weights_sha256` says of the model."""
    mode: str
    """What learned; auto is what the network has by default."""
    tasks: str
    """On which tasks this was counted, and with how much time, in words."""
    ahead: tuple[RightCount, ...]
    close: tuple[RightCount, ...]
    second: tuple[RightCount, ...]

    def __post_init__(self) -> None:
        for kind in KINDS:
            for one, next_one in zip(blocks := getattr(self, kind), blocks[1:], strict=False):
                if one.share >= next_one.share or one.right * next_one.of > next_one.right * one.of:
                    raise CharmError(f"blocks of {kind!r} must ascend, in their shares and in how often they are right")

    def block(self, votes: Sequence[int], attempt: int, cast: int) -> RightCount | None:
        """Return the counted cases that are like this attempt, 0 or 1; None if there are none."""
        if cast < FEWEST or not votes[attempt : attempt + 1] or not votes[attempt]:
            return None
        blocks: tuple[RightCount, ...] = getattr(self, kind_of(votes, attempt))
        share = votes[attempt] / cast
        return next((one for one in reversed(blocks) if one.share <= share), blocks[0] if blocks else None)

    def text(self, votes: Sequence[int], attempt: int, cast: int) -> str:
        """Say how often answers with such votes were right; "" if that was not counted."""
        found = self.block(votes, attempt, cast)
        return f"{found.word}: answers with such votes were right in {found.right} of {found.of} cases" if found else ""


def kind_of(votes: Sequence[int], attempt: int) -> str:
    """Return the kind of an attempt, 0 or 1, from the votes of all candidates in their order."""
    if attempt:
        return "second"
    return "close" if max(votes[1:], default=0) >= CLOSE * votes[0] else "ahead"


def calibration_of(model: CharmModel, mode: str) -> Calibration | None:
    """Return the counts that came with a model; None if there are none for its weights and for what learns now."""
    if model.calibration is None:
        return None
    found, own = from_json(Calibration, model.calibration, CALIBRATION), model.config.reasoner.solving.mode
    modes = {own if one == "auto" else one for one in (found.mode, mode)}
    return found if len(modes) == 1 and found.weights == weights_sha256(model.state_dict()) else None
