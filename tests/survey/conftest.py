"""A real browser that reaches nothing but this machine; without one its tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def no_browser(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; in CI the survey is tested")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def participant_browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        no_browser("playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        no_browser(f"none of {', '.join(NAMES)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visitor(participant_browser) -> Iterator[Any]:
    """A page in which no script may fail and that asks only disk and loopback."""
    wrong: list[str] = []
    context = participant_browser.new_context(
        accept_downloads=True, viewport={"width": 360, "height": 740}
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    ours = ("file:", "data:", "blob:", "http://127.0.0.1:")
    page.on("request", lambda r: r.url.startswith(ours) or wrong.append(r.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert not wrong
