"""Attacks on a toy run: one file damaged, or one process killed, and then every command that could notice.

The outcome must be the right result, or one sentence and a non-zero exit. A traceback or another result in silence is a
fault. `tests/faults/test_attacks.py` tries a selection, `benchmarks/faults.py` many.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from charm.arc.run import train
from charm.cli import main
from charm.config import to_json
from charm.errors import CharmError
from charm.evaluation.calibration import Calibration, RightCount
from charm.files import SEAL, seal, write_sealed
from charm.models.model import CALIBRATION, CharmModel, weights_sha256
from charm.runs.checkpoint import folder_of, newest_checkpoint
from charm.runs.settings import TrainConfig
from charm.solving.submission import SubmissionInProgress
from charm.web.api import models_json, open_library, run_json
from charm.web.watching import watched_json, watched_task_json
from tests.forks import Program
from tests.toy import write_toy_tasks
from tests.toy.damage import HERE, quiet, toy

Outcome = Literal["right", "refused", "traceback", "wrong"]
UNREAD = (".lock", "report.html", "table.md", "results.json", "parameters.png", "retained.png")
EVALUATE = ("--protocol", "xrm", "--views", "4", "--loops", "3", "--device", "cpu", "--json")
ADAPT = ("--steps", "2", "--batch", "4", "--views", "2", "--recheck-every", "1", "--device", "cpu", "--json")
SOLVE = ("--steps", "1", "--batch", "4", "--views", "2", "--budget", "10m", "--device", "cpu", "--json")


def flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))] if content else content


HOSTILE: list[Any] = [
    *(
        None,
        True,
        -1,
        0,
        3,
        2**70,
        10**400,
        0.5,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        "\0",
        "\x1b[31m",
    ),
    *([], [[]], ["x"], {}, {"x": 1}, json.loads("[" * 300 + "]" * 300)),
]


def forged(content: bytes, rng: random.Random) -> bytes:
    """JSON, or lines of it, with one value replaced or removed at random, under a seal that fits."""
    lines = content.splitlines(keepends=True)
    if len(lines) > 1 and lines[0].rstrip().endswith(b"}"):  # .jsonl
        at = rng.randrange(len(lines))
        return b"".join([*lines[:at], forged(lines[at], rng) + b"\n", *lines[at + 1 :]])
    record = json.loads(content)
    sealed = isinstance(record, dict) and record.pop(SEAL, None)
    inside, found = record, []
    while isinstance(inside, dict | list) and inside:
        name = rng.choice([*inside]) if isinstance(inside, dict) else rng.randrange(len(inside))
        found.append((inside, name))
        inside = inside[name]
    place, name = rng.choice(found)
    if rng.random() < 0.1:
        del place[name]
    else:
        place[name] = rng.choice(HOSTILE)
    with suppress(RecursionError):
        record = seal(record) if sealed else record
    return json.dumps(record).encode()


def none(content: bytes, rng: random.Random) -> bytes:
    return b""


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes] | None] = {
    "flip": flip,
    "cut": cut,
    "empty": none,
    "removed": None,
}


@dataclass(frozen=True)
class Answer:
    """How a command ended, and what it gave."""

    code: int
    result: Any = None
    error: str = ""


def call(arguments: list[object]) -> Answer:
    """A command in this process, as its user would see it."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(one) for one in arguments])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except Exception:
            traceback.print_exc(file=err)
            code = -1
    return Answer(code, out.getvalue(), err.getvalue())


