"""What the documentation shows: code blocks, commands as a shell reads them, links, code spans, cells of notebooks."""

from __future__ import annotations

import ast
import json
import linecache
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md")),
)
PROGRAMS = ("charm", "python", "torchrun", "make", "pip")

# The shell expands variables, globs and loops and drops comments, but the programs only print how they were called.
# `srun` and `scontrol` stand for a SLURM allocation of one machine. Nothing is cloned.
PREAMBLE = "".join(f'{name}() {{ printf "%s\\0" {name} "$@"; echo; }}\n' for name in PROGRAMS) + (
    'srun() { "$@"; }\nscontrol() { echo localhost; }\nSLURM_NNODES=1 SLURM_JOB_NODELIST=localhost\n'
    "git() { :; }\ncd() { :; }\n"
)


@dataclass(frozen=True)
class Block:
    """A code block of a page: the language of its fence ("" for none), and its text without indentation."""

    line: int
    language: str
    text: str

    @property
    def is_shell(self) -> bool:
        return self.language in ("", "sh", "bash", "shell") and any(
            line.split()[:1] in ([name] for name in (*PROGRAMS, "srun")) for line in self.text.splitlines()
        )


def read(page: str) -> str:
    return (ROOT / page).read_text()


def blocks(text: str) -> list[Block]:
    """Fenced blocks, and blocks indented by four spaces after an empty line."""
    found: list[Block] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        first = number
        if fence := re.match(r"```(\w*)$", lines[number]):
            number += 1
            while lines[number] != "```":
                number += 1
            found.append(Block(first + 1, fence[1], "\n".join(lines[first + 1 : number]) + "\n"))
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            inside = "\n".join(line[4:] for line in lines[first:number]).rstrip() + "\n"
            found.append(Block(first + 1, "", inside))
            continue
        number += 1
    return found


def statements(text: str) -> list[str]:
    """A shell block, cut where bash would run what it has read: continued lines and loops stay together."""
    found, open_lines = [], ""
    for line in text.splitlines(keepends=True):
        open_lines += line
        if not line.endswith("\\\n") and _bash("-n", script=open_lines).returncode == 0:
            found.append(open_lines)
            open_lines = ""
    assert not open_lines, f"bash cannot read this block:\n{open_lines}"
    return found


def calls(statement: str) -> list[list[str]]:
    """The calls of programs in the statement, expanded in the current folder."""
    done = _bash(script=PREAMBLE + statement)
    assert done.returncode == 0, f"{statement}\n{done.stderr}"
    assert not done.stderr, f"{statement}\n{done.stderr}"
    return [call.removesuffix("\0").split("\0") for call in done.stdout.splitlines()]


def links(text: str) -> list[str]:
    """Where the page links to and which pictures it shows, other sites apart."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_blocks(text))
    return [target for target in found if not re.match(r"https?://|mailto:", target)]


def spans(text: str) -> list[str]:
    """Code spans in running text and tables."""
    return [span.replace("\\|", "|") for span in re.findall(r"`([^`\n]+)`", without_blocks(text))]


def without_blocks(text: str) -> str:
    lines = text.splitlines()
    for block in blocks(text):
        fence = 1 if lines[block.line - 1].startswith("```") else 0
        for number in range(block.line - 1, block.line - 1 + block.text.count("\n") + 2 * fence):
            lines[number] = ""
    return "\n".join(lines)


def _bash(*options: str, script: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run(["bash", *options], input=script, capture_output=True, text=True, env=environment)


def cells(notebook: Path, kind: str) -> list[dict[str, Any]]:
    content = json.loads(notebook.read_text())
    assert (content["nbformat"], content["metadata"]["kernelspec"]["name"]) == (4, "python3")
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def run_cell(text: str, where: str, names: dict[str, Any]) -> object:
    """Run a cell as a notebook does: the value of its last line, if that is an expression, is shown."""
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)  # for tracebacks
    tree = ast.parse(text, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), where, "eval"), names)
