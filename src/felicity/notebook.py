"""How values show themselves in a notebook: a small table of facts, without any package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape


def show_facts(title: str, facts: Mapping[str, object]) -> str:
    """Write facts (name to value) as an HTML table under a title.

    Examples
    --------
    >>> show_facts("A & B", {"items": 2})
    '<table><caption>A &amp; B</caption><tr><th>items</th><td>2</td></tr></table>'
    """
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def show_rows(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], left: int, note: str
) -> str:
    r"""Write a table as HTML: ``left`` columns of words, then figures; a note below if any.

    Examples
    --------
    >>> shown = show_rows("T", ("who", "x"), [("<a>", "1")], 1, "")
    >>> "<td>&lt;a&gt;</td><td style=\"text-align:right\">1</td>" in shown
    True
    """

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}>{escape(cell)}</{tag}>"
            if place < left
            else f'<{tag} style="text-align:right">{escape(cell)}</{tag}>'
            for place, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{cells('th', header)}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}"
    )


def show_counts(counts: Mapping[str, int]) -> str:
    """Write counts in a line, the most frequent first.

    Examples
    --------
    >>> show_counts({"empty": 1, "ok": 7})
    '7 ok, 1 empty'
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered) or "none"
