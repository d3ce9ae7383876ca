"""A real browser that reaches nothing but files; without one the tests are skipped, save in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pages import write_choice_page, write_rating_page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def no_browser(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}; in CI the page is tested")
    pytest.skip(reason)


# Not of the session: while it lives, an event loop runs in this thread.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        no_browser("playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        no_browser(f"none of {', '.join(NAMES)} is installed")
    try:
        playwright = sync_playwright().start()
    except Exception as error:  # the library has no class of its own for this
        no_browser(f"playwright's driver does not start ({error}); on Debian it needs libatomic1")
    browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
    yield browser
    browser.close()
    playwright.stop()


@pytest.fixture(scope="session")
def choice_page(tmp_path_factory, tiny_gpt2_folder) -> Path:
    return write_choice_page(tmp_path_factory.mktemp("choice"), tiny_gpt2_folder)


@pytest.fixture(scope="session")
def rating_page(tmp_path_factory) -> Path:
    return write_rating_page(tmp_path_factory.mktemp("rating"))


@pytest.fixture
def visit(chromium) -> Iterator[Callable[..., Any]]:
    """Open a page from disk. It must ask for nothing else, and no script of it may fail."""
    contexts, wrong = [], []

    def go(path: Path, hash: str = "", **options: Any) -> Any:  # noqa: A002 - what it is called
        options = {"viewport": {"width": 1280, "height": 800}} | options
        context = chromium.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or wrong.append(r.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: m.type != "error" or wrong.append(m.text))
        page.goto(path.as_uri() + hash)
        return page

    yield go
    for context in contexts:
        context.close()
    assert not wrong
