"""Check a Re-ARC2 package against the six criteria in docs/rearc2.md.

A part runs in a fresh process: python -m rearc2.workbench.check ROOT TASK FOLDER SHA256 prints problems as JSON.
"""

from __future__ import annotations

import ast
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.synthesis.build import ILLEGAL, OVERTIME, Rejected, Sample, collect
from charm.tables import Table
from charm.tasks.pairs_file import PairBlock, TaskRecord, read_block, write_block
from charm.tasks.task import Pair
from rearc2.workbench import packages
from rearc2.workbench.coverage import Coverage, coverage, simple_rules
from rearc2.workbench.facts import grids_text
from rearc2.workbench.records import Check
from rearc2.workbench.regularities import SAMPLE, Broken, broken_regularities
from rearc2.workbench.source_code import find_copies, find_forbidden, independence

PAIRS, QUICK_PAIRS = 1000, 100
SECONDS = 60.0  # CPU time for all pairs
ATTEMPT_SECONDS = 5.0
MAX_LISTED = 5  # maximum number of failures of one kind to print
# Rejections that are the package's fault; identities, repeats and official inputs are simply dropped.
FAULTS = (packages.GENERATOR_FAILED, packages.VERIFIER_FAILED, packages.MISMATCH, ILLEGAL, OVERTIME)
NO_PAIRS = TaskRecord(0, 0, {}, "", None)


@dataclass
class Report:
    """Outcome of a check; the package passes if there are no failures."""

    package: packages.Package
    record: TaskRecord = NO_PAIRS
    seconds: float = 0.0
    coverage: Coverage | None = None
    regularities: dict[str, Broken] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    excused: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return not self.failures

    def finding(self, criterion: int, name: str, sentence: str) -> None:
        """Record a failure, unless the package declares it as an exception under its name."""
        if name in self.package.exceptions:
            self.excused[name] = self.package.exceptions[name]
        else:
            self.failures.append(f"{criterion}. {sentence}")

    def as_check(self) -> Check:
        package = self.package
        ranges = self.coverage.ranges if self.coverage else {}
        declared = {**self.excused, **package.wrong}
        if package.cap is not None:
            declared["CAP"] = str(package.cap)
        return Check(
            sha256=package.sha256,
            passed=self.passed,
            pairs=self.record.pairs,
            attempts=self.record.attempts,
            seconds=math.ceil(self.seconds),
            content=self.record.sha256,
            rejects=self.record.rejects,
            ranges={name: f"{a.low}..{a.high} | {b.low}..{b.high}" for name, (a, b) in ranges.items()},
            failures=[failure.splitlines()[0] for failure in self.failures],
            notes=self.notes,
            declared=declared,
            regularities={name: str(broken) for name, broken in self.regularities.items()},
        )

    def lines(self) -> list[str]:
        """List what was dropped, noted, declared and wrong, in lines."""
        return [
            *(f"dropped: {reason} {count:,}" for reason, count in sorted(self.record.rejects.items())),
            *(f"note: {note}" for note in self.notes),
            *(f"declared: {name}: {reason}" for name, reason in self.excused.items()),
            *(f"FAILED {failure}" for failure in self.failures),
        ]

    def table(self) -> Table:
        """Compare official and generated pairs: minimum, quartiles, maximum."""
        made = f"{self.record.pairs:,} pairs, {self.record.attempts:,} attempts"
        title = f"{self.package.id}: {made}, {self.seconds:.1f} s"
        rows = []
        if self.coverage:
            for name, both in self.coverage.ranges.items():
                rows.append([name, *map(str, both)])
            for name, roles in self.coverage.roles.items():
                rows.append([name, *("".join(map(str, sorted(colors))) for colors in roles)])
        return Table(["measure", "official", "generated"], rows, title)


