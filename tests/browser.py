"""Pages in a real, headless Chromium: the fixtures of every test that opens one. tests/conftest.py makes them known.

    def test_it_opens(page: Page) -> None:
        open_file(page, path)  # or page.goto("http://127.0.0.1:PORT/")
        page.click("text=next")

A test fails at its end if a page has thrown, complained on its console, or asked anything but the disk or this machine.
One that provokes a complaint looks at the fixture `errors` and clears it. `phone` is a page on a telephone, and
`page.emulate_media(color_scheme="dark")` makes either dark.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ALLOWED_SCHEMES = ("file", "data", "blob", "about")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine. Without one, the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason='needs playwright: pip install -e ".[dev]"')
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs Chromium: `make browser` installs it, as does `apt-get install chromium`")
    with playwright.sync_playwright() as tools:
        found = tools.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def errors() -> list[str]:
    """What the pages of this test have complained of so far; it has to be empty in the end."""
    return []


@pytest.fixture
def page(browser: Browser, errors: list[str]) -> Iterator[Page]:
    """A light page of the size of a desktop's."""
    yield from _page(browser, errors, viewport={"width": 1280, "height": 900})


@pytest.fixture
def phone(browser: Browser, errors: list[str]) -> Iterator[Page]:
    """A light page on a telephone, 390 pixels wide."""
    size = {"width": 390, "height": 844}
    yield from _page(browser, errors, viewport=size, is_mobile=True, has_touch=True, device_scale_factor=2)


def open_file(page: Page, path: Path) -> None:
    """Open a file from disk and wait until it is loaded."""
    page.goto(path.resolve().as_uri())


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window: more than 0 means that it scrolls sideways."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth"))


def _page(browser: Browser, errors: list[str], **options: Any) -> Iterator[Page]:
    context = browser.new_context(color_scheme="light", **options)
    context.set_default_timeout(10_000)  # milliseconds; for a button that is not there
    context.set_default_navigation_timeout(60_000)
    page = context.new_page()

    def check(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ALLOWED_SCHEMES and parts.hostname not in LOOPBACK:
            errors.append(f"asked for {address}")

    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: check(request.url))
    yield page
    context.close()
    assert errors == []