class Target:
    """A toy run with votes, evaluations and a learned stream; and what every command says of it undamaged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run = folder, folder / "whole"
        self.config: TrainConfig = toy(folder)
        self.unseen = write_toy_tasks(folder / "unseen", 2, seed=9)
        for number in range(2):
            (self.unseen / f"toy{number}.json").rename(self.unseen / f"new{number}.json")
        self.solved = folder / "interrupted"
        self.settings = folder / "config.json"
        self.settings.write_text(json.dumps(to_json(self.config)))
        train(self.config, self.run, HERE, say=quiet)
        self._calibrate()
        for command in (self.evaluate, self.blank, self.adapt, self.report):
            answer = command(self.run)
            assert answer.code == 0, answer.error
        self.commands: dict[str, Callable[[Path], Answer]] = {
            "eval": self.evaluate,
            "rank": self.rank,
            "blank": self.blank,
            "solve": self.solve,
            "adapt": self.adapt,
            "report": self.report,
            "resume": self.resume,
            "view": self.view,
        }
        self._interrupt_a_solve()
        self.expected = {name: self.on_copy(command) for name, command in self.commands.items()}
        for name, answer in self.expected.items():
            assert answer.code == 0, (name, answer.error)

    def _calibrate(self) -> None:
        """Write how often answers are right, which every solve with the newest checkpoint reads."""
        folder = newest_checkpoint(self.run)
        counts = (RightCount(0.1, 2, 20), RightCount(0.6, 15, 20))
        weights = weights_sha256(CharmModel.from_pretrained(folder).state_dict())
        record = Calibration(weights, "auto", "a toy's tasks", counts, counts, counts)
        write_sealed(folder / CALIBRATION, to_json(record))

    def _interrupt_a_solve(self) -> None:
        """Keep the files of a solve as a kill before its end would leave them."""
        out = self.folder / "solving" / "submission.json"
        finish = SubmissionInProgress.finish

        def kept(begun: SubmissionInProgress, *rest: Any) -> None:
            if not self.solved.exists():
                shutil.copytree(out.parent, self.solved)
            finish(begun, *rest)

        with patch.object(SubmissionInProgress, "finish", kept):
            answer = call(["solve", self.unseen, "--checkpoint", self.run, "--out", out, *SOLVE])
        assert answer.code == 0, answer.error

    def files(self) -> list[Path]:
        """Every file of the run that something reads."""
        files = (path for path in sorted(self.run.rglob("*")) if path.is_file() and path.name not in UNREAD)
        return [path.relative_to(self.run) for path in files]

    def copy(self) -> Path:
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        return Path(shutil.copytree(self.run, self.folder / "run"))

    def on_copy(self, command: Callable[[Path], Answer]) -> Answer:
        return command(self.copy())

    def attack(self, file: Path, damage: str, command: str, rng: random.Random) -> tuple[Outcome, str]:
        """Damage one file of a copy and run a command on it."""
        run = self.copy()
        change = DAMAGES[damage]
        if change is None:
            (run / file).unlink()
        else:
            (run / file).write_bytes(change((run / file).read_bytes(), rng))
        return self.judge(command, self.commands[command](run), file)

    def judge(self, command: str, answer: Answer, file: Path | None = None) -> tuple[Outcome, str]:
        if answer.code == 0:
            right = answer.result == self.expected[command].result
            if command == "report" and file is not None and not right:
                # Curves are drawn from plain lines without a hash, and a record that is gone is not on the page: but
                # no score may be there that was not there before.
                gone = file.parts[0] in ("metrics.jsonl", "data.json", "eval")
                right = gone and shares(answer.result) <= shares(self.expected[command].result)
            if file == Path("data.json") and command in ("eval", "rank", "blank") and not right:
                said = "the result does not name the data" in answer.error
                right = said and self.scores_of(answer) == self.scores_of(self.expected[command])
            if command == "view" and file is not None and file.parts[0] == "eval" and not right:
                right = answer.result in self.evaluations()  # of a record that is gone, another's are shown
            return ("right", "") if right else ("wrong", answer.error)
        if "Traceback" in answer.error or answer.code < 0:
            return "traceback", answer.error
        sentence = answer.error.strip().splitlines()[-1] if answer.error.strip() else ""
        return ("refused", sentence) if sentence.startswith("charm: ") else ("traceback", answer.error)

    @staticmethod
    def scores_of(answer: Answer) -> object:
        """An evaluation without the names of its data, and its attempts."""
        found, attempts = answer.result
        return {name: value for name, value in found.items() if name != "data"}, attempts

    def evaluations(self) -> list[object]:
        """What `charm view` may show: each evaluation of the run that has a record, as if it were the only one."""
        found = []
        names = {path.name for path in (self.run / "eval").glob("*.json")} - {"blank.json"}
        for name in (one for one in names if not one.endswith(".submission.json")):
            run = self.copy()
            for other in names - {name}:
                (run / "eval" / other).unlink()
            found.append(self.view(run).result)
        return found

    # The commands. Each gives what must be the same: scores, answers, weights.

    def evaluate(self, run: Path, *more: str) -> Answer:
        """Scores and attempts: a toy that answers little scores the same for any answers."""
        answer = call(["eval", run, *EVALUATE, *more])
        if answer.code:
            return replace(answer, result=None)
        found = json.loads(answer.result)
        attempts = (run / "eval" / f"{found['protocol']['name']}.submission.json").read_text()
        return replace(answer, result=(found, attempts))

    def rank(self, run: Path) -> Answer:
        return self.evaluate(run, "--rank-only")

    def blank(self, run: Path) -> Answer:
        return self.evaluate(run, "--blank-memory")

    def solve(self, run: Path, out: Path | None = None, again: str = "--replace") -> Answer:
        out = out or self.folder / "submission.json"
        answer = call(["solve", self.unseen / "new0.json", "--checkpoint", run, "--out", out, *SOLVE, again])
        return replace(answer, result=json.loads(answer.result) if answer.code == 0 else None)

    def adapt(self, run: Path) -> Answer:
        answer = call(["adapt", run, "--stream", self.unseen, *ADAPT])
        found = json.loads(answer.result) if answer.code == 0 else {}
        return replace(answer, result={name: value for name, value in found.items() if not name.startswith("seconds")})

    def report(self, run: Path) -> Answer:
        answer = call(["report", run])
        page = run / "report.html"
        return replace(answer, result=page.read_text() if answer.code == 0 else None)

    def resume(self, run: Path) -> Answer:
        """Six more updates, and the bits of the weights after them."""
        config = replace(self.config, steps=18)
        err = io.StringIO()
        try:
            with redirect_stderr(err), redirect_stdout(io.StringIO()):
                train(config, run, HERE, resume=True, say=quiet)
        except CharmError as error:
            return Answer(2, None, f"charm: {error}")
        except Exception:
            return Answer(-1, None, traceback.format_exc())
        return Answer(0, (folder_of(run, 18) / "model.safetensors").read_bytes())

    def view(self, run: Path) -> Answer:
        """What the pages of `charm view` ask about a run."""
        try:
            library = open_library([run], [], [], self.folder, quiet)
            state = run_json(library, {"run": run.name}, now=0.0)
            models_json(library)
            json.dumps(state)
        except CharmError as error:
            return Answer(2, None, f"charm: {error}")
        except Exception:
            return Answer(-1, None, traceback.format_exc())
        return Answer(0, (state["step"], state["evaluation"]))

    def forge(self, file: Path, command: str, rng: random.Random) -> tuple[Outcome, str]:
        """Replace one value of a file of a copy, as a hostile hand would; any result is right but a traceback."""
        run = self.copy()
        (run / file).write_bytes(forged((run / file).read_bytes(), rng))
        outcome, text = self.judge(command, self.commands[command](run), file)
        return ("right" if outcome == "wrong" else outcome), text

    def forge_solve(self, rng: random.Random) -> tuple[Outcome, str]:
        """Replace a value in a file of an interrupted solve, then look at it and resume it."""
        folder = self.folder / "solved"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.solved, folder)
        files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".jsonl"))
        file = rng.choice(files)
        change = forged if rng.random() < 0.7 else flip
        file.write_bytes(change(file.read_bytes(), rng))
        submission = folder / "submission.json"
        try:
            with suppress(CharmError):
                for task in watched_json(submission, "solve")["tasks"]:
                    watched_task_json(submission, task["id"], [])
        except Exception:
            return "traceback", f"{file.name}: {traceback.format_exc()}"
        answer = call(["solve", self.unseen, "--checkpoint", self.run, "--out", submission, *SOLVE, "--resume"])
        outcome, text = self.judge("solve", answer)
        return ("right" if outcome == "wrong" else outcome), f"{file.name}: {text}"

    # Kills

    def processes(self, run: Path) -> dict[str, tuple[list[object], Path]]:
        """The commands that write, each as a separate process from a fresh start, and where they write."""
        charm: list[object] = ["-m", "charm"]
        submission = self.folder / "killed" / "submission.json"
        return {
            "train": (["-m", "tests.training.run_toy", self.settings, run], run),
            "eval": ([*charm, "eval", run, *EVALUATE], run),
            "adapt": ([*charm, "adapt", run, "--stream", self.unseen, *ADAPT], run),
            "solve": (
                [
                    *charm,
                    "solve",
                    self.unseen / "new0.json",
                    "--checkpoint",
                    run,
                    "--out",
                    submission,
                    *SOLVE,
                ],
                submission.parent,
            ),
        }

    def kill(self, command: str, rng: random.Random, seconds: float) -> tuple[Outcome, str]:
        """Start a command, kill it within `seconds` of its first sign of work, start it again and compare."""
        run = self.copy()
        shutil.rmtree(self.folder / "killed", ignore_errors=True)
        (self.folder / "killed").mkdir()
        if command == "train":
            shutil.rmtree(run)
        if command == "eval":
            for name in ("votes", "eval"):
                shutil.rmtree(run / name)
        if command == "adapt":
            shutil.rmtree(run / "adapt")
        arguments, written = self.processes(run)[command]
        before = set(written.rglob("*"))
        process = Program(*arguments)
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if written.exists() and set(written.rglob("*")) != before:
                break
            time.sleep(0.005)
        time.sleep(rng.random() * seconds)
        process.kill()
        if command == "train":
            answer = self._again(run)
        elif command == "solve":
            answer = self.solve(run, written / "submission.json", "--resume")
        else:
            answer = self.commands[command](run)
        outcome = self.judge("resume" if command == "train" else command, answer)
        left = [path for path in written.rglob("*") if path.name.endswith((".tmp", ".removed"))]
        return ("wrong", f"left behind: {left}") if outcome[0] == "right" and left else outcome

    def _again(self, run: Path) -> Answer:
        """Train to the end of the first run, wherever the kill came, and then as `resume` does."""
        try:
            with redirect_stderr(io.StringIO()):
                train(self.config, run, HERE, resume=(run / "config.json").is_file(), say=quiet)
        except CharmError as error:
            return Answer(2, None, f"charm: {error}")
        return self.resume(run)


def shares(page: str) -> set[str]:
    """Every percentage on a page."""
    return set(re.findall(r"\d+\.\d+%", page))


def plan(target: Target) -> Iterator[tuple[Path, str, str]]:
    """Every file, every damage, every command."""
    for file in target.files():
        for damage in DAMAGES:
            for command in target.commands:
                yield file, damage, command


def forgeries(target: Target) -> list[tuple[Path, str]]:
    """Every JSON file of the run under every command."""
    files = [file for file in target.files() if file.suffix in (".json", ".jsonl")]
    return [(file, command) for file in files for command in target.commands]


def hostile_tasks() -> dict[str, bytes]:
    """Files that are no task, each by what is wrong with it."""
    grid = [[1, 2], [3, 4]]
    pair = {"input": grid, "output": grid}
    bad_grids: dict[str, Any] = {
        "colour": [[10]],
        "negative": [[-1]],
        "huge": [[10**30]],
        "fraction": [[0.5]],
        "text": [["1"]],
        "truth": [[True]],
        "ragged": [[1, 2], [3]],
        "no rows": [],
        "no columns": [[]],
        "too high": [[0]] * 31,
        "too wide": [[0] * 31],
        "number": 5,
        "null": None,
        "object": {"a": 1},
    }
    tasks: dict[str, Any] = {
        "list": [],
        "number": 7,
        "null": None,
        "no tests": {"train": [pair], "test": []},
        "no train": {"test": [pair]},
        "no pairs": {"train": [], "test": [pair]},
        "train is text": {"train": "pairs", "test": [pair]},
        "a pair is a list": {"train": [[grid, grid]], "test": [pair]},
        "no output": {"train": [{"input": grid}], "test": [pair]},
    }
    tasks |= {
        f"grid, {name}": {"train": [{"input": grid, "output": bad}], "test": [pair]} for name, bad in bad_grids.items()
    }
    found = {name: json.dumps(task).encode() for name, task in tasks.items()}
    return found | {
        "empty": b"",
        "binary": bytes(range(256)),
        "half": json.dumps({"train": [pair], "test": [pair]}).encode()[:-9],
        "deep": b"[" * 100_000,
        "nan": b'{"train": [{"input": [[NaN]], "output": [[1]]}], "test": [{"input": [[1]]}]}',
        "no unicode": b'{"train": "\xff"}',
    }


def hostile_settings(settings: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The settings with one field after the other replaced by values that do not belong there."""
    values: list[Any] = [None, -1, 0, 10**12, 1e308, float("nan"), "text", "", [], [None], {}, {"a": 1}, True]
    for name, value in settings.items():
        for bad in values:
            yield f"{name}={bad!r}", {**settings, name: bad}
        if isinstance(value, dict):
            for inner in value:
                for bad in values:
                    yield f"{name}.{inner}={bad!r}", {**settings, name: {**value, inner: bad}}
    yield "an unknown field", {**settings, "surplus": 1}
    for name in settings:
        yield f"no {name}", {key: value for key, value in settings.items() if key != name}
