"""Write docs/cli.md from the commands' own help; with --check fail where it is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from felicity.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = "# Command line\n\nGenerated from `--help` by `make docs`.\n"


def page() -> str:
    """Return the page: the help of the program and of each command."""
    return "".join([HEAD, *sections("felicity", typer.main.get_command(app))])


def sections(words: str, command: Any) -> Iterator[str]:
    """Yield the section of a command, then those of the commands in it."""
    context = command.make_context(words, [], resilient_parsing=True, max_content_width=96)
    context.terminal_width = 96
    yield f"\n## {words}\n\n```text\n{command.get_help(context).strip()}\n```\n"
    for name, inner in getattr(command, "commands", {}).items():
        yield from sections(f"{words} {name}", inner)


def main() -> int:
    """Write or check."""
    fresh = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != fresh:
            print(f"{PAGE.name} is stale; run `make docs`", file=sys.stderr)
            return 1
        return 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
