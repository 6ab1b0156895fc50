"""A small local web server: it listens on the loopback address only and answers only its own pages.

Any web page can make a browser send requests here, and so can any account of this machine. Therefore:

- the Host header must be ours, so that no other name can point here;
- requests from other sites are refused;
- every path starts with a secret that only the printed address and our pages have;
- a connection ends after one answer, so that nothing in a body can pass for the next request;
- the browser runs our scripts only.
"""

import hmac
import io
import json
import secrets
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
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
from charm.report.solved import write_solve_page
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
STATIC = files("charm.web") / "static"
HTML, JSON = "text/html; charset=utf-8", "application/json"


class Refused(CharmError):
    """A refused request, with its HTTP status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Viewer(ThreadingHTTPServer):
    """The server and everything it owns. `close` stops what is still running."""

    daemon_threads = True
    request_queue_size = 1024  # connections that wait to be accepted; the system may allow fewer

    def __init__(self, library: Library, port: int = 0, device: str = "auto") -> None:
        try:
            super().__init__((ADDRESS, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CharmError(f"port {port} cannot be used ({reason}); use --port 0 for any free port") from error
        self.library, self.solving, self.sampler = library, Solving(device), Sampler()
        self.secret = secrets.token_urlsafe(24)
        self.tickets: set[str] = set()
        self.reporting = threading.Lock()  # a page takes memory, so only one at a time
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}
        budget = CPU_BUDGET if choose_device(device).type == "cpu" else BUDGET
        self.texts = _texts(api.start_json(library) | {"budget": budget})

    @property
    def url(self) -> str:
        """Return the address of the pages, with the secret."""
        return f"http://{ADDRESS}:{self.server_port}/{self.secret}/"

    def url_once(self) -> str:
        """Return an address that leads to `url` once: others can read with which arguments a browser is started."""
        ticket = secrets.token_urlsafe(24)
        self.tickets.add(ticket)
        return f"http://{ADDRESS}:{self.server_port}/{ticket}"

    def close(self) -> None:
        self.server_close()
        self.solving.close()
        self.sampler.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def report(self, query: api.Query) -> bytes:
        library, is_solve = self.library, "solve" in query
        path: Path = api.chosen(query, *(("solve", library.solves) if is_solve else ("run", library.runs)))
        with self.reporting, tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch, "report.html")
            if is_solve:
                return write_solve_page(path, out, library.sources.values()).read_bytes()
            return write_pages([path], out, PageOptions(data=library.data)).read_bytes()


def _texts(start: Mapping[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return content type and content of every static page, by name; the front page has none."""
    data = f'<script type="application/json" id="data">{script_json(start)}</script>'
    index = (STATIC / "index.html").read_text("utf-8").replace("<!-- data -->", data)
    style = STYLE + (STATIC / "view.css").read_text("utf-8")
    scripts = {name: (STATIC / name).read_text("utf-8") for name in SCRIPTS}
    scripts["drawing.js"] = DRAWING
    return {
        "": (HTML, index.encode()),
        "style.css": ("text/css; charset=utf-8", style.encode()),
        **{name: ("text/javascript; charset=utf-8", text.encode()) for name, text in scripts.items()},
    }


# Requests that are answered in JSON: from the server, the query and the body.
ROUTES: dict[str, Callable[[Viewer, api.Query, dict[str, Any]], Any]] = {
    "GET api/tasks": lambda viewer, query, _: api.tasks_json(viewer.library, query),
    "GET api/task": lambda viewer, query, _: api.task_json(viewer.library, query),
    "GET api/canvas": lambda viewer, query, _: api.canvas_json(viewer.library, query),
    "GET api/sample": lambda viewer, query, _: api.sample_json(viewer.library, viewer.sampler, query),
    "GET api/run": lambda viewer, query, _: api.run_json(viewer.library, query),
    "GET api/watch": lambda viewer, query, _: api.watch_json(viewer.library, query),
    "GET api/models": lambda viewer, *_: api.models_json(viewer.library),
    "GET api/solve": lambda viewer, *_: viewer.solving.status(),
    "POST api/paste": lambda _, __, body: api.pasted_json(body.get("text")),
    "POST api/solve": lambda viewer, _, body: viewer.solving.start(*api.solve_request(viewer.library, body)),
    "POST api/cancel": lambda viewer, *_: viewer.solving.cancel(),
}


