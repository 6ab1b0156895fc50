"""Add what the site has beyond docs/: pages of other folders, linked files, notebooks, the API reference, galleries."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from dataclasses import is_dataclass
from functools import cache
from html import escape
from importlib import import_module
from inspect import getsource
from itertools import pairwise
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
    "charm/released/base/README.md": "model_base.md",
    "charm/released/speedrun/README.md": "model_speedrun.md",
}
SOURCES = {site: page for page, site in BESIDE.items()}
GALLERIES = {  # page -> the way back from it
    "gallery/base.html": "../gallery.html",
    "gallery/quickstart.html": "../gallery.html",
    "rearc2-gallery.html": "gallery.html",
}
WIDE = ("compared.md", "speedrun.md")  # their tables need the room of the table of contents
NOTEBOOKS = {f"notebooks/{path.stem}.md": path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
PROGRAMS = ("charm ", "python ", "make ", "pip ", "torchrun ")
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")

# What the API reference shows: what users write -> where it is defined. Classes show the members named after it.
REFERENCE = {
    "The library": {
        "charm.load": "charm.api.load",
        "charm.solve": "charm.api.solve",
        "charm.tasks": "charm.tasks.load",
        "charm.preset": "charm.api.preset",
        "charm.train": "charm.api.train",
        "charm.evaluate": "charm.api.evaluate",
        "charm.CharmError": "charm.errors.CharmError",
    },
    "Options": {
        "charm.SolveOptions": "charm.solving.options.SolveOptions",
        "WriterRecipe": "charm.solving.options.WriterRecipe",
        "Options of charm.evaluate": "charm.arc.run.ArcEvaluation",
    },
    "Tasks": {
        "charm.Task": "charm.tasks.task.Task id train test blind",
        "Pair": "charm.tasks.task.Pair input output",
        "TaskList": "charm.tasks.sources.TaskList",
        "charm.View": "charm.tasks.view.View dihedral colors apply invert apply_to_task",
    },
    "Answers and models": {
        "charm.Solution": "charm.solving.solution.Solution answers best submission save doubt often cast views updates "
        "exact_accuracy loss seconds diverged",
        "charm.Solutions": "charm.solving.solution.Solutions",
        "Candidate": "charm.evaluation.ranking.Candidate grid votes confidence",
        "Evaluated": "charm.api.Evaluated",
        "charm.CharmModel": "charm.models.model.CharmModel from_pretrained save_pretrained push_to_hub card grow task",
    },
    "The memory": {
        "charm.memory.CoSE": "charm.memory.cose.CoSE",
        "charm.memory.TableMemory": "charm.memory.cose.TableMemory",
        "Factors": "charm.memory.factors",
        "Composers": "charm.memory.composers",
        "Optimizers": "charm.memory.optimizers",
    },
}


def reference_page() -> str:
    """Return the API reference, for mkdocstrings to fill in."""
    text = "# API reference\n\n[CHARM as a library](api.md) shows how the parts are used together.\n"
    for section, names in REFERENCE.items():
        text += f"\n## {section}\n"
        for name, place in names.items():
            path, *members = place.split()
            options: dict[str, Any] = {
                "heading": name,
                "toc_label": name,
                "show_overloads": False,
                "show_labels": False,
            }
            options |= {"members": members, "show_if_no_docstring": True} if members else {}
            if table := fields_table(path) if section == "Options" else "":
                options["members"] = False
            text += f"\n::: {path}\n    options: {json.dumps(options)}\n\n{table}"
    return text


def fields_table(path: str) -> str:
    """Return the fields of a dataclass with their defaults and what is written below them."""
    module, _, name = path.rpartition(".")
    kind = getattr(import_module(module), name)
    texts = {}
    for part in kind.__mro__[:-1]:
        body = ast.parse(getsource(part)).body[0].body  # type: ignore[attr-defined]
        for field, below in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                texts[field.target.id] = " ".join(below.value.value.split())  # type: ignore
    made = vars(kind())
    shown = {name: f"{type(value).__name__}()" if is_dataclass(value) else repr(value) for name, value in made.items()}
    rows = "".join(f"| `{name}` | `{default}` | {texts[name]} |\n" for name, default in shown.items())
    return f"| field | default | meaning |\n|---|---|---|\n{rows}"


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and every file of the repository that some page links to."""
    pages = {site: (ROOT / page).read_text() for page, site in BESIDE.items()}
    pages["reference.md"] = reference_page()
    pages |= {name: notebook_page(path) for name, path in NOTEBOOKS.items()}
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
    for (name, back), content in zip(
        GALLERIES.items(), (base_page(), quickstart_page(), rearc2_gallery()), strict=True
    ):
        link = f'<p><a href="{back}">\u2190 back to the documentation</a></p>'
        files.append(File.generated(config, name, content=re.sub(r"(<body[^>]*>)", rf"\1{link}", content, count=1)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links lead to where their targets are on the site, under their titles; one to a folder becomes plain text."""
    name = page.file.src_uri
    if name in WIDE:
        page.meta["hide"] = ["toc"]
    if name in NOTEBOOKS:
        return markdown

    def moved(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = _in_repository(name, target)
        if path is None:
            return found[0]
        if path.is_dir():
            return text[1:-1]
        if text == f"[{path.name}]" and path.suffix == ".md":  # a generated page names files
            text = f"[{path.read_text().partition('# ')[2].partition(chr(10))[0]}]"
        return f"{text}({_on_site(path) or f'files/{path.relative_to(ROOT).as_posix()}'}{anchor})"

    if name == "gallery.md":  # links that would be broken in the repository
        for made in GALLERIES:
            markdown = markdown.replace(f"On the site: `{made}`", f"[Open the gallery]({made})")
    # Code keeps what looks like a link.
    parts = re.split(r"(```.*?```|`[^`\n]*`)", markdown, flags=re.DOTALL)
    return "".join(part if number % 2 else LINK.sub(moved, part) for number, part in enumerate(parts))


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Mark the commands of a block and their comments, so that long ones can wrap."""

    def marked(found: re.Match[str]) -> str:
        lines = found[1].rstrip("\n").split("\n")
        if not any(line.startswith(PROGRAMS) for line in lines):
            return found[0]
        comment = r'\1<span class="c1"><span class="flag">\2</span>\3</span>'  # no line ends with its sign
        lines = [re.sub(r"(\s)(# \S*)(.*)$", comment, line) for line in lines]
        shown = (re.sub(r"(?<=\s)(--[\w.-]+)", r'<span class="flag">\1</span>', line) for line in lines)
        return "<code>" + "".join(f'<span class="command">{line}\n</span>' for line in shown) + "</code>"

    if page.file.src_uri == "reference.md":  # under the name that users write
        html = re.sub(r'(id="charm\.tasks\.load".*?<span class="nf">)load', r"\1tasks", html, count=1, flags=re.DOTALL)
    return re.sub(r"<code>([^<]*)</code>(?=</pre>)", marked, html)


def _in_repository(page: str, target: str) -> Path | None:
    """Return the file or folder that a relative link on this page means."""
    if re.match(r"[a-z]+:", target) or target in GALLERIES:
        return None
    folder = (ROOT / SOURCES.get(page, f"docs/{page}")).parent
    path = Path(os.path.normpath(folder / target))
    return path if path.exists() else None


def _on_site(path: Path) -> str | None:
    """Return the page or picture of the site that a file of the repository is, if it is one."""
    inside = path.relative_to(ROOT).as_posix()
    if path in NOTEBOOKS.values():
        return inside.replace(".ipynb", ".md")
    return BESIDE.get(inside) or (inside.removeprefix("docs/") if inside.startswith("docs/") else None)


def notebook_page(path: Path) -> str:
    """Return a notebook as Markdown: its texts, its code, and the outputs that are stored in it."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            text = f"```python\n{text}\n```\n\n{''.join(map(_output, cell['outputs']))}"
        # A badge becomes plain text: nothing is loaded from elsewhere.
        text = re.sub(r"!\[([^\]]*)\]\(https:[^)]*\)", r"\1", text)
        parts.append(re.sub(r"`(\w+)\.ipynb`", r"[\1](\1.md)", text))
    return "\n\n".join(parts)


def _output(output: dict[str, Any]) -> str:
    """Return a stored output as HTML, without the empty lines that would end it in Markdown."""
    data = output.get("data", {})
    text = escape("".join(output.get("text", data.get("text/plain", ""))))
    shown = "".join(data.get("text/html", "")) or f"<pre>{text}</pre>"
    return '<div class="output">' + re.sub(r"\n+", "\n", shown) + "</div>\n\n"


@cache
def base_page() -> str:
    """Return the page of the solve in docs/gallery by the released model, and where its numbers are from."""
    from charm.report.pages import write_pages

    with tempfile.TemporaryDirectory() as scratch:
        page = write_pages([ROOT / "docs/gallery/solves/base.json"], Path(scratch, "page.html")).read_text()
    record = "benchmarks/results/solve_base_400.json"
    sources = (record, "benchmarks/results/solve_base.json", "docs/gallery/solves/base.scores.json")
    solve, training, scores = (json.loads((ROOT / source).read_text()) for source in sources)
    seconds = training["numbers"]["base seconds, three pieces"]
    dollars = (seconds + scores["seconds"]) / 3600 * scores["dollars_per_hour"]
    log = f"../LOG.html#{solve['date']}-what-does-base-score-with-half-the-seconds"
    about = (
        f"<code>{solve['command']}</code>, one run (<a href='../files/{record}'>"
        f"record</a>, <a href='{log}'>log</a>). The weights were trained before in {seconds} s "
        f"(<a href='../model_base.html'>how</a>): {dollars:.2f} dollars for both."
    )
    return page.replace('<div class="cards">', f'<p class="soft">{about}</p><div class="cards">', 1)


@cache
def quickstart_page() -> str:
    """Return the report page of the quickstart run in docs/gallery."""
    from charm.report.page import write_report

    with tempfile.TemporaryDirectory() as scratch:
        return write_report(ROOT / "docs/gallery/quickstart", out=Path(scratch, "page.html")).read_text()


@cache
def rearc2_gallery(pairs: int = 3) -> str:
    """Return every Re-ARC2 task with its rule and a few generated pairs."""
    from rearc2.workbench.gallery import gallery
    from rearc2.workbench.packages import package_ids
    from rearc2.workbench.preview import generated_pairs

    return gallery({task: generated_pairs(task, pairs, seed=0).values() for task in package_ids()})
