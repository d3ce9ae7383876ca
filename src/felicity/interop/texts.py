"""What every export is made of: items as the texts that a model reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from felicity.errors import OptionError, RunError
from felicity.study import Format
from felicity.types import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """An item under a format: the context that its answers share, and the answers after it."""

    item: Item
    context: str
    answers: tuple[str, ...]


def render_items(fmt: Format, items: tuple[Item, ...]) -> list[Rendered]:
    """Render items; the model reads context and answer as one text, with nothing between.

    Raises
    ------
    OptionError
        Where a format puts the answers of an item into different contexts.
    """
    rendered = []
    for item in items:
        pairs = [fmt.render(item, label)[0] for label in item.answers]
        if len({pair.context for pair in pairs}) > 1:
            raise OptionError(
                f'got "{fmt.name}", whose context holds the answer; expected one context an item',
                where="--texts",
            )
        rendered.append(
            Rendered(
                item=item,
                context=pairs[0].context,
                answers=tuple(pair.answer for pair in pairs),
            )
        )
    return rendered


def identifier(name: str) -> str:
    """Write a name so that every tool takes it.

    Examples
    --------
    >>> identifier("gricean-maxims")
    'gricean_maxims'
    """
    return "".join(c if c.isalnum() else "_" for c in name)


def jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as JSON, one a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def write_files(folder: Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write new files into a folder; return their paths.

    Raises
    ------
    RunError
        Where one is there already, or cannot be written; nothing is written then.
    """
    paths = {name: folder / name for name in texts}
    there = [name for name, path in paths.items() if path.exists()]
    if there:
        raise RunError(
            f"there already: {', '.join(there)}",
            where=str(folder),
            hint="choose another folder with --out or --to, or delete these",
        )
    try:
        for name, text in texts.items():
            paths[name].parent.mkdir(parents=True, exist_ok=True)
            paths[name].write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror}", where=str(folder)) from error
    return tuple(paths.values())
