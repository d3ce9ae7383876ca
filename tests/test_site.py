"""The documentation site is built strictly, and is whole without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a browser loads by itself, as against a link that a reader may follow.
LOADED = re.compile(
    r"<(?:script|img|iframe|source|embed)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s\"'>]+"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preconnect|icon|preload))[^>]*href=[\"']?"
    r"(?:https?:)?//[^\s\"'>]+"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_built(site):
    for page in ROOT.glob("docs/**/*.md"):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file()


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert LOADED.findall(page.read_text(encoding="utf-8")) == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", sheet.read_text("utf-8")), sheet


def test_what_would_be_loaded_from_elsewhere_is_found():
    for line in (
        '<script src="https://cdn.test/x.js">',
        "<img alt=a src=//cdn.test/x.png>",
        '<link href="https://fonts.test/x.css" rel="stylesheet">',
    ):
        assert LOADED.search(line), line
    assert not LOADED.search('<link href="https://a.test/" rel="canonical">')


def test_the_reference_shows_every_public_name(site):
    import felicity

    text = (site / "reference.html").read_text(encoding="utf-8")
    for name in felicity.__all__:
        if not name.startswith("__"):
            assert f'id="felicity.{name}"' in text, name


def test_decisions_are_listed_and_in_the_menu(site):
    page = (site / "decisions" / "index.html").read_text(encoding="utf-8")
    for decision in ROOT.glob("docs/decisions/*.md"):
        assert page.count(f'href="{decision.stem}.html"') >= 2, decision.name
