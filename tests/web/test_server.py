"""The server over HTTP: what it answers, and what it refuses to whom."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from charm.errors import CharmError
from charm.web import api
from charm.web.api import Library
from charm.web.server import MAX_BODY, Viewer
from tests.web.test_api import TASK
from tests.web.test_solving import ends


def send(
    viewer: Viewer, method: str, path: str, body: bytes | None = None, **headers: str | None
) -> tuple[int, Any, dict[str, str]]:
    """Status, JSON (or text) and headers. A header given as None is left out."""
    connection = HTTPConnection("127.0.0.1", viewer.server_port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest(method, path, skip_host="Host" in names, skip_accept_encoding=True)
    if body is not None and "Content-Length" not in names:
        names["Content-Length"] = str(len(body))
    for name, value in names.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    is_json = response.headers.get_content_type() == "application/json"
    return response.status, json.loads(content) if is_json else content.decode(), dict(response.headers)


def get(viewer: Viewer, path: str, **query: str) -> tuple[int, Any]:
    return send(viewer, "GET", path + ("?" + urlencode(query) if query else ""))[:2]


def post(viewer: Viewer, path: str, value: object) -> tuple[int, Any]:
    return send(viewer, "POST", path, json.dumps(value).encode(), X_Charm_Token=viewer.token)[:2]


def test_pages_and_answers(viewer: Viewer, library: Library) -> None:
    status, page, headers = send(viewer, "GET", "/")
    assert status == 200
    assert viewer.token in page
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
    for name in ("style.css", "drawing.js", "common.js", "main.js"):
        assert get(viewer, f"/{name}")[0] == 200
        assert f'"/{name}"' in page
    query = {"set": "toys", "task": "toy1", "seed": "5"}
    assert get(viewer, "/api/task", **query) == (200, api.task_json(library, query))
    assert get(viewer, "/api/canvas", **query) == (200, api.canvas_json(library, query))
    assert get(viewer, "/api/tasks", set="toys") == (200, api.tasks_json(library, query))
    status, found = get(viewer, "/api/sample", generator="rearc", task="00000001", seed="1")
    assert (status, found["seed"]) == (200, 1)
    assert get(viewer, "/api/run", run="a run")[1]["step"] == 4
    status, page = get(viewer, "/report", run="a run")
    assert status == 200
    assert "<h1>run</h1>" in page


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "", None]
)
def test_other_names_for_this_server_are_refused(viewer: Viewer, host: str | None) -> None:
    status, answer, _ = send(viewer, "GET", "/", Host=host)
    assert (status, answer) == (403, {"error": "this server only answers requests to its own address"})


def test_requests_caused_by_other_sites_are_refused(viewer: Viewer) -> None:
    for site in ("cross-site", "same-site"):
        for path in ("/api/tasks?set=toys", "/report?run=a+run", "/common.js", "/?"):
            assert send(viewer, "GET", path, Sec_Fetch_Site=site)[0] == 403
        assert send(viewer, "GET", "/", Sec_Fetch_Site=site)[0] == 200  # a link to us is harmless
    assert send(viewer, "GET", "/api/tasks?set=toys", Sec_Fetch_Site="same-origin")[0] == 200
    assert send(viewer, "GET", "/", Host=f"localhost:{viewer.server_port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/static/index.html",
        "/static/../api.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/common.js/../../server.py",
        "//etc/passwd",
        "//[",
        "/api/",
        "/api/unknown",
        "*",
    ],
)
def test_there_are_no_other_files(viewer: Viewer, path: str) -> None:
    assert send(viewer, "GET", path)[:2] == (404, {"error": "no such page"})


def test_reports_and_runs_go_by_their_names_alone(viewer: Viewer, run: Path) -> None:
    for name in ("../run", str(run), "a run/..", ""):
        for path in ("/report", "/api/run"):
            status, answer = get(viewer, path, run=name)
            assert status == 400
            assert "unknown run" in answer["error"]


def test_nothing_is_done_without_the_token(viewer: Viewer) -> None:
    body = json.dumps({"text": json.dumps(TASK)}).encode()
    for token in (None, "", "wrong", "\xff"):
        assert send(viewer, "POST", "/api/paste", body, X_Charm_Token=token)[0] == 403
    good = {"X_Charm_Token": viewer.token}
    assert send(viewer, "POST", "/api/paste", body, **good)[0] == 200
    assert send(viewer, "POST", "/api/paste", body, **good, Origin=viewer.url.rstrip("/"))[0] == 200
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert send(viewer, "POST", "/api/paste", body, **good, Origin=origin)[0] == 403
    for path in ("/api/solve", "/api/cancel"):
        assert send(viewer, "POST", path, b"{}")[0] == 403
    assert get(viewer, "/api/solve")[1]["state"] == "idle"


def test_bad_bodies_are_refused_in_a_sentence(viewer: Viewer) -> None:
    token = {"X_Charm_Token": viewer.token}
    for body, status, sentence in (
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b"{}", 400, "must be text"),
    ):
        found, answer, _ = send(viewer, "POST", "/api/paste", body, **token)
        assert found == status
        assert sentence in answer["error"]
    assert send(viewer, "POST", "/api/paste", None, **token)[0] == 411
    assert send(viewer, "POST", "/api/paste", None, Content_Length="-1", **token)[0] == 411
    for length in (str(MAX_BODY + 1), "9" * 5000):
        status, answer, headers = send(viewer, "POST", "/api/paste", None, Content_Length=length, **token)
        assert status == 413
        assert headers["Connection"] == "close"
    assert post(viewer, "/api/unknown", {})[0] == 404
    assert post(viewer, "/api/cancel", {}) == (400, {"error": "no task is being solved"})
    assert send(viewer, "PUT", "/api/paste", b"{}")[0] == 501
    assert send(viewer, "GET", "/")[0] == 200  # still there


def test_a_mistake_of_ours_does_not_end_the_server(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(library: Library) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(api, "models_json", broken)
    status, answer = get(viewer, "/api/models")
    assert status == 500
    assert "RuntimeError" in answer["error"]
    assert "oh" in capsys.readouterr().err
    monkeypatch.undo()
    assert get(viewer, "/api/models")[0] == 200


def test_a_task_is_solved_over_http(viewer: Viewer) -> None:
    request = {"name": "mine", "task": TASK, "model": "a run", "budget": 2}
    assert get(viewer, "/api/submission")[0] == 400
    status, answer = post(viewer, "/api/solve", request)
    assert (status, answer["state"]) == (200, "working")
    status, answer = post(viewer, "/api/solve", request)
    assert (status, answer["error"]) == (
        400,
        "task mine is still being solved; cancel it or wait until it ends",
    )
    seen = []
    while answer.get("state") != "done":
        time.sleep(0.1)
        answer = get(viewer, "/api/solve")[1]
        assert answer["state"] in ("working", "done")
        if "views" in answer and answer["views"] not in seen:
            seen.append(answer["views"])
    assert seen[0] == 8  # first votes come before anything is learned
    assert seen == sorted(seen)
    assert seen[-1] >= 8
    status, submission, headers = send(viewer, "GET", "/api/submission")
    assert headers["Content-Disposition"] == 'attachment; filename="submission.json"'
    assert list(submission) == ["mine"]
    assert list(submission["mine"][0]) == ["attempt_1", "attempt_2"]


def test_a_taken_port_is_told(library: Library, viewer: Viewer) -> None:
    with pytest.raises(CharmError, match=f"port {viewer.server_port} cannot be used"):
        Viewer(library, viewer.server_port)
    with pytest.raises(CharmError, match="port 99999 cannot be used"):
        Viewer(library, 99999)


def test_a_hostile_name_cannot_leave_the_data_of_the_page(library: Library) -> None:
    name = "</script><script>alert(1)</script>"
    hostile = Viewer(replace(library, sources={name: library.sources["toys"]}), device="cpu")
    page = hostile.texts["/"][1].decode()
    hostile.close()
    assert page.count("<script") == 10  # the data and nine files
    assert '"budget":180.0' in page  # seconds on a CPU, as `charm solve` has by default
    assert "alert(1)</script>" not in page


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "delay", [0.0, 1.0]
)  # Ctrl-C meets the solver as it starts, and as it loads the model
def test_ctrl_c_ends_the_command_and_what_it_solves(run: Path, toy_tasks: Path, delay: float) -> None:
    command = [sys.executable, "-m", "charm", "view", str(run), "--tasks", str(toy_tasks), "--port", "0"]
    server = subprocess.Popen(
        [*command, "--no-open", "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal's Ctrl-C reaches the whole group
    )
    assert server.stdout is not None
    host = server.stdout.readline().split()[0].removeprefix("http://").rstrip("/")
    connection = HTTPConnection(host, timeout=30)
    connection.request("GET", "/")
    page = connection.getresponse().read().decode()
    token = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["token"]
    request = json.dumps({"task": TASK, "model": "run", "budget": 600})
    connection.request("POST", "/api/solve", request, {"X-Charm-Token": token})
    assert connection.getresponse().status == 200
    connection.close()
    solvers = children(server.pid)
    assert solvers
    time.sleep(delay)
    os.killpg(server.pid, signal.SIGINT)
    assert server.communicate(timeout=20) == ("stopped\n", "")
    assert server.returncode == 0
    assert all(map(ends, solvers))


def children(parent: int) -> list[int]:
    """Processes that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            content = stat.read_text()
        except OSError:  # ended since
            continue
        if int(content.rpartition(")")[2].split()[1]) == parent:
            found.append(int(stat.parent.name))
    return found
