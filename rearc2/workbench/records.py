"""The record of each Re-ARC2 package: its check and its second reading, one small JSON file per task.

Separate files let several authors record at the same time; nothing in them depends on the date.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from charm.config import from_json
from charm.errors import CharmError, charm_errors
from charm.files import write_atomically
from rearc2.workbench.packages import ROOT, listed_ids, package_ids, package_sha256

VERDICTS = ("agreed", "fixed", "open")
JUDGEMENTS = ("widened", "rival")
NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Check:
    """The outcome of `charm rearc2 check` for one version of a package."""

    sha256: str  # of the package's file
    passed: bool
    pairs: int
    attempts: int
    seconds: int  # CPU time to make and verify the pairs, rounded up
    content: str  # PairBlock.content() of the pairs, seed 0
    rejects: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, str] = field(default_factory=dict)  # measure -> official and generated range
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    declared: dict[str, str] = field(default_factory=dict)  # the package's exceptions, wrong pairs and cap
    regularities: dict[str, str] = field(default_factory=dict)  # official ones that are broken -> how often


@dataclass(frozen=True)
class Reading:
    """The verdict of a second reader, who inferred the rule from the official pairs before reading the package."""

    verdict: str  # agreed | fixed | open
    note: str
    sha256: str | None  # of the file that was read; None where there is no package


@dataclass(frozen=True)
class Record:
    check: Check | None
    reading: Reading | None
    judgements: dict[str, str] = field(default_factory=dict)  # regularity -> "widened: ..." or "rival: ..."

    def judgement_texts(self) -> dict[str, str]:
        """Return every broken regularity with its judgement."""
        broken = self.check.regularities if self.check else {}
        return {name: self.judgements.get(name, NOT_JUDGED) for name in broken}


def read_record(task: str, root: Path = ROOT) -> Record:
    path = _path(task, root)
    if not path.is_file():
        return Record(None, None)
    with charm_errors(f"{path}: not a record of a check", ValueError, CharmError):
        return from_json(Record, json.loads(path.read_text("utf-8")), "record")


def record_check(task: str, check: Check, root: Path = ROOT) -> None:
    """Record a check; judgements of regularities that are no longer broken are dropped."""
    old = read_record(task, root)
    kept = {name: text for name, text in old.judgements.items() if name in check.regularities}
    _write(task, Record(check, old.reading, kept), root)


def record_judgement(task: str, regularity: str, verdict: str, note: str, root: Path = ROOT) -> None:
    """Record why the generated pairs may break a regularity of the official ones."""
    old = read_record(task, root)
    if verdict not in JUDGEMENTS:
        raise CharmError(f"a judgement must be one of {', '.join(JUDGEMENTS)}; got {verdict}")
    if not note:
        raise CharmError(f"{task}: a judgement needs a note with the reason")
    if regularity not in old.judgement_texts():
        known = ", ".join(map(repr, old.judgement_texts())) or "none"
        raise CharmError(f"{task}: no broken regularity named {regularity!r}; recorded: {known}")
    _write(task, replace(old, judgements={**old.judgements, regularity: f"{verdict}: {note}"}), root)


def record_reading(task: str, verdict: str, note: str, root: Path = ROOT) -> None:
    """Record a verdict; "open" is also allowed for a task without a package, with a note of what was tried."""
    if task not in listed_ids(root):
        raise CharmError(f"{task} is not a task of Re-ARC2")
    if verdict not in VERDICTS:
        raise CharmError(f"a verdict must be one of {', '.join(VERDICTS)}; got {verdict}")
    if verdict != "agreed" and not note:
        raise CharmError(f"{task}: verdict {verdict} needs a note with the reason")
    sha256 = package_sha256(task, root)
    if sha256 is None and verdict != "open":
        raise CharmError(f"{task}: the package does not exist yet, so the verdict must be open")
    _write(task, replace(read_record(task, root), reading=Reading(verdict, note, sha256)), root)


def state(task: str, root: Path = ROOT) -> str:
    """Return accepted | failed | unchecked (new or changed since), or without a package: open | missing."""
    record = read_record(task, root)
    sha256 = package_sha256(task, root)
    if sha256 is None:
        return "open" if record.reading else "missing"
    if record.check is None or record.check.sha256 != sha256:
        return "unchecked"
    return "accepted" if record.check.passed else "failed"


def accepted_ids(root: Path = ROOT) -> list[str]:
    return [task for task in package_ids(root) if state(task, root) == "accepted"]


def reading_state(task: str, root: Path = ROOT) -> str:
    """Return the second reading of a package: a verdict, "stale" if the file changed since, or "unread"."""
    reading = read_record(task, root).reading
    if reading is None:
        return "unread"
    return reading.verdict if reading.sha256 == package_sha256(task, root) else "stale"


def _path(task: str, root: Path) -> Path:
    return root / "checks" / f"{task}.json"


def _write(task: str, record: Record, root: Path) -> None:
    write_atomically(_path(task, root), json.dumps(asdict(record), indent=1) + "\n")