def check_package(task: str, pairs: int = PAIRS, root: Path = packages.ROOT) -> Report:
    """Check one package with `pairs` pairs of seed 0."""
    package = packages.load_package(task, root)
    report = Report(package)
    official = _check_official(report)
    _check_source(report)
    block = _check_pairs(report, pairs, root)
    if len(block):
        _check_again(report, block, root)
        generated = block.pairs()
        for name, rule in package.rivals.items():
            odd = next((n for n, pair in enumerate(generated) if not _reproduces(rule, pair)), None)
            if odd is not None:
                sentence = f"{name} disagrees with generated pair {odd}; draw only where both agree"
                report.failures.append(f"5. {sentence}")
        if official:
            report.regularities = broken_regularities(list(official.values()), generated)
            report.coverage = coverage(official, generated)
            report.notes += report.coverage.notes
            for name, sentence in report.coverage.findings.items():
                report.finding(5, name, sentence)
            for name, sentence in simple_rules(list(official.values()), generated).items():
                report.finding(6, name, sentence)
            # Known only after all checks have run.
            for name in sorted(package.exceptions.keys() - report.excused.keys()):
                report.failures.append(f"5. the exception '{name}' is declared but not needed; take it out")
    return report


def regularities_of(task: str, root: Path = packages.ROOT) -> dict[str, str]:
    """List broken regularities, the one part of a check, with as few pairs as possible."""
    package = packages.load_package(task, root)
    wanted = SAMPLE if package.cap is None else min(SAMPLE, package.cap)
    block, _ = collect(packages.ReArc2(root).make, task, wanted, ATTEMPT_SECONDS)
    generated = block.pairs()
    found = broken_regularities(list(_check_official(Report(package)).values()), generated)
    return {name: str(broken) for name, broken in found.items()}


def _check_official(report: Report) -> dict[str, Pair]:
    """Check criterion 1. Return the official pairs; those declared wrong get the rule's output."""
    package = report.package
    official = packages.official_pairs(package.id)
    for name in package.wrong.keys() - official.keys():
        report.failures.append(f"1. WRONG names '{name}', but the pairs are {', '.join(official)}")
    for name, pair in official.items():
        try:
            found = packages.apply_rule(package.verify, pair.input)
        except Exception as error:
            report.failures.append(f"1. verify fails on {name}: {packages.describe(error, package.path)}")
            continue
        if name in package.wrong:
            if packages.same(found, pair.output):
                report.failures.append(f"1. {name} is declared wrong, but verify reproduces it")
            official[name] = Pair(pair.input, np.asarray(found).astype(np.uint8))
        elif not packages.same(found, pair.output):
            shown = _difference({"official": np.asarray(pair.output), "verify": np.asarray(found)})
            report.failures.append(f"1. verify differs from the official output of {name}\n{shown}")
        for rival, rule in package.rivals.items():
            if not _reproduces(rule, official[name]):
                report.failures.append(f"1. {rival} does not reproduce {name}, so it is no rival reading")
    return official


def _check_source(report: Report) -> None:
    """Check criterion 4, and that generate and verify are independent."""
    package = report.package
    tree = ast.parse(package.path.read_bytes())
    failures, notes = independence(tree)
    report.notes += notes
    report.failures += [f"4. {failure}" for failure in failures + find_forbidden(tree)]
    for sentence in find_copies(tree, packages.official_pairs(package.id)):
        report.finding(4, "literal", f"{sentence} (the exception is called 'literal')")


def _check_pairs(report: Report, pairs: int, root: Path) -> PairBlock:
    """Check criterion 2: enough pairs, fast enough, and none that verify rejects."""
    package = report.package
    provider = packages.ReArc2(root)
    first: dict[str, int] = {}  # rejection -> the first attempt with it
    began = time.process_time()

    def make(task: str, index: int) -> Sample | Rejected:
        if time.process_time() - began > limit:
            raise TimeoutError(index)
        outcome = provider.make(task, index)
        if isinstance(outcome, Rejected):
            first.setdefault(outcome.reason, index)
        return outcome

    limit = SECONDS * max(pairs, QUICK_PAIRS) / PAIRS
    # One more than the cap shows whether it is one.
    wanted = pairs if package.cap is None else min(pairs, package.cap + 1)
    try:
        block, record = collect(make, package.id, wanted, ATTEMPT_SECONDS)
    except TimeoutError as slow:
        report.failures.append(
            f"2. {limit:.0f} s were not enough for {pairs:,} pairs: {slow.args[0]:,} attempts were made"
        )
        block, record = collect(provider.make, package.id, min(20, wanted), ATTEMPT_SECONDS)
    report.record, report.seconds = record, time.process_time() - began
    _judge_pairs(report, wanted, first)
    return block


