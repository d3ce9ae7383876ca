"""What is said while something is done, on standard error."""

from __future__ import annotations

from rich.console import Console

err = Console(stderr=True)


def note(text: str) -> None:
    """Say something on standard error."""
    err.print(text, markup=False, highlight=False, soft_wrap=True)
