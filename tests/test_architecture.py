"""The shape of the code: imports run one way, drawing libraries stay in their room, a name means one thing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "charm").rglob("*.py"))}
MOST_LINES = 60  # of a command, its docstring apart
DRAWING = {"drawing", "progress", "commands"}  # units that may import rich and matplotlib


def listed_units() -> list[str]:
    """The units in the map of ARCHITECTURE.md, bottom first."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    block = text.partition("    charm/\n")[2]
    lines = re.findall(r"^ {6}(\w+)/? .*\n|^(.)", block, re.MULTILINE)
    units = []
    for name, _ in lines:
        if not name:
            break  # the first line outside the list
        units.append(name)
    return units


def unit_of(path: Path) -> str:
    """The folder or module directly inside charm/; the package itself is __init__."""
    return path.relative_to(ROOT / "charm").parts[0].removesuffix(".py")


def imports(path: Path, tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every module that is imported anywhere in the file, by its full name, with the line."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{base}.{alias.name}", node.lineno


def unit_imports() -> dict[tuple[str, str], list[str]]:
    """(importing unit, imported unit) -> the places."""
    found = defaultdict(list)
    units = {unit_of(path) for path in MODULES}
    for path, tree in MODULES.items():
        for name, line in imports(path, tree):
            first, _, rest = name.partition(".")
            if first != "charm":
                continue
            unit = rest.split(".")[0]
            target = unit if unit in units else "__init__"  # a name of the package itself
            if target != unit_of(path):
                found[unit_of(path), target].append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    return found


def test_the_list_names_every_unit_once() -> None:
    units = listed_units()
    assert len(units) == len(set(units))
    assert set(units) == {unit_of(path) for path in MODULES} - {"__init__"}


def test_imports_run_one_way() -> None:
    """So there is no cycle either: every import goes down a list."""
    order = {unit: number for number, unit in enumerate([*listed_units(), "__init__"])}
    edges = unit_imports().items()
    wrong = [place for (low, high), places in edges if order[low] < order[high] for place in places]
    assert not wrong, "imports against the order of ARCHITECTURE.md:\n" + "\n".join(wrong)


def test_imports_are_found_wherever_they_stand() -> None:
    code = """
import charm.cli as line
from charm import commands
if TYPE_CHECKING:
    from charm.web import api
def late():
    from ..report.page import write_report
"""
    found = [name for name, _ in imports(ROOT / "charm" / "tasks" / "invented.py", ast.parse(code))]
    assert found == ["charm.cli", "charm.commands", "charm.web.api", "charm.report.page.write_report"]


def test_no_test_module_imports_from_another() -> None:
    """What several of them use is in a conftest.py, in tests/toy, or in a module without tests next to them."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert len(files) > 100
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in files
        for name, line in imports(path, ast.parse(path.read_text()))
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ]
    assert not wrong


def test_language_models_load_nothing_of_arc() -> None:
    """Text needs neither tasks, nor a reasoner, nor votes."""
    code = (
        "import sys, charm.language.run, charm.language.presets\n"
        "print(*(name for name in sys.modules if name.startswith('charm.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name.split(".")[1] for name in done.stdout.split()}
    assert "language" in loaded
    arc = {"tasks", "models", "evaluation", "solving", "continual", "arc", "automata", "presets"}
    assert not loaded & (arc | {"rich", "drawing"})


def test_commands_are_thin() -> None:
    """A command parses, calls the library and prints: what is longer belongs to the library."""
    long = []
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if unit_of(path) == "commands" and isinstance(node, ast.FunctionDef):
                lines = node.body[-1].end_lineno - node.body[1 if ast.get_docstring(node) else 0].lineno + 1
                if lines > MOST_LINES:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not long


def test_rich_and_matplotlib_stay_where_things_are_drawn() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path, tree in MODULES.items()
        for name, line in imports(path, tree)
        if name.split(".")[0] in ("rich", "matplotlib") and unit_of(path) not in DRAWING
    ]
    assert not wrong


ASKS_WHICH_NETWORK = re.compile(
    r"kind (==|!=|in) \(?\"(writer|vit|canvas|urm|trm|hrm)|isinstance\([^)]*(Writer|Vit|Canvas|Packs)"
)


def test_only_models_know_which_network_they_have() -> None:
    """Everything else asks through `charm.models.network` and the network's configuration."""
    asking = {
        str(path.relative_to(ROOT))
        for path in MODULES
        if unit_of(path) != "models" and ASKS_WHICH_NETWORK.search(path.read_text())
    }
    assert not asking


def test_a_name_means_one_thing() -> None:
    """No two modules define a class or a type of the same name."""
    places = defaultdict(list)
    for path, tree in MODULES.items():
        for node in ast.iter_child_nodes(tree):
            names = []
            if isinstance(node, ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign) and not _is_type_variable(node.value):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                if re.match(r"[A-Z]+[a-z]", name):
                    places[name].append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def _is_type_variable(value: ast.AST) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "TypeVar"


def test_paths_that_are_written_down_exist() -> None:
    """In the Makefile and in documents: code that moves takes its mentions along."""
    pages = [ROOT / "Makefile", *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(r"\b(?:charm|tests|benchmarks|examples)/[\w/]+\.(?:py|md)\b", page.read_text())
    }
    assert len(named) > 30
    assert not {(page, path) for page, path in named if not (ROOT / path).exists()}
