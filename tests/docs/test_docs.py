"""The documentation is true: every command on its pages runs, and links, options and Python are what they seem.

Commands run as written, page by page, in a folder like a fresh clone on a CPU without a network; what one command
makes serves the next. SMALL alone makes them small: it adds arguments, which win over those on the page.
"""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import shlex
import signal
import subprocess
import tarfile
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import fields
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread

import pytest
from torch.distributed.run import get_args_parser

from charm.cli import main
from charm.paper import plans
from charm.paper.work import PaperRun
from charm.synthesis import rearc
from charm.tasks import sources
from charm.tasks.keys import MemoryConfig
from charm.web import api as web
from tests import forks
from tests.docs.pages import PAGES, ROOT, blocks, calls, links, read, spans, statements
from tests.toy import write_rearc_package, write_toy_tasks

# Runs that a page takes from another: it is read first, as its reader would.
AFTER = {
    "README.md": ("docs/data.md",),
    "docs/train.md": ("docs/data.md",),
    "docs/finetune.md": ("docs/data.md",),
    "docs/leaderboard.md": ("docs/data.md",),
    "docs/LOG.md": ("docs/adapt.md", "docs/car.md", "docs/language.md"),
    "docs/baselines.md": ("docs/data.md",),
    "docs/distributed.md": ("docs/data.md",),
    "docs/evaluate.md": ("docs/train.md",),
    "docs/solve.md": ("docs/train.md",),
    "docs/kaggle.md": ("docs/solve.md",),
    "docs/adapt.md": ("docs/train.md",),
    "docs/speedrun.md": ("docs/data.md",),
    "docs/rearc2.md": ("docs/data.md",),
    "docs/extend.md": ("docs/data.md", "docs/quickstart.md"),
    "docs/view.md": ("docs/quickstart.md", "docs/solve.md"),
    "docs/reproduce.md": ("docs/quickstart.md", "docs/adapt.md"),
}

