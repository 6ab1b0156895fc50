"""The style sheet and the scripts of the pages."""

from importlib.resources import files


def _read(*names: str) -> str:
    static = files("charm.report") / "static"
    return "\n".join((static / name).read_text("utf-8") for name in names)


STYLE = _read("style.css")
DRAWING = _read("drawing.js")
SCRIPT = _read("drawing.js", "listing.js", "run.js")
COMPARISON = _read("drawing.js", "listing.js", "comparison.js")
