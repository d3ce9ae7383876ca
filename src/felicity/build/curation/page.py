"""The page's files, put together from its scripts and those of the report's page."""

from __future__ import annotations

from importlib.resources import files

# In the order in which they are read; each builds on those before it.
SHARED = ("vendor/vendor.js", "script/words.js", "script/theme.js")
OWN = ("asking", "marks", "dialogue", "judge", "write", "page")
_HOOKS = (
    "const { html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } "
    "= vendor;"
)


def page_files() -> dict[str, tuple[str, str]]:
    """Return each file's text and media type."""
    vendor, *shared = (_shared(name) for name in SHARED)
    own = [_own(f"script/{name}.js") for name in OWN]
    script = "\n".join(['"use strict";', vendor, "{", _HOOKS, *shared, *own, "}", ""])
    style = f"{_shared('style.css')}\n{_own('style.css')}"
    return {
        "page.html": (_own("page.html"), "text/html"),
        "page.js": (script, "text/javascript"),
        "page.css": (style, "text/css"),
    }


def _shared(name: str) -> str:
    return files("felicity.report.page").joinpath(name).read_text(encoding="utf-8")


def _own(name: str) -> str:
    return files("felicity.build.curation").joinpath(name).read_text(encoding="utf-8")