MODEL = (
    "--steps 2 --batch 4 --checkpoint-every 1 --evaluate-every 0 --device cpu --data.views 4 --data.canvas fit "
    "--reasoner.width 32 --reasoner.heads 2 --reasoner.layers 1 --reasoner.recurrences 2 --reasoner.horizon 1 "
    "--reasoner.inner-multiple 32 --reasoner.refinement-steps 2 --reasoner.compute-dtype float32 "
)
GPT = (
    "--gpt.depth 2 --gpt.width 32 --gpt.head-width 8 --gpt.vocab 2048 --gpt.length 32 --gpt.compute-dtype float32 "
    "--ngram.rows 50 --ngram.width 8 --ngram.layers 1 --steps 2 --batch 128 --device-rows 2 --evaluate-tokens 64 "
    "--evaluate-every 0 --device cpu "
)
# Start of a command -> what is added to it; the first match counts. A command without a match runs unchanged.
SMALL = {
    "charm quickstart": "--steps 2",
    "charm data stats": "--views 1",
    "charm data fetch": "--data fetched",  # what is fetched here is of our own making: other commands must not see it
    "charm data rearc": "--pairs 3 --workers 1",
    "charm reproduce tab:cose-arc1": "--size smoke --seeds 1 --variants cose --jobs 1",
    "charm reproduce tab:car": "--size smoke --seeds 1 --variants three-factor --jobs 1",
    "charm reproduce tab:nanochat-d12-w": "--size smoke --seeds 1 --variants d12-mixture-x5-w24 --jobs 1 --data data",
    "charm reproduce tab:nanochat-token": "--size smoke --seeds 1 --variants d12-cose-x5-4640M --jobs 1 --data data",
    "charm reproduce tab:nano": "--size smoke --seeds 1 --variants d12 --jobs 1 --data data",
    "charm reproduce (tab:cose-cl|fig:)": "--size smoke --seeds 1 --variants cose-r32-memory-only-h0 --jobs 1",
    "charm train --resume": "--device cpu",
    "charm train car-": "--data.benchmark.rules 2 --data.benchmark.examples 8 --steps 2 --batch 4 --reasoner.layers 1 "
    "--reasoner.recurrences 1 --reasoner.horizon 1 --checkpoint-every 1 --evaluate-every 0 --device cpu",
    "charm train lm-": GPT,
    "charm train base --start": "--steps 2 --tokens 1863 --checkpoint-every 1 --device cpu --data.views 4 "
    "--reasoner.compute-dtype float32",
    "charm train base": "--steps 2 --tokens 1863 --checkpoint-every 1 --device cpu --data.views 4 --data.partial "
    "--reasoner.width 32 --reasoner.heads 2 --reasoner.layers 1 --reasoner.compute-dtype float32 "
    "--data.tasks 25ff71a9 3c9b0459 --data.auxiliary --data.synthetic rearc",
    "charm solve arc1/evaluation": "--steps 2 --views 2 --batch 4 --device cpu --choose 2",
    "charm train writer": "--steps 2 --tokens 1863 --checkpoint-every 1 --device cpu --data.views 4 "
    "--reasoner.width 32 --reasoner.heads 2 --reasoner.layers 1 --reasoner.compute-dtype float32 "
    "--data.tasks 25ff71a9 00576224 --data.auxiliary",
    "charm train (varc|loopvit)": "--steps 2 --batch 4 --checkpoint-every 1 --device cpu --data.views 4 "
    "--memory.rank 32 --reasoner.width 32 --reasoner.heads 2 --reasoner.layers 1 --reasoner.compute-dtype float32 "
    "--reasoner.placements 2 --data.tasks 25ff71a9 3c9b0459 --data.partial",
    "charm train (arc1|speedrun-public)( |$)": MODEL
    + "--data.tasks 25ff71a9 3c9b0459 00576224 --data.auxiliary --data.partial",
    "charm train quickstart .*--memory.rank 0": MODEL + "--data.tasks 25ff71a9 3c9b0459",
    "charm train .*--data.evaluate": MODEL + "--memory.rank 4",
    "charm train ": MODEL + "--memory.rank 4 --data.tasks 25ff71a9 3c9b0459",
    "charm eval runs/tiny": "--device cpu",
    "charm eval runs/(finetuned-split|shifts)": "--device cpu --views 2",
    "charm eval ": "--device cpu --batch 64",
    "charm solve ": "--steps 2 --views 2 --batch 4 --device cpu",
    "charm adapt ": "--tasks 1 --steps 2 --views 2 --batch 4 --device cpu",
    "charm view": "--port 0 --device cpu",
    "charm car build": "--rules 2 --examples 8",
    "charm car export": "--puzzles 1",
    "charm car show .*--run ": "--device cpu",
    "charm lm prepare": "--limit 200000 --validation 0.3",
    "charm lm sample": "--tokens 5 --device cpu",
    "charm bench lm-": "--batch 256 --seconds 0.1 --device cpu",
    "charm rearc2 build": "--tasks 00dbd492 --pairs 3 --workers 1",
    "charm rearc2 quarantine": "--workers 1",
    "python benchmarks/baselines.py": "--size tiny --device cpu --seconds 1 --only charm varc",
    "python benchmarks/continual_stages.py": "--stages 3",
    "python -m benchmarks.continual_study": "--size smoke --jobs 1 --device cpu",
    "python -m benchmarks.continual_released": "--size smoke --jobs 1 --device cpu --methods oracle "
    "--stream arc1/evaluation",  # the download of these tests is no real one, and only this process takes it
    "python examples/sudoku.py train": "--steps 2 --puzzles 8 --held-out 4 --batch 4 --device cpu",
    "python examples/sudoku.py eval": "--device cpu",
    "python examples/composer.py train": MODEL + "--memory.rank 4 --data.tasks 25ff71a9 3c9b0459",
    "python examples/composer.py eval": "--device cpu --batch 64",
    "python examples/objective.py train": "--steps 2 --tokens 1863 --checkpoint-every 1 --device cpu --data.views 4 "
    "--data.partial --reasoner.width 32 --reasoner.heads 2 --reasoner.layers 1 --reasoner.compute-dtype float32 "
    "--data.tasks 25ff71a9 3c9b0459 --data.synthetic rearc",
    "python examples/objective.py solve": "--steps 2 --views 2 --batch 4 --device cpu",
    "python examples/own_network.py train": "--steps 2 --batch 4 --checkpoint-every 1 --evaluate-every 0 --device cpu "
    "--data.views 4 --reasoner.width 32 --reasoner.layers 1 --memory.rank 4 --data.tasks 25ff71a9 3c9b0459",
    "python examples/own_network.py eval": "--device cpu --batch 64",
    "python examples/own_network.py solve": "--steps 2 --views 2 --batch 4 --device cpu",
    "python examples/own_network.py adapt": "--tasks 1 --steps 2 --views 2 --batch 4 --device cpu",
    "make ": "--dry-run",
}
# What is written instead in Python, to take seconds.
SMALL_PYTHON = {
    "budget=60": "budget=60, steps=2, views=2, batch=4, device='cpu'",
    "budget=120": "budget=60, steps=2, views=2, batch=4, device='cpu'",
    "steps=1125": "steps=2, device='cpu'",
    'out="runs/composition"': 'out="runs/composition", steps=2, device="cpu"',
    "views=16, loops=(2,)": "views=2, loops=(2,), device='cpu'",
}
PROCESSES = "--nproc-per-node 2 --standalone"  # to torchrun, in the same way; it takes any free port

