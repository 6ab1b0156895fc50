import io
import json
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from charm.continual.records import matrices, memory_name, read_records, settings_of, summarize, write_matrices
from charm.continual.results import gather, labels_of, results_table, rows_of, short_count, write_results
from charm.drawing.terminal import show
from charm.errors import CharmError
from charm.files import read_sealed, write_sealed
from tests.toy.streams import MEMORY, write_stream_run


def test_a_summary_by_hand(tmp_path: Path) -> None:
    found = summarize(write_stream_run(tmp_path, "naive", 0, [1.0, 0.0, 1.0, 0.5], final=0.25, base=0.1))
    assert found["immediate pass@2"] == 0.625
    assert (found["final pass@1"], found["final pass@2"]) == (0.125, 0.25)
    assert (found["base before"], found["base after"]) == (0.8, 0.1)
    assert found["updated_parameters"] == 1102.5
    assert found["changed_values"] == 28
    assert found["retained"] == [[0, 0.0], [2, 0.25], [4, 0.25]]
    assert found["memory"] == "CoSE (r=32)"


def test_the_matrix_of_a_run_is_stored_and_measured(tmp_path: Path) -> None:
    """Asked about everything before the stream, after two stages and at the end, and of each task right after it."""
    found = summarize(write_stream_run(tmp_path, "naive", 0, [1.0, 0.0, 1.0, 0.5], final=0.25, base=0.1))
    write_matrices(tmp_path)
    stream, base = matrices(read_records(tmp_path))
    nan = np.nan
    expected = [
        [0.0, 0.0, 0.0, 0.0],
        [1.0, nan, nan, nan],
        [0.25, 0.25, 0.25, 0.25],
        [nan, nan, 1.0, nan],
        [0.25, 0.25, 0.25, 0.25],
    ]
    np.testing.assert_array_equal(stream.r, expected)
    assert base.r.tolist()[::2] == [[0.8, 0.8], [0.7, 0.7], [0.1, 0.1]]
    written = read_sealed(tmp_path / "R.json")
    assert written["stream"]["tasks"] == stream.tasks == ["task0", "task1", "task2", "task3"]
    assert written["stream"]["learned"] == stream.learned.tolist() == [1, 2, 3, 4]
    assert written["stream"]["R"]["3"] == [None, None, 1.0, None]
    assert list(written["base"]["R"]) == ["0", "2", "4"]
    for name, value in written["stream"]["measures"].items():
        assert found[name] == value
    assert found["ACC"] == found["final pass@2"] == 0.25
    assert found["BWT"] == pytest.approx((-0.75 + 0.0 - 0.75) / 3)
    assert found["forgetting"] == pytest.approx((0.75 + 0.0 + 0.75) / 3)
    assert found["FWT"] is None  # the fourth task was not evaluated after the third stage
    assert found["base BWT"] == pytest.approx(-0.7)
    assert found["base WC-ACC"] == pytest.approx(0.1)


def test_where_only_rows_move_what_was_not_asked_is_known(tmp_path: Path) -> None:
    write_stream_run(tmp_path, "memory-only", 0, [1.0, 0.5, 0.0, 0.0], 0.0, 0.8)
    path = tmp_path / "config.json"
    path.write_text(path.read_text().replace('"full"', '"rows"'))
    stream, base = matrices(read_records(tmp_path))
    # The recheck after two stages said 0.25 of everything; all else is known from before, and from right after.
    assert stream.r[:, 0].tolist() == [0.0, 1.0, 0.25, 1.0, 0.0]
    assert stream.r[:, 2].tolist() == [0.0, 0.0, 0.25, 0.0, 0.0]
    assert base.r[:, 0].tolist() == [0.8, 0.8, 0.7, 0.8, 0.8]


def test_joint_runs_share_their_weights(tmp_path: Path) -> None:
    """(1000 + 101 + 102 + 103 + 104) / 4."""
    found = summarize(write_stream_run(tmp_path, "joint", 0, [1.0, 0.0, 1.0, 0.5], 0.25, 0.1))
    assert found["updated_parameters"] == 352.5


