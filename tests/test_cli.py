import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest

import charm
from charm.arc.presets import preset
from charm.cli import main
from charm.commands.solve import seconds_of
from charm.config import to_json
from charm.errors import CharmError
from tests.toy import write_toy_tasks


def help_of(command: list[str], columns: int = 80) -> str:
    """What `charm COMMAND --help` prints on a terminal so wide."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # any other encoding has no boxes
    terminal = patch.dict(os.environ, COLUMNS=str(columns))
    with terminal, redirect_stdout(printed), pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    assert stopped.value.code == 0
    printed.seek(0)
    return printed.read()


def commands_in(group: list[str]) -> Iterator[list[str]]:
    """The group and all commands below it, as its help names them."""
    yield group
    page = help_of(group)
    listed = re.search(r" {([\w,-]+)}$", page.splitlines()[0])
    names = listed[1].split(",") if listed else [] if group else re.findall(r"^  (\w+)  ", page, re.MULTILINE)
    for name in names:
        yield from commands_in([*group, name])


COMMANDS = list(commands_in([]))
GROUPS = [[], ["data"], ["rearc2"], ["car"], ["lm"]]
# With a preset, flags are its fields. Those of arc1-train have empty values among them.
WITH_PRESET = ["train arc1", "train arc1-train", "train car-small", "train lm-tiny"]
WITH_PRESET += ["bench arc1", "bench car-small", "bench lm-tiny", "bench solve"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str]) -> None:
    text = help_of(command)
    assert text.startswith("usage: charm")
    assert ("Example: charm" in text.partition("╭")[0]) == (command not in GROUPS)


def flat(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def broken_early(lines: list[str], start: int) -> list[str]:
    """Lines whose text, which begins at the column `start`, had room for the first word of the next line."""
    found = []
    for line, following in pairwise(lines):
        flag, words = line[1:start], following[start:-2].split()
        wraps = words and following[1:start].isspace() and (flag.isspace() or flag.endswith("  "))
        text = line[start:-2]
        if wraps and text.strip() and len(text.rstrip()) + 1 + len(words[0]) <= len(text):
            found.append(flat(line))
    return found


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", [*COMMANDS, *map(str.split, WITH_PRESET)], ids=" ".join)
def test_help_reads_well(command: list[str], columns: int) -> None:
    page = help_of(command, columns)
    for unreadable in ("{None}", *(f"(default: {value})" for value in ("", "''", "None", "False", "True"))):
        assert unreadable not in flat(page)
    twice = [flat(flag) for flag in re.split(r"\n│ (?=\S)", page) if flat(flag).count("default") > 1]
    assert not twice
    # A switch's text that just fills its line is followed by an empty one, by tyro's doing.
    assert command in GROUPS or not re.search(r"^│ +│$", page, re.MULTILINE)
    lines = page.splitlines()
    if not command:
        assert max(map(len, lines)) <= 84
        return
    start = next(line.index("show this help") for line in lines if "-h, --help" in line)
    assert not broken_early(lines, start)
    for description in re.findall(r"╭.*\n((?:│ \S.*\n)+?)│ ─", page):
        assert not broken_early(description.splitlines(), 2)


@pytest.mark.parametrize("domain", ["arc", "car", "lm"])
def test_help_of_the_evaluation_of_a_run_reads_well(domain: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"domain": domain}))
    page = help_of(["eval", str(tmp_path)], 120)
    assert "{None}" not in page
    assert not re.search(r"^ |\n\n\n", page.partition("╭")[0], re.MULTILINE)  # the docstring's own indentation


def test_help_says_what_a_flag_that_turns_something_off_does() -> None:
    page = flat(help_of(["train", "arc1"]))
    assert "--no-graphs Turn this off: replay updates as CUDA graphs" in page
    assert "--memory.no-gate Turn this off: let" in page


def fails(*args: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line a command prints when it refuses; it must exit with 2."""
    with pytest.raises(SystemExit) as stopped:
        main(args)
    printed = capsys.readouterr().err.strip()
    assert stopped.value.code == 2
    assert printed.startswith("charm: ")
    assert "\n" not in printed
    return printed