# What is checked in another way, and why.
NOT_RUN = {
    "pip install": "it would change this environment and may need a network; names and extras are looked up instead",
    "make": "it would do everything again; its plan is asked for (--dry-run)",
}


class Desk:
    """A folder in which pages are followed, each once; a command that was run is not run again."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.done: set[tuple[str, ...]] = set()
        self.pages: set[str] = set()
        self.launched = False
        self.capsys = capsys

    def follow(self, page: str) -> None:
        if page in self.pages:
            return
        for before in AFTER.get(page, ()):
            self.follow(before)
        self.pages.add(page)
        if page == "docs/kaggle.md":  # in another folder
            for answered in Path().glob("submission*"):
                answered.unlink()
        for block in blocks(read(page)):
            for statement in statements(block.text) if block.is_shell else ():
                for call in calls(statement):
                    if tuple(call) not in self.done:
                        self.done.add(tuple(call))
                        self.run(call, f"{page}, line {block.line}: {shlex.join(call)}")

    def run(self, call: list[str], where: str) -> None:
        program, words = call[0], call[1:]
        if words[:1] == ["solve"] and "--resume" not in words:  # a reader's folder has no answers yet
            own = f"{Path(words[words.index('--out') + 1]).stem}.*" if "--out" in words else "*.submission.*"
            for answered in Path().glob(own):
                answered.unlink()
        if program == "pip":
            check_install(words)
        elif program == "torchrun":
            launcher, words = words[: words.index("-m")], words[words.index("charm", words.index("-m")) :]
            self.launch(launcher, with_small(words), where)
        elif program == "python":
            run_python(with_small(call)[1:], where)
        elif program == "make":
            run_program(with_small(call), where)
        else:
            self.run_charm(with_small(call)[1:], where)

    def launch(self, launcher: list[str], words: list[str], where: str) -> None:
        """Once with torchrun itself, whose processes import torch again; later with its options read, and forks."""
        options = [*launcher, *PROCESSES.split(), "-m"]
        if not self.launched:
            self.launched = True
            return run_python(["-m", "torch.distributed.run", *options, *words], where)
        get_args_parser().parse_args([*options, *words])
        group = forks.Group(2, "-m", *words, env={"OMP_NUM_THREADS": "1"})
        assert group.wait() == 0, where
        return None

    def run_charm(self, words: list[str], where: str) -> None:
        """In this process: importing torch again for each command would take most of the time."""
        try:
            (look_at_server if words[0] == "view" else main)(words)
        except SystemExit as stopped:
            if stopped.code not in (0, None):
                pytest.fail(f"{where}\n{self.capsys.readouterr().err}")


def with_small(call: list[str]) -> list[str]:
    text = " ".join(call)
    added = next((added for begin, added in SMALL.items() if re.match(begin, text)), "")
    return [*call, *shlex.split(added)]


def run_program(command: list[str], where: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, f"{where}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def run_python(arguments: list[str], where: str) -> None:
    program = forks.Program(*arguments)
    assert program.wait() == 0, f"{where}\n{program.stdout[-2000:]}\n{program.stderr[-4000:]}"


def look_at_server(words: list[str]) -> None:
    """Run `charm view` with a browser that reads the page once and then ends the server, as Ctrl-C would."""
    pages: list[bytes] = []

    def browse(url: str) -> None:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                pages.append(answer.read())
        finally:
            signal.raise_signal(signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webbrowser.open", lambda url: Thread(target=browse, args=(url,)).start())
        try:
            main(words)
        except SystemExit as stopped:
            if stopped.code:
                raise
        finally:
            signal.signal(signal.SIGTERM, before)
    assert pages, "the server's page could not be read"
    assert b"<html" in pages[0]


def check_install(words: list[str]) -> None:
    """pip installs this project or builds its wheels: as a folder, or by its name and extras that exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert words[0] in ("install", "wheel")
    for what in (word for word in words[1:] if not word.startswith("-")):
        name, extras = re.fullmatch(r"([\w.-]+)(?:\[(.*)\])?", what).groups()  # type: ignore[union-attr]
        assert name in (".", project["name"]), what
        assert set(extras.split(",") if extras else ()) <= set(project["optional-dependencies"]), what


