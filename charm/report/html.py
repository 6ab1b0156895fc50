"""Building blocks of all pages: the document, its style sheet and scripts, tables, tiles.

Names and grids come from untrusted files. All text passes through `escape`, and the data of a script is JSON without
a "<". A page's content policy lets the browser run our script only, and load nothing.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.files import write_atomically
from charm.report.folder import JsonObject
from charm.tables import Table


def _read(*names: str) -> str:
    static = files("charm.report") / "static"
    return "\n".join((static / name).read_text("utf-8") for name in names)


STYLE = _read("style.css")
DRAWING = _read("drawing.js")
SCRIPT = _read("drawing.js", "listing.js", "run.js")
COMPARISON = _read("drawing.js", "listing.js", "comparison.js")


def document(title: str, body: Iterable[str], script: str = "", payload: Any = None) -> str:
    """Return a complete page. With a script, `payload` is the JSON in the element `data`."""
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"'sha256-{digest}'" if script else "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {scripts}"
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)} · CHARM</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        *body,
    ]
    if script:
        parts.append(f'<script type="application/json" id="data">{script_json(payload)}</script>')
        parts.append(f"<script>{script}</script>")
    return "\n".join([*parts, "</body></html>\n"])


def write_page(path: Path, content: str) -> Path:
    # A name may contain half of a surrogate pair, which UTF-8 cannot encode.
    write_atomically(path, content.encode("utf-8", "xmlcharrefreplace"))
    return path


def script_json(value: Any) -> str:
    """Return JSON that can neither end the script element nor open a comment in it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def tile(title: str, value: str, detail: str) -> str:
    """Return a tile with one number, what it is, and a few words about it."""
    return f'<div class="card"><span>{escape(title)}</span><b>{escape(value)}</b><span>{escape(detail)}</span></div>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f'<div class="wide">{Table(heads, rows).html()}</div>'


def settings(config: JsonObject, title: str = "configuration") -> str:
    """Return a configuration as JSON, in an element that opens on a click, without the local path of its data."""
    data = config.get("data")
    shown = {**config, "data": {**data, "data": None} if isinstance(data, dict) else None}
    return f"<details><summary>{escape(title)}</summary><pre>{escape(json.dumps(shown, indent=1))}</pre></details>"


def names_of(runs: Sequence[Path]) -> list[str]:
    """Return a distinct name for each run: its folder's name, with as many parent folders as needed."""
    parts = [run.resolve().parts for run in runs]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    raise CharmError(f"runs must be different folders, got {runs[0]} twice")


def title_of(names: Sequence[str]) -> str:
    return " · ".join(names) if len(names) <= 3 else f"{len(names)} runs"


def legend(names: Sequence[str]) -> str:
    """Return the legend of a page's curves: each run with its colour and dash."""
    lines = "".join(
        f'<span class="s{n % 8}"><svg viewBox="0 0 28 10" aria-hidden="true"><path class="line" d="M0 5H28"/></svg>'
        f"{escape(name)}</span>"
        for n, name in enumerate(names)
    )
    return f'<p class="legend">{lines}</p>'