def _judge_pairs(report: Report, wanted: int, first: dict[str, int]) -> None:
    package, record = report.package, report.record
    for reason in FAULTS:
        if count := record.rejects.get(reason):
            example = _example(package, first.get(reason))
            report.failures.append(f"2. {reason} in {count:,} of {record.attempts:,} attempts; {example}")
    if package.cap is not None and package.cap >= PAIRS:
        report.failures.append(f"2. CAP is {package.cap}; it is for tasks with fewer than {PAIRS:,} pairs")
    if package.cap is not None and package.cap < wanted:
        if record.pairs > package.cap:
            report.failures.append(f"2. CAP is {package.cap}, but there are more pairs")
        if record.pairs < package.cap:
            report.failures.append(f"2. CAP is {package.cap}, but only {record.pairs} pairs were found")
    elif record.shortfall and not any(failure.startswith("2.") for failure in report.failures):
        report.failures.append(f"2. {record.shortfall}; if there are no more, declare CAP = {record.pairs}")


def _example(package: packages.Package, index: int | None) -> str:
    """Repeat attempt `index` to show what went wrong; None if the builder itself rejected it."""
    if index is None:
        return "sides must be 1..30, cells whole numbers 0..9, and an attempt must end"
    try:
        before, after = packages.draw(package, 0, index)
    except Exception as error:
        return f"attempt {index}: generate: {packages.describe(error, package.path)}"
    try:
        found = packages.apply_rule(package.verify, before)
    except Exception as error:
        text = grids_text({"input": np.asarray(before)})
        return f"attempt {index}: verify: {packages.describe(error, package.path)}\n{text}"
    grids = {"input": np.asarray(before), "generate": np.asarray(after), "verify": np.asarray(found)}
    return f"first at attempt {index}\n{_difference(grids)}"


def _difference(grids: dict[str, npt.NDArray[Any]]) -> str:
    text = grids_text(grids)
    one, other = list(grids.values())[-2:]
    if one.shape != other.shape:
        return text
    places = np.argwhere(one != other).tolist()
    return f"{text}\n{len(places)} cells differ, first (row, column) {places[0] if places else None}"


def _check_again(report: Report, block: PairBlock, root: Path) -> None:
    """Check criteria 2 and 3: in a fresh process, verify every pair and make it again, alone and in reverse order."""
    with tempfile.TemporaryDirectory() as folder:
        write_block(Path(folder), report.package.id, block)
        arguments = [str(root), report.package.id, folder, block.content()]
        # A different hash seed than in this process, because the order of sets of strings must not matter.
        seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "rearc2.workbench.check", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message").splitlines()[-1]
        raise CharmError(f"{report.package.id}: the fresh process failed ({said})")
    found: list[str] = json.loads(done.stdout)
    report.failures += [f"3. {problem}" for problem in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        report.failures.append(f"3. ... and {len(found) - MAX_LISTED:,} more pairs in a fresh process")


def problems(package: packages.Package, block: PairBlock) -> list[str]:
    """List what the fresh process finds wrong."""
    found = []
    for number in reversed(range(len(block))):
        before, after = block.pair(number)
        index = int(block.index[number])
        name = f"pair {number} (attempt {index})"
        try:
            if not packages.same(packages.apply_rule(package.verify, before), after):
                found.append(f"{name} is not verified in a fresh process")
            again = packages.draw(package, 0, index)
        except Exception as error:
            found.append(f"{name} in a fresh process: {packages.describe(error, package.path)}")
            continue
        if not (packages.same(again[0], before) and packages.same(again[1], after)):
            found.append(f"{name} is different when it is made alone")
    return found


def _reproduces(rival: packages.GridRule, pair: Pair) -> bool:
    """Return whether a rival gives the output; one that fails on the input does not."""
    try:
        return packages.same(packages.apply_rule(rival, pair.input), pair.output)
    except Exception:
        return False


if __name__ == "__main__":
    task, folder, sha256 = sys.argv[2:]
    block = read_block(Path(folder), task, sha256)
    print(json.dumps(problems(packages.load_package(task, Path(sys.argv[1])), block)))
