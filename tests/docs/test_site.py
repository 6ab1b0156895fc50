"""The documentation site builds without a network and without a warning, and works when it is opened as files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

import charm
from charm.arc.run import ArcEvaluation
from charm.solving.options import SolveOptions, WriterRecipe
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("mkdocstrings")


def build(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    done = build(ROOT / "mkdocs.yml", out)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_site_has_all_pages(site: Path) -> None:
    for page in (
        "index.html",
        "api.html",
        "gallery/base.html",
        "gallery/quickstart.html",
        "rearc2-gallery.html",
        "icon.svg",
    ):
        assert (site / page).is_file()
    reference = (site / "reference.html").read_text()
    for name in ("charm.api.solve", "charm.memory.cose.CoSE", "charm.tasks.view.View"):
        assert f'id="{name}"' in reference
    shown = {*re.findall(r"[\w.]+", " ".join(re.findall(r"<h3[^>]*>([^<]*)<", reference)))}
    names = {f"charm.{name}" for name in set(dir(charm)) - {"__version__", "load_source", "memory"}}
    assert names <= shown  # under the names that users write
    assert not {"load", "api", "charm.tasks.load"} & shown
    assert '<span class="nf">tasks</span>' in reference
    assert "See docs/" not in reference
    for options in (SolveOptions(), WriterRecipe(), ArcEvaluation()):
        for name in vars(options):
            assert re.search(rf"<td><code>{name}</code></td>\s*<td><code>.+</code></td>\s*<td>\S.*</td>", reference), (
                name
            )
    home = (site / "index.html").read_text()
    assert "fonts.googleapis" not in home
    assert 'href="quickstart.html"' in home
    assert 'href="../gallery.html"' in (site / "gallery/quickstart.html").read_text()
    assert 'href="../gallery.html"' in (site / "gallery/base.html").read_text()
    assert 'href="gallery.html"' in (site / "rearc2-gallery.html").read_text()
    assert ".md</a>" not in (site / "reproduce.html").read_text()


def test_links_lead_somewhere(site: Path) -> None:
    """In all pages, the generated ones too. 404.html alone is for a server."""
    missing = []
    for page in set(site.rglob("*.html")) - {site / "404.html"}:
        for link in set(re.findall(r"""(?:href|src)=["'](?![a-z]+:|#|//)([^"']+)["']""", page.read_text())):
            path, _, anchor = unquote(link).partition("#")
            target = page.parent / path
            if not target.is_file() or (anchor and f'id="{anchor}"' not in target.read_text()):
                missing.append(f"{page.relative_to(site)}: {link}")
    assert missing == []


def test_a_notebook_is_shown_with_its_outputs(site: Path) -> None:
    text = (site / "notebooks" / "own_keys.html").read_text()
    assert '<div class="output"><pre>low-rank table' in text
    assert "colab-badge" not in text


def test_it_works_without_a_server(site: Path, page: Page) -> None:
    """Nothing is loaded from elsewhere (the fixture sees to that), search finds pages, and commands are not cut."""
    page.goto((site / "index.html").as_uri())
    page.click(".md-search__input")
    page.keyboard.type("rehearsal")
    page.wait_for_selector(".md-search-result__item")
    page.goto((site / "train.html").as_uri())
    cut = "[...document.querySelectorAll('pre')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.evaluate(cut) == 0
    for name in ("index", "compared", "speedrun"):  # all columns of their tables are in view
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate(cut.replace("pre", ".md-typeset__scrollwrap")) == 0
        assert page.locator("table").count()


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    shutil.copy(ROOT / "docs" / "api.md", docs / "index.md")  # its neighbours are missing
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: broken\nstrict: true\ntheme: {name: material, font: false}\n")
    assert build(config, tmp_path / "broken").returncode != 0
