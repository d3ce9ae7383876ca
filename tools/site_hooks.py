"""What mkdocs is told beyond mkdocs.yml: pages from outside docs/, and the list of decisions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
DECISIONS = "decisions/"
# Pages and files of the repository that pages of docs/ may link to, as ../NAME.
OUTSIDE = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    *(f"examples/{p.name}" for p in (ROOT / "examples").glob("*")),
]


def titles() -> dict[str, str]:
    """Return each decision's page with its title, in order."""
    pages = sorted((ROOT / "docs" / DECISIONS).glob("*.md"))
    return {
        f"{DECISIONS}{page.name}": page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        for page in pages
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write the decisions into the navigation, so that a new one needs no line there."""
    for entry in config.nav or []:
        if entry.get("Decisions") == DECISIONS:
            pages: list[Any] = [{title: page} for page, title in titles().items()]
            entry["Decisions"] = [f"{DECISIONS}index.md", *pages]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the list of decisions and the pages from outside docs/."""
    listed = [f"- [{title}]({Path(page).name})" for page, title in titles().items()]
    text = "# Decisions\n\nWhat was decided, and why.\n\n" + "\n".join(listed) + "\n"
    files.append(File.generated(config, f"{DECISIONS}index.md", content=text))
    for name in OUTSIDE:
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.endswith(".md"):
            # From here docs/ is where we are.
            text = re.sub(r"\]\((?:docs/)([^)]+)\)", r"](\1)", text)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links that leave docs/ to the pages added above."""
    depth = page.file.src_uri.count("/")
    for name in OUTSIDE:
        markdown = markdown.replace(f"]({'../' * (depth + 1)}{name})", f"]({'../' * depth}{name})")
    return markdown