# Pairs of two real tasks by a rule of ours: what `charm data rearc` finds unpacked needs no download.
GENERATORS = """
def generate_25ff71a9(rng, diff_lb, diff_ub):
    grid = tuple(tuple(rng.randrange(10) for _ in range(3)) for _ in range(3))
    return {"input": grid, "output": grid[::-1]}

generate_3c9b0459 = generate_25ff71a9
"""
VERIFIERS = """
def verify_25ff71a9(I):
    return I[::-1]

verify_3c9b0459 = verify_25ff71a9
"""


def lay_out(folder: Path) -> None:
    """A clone's folders, task files under the names that the pages use, and what would be downloaded."""
    for name in ("benchmarks", "examples", "Makefile", "pyproject.toml", "rearc2"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "docs").mkdir()  # `charm rearc2 quarantine` writes into it
    (folder / "docs" / "gallery").symlink_to(ROOT / "docs" / "gallery")
    write_toy_tasks(folder / "folder", 2)
    for name, number in (("a.json", 0), ("b.json", 1)):
        (folder / name).write_text((folder / "folder" / f"toy{number}.json").read_text())
    challenges = {path.stem: json.loads(path.read_text()) for path in sorted((folder / "folder").glob("*.json"))}
    (folder / "test_challenges.json").write_text(json.dumps(challenges))
    # Placeholders on the pages.
    (folder / "runs").mkdir()
    (folder / "RUN").symlink_to("runs/arc1")
    (folder / "runs" / "a").symlink_to("quickstart")
    (folder / "runs" / "b").symlink_to("composition")
    (folder / "DATA").symlink_to("data/lm")


