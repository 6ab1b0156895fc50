"""Progress goes to stderr and only there, so that what a command prints can be piped."""

import errno
import json
from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import pytest

from charm.arc.presets import preset
from charm.cli import main
from charm.commands.shared import output
from charm.config import to_json
from charm.drawing.terminal import show
from charm.progress import bar, plain, say, track
from charm.tables import Table


def test_a_bar_shows_how_far_the_work_is(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("votes", total=4, done=1, stays=True) as line:
        line.say("a line with [brackets]")
        line.update(3, text="nearly")
    shown = capsys.readouterr()
    assert "a line with [brackets]" in shown.err
    assert "3/4" in shown.err
    assert "nearly" in shown.err
    assert shown.out == ""


def test_a_total_may_come_later_and_a_step_may_be_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("gathering", stays=True) as line:
        line.update(total=10)
        line.advance("tokenising", 4)
        line.advance("tokenising", 3)
    assert "7/10" in capsys.readouterr().err


def test_a_log_file_gets_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no bar can be drawn, a run of hours must not look dead."""
    with bar("votes", 4) as line:
        line.update(1)
    assert "1/4" not in capsys.readouterr().err
    monkeypatch.setattr("charm.progress.LOG_EVERY", 0.0)
    with bar("votes", 4) as line:
        line.update(1)
        line.advance("more")
    with bar("solving", 1.0, counts=False) as line:
        line.update(0.25, text="60 tasks: update 10")
    with bar("hidden", 4, shown=False) as line:
        line.update(1)
    said = [text for text in capsys.readouterr().err.splitlines() if text]
    assert said == ["1/4 votes", "2/4 more", "25% 60 tasks: update 10"]


def test_a_notebook_without_widgets_gets_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """rich draws its bar in Jupyter with ipywidgets, and would only warn without them."""
    shell = type("ZMQInteractiveShell", (), {"__module__": "ipykernel.zmqshell"})
    monkeypatch.setattr("builtins.get_ipython", shell, raising=False)
    monkeypatch.setattr("charm.progress.find_spec", lambda name: None)
    monkeypatch.setattr("charm.progress.NOTEBOOK_EVERY", 0.0)
    with bar("solving", 1.0, counts=False) as line:
        assert line._progress.console.is_jupyter
        line.update(0.25, text="update 10")
    assert capsys.readouterr().err == "25% update 10\n"
    assert not recwarn.list


def test_a_hidden_bar_prints_nothing_and_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(range(5), "work", 5, shown=False)) == [0, 1, 2, 3, 4]
    with bar("work", 3, shown=False) as line:
        line.update(2)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_say_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("left out: 3 tasks")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "left out: 3 tasks\n")


@pytest.mark.parametrize(("number", "ends"), [(errno.ENOSPC, False), (errno.EPIPE, True)])
def test_a_log_on_a_full_disk_does_not_end_the_work(number: int, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """But a reader that went away does, as usual."""

    class Log(StringIO):
        def write(self, text: str) -> int:
            raise OSError(number, "cannot be written")

    monkeypatch.setattr("sys.stderr", Log())
    monkeypatch.setattr("charm.progress.LOG_EVERY", 0.0)
    done = []
    with pytest.raises(BrokenPipeError) if ends else nullcontext():
        say("a line")
        with bar("work", 3) as line:
            line.update(2)
            done.append(True)
        done.append(True)
    assert len(done) == (0 if ends else 2)


def test_an_error_of_the_work_is_not_one_of_the_log() -> None:
    with pytest.raises(OSError, match="of the work"), bar("work", 3):
        raise OSError("of the work")


def test_output_is_either_json_or_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(["name", "count"], [["[a]", "1,000"]], "Title")
    output(True, {"a": 1000}, table, "a line")
    assert json.loads(capsys.readouterr().out) == {"a": 1000}
    output(False, {"a": 1000}, table, "a line [/] of text")
    shown = capsys.readouterr().out
    assert "Title" in shown
    assert "[a]" in shown
    assert "a line [/] of text" in shown


HOSTILE = "a\x1b]0;owned\x07\x9b31m\r\u202e\udcffz"


def test_control_characters_are_shown_not_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In lines, bars, tables, errors and file names; newlines, tabs and other languages stay."""
    assert plain("grün\n\t✓ 目") == "grün\n\t✓ 目"
    say(HOSTILE)
    with bar(HOSTILE, 1, stays=True) as line:
        line.say(HOSTILE)
        line.update(1, text=HOSTILE)
    show(HOSTILE, Table([HOSTILE], [[HOSTILE]], HOSTILE, HOSTILE))
    with pytest.raises(SystemExit):
        main(["data", "show", f"{HOSTILE}.json"])
    run = tmp_path / HOSTILE
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"domain": "arc", **to_json(preset("quickstart"))}))
    with pytest.raises(SystemExit):
        main(["train", "--resume", str(run), "--batch", "4", "--device", "cpu"])
    printed = capsys.readouterr()
    assert f"{plain(str(run))} on CPU" in printed.out
    for text in (printed.out, printed.err):
        assert "\\x1b]0;owned" in text
        assert not set("\x1b\x07\x9b\r\u202e\udcff") & set(text)
