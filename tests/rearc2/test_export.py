"""What leaves the project is what the folder of pairs holds, read back with the tools that others would use."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.pairs_file import (
    Manifest,
    Plan,
    TaskRecord,
    load_pairs,
    pack_pairs,
    write_block,
    write_manifest,
)
from charm.tasks.task import Pair, as_grid
from rearc2.workbench import commands
from rearc2.workbench.export import export_pairs
from rearc2.workbench.packages import load_package, package_ids
from tests.browser import open_file, overflow

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAIRS = {
    "00576224": [([[1, 2]], [[2], [1]]), ([[0, 0, 3], [9, 0, 0]], [[3]])],
    "03560426": [([[5]], [[6, 7]])],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "rearc2"
    records = {}
    for task, pairs in PAIRS.items():
        made = [Pair(as_grid(before, task), as_grid(after, task)) for before, after in pairs]
        block = pack_pairs(made, [3 * number for number in range(len(made))])
        write_block(folder, task, block)
        records[task] = TaskRecord(len(block), 9, {}, block.content(), None)
    write_manifest(folder, Manifest(Plan("rearc2", "helpers 1", 7, 2, 5.0), [], records))
    return folder


def test_re_arcs_folder_is_a_list_of_pairs_for_each_task(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands.export(tmp_path / "out", data=source.parent)
    assert "2 tasks, 3 pairs" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["tasks"]
    for task, pairs in PAIRS.items():
        read = json.loads((tmp_path / "out" / "tasks" / f"{task}.json").read_text())
        assert read == [{"input": before, "output": after} for before, after in pairs]


def test_parquet_holds_every_pair_and_the_card_counts_them(source: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export_pairs(source, tmp_path / "out", "huggingface")
    (file,) = (tmp_path / "out" / "data").iterdir()
    assert file.name == "train-00000-of-00001.parquet"
    rows = parquet.read_table(file).to_pylist()
    assert [(row["task"], row["attempt"]) for row in rows] == [
        ("00576224", 0),
        ("00576224", 3),
        ("03560426", 0),
    ]
    assert [(row["input"], row["output"]) for row in rows] == [pair for pairs in PAIRS.values() for pair in pairs]
    card = (tmp_path / "out" / "README.md").read_text()
    assert card.startswith("---\nlicense: apache-2.0\n")
    assert "2 tasks, 3 pairs" in card
    assert "https://github.com/arcprize/ARC-AGI-2" in card
    assert "--seed 7" in card
    assert "path: data/train-*.parquet" in card
    assert len(load_pairs(source)) == 2  # the source is left as it was


def test_a_folder_in_use_and_an_unknown_format_are_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(CharmError, match="is not empty"):
        export_pairs(source, tmp_path / "out", "rearc")
    with pytest.raises(CharmError, match="format must be one of rearc, huggingface; got csv"):
        export_pairs(source, tmp_path / "new", "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out"]


def test_the_gallery_shows_each_rule_and_its_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "gallery.html"
    commands.gallery(page, tasks=("00576224", "03560426"), pairs=6)
    assert "2 tasks" in capsys.readouterr().out
    text = page.read_text()
    assert unescape(text).count(load_package("00576224").rule) == 1
    shown = json.loads(re.findall(r'id="data">(.*?)</script>', text)[0])["pairs"]
    assert len(shown) == 2
    first = shown["00576224"]
    assert len(first) == 6
    package = load_package("00576224")
    for before, after in first:
        grids = [np.array([list(map(int, row)) for row in grid.split("/")]) for grid in (before, after)]
        assert np.array_equal(package.verify(grids[0]), grids[1])


def test_the_gallery_fits_a_narrow_screen_and_draws_what_comes_into_view(phone: Page, tmp_path: Path) -> None:
    tasks = [*package_ids()[10:18], "05a7bcf2"]  # the last has the widest pairs
    commands.gallery(tmp_path / "gallery.html", tasks=tuple(tasks), pairs=6)
    phone.set_viewport_size({"width": 320, "height": 640})
    open_file(phone, tmp_path / "gallery.html")
    phone.wait_for_selector("canvas")
    assert phone.locator(f"[id='{tasks[0]}'] canvas").count() == 12
    last = phone.locator("[id='05a7bcf2']")
    assert last.locator("canvas").count() == 0
    last.scroll_into_view_if_needed()
    last.locator("canvas").first.wait_for()
    edges = last.locator("canvas").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert len(edges) == 12
    assert max(edges) <= 320 - 16
    assert overflow(phone) == 0
    phone.fill("input", "05a7")
    assert phone.locator("section:visible").count() == 1
    assert phone.locator("output").inner_text() == "1"