def test_the_oracle_adds_up_independent_tasks(tmp_path: Path) -> None:
    found = summarize(write_stream_run(tmp_path, "oracle", 0, [1.0, 0.0, 1.0, 0.5], 0.0, 0.0))
    assert found["retained"] == [[0, 0.0], [2, 0.25], [4, 0.625]]
    assert found["final pass@2"] == 0.625
    assert found["base after"] is None


def test_tables_and_figures_over_methods_and_seeds(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "a", "memory-only", 0, [1.0, 1.0, 0.0, 0.0], 0.50, 0.8)
    write_stream_run(tmp_path / "b", "memory-only", 1, [1.0, 1.0, 0.0, 0.0], 0.60, 0.8)
    write_stream_run(tmp_path / "c", "naive", 0, [1.0, 0.0, 0.0, 0.0], 0.0, 0.0)
    write_stream_run(tmp_path / "d", "oracle", 0, [1.0, 1.0, 1.0, 0.0], 0.0, 0.0)
    (tmp_path / "unfinished").mkdir()
    groups = gather(tmp_path)
    line, *others = rows_of(groups)
    assert line["Method"] == "memory-only"
    assert line["Params/task"] == "102.5"
    assert line["ACC"] == "55.00 ± 7.07"
    assert line["BWT"] == "13.33 ± 7.07"  # of (-50, 25, 50) and of (-40, 35, 60) over three tasks
    assert line["Base ACC"] == "80.00 ± 0.00"
    assert (line["Bytes/task"], line["Seconds/task"]) == ("410", "1.00")
    assert line["Changed values"] == "0"
    assert (line["Tasks"], line["Seeds"]) == ("4", "2")
    assert [cells["Method"] for cells in others] == ["oracle", "naive"]
    killed = subprocess.Popen(["true"])  # a process that has ended since
    killed.wait()
    left = tmp_path / f"retained.png.0a1b2c3d.{socket.gethostname()}-{killed.pid}.tmp"
    left.write_text("half")
    written = write_results(groups, tmp_path)
    assert not left.exists()
    assert [path.name for path in written] == ["table.md", "results.json", "parameters.png", "retained.png"]
    assert "| 55.00 ± 7.07 |" in written[0].read_text()
    assert len(json.loads(written[1].read_text())) == 4
    for picture in written[2:]:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 10_000
    console = Console(width=80, file=io.StringIO())
    show(results_table(groups), console=console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "naive composition, 0" in text
    assert "55.00" in text
    assert "…" not in text  # nothing is cut off
    with pytest.raises(CharmError, match="no finished run"):
        write_results([], tmp_path)


def test_seeds_of_a_stream_whose_tasks_changed_are_not_averaged(tmp_path: Path) -> None:
    for seed, content in ((0, "11" * 32), (1, "22" * 32)):
        run = write_stream_run(tmp_path / f"{seed}", "naive", seed, [1.0, 0.0, 0.0, 0.0], 0.5 * seed, 0.0)
        write_sealed(run / "result.json", {**summarize(run), "source_sha256": content})
    groups = gather(tmp_path)
    assert [(cells["Seeds"], cells["ACC"]) for cells in rows_of(groups)] == [("1", "50.00"), ("1", "0.00")]
    assert [label.rpartition(", ")[2] for label in labels_of(groups)] == ["some 22222222", "some 11111111"]


def test_counts_are_printed_as_in_the_paper() -> None:
    assert [short_count(value) for value in (32, 512, 31_757.4, 500_440, 14_765_073.9)] == [
        *("32", "512", "31.76k", "500.44k", "14.765M")
    ]
    assert memory_name({**MEMORY, "rank": 0, "task_width": 32}) == "CoSE (r=0, t=32)"
    assert memory_name({**MEMORY, "design": "table", "rank": 512}) == "Table (r=512)"


def test_another_optimizer_of_rows_is_a_setting_of_its_own() -> None:
    options = {"method": "memory-only", "scope": "rows", "recipe": {"rows": "adamw", "row_lr": 1e-2}}
    assert settings_of(options) == "rows adamw"
    assert settings_of({**options, "recipe": {"rows": "signsgd"}}) == ""