def test_bad_input_is_told_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no task 00000000" in fails("data", "show", "00000000", capsys=capsys)
    assert "no such file" in fails("data", "audit", "nowhere", capsys=capsys)
    assert "there is no preset arc3" in fails("train", "arc3", capsys=capsys)
    assert "give the preset before its flags" in fails("train", "--restart", "arc1", capsys=capsys)
    assert "give the run before its flags" in fails("eval", "--json", "runs/a", capsys=capsys)
    assert "name a preset before its flags" in fails("bench", "--json", "arc1", capsys=capsys)
    assert "there is no preset arc3" in fails("bench", "arc3", capsys=capsys)
    assert fails("train", "nothing-like-it", capsys=capsys).endswith(
        "; other domains have car-... and lm-...; `charm reproduce` has the variants of the paper's tables"
    )
    assert "cannot be compared" in fails("bench", "lm-tiny", "arc1", capsys=capsys)
    assert "not a run folder" in fails("eval", str(tmp_path), capsys=capsys)
    assert "concept-arc can" in fails("data", "fetch", "mnist", capsys=capsys)
    assert "must be a permutation" in fails("data", "show", "007bbfb7", "--colors", "1023456789", capsys=capsys)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert "broken.json" in fails("data", "audit", str(broken), capsys=capsys)
    assert "broken.json must be a run folder, got a file" in fails(
        "train", "quickstart", "--out", str(broken), capsys=capsys
    )
    assert "optimizer.lr must be a finite number" in fails("train", "arc1", "--optimizer.lr", "nan", capsys=capsys)
    assert "must end in .png" in fails("rearc2", "facts", "00dbd492", "--png", str(tmp_path / "x.txt"), capsys=capsys)
    for words, ending in (
        (("data", "show", "007bbfb7", "--svg"), ".svg"),
        (("data", "show", "007bbfb7", "--png"), ".png"),
        (("report", str(tmp_path), "--out"), ".html"),
        (("car", "export", "--out"), ".jsonl"),
        (("rearc2", "quarantine", "--out"), ".md"),
    ):
        assert f"must end in {ending}" in fails(*words, str(broken), capsys=capsys)
        assert broken.read_text() == "{"
    (tmp_path / "config.json").write_text(json.dumps(to_json(preset("quickstart"))))
    assert "no protocol 'best'" in fails("eval", str(tmp_path), "--protocol", "best", capsys=capsys)
    (tmp_path / "config.json").write_text('{"domain": "chess"}')
    assert "an unknown domain 'chess'" in fails("eval", str(tmp_path), capsys=capsys)
    (tmp_path / "config.json").write_text("{}")
    figure = ("report", str(tmp_path), "--figure", "cl-retained", "--out", str(tmp_path / "x.pdf"))
    assert "no results of `charm adapt`" in fails(*figure, capsys=capsys)
    (tmp_path / "config.json").unlink()
    inside = str(broken / "run")
    assert f"{inside} cannot be created (Not a directory)" in fails(
        "train", "quickstart", "--out", inside, capsys=capsys
    )
    assert "not a time" in fails("solve", str(broken), "--checkpoint", "x", "--budget", "soon", capsys=capsys)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            "train quickstart --optimizer.lrr 1",
            "unknown option --optimizer.lrr; did you mean --optimizer.lr?",
        ),
        ("train quickstart --bacth 2 --steps 3", "unknown option --bacth; did you mean --batch?"),
        ("solve a.json --steps x", "--steps must be an integer, got 'x'"),
        ("solve a.json --dollars x", "--dollars must be a number, got 'x'"),
        ("train quickstart --steps x", "--steps must be an integer, got 'x'"),
        ("train quickstart --optimizer.lr x", "--optimizer.lr must be a number, got 'x'"),
        ("train quickstart --steps", "--steps needs a value; see `charm train quickstart --help`"),
        ("train --resume nowhere", "nowhere: no such run folder; name the folder of the run to resume"),
        (
            "solve a.json --mode x",
            "--mode must be one of auto, memory, composition, full; got 'x'",
        ),
        ("solve examples/task.json --batch 0", "batch must be >= 1, got 0"),
        ("solve examples/task.json --views 100001", "views must be <= 100000, got 100001"),  # longer than any budget
        ("solve examples/task.json --writer.views 100001", "writer.views must be <= 100000, got 100001"),
        ("solve examples/task.json --seed 9223372036854775808", "seed must be >= -2^63 and < 2^63, got " + str(2**63)),
        ("train quickstart --data.views 100001", "views must be <= 100000, got 100001"),
        ("train quickstart --data.color-pool 362881", "color_pool must be <= 100000, got 362881"),  # there are 9!
        ("train quickstart --seed 9223372036854775808", "seed must be >= -2^63 and < 2^63, got " + str(2**63)),
        ("train quickstart --evaluate-loops 0", "evaluate_loops must be different integers from 1 to 255, got (0,)"),
        (
            "train quickstart --evaluate-loops 2 2",
            "evaluate_loops must be different integers from 1 to 255, got (2, 2)",
        ),
        ("adapt nowhere --row-lr -1", "row_lr must be >= 0, got -1.0"),
        ("adapt nowhere --shared-lr nan", "shared_lr must be >= 0, got nan"),
        ("adapt nowhere --method l2sp --strength -1", "strength must be >= 0, got -1.0"),
        ("adapt nowhere --views 100001", "views must be <= 100000, got 100001"),
        ("adapt nowhere --seed -9223372036854775809", "seed must be >= -2^63 and < 2^63, got " + str(-(2**63) - 1)),
        ("car show B3/S23 --side 101", "side must be <= 100, got 101"),
        ("car show B3/S23 --steps -1", "steps must be >= 0, got -1"),
        ("car show B3/S23 --example -1", "example must be >= 0, got -1"),
        ("car build --seed 9223372036854775808", "seed must be >= -2^63 and < 2^63, got " + str(2**63)),
        ("lm sample nowhere --temperature nan", "temperature must be >= 0, got nan"),
        ("lm sample nowhere --seed 9223372036854775808", "seed must be >= -2^63 and < 2^63, got " + str(2**63)),
        (
            "eval base",
            "base is a model that comes with CHARM, not a run; use `charm solve TASKS --checkpoint base --score`",
        ),
        ("data rearc --workers 0", "--workers must be >= 1, got 0"),
        ("rearc2 build --workers -1", "--workers must be >= 1, got -1"),
        ("data stats --data README.md", "the data folder README.md is not a folder"),
        ("view --prot 3", "unknown option --prot; did you mean --port?"),
        ("data show", "`charm data show` needs TASK; see `charm data show --help`"),
        ("data show a b", "unexpected argument b; see `charm data show --help`"),
        ("trian arc1", "there is no command trian; did you mean train?"),
        ("data shwo 007bbfb7", "there is no command shwo; did you mean show?"),
        (
            "solve examples/task.json --checkpoint nowhere",
            "nowhere is neither a saved model nor a run with a checkpoint: no such folder",
        ),
        ("params --gate nowhere", "nowhere: no such run folder"),
        ("data", "name a command: stats, show, audit, rearc, fetch; see `charm data --help`"),
    ],
)
def test_mistakes_in_flags_take_one_sentence(
    args: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[1])
    assert fails(*args.split(), capsys=capsys) == f"charm: {message}"


