"""`make shell`: the environment wins over what a shell's start-up file puts on the path, as pyenv and conda do."""

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_start_up_file_cannot_hide_the_environment(tmp_path: Path, shell: str) -> None:
    if not all(map(shutil.which, (shell, "make"))):
        pytest.skip(f"needs make and {shell}")
    environment, other = tmp_path / "venv", tmp_path / "conda"
    venv.create(environment)
    (environment / ".installed").touch()  # newer than pyproject.toml, so nothing is installed
    other.mkdir()
    (other / "python").symlink_to("/bin/false")
    start = f'export PATH="{other}:$PATH"\n'
    for file in (".bashrc", ".zshrc", ".config/fish/config.fish"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(start)
    run = subprocess.run(
        ["make", "shell", f"VENV={environment}"],
        cwd=ROOT,
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / ".config"),
            "SHELL": f"/bin/{shell}",
        },
        input="command -v python; exit\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert str(environment / "bin/python") in run.stdout.split(), run.stderr
