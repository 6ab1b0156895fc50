"""The description that a package index shows: README.md with addresses instead of links into the clone.

Everything else is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
HOME = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Homepage"]


def with_address(link: re.Match[str]) -> str:
    """Return a relative link of Markdown with the address of its page, or of the file itself if it is a picture."""
    return f"{link[1]}({HOME}/{'raw' if link[1].startswith('!') else 'blob'}/main/{link[2]})"


setup(
    long_description=re.sub(
        r"(!?\[[^\]]*\])\((?!https?:|#)([^)]+)\)", with_address, (ROOT / "README.md").read_text("utf-8")
    ),
    long_description_content_type="text/markdown",
)
