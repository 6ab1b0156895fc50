"""What the site has beyond docs/: pages of the parent folder, linked files, the API reference, the galleries."""

from __future__ import annotations

import os
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
# Pages that live elsewhere in the repository -> their names on the site.
BESIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/gpu_notes.md": "gpu_notes.md",
}
SOURCES = {site: page for page, site in BESIDE.items()}
GALLERIES = ("gallery/quickstart.html", "rearc2-gallery.html")  # made with the site
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")

REFERENCE = """# API reference

From the docstrings. [api.md](api.md) shows how the parts are used together.

## The library

::: charm.api
    options:
      show_root_heading: false
      members: [load, solve, preset, train, evaluate]

::: charm.tasks.load
    options:
      show_root_full_path: true

## Tasks and answers

::: charm.tasks.task.Task
::: charm.tasks.task.Pair
::: charm.tasks.view.View
::: charm.solving.solution.Solution
::: charm.evaluation.ranking.Candidate
::: charm.models.model.CharmModel
    options:
      members: [from_pretrained, save_pretrained, push_to_hub, card, grow, task]

## The memory

::: charm.memory.cose.CoSE
::: charm.memory.cose.TableMemory
::: charm.memory.factors
::: charm.memory.composers
::: charm.memory.tables
::: charm.memory.optimizers
"""


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and every file of the repository that some page links to."""
    pages = {site: (ROOT / page).read_text() for page, site in BESIDE.items()}
    pages["reference.md"] = REFERENCE
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    texts = {file.src_uri: file.content_string for file in files if file.src_uri.endswith(".md")}
    for name, text in texts.items():
        for _, target, _ in LINK.findall(text):
            path = _in_repository(name, target)
            if path and path.is_file() and not _on_site(path):
                uri = f"files/{path.relative_to(ROOT).as_posix()}"
                if files.get_file_from_path(uri) is None:
                    files.append(File.generated(config, uri, content=path.read_bytes()))
    for name, content in zip(GALLERIES, (quickstart_page(), rearc2_gallery()), strict=True):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links lead to where their targets are on the site; a link to a folder becomes plain text."""
    name = page.file.src_uri

    def moved(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = _in_repository(name, target)
        if path is None:
            return found[0]
        if path.is_dir():
            return text[1:-1]
        return f"{text}({_on_site(path) or f'files/{path.relative_to(ROOT).as_posix()}'}{anchor})"

    if name == "gallery.md":  # links that would be broken in the repository
        for made in GALLERIES:
            markdown = markdown.replace(f"`{made}`", f"[{made}]({made})")
    # Code keeps what looks like a link.
    parts = re.split(r"(```.*?```|`[^`\n]*`)", markdown, flags=re.DOTALL)
    return "".join(part if number % 2 else LINK.sub(moved, part) for number, part in enumerate(parts))


def _in_repository(page: str, target: str) -> Path | None:
    """The file or folder that a relative link on this page means."""
    if re.match(r"[a-z]+:", target) or target in GALLERIES:
        return None
    folder = (ROOT / SOURCES.get(page, f"docs/{page}")).parent
    path = Path(os.path.normpath(folder / target))
    return path if path.exists() else None


def _on_site(path: Path) -> str | None:
    """The page or picture of the site that a file of the repository is, if it is one."""
    inside = path.relative_to(ROOT).as_posix()
    return BESIDE.get(inside) or (inside.removeprefix("docs/") if inside.startswith("docs/") else None)


@cache
def quickstart_page() -> bytes:
    """The report page of the quickstart run in docs/gallery."""
    from charm.report.page import write_report

    with tempfile.TemporaryDirectory() as scratch:
        return write_report(ROOT / "docs/gallery/quickstart", out=Path(scratch, "page.html")).read_bytes()


@cache
def rearc2_gallery(pairs: int = 3) -> str:
    """Every Re-ARC2 task with its rule and a few generated pairs."""
    from rearc2.workbench.gallery import gallery
    from rearc2.workbench.packages import package_ids
    from rearc2.workbench.preview import generated_pairs

    return gallery({task: generated_pairs(task, pairs, seed=0).values() for task in package_ids()})
