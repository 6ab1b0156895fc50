"""The documentation site builds without a network and without a warning."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("mkdocstrings")


def build(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-f",
        str(config),
        "-d",
        str(out),
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_site_builds_and_a_broken_link_is_an_error(tmp_path: Path) -> None:
    done = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("index.html", "api.html", "gallery/quickstart.html", "rearc2-gallery.html"):
        assert (tmp_path / "site" / page).is_file()
    reference = (tmp_path / "site" / "reference.html").read_text()
    for name in ("charm.api.solve", "charm.memory.cose.CoSE", "charm.tasks.view.View"):
        assert f'id="{name}"' in reference
    home = (tmp_path / "site" / "index.html").read_text()
    assert "fonts.googleapis" not in home
    assert 'href="quickstart.html"' in home

    docs = tmp_path / "docs"
    docs.mkdir()
    shutil.copy(ROOT / "docs" / "api.md", docs / "index.md")  # its neighbours are missing
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: broken\nstrict: true\ntheme: {name: material, font: false}\n")
    assert build(config, tmp_path / "broken").returncode != 0