def test_the_overview_has_a_line_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    message = fails("nonsense", capsys=capsys)
    registered = message.partition("the commands are ")[2].split(", ")
    assert sorted(registered) == sorted(name for name, *more in COMMANDS[1:] if not more)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    assert capsys.readouterr().out == f"charm {charm.__version__}\n"


def test_folders_that_cannot_be_read_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_toy_tasks(tmp_path / "open" / "locked", 1)
    scandir = os.scandir

    def refuse(folder: str | Path) -> Iterator[os.DirEntry[str]]:
        if Path(folder).name == "locked":  # root, who may run this test, can read everything
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    for folder in (tmp_path / "open" / "locked", tmp_path / "open"):
        for command in ("solve", "data audit"):
            message = fails(*command.split(), str(folder), capsys=capsys)
            assert message == f"charm: {tmp_path / 'open' / 'locked'}: Permission denied"


def test_a_setting_that_is_refused_names_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for value in ("-1", "NaN"):
        (tmp_path / "config.json").write_text(f'{{"domain": "arc", "steps": 3, "halt_weight": {value}, "batch": 0}}')
        assert f"{tmp_path / 'config.json'}" in fails("eval", str(tmp_path), capsys=capsys)


def test_train_eval_report_and_solve_as_a_user_would(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = write_toy_tasks(tmp_path / "tasks")
    run = str(tmp_path / "run")
    small = (
        *("--data.tasks",),
        *("--data.evaluate", str(tasks), "--data.views", "6", "--steps", "4", "--batch", "4"),
        *("--checkpoint-every", "4", "--reasoner.width", "32", "--memory.rank", "8", "--device", "cpu"),
        *("--data.canvas", "fit", "--log-every", "2"),
    )
    main(["train", "quickstart", *small, "--out", run])
    main(["eval", run, "--protocol", "continual", "--views", "4", "--loops", "2", "--device", "cpu", "--json"])
    printed = capsys.readouterr().out
    found = json.loads(printed[printed.index("{") :])
    assert found["puzzles"] == 3
    assert set(found["metrics"]) == {f"pass@{k}{o}" for k in (1, 2, 5, 10, 100, 1000) for o in ("", "/outputs")}
    submission = json.loads((tmp_path / "run" / "eval" / "continual.submission.json").read_text())
    assert sorted(submission) == ["toy0", "toy1", "toy2"]
    new = write_toy_tasks(tmp_path / "new", 1, seed=3) / "toy0.json"
    out = tmp_path / "answer.json"
    limits = ("--budget", "15s", "--steps", "2", "--views", "4", "--batch", "4", "--device", "cpu")
    main(["solve", str(new), "--checkpoint", run, *limits, "--out", str(out), "--json"])
    assert list(json.loads(out.read_text())) == ["toy0"]
    capsys.readouterr()
    main(["solve", str(new), "--checkpoint", run, *limits, "--out", str(out), "--replace"])
    told = capsys.readouterr().out
    assert re.search(r"attempt 1: \d of 4 votes", told)
    assert "the demonstrations were not learned" in told
    main(["train", "quickstart", *small, "--out", run, "--steps", "5", "--resume"])
    assert (tmp_path / "run" / "checkpoints" / "step_000000005").is_dir()
    assert f"next: charm eval {run}" in capsys.readouterr().out
    main(["train", "--resume", run, "--steps", "6"])  # the run's own settings
    assert (tmp_path / "run" / "checkpoints" / "step_000000006").is_dir()
    capsys.readouterr()
    assert "is at step 6" in fails("train", "--resume", run, "--steps", "3", capsys=capsys)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["steps"] == 6
    assert "batch must be >= 1" in fails(
        *("eval", run, "--batch", "0", "--window", "current", "--device", "cpu"), capsys=capsys
    )


def test_show_draws_and_writes_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ("--svg", str(tmp_path / "a.svg"), "--png", str(tmp_path / "a.png"))
    main(["data", "show", "007bbfb7", "--dihedral", "4", *files])
    assert "007bbfb7" in capsys.readouterr().out
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    main(["data", "show", "007bbfb7", "--canvas", *files])


def test_module_and_script_are_the_same_program() -> None:
    outputs = [
        subprocess.run([*program, "--help"], capture_output=True, text=True, check=True).stdout
        for program in ([sys.executable, "-m", "charm"], [str(Path(sys.executable).with_name("charm"))])
    ]
    assert outputs[0] == outputs[1]


def test_help_loads_nothing_heavy() -> None:
    program = "import sys, charm.cli; charm.cli.app(); print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_times_are_read() -> None:
    assert [seconds_of(text) for text in ("90", "90s", "5m", "1.5h")] == [90, 90, 300, 5400]
    for text in ("", "m", "-5s", "5 days", "0s"):
        with pytest.raises(CharmError):
            seconds_of(text)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [(["tr"], {"train"}), (["rearc2", "prev"], {"preview"}), (["export", "--dt"], {"--dtype"})],
)
def test_a_shell_completes_commands_and_flags(
    typed: list[str], offered: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["completion", "bash"])
    assert not stopped.value.code
    (tmp_path / "charm").write_text(capsys.readouterr().out)
    ask = f"source charm; COMP_WORDS=(charm {' '.join(typed)}); COMP_CWORD={len(typed)}; _tyro_charm"
    done = subprocess.run(
        ["bash", "-c", f'{ask}; echo "${{COMPREPLY[@]}}"'], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("command", [["solve"], ["train", "base"], ["data"], ["bench"]])
def test_help_fits_a_terminal(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_commands_and_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "fish"])
    (tmp_path / "charm.fish").write_text(capsys.readouterr().out)
    for typed, offered in (("tr", "train"), ("rearc2 prev", "preview"), ("export --dt", "--dtype")):
        ask = f"source charm.fish; complete -C 'charm {typed}'"
        done = subprocess.run(["fish", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [offered]


def test_completion_is_for_three_shells(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("zsh", "fish"):
        with pytest.raises(SystemExit):
            main(["completion", shell])
        assert "charm" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert capsys.readouterr().err == "charm: shell must be one of bash, zsh, fish; got 'tcsh'\n"
