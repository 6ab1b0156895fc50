import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import FOLDERS, ROOT

SEEN = """
import os, tests.conftest
from charm.paths import data_dir
print(data_dir())
print(os.path.expanduser("~"))
"""


def test_what_the_machine_holds_is_not_seen(tmp_path: Path) -> None:
    """A run of the suite with a home and a data folder that hold something would use others, empty ones."""
    (tmp_path / "rearc2").mkdir()
    (tmp_path / "rearc2" / "manifest.json").write_text("{}")
    changed = {name: str(tmp_path) for name in FOLDERS}
    found = subprocess.run(
        [sys.executable, "-c", SEEN],
        env={**os.environ, **changed},
        capture_output=True,
        text=True,
        check=True,
    )
    folders = [Path(line) for line in found.stdout.split("\n") if line]
    assert len(folders) == 2
    assert all(tmp_path != folder and tmp_path not in folder.parents for folder in folders)
    assert not any((folder / "rearc2").exists() for folder in folders)


def test_subprocesses_see_what_tests_see() -> None:
    told = "import os; from charm.paths import data_dir; print(data_dir()); print(os.path.expanduser('~'))"
    found = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(ROOT / "data"), str(ROOT / "home")]