class _Incoming(io.RawIOBase):
    """The bytes of a connection until a deadline for all of them."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self.connection, self.end = connection, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    server: Viewer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "charm", ""
    timeout = 60  # seconds for a whole request to arrive, and for its answer to leave

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Incoming(self.connection, self.timeout))

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests; the terminal is for messages to the user."""

    def do_GET(self) -> None:
        """Answer a request, or say why not."""
        self.close_connection = True  # bytes that are left unread are not the next request
        try:
            path, _, query = self.path.partition("?")
            first, slash, name = path.removeprefix("/").partition("/")
            self._check_sender(name)
            if self._is_open(first, slash, name):
                self.server.solving.looked_at = time.monotonic()
                body = self._body() if self.command == "POST" else {}
                self._answer(name, dict(parse_qsl(query, keep_blank_values=True)), body)
        except CharmError as error:
            self._send_json(error.status if isinstance(error, Refused) else 400, {"error": str(error)})
        except (ConnectionError, TimeoutError):
            raise  # no one is left to answer
        except Exception as error:
            traceback.print_exc()
            reason = f"internal error ({type(error).__name__}); see the server's terminal"
            self._send_json(500, {"error": reason})

    do_POST = do_GET

    def _check_sender(self, name: str) -> None:
        if self.headers.get("Host", "") not in self.server.hosts:
            raise Refused(403, "this server only answers requests to its own address")
        # Other sites may link to the front page, which has no name; they cannot read it.
        if name and self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(403, "this server only answers its own pages")

    def _is_open(self, first: str, slash: str, name: str) -> bool:
        """Return whether the path starts with the secret. A ticket is exchanged for it, once; all else is refused."""
        viewer = self.server
        knows = hmac.compare_digest(first.encode(), viewer.secret.encode())
        if knows and slash:
            return True
        if self.command != "GET" or name.startswith("api/"):
            raise Refused(403, "this page is from an earlier start of charm view; open the address it printed")
        with suppress(KeyError):
            if not knows:
                viewer.tickets.remove(first)
            self._send(303, HTML, b"", {"Location": f"/{viewer.secret}/"})
            return False
        self._send(403, HTML, (STATIC / "closed.html").read_bytes())
        return False

    def _answer(self, name: str, query: dict[str, str], body: dict[str, Any]) -> None:
        viewer, route = self.server, f"{self.command} {name}"
        if route in ROUTES:
            self._send_json(200, ROUTES[route](viewer, query, body))
        elif self.command == "GET" and name in viewer.texts:
            self._send(200, *viewer.texts[name])
        elif route == "GET api/submission":
            content = json.dumps(viewer.solving.submission()).encode()
            self._send(200, JSON, content, {"Content-Disposition": 'attachment; filename="submission.json"'})
        elif route == "GET report":
            # The page has its own policy, with the hash of its one script.
            self._send(200, HTML, viewer.report(query), {"Content-Security-Policy": "frame-ancestors 'none'"})
        else:
            raise Refused(404, "no such page")

    def _body(self) -> dict[str, Any]:
        """Read the JSON object that our own page sends."""
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.server.hosts}:
            raise Refused(403, "this server only answers its own pages")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request has no Content-Length")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise Refused(413, f"the request is larger than {MAX_BODY:,} bytes")
        content = self.rfile.read(int(length))
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
            "Connection": "close",
            **(extra or {}),
        }
        self.connection.settimeout(self.timeout)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
