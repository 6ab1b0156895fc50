"""The notebooks run from top to bottom, made small where they would take long, and have the outputs of a whole run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, cells, run_cell

NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
OF_THEIR_OWN = {"kaggle"}  # run by a separate test, with what they need
# What is written instead, to take seconds.
SMALL = {
    "budget=60": "budget=60, steps=2, views=2, batch=4, device='cpu'",
    "steps=1125": "steps=2, device='cpu'",
    "views=16, loops=(2,)": "views=2, loops=(2,), device='cpu'",
}


@pytest.mark.parametrize("notebook", [one for one in NOTEBOOKS if one.stem not in OF_THEIR_OWN], ids=lambda n: n.stem)
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
def test_outputs_are_those_of_one_whole_run(notebook: Path) -> None:
    code = cells(notebook, "code")
    numbers = [cell["execution_count"] for cell in code]
    if notebook.stem in OF_THEIR_OWN:  # Kaggle's machine runs it
        assert numbers == [None] * len(code)
        return
    assert numbers == [*range(1, len(code) + 1)]
    outputs = json.dumps([cell["outputs"] for cell in code])
    assert '"error"' not in outputs
    for private in ("/home/", "/root/", "/tmp/", "site-packages"):
        assert private not in outputs


def test_a_machine_without_charm_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the clone around the notebook, else from the package index, else from git."""
    tried: list[str] = []

    class Answer:
        returncode = 1

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("subprocess.run", lambda command: (tried.append(command[-1]), Answer())[1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "charm").mkdir()
    (tmp_path / "charm" / "version.py").touch()
    first = "".join(cells(ROOT / "notebooks" / "quickstart.ipynb", "code")[0]["source"])
    with pytest.raises(RuntimeError, match="could not be installed"):
        run_cell(first, "install", {})
    assert tried == [str(tmp_path), "charm-arc", "git+https://github.com/OWNER/charm"]
    Answer.returncode = 0
    run_cell(first, "install", {})
    assert tried[3:] == [str(tmp_path)]
    for notebook in NOTEBOOKS:
        if notebook.stem not in OF_THEIR_OWN:
            assert "".join(cells(notebook, "code")[0]["source"]) == first


def test_every_notebook_is_named_in_the_documentation() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text()
    assert [one.name for one in NOTEBOOKS if f"notebooks/{one.name}" not in page] == []
