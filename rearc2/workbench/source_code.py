"""Check a Re-ARC2 package's source without running it: independence, forbidden names, copied grids."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from charm.tasks.task import Pair

MODULES = {
    *("__future__", "collections", "dataclasses", "functools", "itertools"),
    *("math", "numpy", "random", "rearc2"),
}
# Names that reach files, other code or the interpreter's state.
BUILTINS = {
    *("breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "id", "input", "locals", "open"),
    *("__import__", "hash", "print", "quit", "setattr", "vars"),
}
NUMPY = {"fromfile", "genfromtxt", "load", "loadtxt", "memmap", "random", "save", "savetxt", "savez"}
CHANGING = {
    *("add", "append", "clear", "discard", "extend", "insert"),
    *("pop", "popitem", "remove", "setdefault", "update"),
}
CACHES = {"cache", "lru_cache", "cached_property"}

SMALL_PART = 9  # cells; smaller parts than 3x3 are ignored
LARGE_SHARE = 0.25  # of a grid
MANY_NUMBERS = 150  # in all literals together
LONG_TEXT = 60
LARGE_NUMBER = 10_000


def independence(tree: ast.Module) -> tuple[list[str], list[str]]:
    """Return failures and notes: neither function may call the other; functions that both use are noted."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    reach = {name: _reach(name, functions) for name in functions}
    failures = []
    for one, other in (("generate", "verify"), ("verify", "generate")):
        if other in reach[one] - {one}:
            failures.append(f"{one} uses {other}; the two must be independent")
    for name in sorted(reach["generate"]):
        if name.startswith("rival"):
            failures.append(f"generate uses {name}; what a rival says must not shape the pairs")
    shared = sorted((reach["generate"] & reach["verify"]) - {"generate", "verify"})
    return failures, [f"generate and verify both use {name}(); read it twice" for name in shared]


def find_forbidden(tree: ast.Module) -> list[str]:
    """Find what is forbidden in a package: other modules, files, global state, its own random numbers."""
    state = {name for node in tree.body for name in _assigned(node)}
    found = ((node, _forbidden(node, state)) for node in ast.walk(tree))
    return [f"line {getattr(node, 'lineno', 0)}: {what}" for node, what in found if what]


def find_copies(tree: ast.Module, pairs: Mapping[str, Pair]) -> list[str]:
    """Find literals that contain an official grid or a large part of one, and literals that could hide one."""
    found = []
    numbers = 0
    for node in _literals(tree):
        line = f"line {node.lineno}"
        table = _table(node)
        numbers += _cells(node)
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str | bytes) and len(value) > LONG_TEXT and len(value.split()) == 1:
            found.append(f"{line}: a text of {len(value)} characters without spaces may hide a grid")
        if isinstance(value, int) and value >= LARGE_NUMBER:
            found.append(f"{line}: the number {value} may hide a grid")
        if table is not None:
            found += [f"{line}: the literal is {what}" for what in _overlaps(table, pairs)[:1]]
    if numbers > MANY_NUMBERS:
        found.append(f"the source holds {numbers} cells in literals; a rule needs fewer than {MANY_NUMBERS}")
    return found


def _reach(start: str, functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Return the module's functions reachable from `start`, including itself."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            names = {node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)}
            waiting += sorted(names & functions.keys())
    return seen


def _forbidden(node: ast.AST, state: set[str]) -> str | None:
    """Return the problem of this node alone; `state` are the module's variables."""
    match node:
        case ast.Import(names=names):
            modules = [alias.name for alias in names]
            if "random" in modules:
                return "chance comes from `rng` alone; write `from random import Random`"
            return _forbidden_module(modules)
        case ast.ImportFrom(module=module, names=names):
            if module == "random" and any(alias.name != "Random" for alias in names):
                return "chance comes from `rng` alone; of random only the type Random may be imported"
            if any(alias.name in CACHES for alias in names):
                return "a cache is global state"
            return _forbidden_module([module or "."])
        case ast.Global() | ast.Nonlocal():
            return "global and nonlocal are not allowed"
        case ast.Call(func=ast.Name(id=name)) if name in BUILTINS:
            return f"{name} is not allowed"
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in NUMPY:
            return f"np.{name} is not allowed"
        case ast.Attribute(attr=name) if name.startswith("__"):
            return f"{name} is not allowed"
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in state and name in CHANGING:
            return f"{owner}.{name} changes global state"
        case ast.Subscript(value=ast.Name(id=owner), ctx=ast.Store() | ast.Del()) if owner in state:
            return f"{owner}[...] changes global state"
        case ast.Call(func=ast.Name(id="Random")):
            return "a Random of the package's own; chance comes from `rng` alone"
    return None


def _forbidden_module(names: list[str]) -> str | None:
    for name in names:
        if name.split(".")[0] not in MODULES or name.startswith("rearc2.tasks"):
            return f"the module {name} is not allowed"
    return None


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else targets
    for target in targets:
        yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _literals(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield constants, and each list, tuple, set or dictionary, with those inside it; not texts that are statements,
    like docstrings."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Set | ast.Dict)
            and id(node) not in texts
        ):
            yield node


def _cells(node: ast.expr) -> int:
    """Count the cells that the literal could encode, without the literals inside it."""
    match node:
        case ast.Constant(value=str(text)):
            return len(_row(text))
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return sum(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in parts)
    return 0


def _table(node: ast.expr) -> npt.NDArray[np.int64] | None:
    """Return the literal as a table of colours, or None: rows of numbers, or of text with a digit or dot per cell."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):  # a part of it is computed
        return None
    if isinstance(value, str):
        value = value.split()
    elif not isinstance(value, list | tuple):
        return None
    rows = [_row(value)] if _row(value) else [_row(part) for part in value]
    if not rows or not all(rows) or len(set(map(len, rows))) > 1:
        return None
    return np.array(rows, np.int64)


def _row(value: object) -> list[int]:
    """Return a row of cells, from integers or from text with digits, and dots for 0; empty if it is none."""
    if isinstance(value, str) and len(value) > 1 and set(value) <= set("0123456789."):
        return [int(cell) for cell in value.replace(".", "0")]
    if isinstance(value, list | tuple) and all(isinstance(cell, int) for cell in value):
        return [int(cell) for cell in value]
    return []


def _overlaps(table: npt.NDArray[np.int64], pairs: Mapping[str, Pair]) -> list[str]:
    """Find official grids that contain the table as a large part, or as the whole grid row by row."""
    if table.size < SMALL_PART or len(np.unique(table)) < 2:
        return []
    found = []
    for name, pair in pairs.items():
        for side, grid in zip(("input", "output"), pair.grids(), strict=False):
            in_order = bytes(table.astype(np.uint8).ravel()) in bytes(grid.ravel())
            if table.size >= LARGE_SHARE * grid.size and (find(grid, table) or in_order):
                found.append(f"{table.size / grid.size:.0%} of the {side} of {name}")
    return found


def find(large: npt.NDArray[np.generic], small: npt.NDArray[np.generic]) -> tuple[int, int] | None:
    """Find the first place (row, column) at which a grid has another as a part."""
    if small.shape[0] > large.shape[0] or small.shape[1] > large.shape[1]:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(large, small.shape)
    places = np.argwhere((windows == small).all(axis=(2, 3)))
    return (int(places[0][0]), int(places[0][1])) if len(places) else None
