"""The notebooks run from top to bottom, made small where they would take long, and carry no outputs in git."""

import ast
import json
import linecache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
OF_THEIR_OWN = {"kaggle"}  # run by a separate test, with what they need
# What is written instead, to take seconds.
SMALL = {
    "budget=60": "budget=60, steps=2, views=2, batch=4, device='cpu'",
    "steps=1125": "steps=2, device='cpu'",
    "views=16, loops=(2,)": "views=2, loops=(2,), device='cpu'",
}


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


@pytest.mark.parametrize(
    "notebook", [one for one in NOTEBOOKS if one.stem not in OF_THEIR_OWN], ids=lambda n: n.stem
)
def test_it_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = 0
    for number, cell in enumerate(cells(notebook, "code")):
        text = "".join(cell["source"])
        for long, short in SMALL.items():
            text = text.replace(long, short)
        value = run_cell(text, f"{notebook.name}, cell {number}", names)
        if value is not None:
            assert "<" in value._repr_html_()  # type: ignore[attr-defined]
            shown += 1
    assert shown or "assert" in notebook.read_text()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_it_carries_no_outputs(notebook: Path) -> None:
    for cell in cells(notebook, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_every_notebook_is_named_in_the_documentation() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text()
    assert [one.name for one in NOTEBOOKS if f"notebooks/{one.name}" not in page] == []
