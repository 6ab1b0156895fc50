"""Small run folders written by hand, and a page read back: shared by the tests of pages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from charm.automata.presets import car_preset
from charm.config import to_json
from charm.language.presets import lm_preset
from charm.runs.settings import TrainConfig
from charm.tasks.dataset import DataConfig
from charm.tasks.task import Question
from charm.tasks.view import View
from tests.toy.hand import grid

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--"
TURNED = View(1, (0, 3, 1, 2, 9, 4, 8, 5, 7, 6))

# task id -> its tests as (input, output); the last task is blind.
TESTS: dict[str, list[tuple[str, str | None]]] = {
    "solved": [("12/34", "21/43")],
    "near": [("1", "111"), ("2", "222")],
    HOSTILE: [("45", "54")],
    "size": [("7/7", "77")],
    "silent": [("8", "8")],
    "blind": [("9", None)],
}
QUESTIONS = tuple(Question(name, n) for name, tests in TESTS.items() for n in range(len(tests)))
# step -> predictions as (place in QUESTIONS, grid, view, memory row, confidence)
PREDICTIONS: dict[int, list[tuple[int, str, View, int, float]]] = {
    100: [
        (0, "21/43", View(), 1, 0.9),
        (0, "21/44", TURNED, 2, 0.2),
        (1, "111", View(), 3, 0.8),
        (2, "221", View(), 3, 0.7),
        (2, "212", TURNED, 4, 0.6),
        (2, "222", View(5), 5, 0.5),
        (3, "55", View(), 6, 0.4),
    ],
    200: [
        (0, "21/43", TURNED, 2, 0.8),
        (0, "21/43", View(), 1, 0.7),
        (2, "221", TURNED, 4, 0.7),
        (2, "212", View(), 3, 0.1),
        (3, "55", View(), 6, 0.3),
        (3, "", TURNED, 7, 0.1),
        (4, "7/7", View(), 8, 0.9),
        (6, "99", View(), 9, 0.5),
    ],
}
OUTCOMES = ["solved", "near miss", "wrong cells", "wrong size", "no answer", "blind"]


# Another run: it solves the task of which `run` proposes the wrong size only, and never proposes what `run` solves.
OTHER = [
    (0, "21/44", View(), 1, 0.9),
    (1, "111", View(), 3, 0.8),
    (2, "222", View(), 3, 0.7),
    (4, "77", View(), 8, 0.9),
    (4, "77", TURNED, 9, 0.9),
]


def write_tasks(path: Path, tests: dict[str, list[tuple[str, str | None]]]) -> None:
    def entry(pair: tuple[str, str | None]) -> dict[str, Any]:
        return {n: grid(t).tolist() for n, t in zip(("input", "output"), pair, strict=True) if t is not None}

    demos = [entry(("12", "21")), entry(("333/444", "4"))]
    tasks = {name: {"train": demos, "test": [entry(pair) for pair in pairs]} for name, pairs in tests.items()}
    path.write_text(json.dumps(tasks))


def write_config(run: Path, tasks: Path) -> TrainConfig:
    config = TrainConfig(data=DataConfig((), (str(tasks),), ()))
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"domain": config.domain, **to_json(config)}))
    return config


class Reader(HTMLParser):
    """The page as a list of elements, all text outside of scripts and styles, and the scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag  # every tag is closed where it belongs

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        elif self.open[-1:] != ["style"]:
            self.text.append(data)

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.scripts[0])
        return found


def read(path: Path) -> Reader:
    reader = Reader(path.read_text())
    assert reader.open == []
    return reader


def loads_nothing(content: str) -> None:
    content = re.sub(r"'sha256-[\w+/=]+'", "", content)  # which may hold two slashes by chance
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bfetch\(|XMLHttpRequest", content)


def shares(value: float) -> dict[str, float]:
    return {"combinations": 500, "pass@1": value / 2, "pass@2": value, "cells": 0.75}


def write_car(run: Path, memory: str = "three-factor", seed: int = 0, curve: dict[int, float] | None = None) -> Path:
    """A run folder whose seen pass@2 is twice the unseen one, as in `curve`."""
    (run / "eval").mkdir(parents=True)
    config = replace(car_preset(f"car-small-{memory}"), seed=seed)
    (run / "config.json").write_text(json.dumps({"domain": config.domain, **to_json(config)}))
    lines: list[dict[str, Any]] = [{"step": 10, "loss": 1.5, "exact_accuracy": 0.25}]
    for step, value in (curve or {300: 0.01, 600: 0.08}).items():
        groups = {"all": shares(value), "T=1": shares(1.5 * value), "T=2": shares(0.5 * value)}
        seen = {name: {**group, "pass@2": 2 * group["pass@2"]} for name, group in groups.items()}
        found = {"step": step, "checkpoints": 1, "seen": seen, "unseen": groups}
        (run / "eval" / f"step_{step:09d}.json").write_text(json.dumps(found))
        lines.append({"step": step, "evaluation/seen pass@2": 2 * value, "evaluation/unseen pass@2": value})
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


def write_lm(run: Path, bpb: float) -> Path:
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"domain": "lm", **to_json(lm_preset("lm-tiny-cose"))}))
    lines = [
        {"step": 0, "evaluation/bpb": 3.0},
        {"step": 10, "loss": 2.0},
        {"step": 20, "evaluation/bpb": bpb},
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run
