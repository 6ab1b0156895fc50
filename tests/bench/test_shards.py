"""Runs of a record: side by side, in parts, resumed, gathered."""

import argparse
import json
from pathlib import Path

import pytest

from benchmarks.records import read_record
from benchmarks.shards import Run, Shape, add_flags, complete

HEAD = {"what": "sums", "command": "none", "size": "small"}
SHAPE = Shape(kind="sum", seeds=(0, 1), means={"value": 1}, constants={"length": 0}, head=HEAD)
NAMES = ["one", "three"]


def make(name: str, seed: int) -> Run:
    if (name, seed) == ("three", 1):
        raise ValueError("too much")
    return {"value": len(name) + seed / 2, "length": len(name)}


def made_elsewhere(name: str, seed: int) -> Run:
    return {"value": 9.0, "length": len(name)}


def run(*flags: object, make=make) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser, SHAPE.seeds)
    complete(parser.parse_args([str(flag) for flag in flags]), SHAPE, NAMES, make)


def test_a_failed_run_keeps_the_others_and_a_second_try_repeats_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    with pytest.raises(SystemExit, match="1 of 4 runs failed"):
        run(path, "--workers", 2)
    record = read_record(path)
    assert record.seeds == (0, 1)
    assert record.numbers == {"one: value": (3.0, 3.5), "one: value, mean": (3.2,), "one: length": (3,)}
    assert [(each["sum"], each["seed"]) for each in record.runs] == [("one", 0), ("three", 0), ("one", 1)]
    assert "one thread" in record.machine
    run(path, make=made_elsewhere)
    assert read_record(path).numbers["three: value"] == (5.0, 9.0)
    assert read_record(path).numbers["one: value"] == (3.0, 3.5)


def test_parts_are_gathered_into_the_record_of_one_process(tmp_path: Path) -> None:
    whole, gathered = tmp_path / "whole.json", tmp_path / "gathered.json"
    run(whole, make=made_elsewhere)
    parts = []
    for name in reversed(NAMES):
        for seed in (1, 0):
            parts.append(tmp_path / f"{name}{seed}.json")
            run(parts[-1], "--only", name, "--seed", seed, make=made_elsewhere)
    run(gathered, "--gather", *parts)
    assert timeless(gathered) == timeless(whole)


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no run is called 'two'; there are 'one', 'three'"):
        run(tmp_path / "record.json", "--only", "two")


def timeless(path: Path) -> object:
    found = json.loads(path.read_text())
    for each in found["runs"]:
        each.pop("seconds")
    return found
