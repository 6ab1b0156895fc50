"""The server over HTTP: what it answers, and what it refuses to whom."""

import json
import os
import re
import signal
import socket
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
from charm.web.server import MAX_BODY, Handler, Viewer
from tests.toy.viewer import TASK, ends


def send(
    viewer: Viewer, method: str, path: str, body: bytes | None = None, **headers: str | None
) -> tuple[int, Any, dict[str, str]]:
    """Status, JSON (or text) and headers; the path comes after the secret. A header given as None is left out."""
    connection = HTTPConnection("127.0.0.1", viewer.server_port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    whole = f"/{viewer.secret}{path}"
    connection.putrequest(method, whole, skip_host="Host" in names, skip_accept_encoding=True)
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
    return send(viewer, "POST", path, json.dumps(value).encode())[:2]


def raw(viewer: Viewer, *parts: bytes, pause: float = 0.0) -> bytes:
    """Everything that the server sends on one connection, until it ends it."""
    with socket.create_connection(("127.0.0.1", viewer.server_port), timeout=30) as connection:
        received = b""
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            while more := connection.recv(1 << 16):
                received += more
        except ConnectionError:  # it has ended the connection with something of ours unread
            pass
        return received


def test_pages_and_answers(viewer: Viewer, library: Library) -> None:
    status, page, headers = send(viewer, "GET", "/")
    assert status == 200
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
    for name in ("style.css", "drawing.js", "common.js", "main.js"):
        assert get(viewer, f"/{name}")[0] == 200
        assert f'"{name}"' in page
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


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "", None])
def test_other_names_for_this_server_are_refused(viewer: Viewer, host: str | None) -> None:
    status, answer, _ = send(viewer, "GET", "/", Host=host)
    assert (status, answer) == (403, {"error": "this server only answers requests to its own address"})


def test_requests_caused_by_other_sites_are_refused(viewer: Viewer) -> None:
    for site in ("cross-site", "same-site"):
        for path in ("/api/tasks?set=toys", "/report?run=a+run", "/common.js"):
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


def head(viewer: Viewer, line: str, *headers: str, host: str | None = None) -> bytes:
    """The head of a request to our own address, or to another host."""
    lines = (f"{line} HTTP/1.1", f"Host: {host or f'127.0.0.1:{viewer.server_port}'}", *headers, "", "")
    return "\r\n".join(lines).encode()


def answers(content: bytes) -> list[int]:
    """The status of each answer in a stream."""
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+)", content)]


def test_a_connection_ends_after_one_answer(viewer: Viewer) -> None:
    """A body that looks like a request must never be taken for one: it would have the Host that its sender chose."""
    hidden = head(viewer, f"GET /{viewer.secret}/api/models")
    size = f"Content-Length: {len(hidden)}"
    foreign = head(viewer, f"POST /{viewer.secret}/api/paste", size, host="evil.example")
    assert answers(raw(viewer, foreign + hidden)) == [403]
    wrong = head(viewer, "POST /wrong/api/paste", size)
    assert answers(raw(viewer, wrong + hidden)) == [403]
    for extra in (size, "Transfer-Encoding: chunked"):
        assert answers(raw(viewer, head(viewer, f"GET /{viewer.secret}/api/models", extra) + hidden)) == [200]
    assert answers(raw(viewer, hidden + hidden)) == [200]
    assert answers(raw(viewer, head(viewer, "PUT /", size) + hidden)) == [501]


def test_nothing_is_shown_or_done_without_the_secret(viewer: Viewer) -> None:
    body = json.dumps({"text": json.dumps(TASK)})
    sent = (f"Content-Length: {len(body)}",)
    for secret in ("", "wrong", viewer.secret[:-1], viewer.secret + "x", "%00", "\xff", "*"):
        for path in ("api/paste", "api/solve", "api/cancel"):
            assert answers(raw(viewer, head(viewer, f"POST /{secret}/{path}", *sent) + body.encode())) == [403]
        for name in ("", "common.js", "report?run=a+run", "api/tasks?set=toys"):
            found = raw(viewer, head(viewer, f"GET /{secret}/{name}"))
            assert answers(found) == [403]
            assert viewer.secret.encode() not in found
    found = raw(viewer, head(viewer, "GET /"))
    assert answers(found) == [403]
    assert b"shows the full address" in found
    assert viewer.secret.encode() not in found
    assert viewer.url == f"http://127.0.0.1:{viewer.server_port}/{viewer.secret}/"
    assert get(viewer, "/api/solve")[1]["state"] == "idle"