def concept_arc(folder: Path) -> tuple[str, str]:
    """An archive of ConceptARC's shape to download from disk: its address and the hash of its tasks."""
    corpus = folder / "ConceptARC-main"
    task = {
        "train": [{"input": [[1, 0]], "output": [[0, 1]]}],
        "test": [{"input": [[2, 0]], "output": [[0, 2]]}],
    }
    for number, name in enumerate(sources.CONCEPT_ARC_FILES):
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        task["train"][0]["input"] = [[1, number // 100, number // 10 % 10, number % 10]]
        (corpus / name).write_text(json.dumps(task))
    archive = folder / "concept-arc.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(corpus, corpus.name)
    return archive.as_uri(), sources.load_source(corpus).sha256


def forked(job: PaperRun, device: str, gpu: str, at_once: int) -> forks.Program:
    """A run of `charm reproduce`, with the words of its command."""
    return forks.Program(*plans.command(job, device, at_once)[1:])


@pytest.fixture(scope="module")
def desk_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("desk")
    lay_out(folder)
    package = write_rearc_package(folder / "data", GENERATORS, VERIFIERS)
    url, sha256 = concept_arc(tmp_path_factory.mktemp("download"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARM_DATA", str(folder / "data"))
        patch.setattr(sources, "CONCEPT_ARC_URL", url)
        patch.setattr(sources, "CONCEPT_ARC_SHA256", sha256)
        for module in (rearc, web):
            patch.setattr(module, "package_file", lambda data=None, sha256="": package)
        patch.setattr(plans, "_start", forked)
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def followed() -> Desk:
    return Desk(None)  # type: ignore[arg-type]


@pytest.fixture
def desk(desk_folder: Path, followed: Desk, capsys: pytest.CaptureFixture[str]) -> Desk:
    followed.capsys = capsys
    return followed


@pytest.mark.parametrize("page", PAGES)
def test_every_command_runs(page: str, desk: Desk) -> None:
    desk.follow(page)


@pytest.mark.parametrize(
    "command",
    [
        "charm data show 007bbfb7 --dihedrall 1",
        "charm data show 00000000",
        "charm train arc1 --out runs/wrong --memory.no-such-field 1",
        "charm view runs/nowhere",
        "python examples/no_such_file.py",
        "make no-such-target",
        "pip install charm-arc[no-such-extra]",
        "pip install another-project",
    ],
)
def test_a_wrong_command_would_be_found(command: str, desk: Desk) -> None:
    with pytest.raises((pytest.fail.Exception, AssertionError)):
        desk.run(shlex.split(command), "here")


def test_commands_are_read_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = """Text with `charm one` in it.

    charm one "a b"   # a comment
    charm two \\
        --option 1
    for n in 1 2; do
      charm three $n *.json
    done

Output is no command:

    3 tasks, charm or not

```sh
python x.py $(echo y)
```
"""
    for name in ("a.json", "b.json"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    shell = [block for block in blocks(page) if block.is_shell]
    assert [block.line for block in shell] == [3, 14]
    assert [call for block in shell for one in statements(block.text) for call in calls(one)] == [
        ["charm", "one", "a b"],
        ["charm", "two", "--option", "1"],
        ["charm", "three", "1", "a.json", "b.json"],
        ["charm", "three", "2", "a.json", "b.json"],
        ["python", "x.py", "y"],
    ]
    assert spans(page) == ["charm one"]


def test_what_is_not_run_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {" ".join(call[:2]) for call in all_calls()}
    with capsys.disabled():
        for begin, reason in NOT_RUN.items():
            assert any(command.startswith(begin) for command in shown), f"no page shows {begin}"
            print(f"\nnot run: {begin} ({reason})", end="")


def test_every_rule_is_needed() -> None:
    shown = [" ".join(call if call[0] != "torchrun" else call[call.index("-m") + 1 :]) for call in all_calls()]
    for begin in SMALL:
        assert any(re.match(begin, text) for text in shown), f"no page shows {begin}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    missing = [link for link in links(read(page)) if not (ROOT / page).parent.joinpath(link.split("#")[0]).exists()]
    assert not missing


def test_the_readme_is_short() -> None:
    assert len(read("README.md").splitlines()) <= 130


def test_every_page_is_reached_from_the_readme() -> None:
    assert {f"docs/{path.name}" for path in ROOT.glob("docs/*.md")} <= set(links(read("README.md")))


@pytest.mark.parametrize("page", PAGES)
def test_python_runs(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Block by block, each with the names of those before it, in a folder like a clone's."""
    examples = {path.read_text() for path in ROOT.glob("examples/*.py")}  # those run as commands
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(read(page)):
        if block.language == "python" and block.text not in examples:
            text = block.text
            for long, short in SMALL_PYTHON.items():
                text = text.replace(long, short)
            snippet = tmp_path / f"line_{block.line}.py"
            snippet.write_text(text)
            names |= runpy.run_path(str(snippet), init_globals=names)


def test_charm_is_imported_before_torch() -> None:
    """Its first import decides how torch's threads wait; `examples/ruff.toml` sees to examples and notebooks."""
    for page in PAGES:
        for block in blocks(read(page)):
            names = re.findall(r"^(?:import|from) (charm|torch)\b", block.text, re.M)
            assert "charm" not in names or names[0] == "charm", f"{page}, line {block.line}"


def test_the_example_is_shown_as_it_is() -> None:
    example = (ROOT / "examples" / "own_keys.py").read_text()
    assert next(block.text for block in blocks(read("docs/memory.md")) if block.language == "python") == example


OPTION = re.compile(r"(?<![\w-])--[a-z][\w.-]*")
LISTED = re.compile(r"│ (?:-h, )?(--[a-z][\w.-]*)")  # in a help text, which may have columns
# Commands whose flags depend on what comes first.
FIRST = {
    ("train",): ("arc1", "quickstart", "base", "varc-arc1", "car-small", "lm-tiny-cose"),
    ("eval",): ("arc", "car", "lm"),  # folders of runs
    ("bench",): ("arc1", "car-small", "lm-tiny"),
}


@pytest.fixture(scope="module")
def options_of(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], set[str]]:
    """Command -> the options in its help; `charm train` has those of the presets, `charm eval` those of runs."""
    home = tmp_path_factory.mktemp("runs")
    for domain in FIRST["eval",]:
        (home / domain).mkdir()
        (home / domain / "config.json").write_text(json.dumps({"domain": domain}))
    found: dict[tuple[str, ...], set[str]] = {}

    def ask(*words: str) -> None:
        text = help_text(*words)
        command = next((path for path in FIRST if words[: len(path)] == path), words)
        found.setdefault(command, set()).update(LISTED.findall(text) if words else ("--help", "--version"))
        for first in FIRST.get(words, ()):
            ask(*words, str(home / first) if words == ("eval",) else first)
        inner = re.match(r"usage: [^{\n]*\[-h\] \{([\w,-]+)\}$", text, re.MULTILINE)
        listed = re.findall(r"^  (\w+)  ", text, re.MULTILINE) if not words else []
        for name in inner[1].split(",") if inner else listed:
            ask(*words, name)

    ask()
    return found


def help_text(*words: str) -> str:
    """What `charm ... --help` prints, on lines wide enough that no option is broken."""
    shown = TextIOWrapper(BytesIO(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(shown):
        patch.setenv("COLUMNS", "400")
        with pytest.raises(SystemExit):
            main([*words, "--help"])
    shown.seek(0)
    return shown.read()


@pytest.mark.parametrize("page", PAGES)
def test_options_in_the_text_exist(page: str, options_of: dict[tuple[str, ...], set[str]]) -> None:
    others = "".join(path.read_text() for path in ROOT.glob("benchmarks/*.py"))
    known = set().union(*options_of.values()) | set(OPTION.findall(others))
    # A preset's help has the flags that act in it; those of another memory design do next to its flag.
    known |= {f"--memory.{field.name}".replace("_", "-") for field in fields(MemoryConfig)}
    wrong = []
    for span in (part.strip() for whole in spans(read(page)) for part in whole.split("&&")):
        words = span.split() or [""]
        expected = known
        if words[0] == "charm" and words[1:]:
            paths = [tuple(words[1:3]), tuple(words[1:2]), *([()] if words[1].startswith("-") else [])]
            command = next((path for path in paths if path in options_of), None)
            if command is None:
                wrong.append(span)
                continue
            expected = options_of[command]
        elif words[0] == "torchrun":
            expected = known | {"--nproc-per-node"}
        wrong += [span for option in OPTION.findall(span) if option not in expected]
    assert not wrong


def all_calls() -> list[list[str]]:
    return [
        call
        for page in PAGES
        for block in blocks(read(page))
        if block.is_shell
        for statement in statements(block.text)
        for call in calls(statement)
    ]
