"""Every package stands by its record: unchanged since it was accepted, or accepted here and now.

A file that changed is checked in full, and so are some unchanged ones, drawn by a fixed seed. Changed files that are
not checked within BUDGET seconds are a failure that names the command to run.
"""

from __future__ import annotations

import random
import time

from rearc2.workbench.check import check_package
from rearc2.workbench.packages import ROOT, listed_ids, load_package, official_pairs, package_ids
from rearc2.workbench.records import VERDICTS, read_record, state

BUDGET = 45.0
AGAIN = 3  # unchanged packages that are checked again, however long it takes


def test_every_package_is_accepted() -> None:
    began = time.monotonic()
    states = {task: state(task) for task in package_ids()}
    refused = {task: read_record(task).check for task, found in states.items() if found == "failed"}
    assert not refused, f"refused packages: {sorted(refused)}"
    accepted = [task for task, found in states.items() if found == "accepted"]
    changed = [task for task, found in states.items() if found == "unchecked"]
    again = random.Random(0).sample(accepted, min(AGAIN, len(accepted)))
    waiting = again + changed
    while waiting and (waiting[0] in again or time.monotonic() - began < BUDGET):
        task = waiting.pop(0)
        report = check_package(task)
        assert report.passed, f"{task}: {report.failures}"
        record = read_record(task).check
        if task in again and record is not None:
            assert report.record.sha256 == record.content, f"{task}: the pairs are not those that were recorded"
    assert not waiting, f"packages without a check: run charm rearc2 check {' '.join(waiting)}"


def test_records_belong_to_listed_tasks_and_say_what_they_must() -> None:
    listed = set(listed_ids())
    for path in sorted((ROOT / "checks").glob("*.json")):
        assert path.stem in listed
        record = read_record(path.stem)
        if record.reading is not None:
            assert record.reading.verdict in VERDICTS
            assert record.reading.note or record.reading.verdict == "agreed"
        if record.check is not None and state(path.stem) == "accepted":
            declared = record.check.declared
            package = load_package(path.stem)
            assert declared.keys() >= package.wrong.keys() | package.exceptions.keys()


def test_the_list_is_arc2_training_without_arc1_training() -> None:
    from charm.tasks.sources import load_source

    first = {task.id for task in load_source("arc1/training").tasks}
    second = [task.id for task in load_source("arc2/training").tasks]
    assert sorted(listed_ids()) == sorted(set(second) - first)
    assert len(listed_ids()) == 609


def test_pairs_are_named_as_in_the_pictures() -> None:
    assert list(official_pairs("00dbd492")) == ["train 0", "train 1", "train 2", "train 3", "test 0"]