def test_a_browser_is_started_with_a_link_that_works_once(viewer: Viewer) -> None:
    """Other accounts can read the arguments of a process, so the secret is not among them."""
    ticket = "/" + viewer.url_once().rpartition("/")[2]
    assert viewer.secret not in ticket
    leads = f"Location: /{viewer.secret}/".encode()
    first, second = (raw(viewer, head(viewer, f"GET {ticket}")) for _ in range(2))
    assert (answers(first), leads in first) == ([303], True)
    assert (answers(second), leads in second) == ([403], False)
    assert leads in raw(viewer, head(viewer, f"GET /{viewer.secret}"))  # copied without its last character


def test_only_our_own_pages_may_send(viewer: Viewer) -> None:
    body = json.dumps({"text": json.dumps(TASK)}).encode()
    ours = f"http://127.0.0.1:{viewer.server_port}"
    assert send(viewer, "POST", "/api/paste", body)[0] == 200
    assert send(viewer, "POST", "/api/paste", body, Origin=ours)[0] == 200
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert send(viewer, "POST", "/api/paste", body, Origin=origin)[0] == 403


def test_a_request_has_one_deadline_for_all_of_it(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.3)
    began = time.monotonic()
    drops = (bytes([byte]) for byte in b"GET / HTTP/1.1\r\nX: " + b"y" * 100)  # each in time, together too late
    assert raw(viewer, *drops, pause=0.02) == b""
    assert time.monotonic() - began < 5


def test_many_browsers_may_ask_at_once(library: Library) -> None:
    """Connections wait until the server accepts them, though it is busy for a while."""
    viewer = Viewer(library, device="cpu")  # listens, and accepts nothing yet
    waiting = []
    try:
        for _ in range(200):
            waiting.append(socket.create_connection(("127.0.0.1", viewer.server_port), timeout=2))
    finally:
        for one in waiting:
            one.close()
        viewer.close()


def test_bad_bodies_are_refused_in_a_sentence(viewer: Viewer) -> None:
    for body, status, sentence in (
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b"{}", 400, "must be text"),
    ):
        found, answer, _ = send(viewer, "POST", "/api/paste", body)
        assert found == status
        assert sentence in answer["error"]
    assert send(viewer, "POST", "/api/paste", None)[0] == 411
    assert send(viewer, "POST", "/api/paste", None, Content_Length="-1")[0] == 411
    for length in (str(MAX_BODY + 1), "9" * 5000):
        status, answer, headers = send(viewer, "POST", "/api/paste", None, Content_Length=length)
        assert status == 413
        assert headers["Connection"] == "close"
    budget = b'{"name": "a", "model": "a run", "task": {}, "budget": 1' + b"0" * 400 + b"}"
    assert send(viewer, "POST", "/api/solve", budget)[:2] == (
        400,
        {"error": "the budget must be a number of seconds"},
    )
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


@pytest.mark.usefixtures("forked_workers")
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
    page = hostile.texts[""][1].decode()
    hostile.close()
    assert page.count("<script") == 10  # the data and nine files
    assert '"budget":180.0' in page  # seconds on a CPU, as `charm solve` has by default
    assert "alert(1)</script>" not in page


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks for processes in /proc")
@pytest.mark.parametrize("delay", [0.0, 1.0])  # Ctrl-C meets the solver as it starts, and as it loads the model
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
    host, secret = server.stdout.readline().split()[0].removeprefix("http://").rstrip("/").split("/")
    connection = HTTPConnection(host, timeout=30)
    request = json.dumps({"task": TASK, "model": "run", "budget": 600})
    connection.request("POST", f"/{secret}/api/solve", request)
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
