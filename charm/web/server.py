"""A small local web server: it listens on the loopback address only and answers only its own pages.

Any web page can make a browser send requests here. Therefore:

- the Host header must be ours, so that no other name can point here;
- requests from other sites are refused;
- requests that change something need a token that only our page has;
- the browser runs our scripts only.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from charm.devices import choose_device
from charm.domains import PageOptions
from charm.errors import CharmError
from charm.report.html import DRAWING, STYLE, script_json
from charm.report.pages import write_pages
from charm.solving.options import BUDGET, CPU_BUDGET
from charm.web import api
from charm.web.api import Library
from charm.web.samples import Sampler
from charm.web.solving import Solving

ADDRESS = "127.0.0.1"
MAX_BODY = 1 << 20
SCRIPTS = ("common.js", "tasks.js", "samples.js", "runs.js", "editor.js", "solve.js", "watch.js", "main.js")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HTML, JSON = "text/html; charset=utf-8", "application/json"


class Refused(Exception):
    """A refused request, with its HTTP status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Viewer(ThreadingHTTPServer):
    """The server and everything it owns. `close` stops what is still running."""

    daemon_threads = True

    def __init__(self, library: Library, port: int = 0, device: str = "auto") -> None:
        try:
            super().__init__((ADDRESS, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CharmError(
                f"port {port} cannot be used ({reason}); use --port 0 for any free port"
            ) from error
        self.library, self.solving, self.sampler = library, Solving(device), Sampler()
        self.token = secrets.token_urlsafe(24)
        self.reporting = threading.Lock()  # a page takes memory, so only one at a time
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}
        budget = CPU_BUDGET if choose_device(device).type == "cpu" else BUDGET
        self.texts = _texts(api.start_json(library) | {"token": self.token, "budget": budget})

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/"

    def close(self) -> None:
        self.server_close()
        self.solving.close()
        self.sampler.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def report(self, query: api.Query) -> bytes:
        run: Path = api.chosen(query, "run", self.library.runs)
        options = PageOptions(data=self.library.data)
        with self.reporting, tempfile.TemporaryDirectory() as scratch:
            return write_pages([run], Path(scratch, "report.html"), options).read_bytes()


def _texts(start: Mapping[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Content type and content of every static path."""
    static = files("charm.web") / "static"
    data = f'<script type="application/json" id="data">{script_json(start)}</script>'
    index = (static / "index.html").read_text("utf-8").replace("<!-- data -->", data)
    style = STYLE + (static / "view.css").read_text("utf-8")
    scripts = {name: (static / name).read_text("utf-8") for name in SCRIPTS}
    scripts["drawing.js"] = DRAWING
    return {
        "/": (HTML, index.encode()),
        "/style.css": ("text/css; charset=utf-8", style.encode()),
        **{f"/{name}": ("text/javascript; charset=utf-8", text.encode()) for name, text in scripts.items()},
    }


class Handler(BaseHTTPRequestHandler):
    server: Viewer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "charm", ""
    timeout = 60  # seconds for a request to arrive

    def do_GET(self) -> None:
        self._handle(self._get)

    def do_POST(self) -> None:
        self._handle(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests; the terminal is for messages to the user."""

    def _handle(self, answer: Callable[[str, dict[str, str]], None]) -> None:
        try:
            self._check_sender()
            path, _, query = self.path.partition("?")
            answer(path, dict(parse_qsl(query, keep_blank_values=True)))
        except Refused as refusal:
            self._send_json(refusal.status, {"error": str(refusal)})
        except CharmError as error:
            self._send_json(400, {"error": str(error)})
        except (ConnectionError, TimeoutError):
            raise  # no one is left to answer
        except Exception as error:
            traceback.print_exc()
            reason = f"internal error ({type(error).__name__}); see the server's terminal"
            self._send_json(500, {"error": reason})

    def _check_sender(self) -> None:
        if self.headers.get("Host", "") not in self.server.hosts:
            raise Refused(403, "this server only answers requests to its own address")
        # Other sites may link to the front page; they cannot read it.
        if self.path != "/" and self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(403, "this server only answers its own pages")

    def _get(self, path: str, query: dict[str, str]) -> None:
        viewer = self.server
        library = viewer.library
        answers: dict[str, Callable[[], Any]] = {
            "/api/tasks": lambda: api.tasks_json(library, query),
            "/api/task": lambda: api.task_json(library, query),
            "/api/canvas": lambda: api.canvas_json(library, query),
            "/api/sample": lambda: api.sample_json(library, viewer.sampler, query),
            "/api/run": lambda: api.run_json(library, query),
            "/api/watch": lambda: api.watch_json(library, query),
            "/api/models": lambda: api.models_json(library),
            "/api/solve": viewer.solving.status,
        }
        if path in viewer.texts:
            self._send(200, *viewer.texts[path])
        elif path in answers:
            self._send_json(200, answers[path]())
        elif path == "/api/submission":
            content = json.dumps(viewer.solving.submission()).encode()
            self._send(200, JSON, content, {"Content-Disposition": 'attachment; filename="submission.json"'})
        elif path == "/report":
            # The page has its own policy, with the hash of its one script.
            self._send(200, HTML, viewer.report(query), {"Content-Security-Policy": "frame-ancestors 'none'"})
        else:
            raise Refused(404, "no such page")

    def _post(self, path: str, query: dict[str, str]) -> None:
        body = self._body()
        solving = self.server.solving
        answers: dict[str, Callable[[], Any]] = {
            "/api/paste": lambda: api.pasted_json(body.get("text")),
            "/api/solve": lambda: solving.start(*api.solve_request(self.server.library, body)),
            "/api/cancel": solving.cancel,
        }
        if path not in answers:
            raise Refused(404, "no such page")
        self._send_json(200, answers[path]())

    def _body(self) -> dict[str, Any]:
        """The JSON object sent by our own page."""
        self.close_connection = True  # until the body is read: a refused request leaves it in the stream
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            raise Refused(403, "this server only answers its own pages")
        if not hmac.compare_digest(
            self.headers.get("X-Charm-Token", "").encode(), self.server.token.encode()
        ):
            raise Refused(403, "the page is from an earlier start of the server; reload it")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request has no Content-Length")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise Refused(413, f"the request is larger than {MAX_BODY:,} bytes")
        content = self.rfile.read(int(length))
        self.close_connection = False
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        if not isinstance(body, dict):
            raise Refused(400, "the request is not a JSON object")
        return body

    def _send_json(self, status: int, value: Any) -> None:
        self._send(status, JSON, json.dumps(value, allow_nan=False).encode())

    def _send(self, status: int, kind: str, content: bytes, extra: Mapping[str, str] | None = None) -> None:
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
            **(extra or {}),
        }
        if self.close_connection:
            headers["Connection"] = "close"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
