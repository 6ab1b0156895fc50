"""The shape of the code: imports run one way, drawing libraries stay in their room, a name means one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {path: ast.parse(path.read_text()) for path in sorted((ROOT / "charm").rglob("*.py"))}
DRAWING = {"drawing", "progress", "commands"}  # units that may import rich and matplotlib

# Imports against the order that are still there, with the reason; nothing may be added.
KNOWN: dict[tuple[str, str], str] = {}


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
    package = ["charm", *path.relative_to(ROOT / "charm").parts[:-1]]
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
    upward = {edge: places for edge, places in unit_imports().items() if order[edge[0]] < order[edge[1]]}
    wrong = [place for edge, places in upward.items() if edge not in KNOWN for place in places]
    assert not wrong, "imports against the order of ARCHITECTURE.md:\n" + "\n".join(wrong)
    assert KNOWN.keys() <= upward.keys(), "take what is mended out of KNOWN"


def test_rich_and_matplotlib_stay_where_things_are_drawn() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path, tree in MODULES.items()
        for name, line in imports(path, tree)
        if name.split(".")[0] in ("rich", "matplotlib") and unit_of(path) not in DRAWING
    ]
    assert not wrong


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
