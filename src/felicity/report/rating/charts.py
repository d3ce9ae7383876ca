"""What the charts of a rating study share: sizes, data, headers, tooltips, names of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

# Two columns of text: 17 cm.
WIDE = 482
# Between panels.
BETWEEN = 8


def names_in(frame: pl.DataFrame, column: str) -> list[str]:
    """List what is in a column, in order of first mention."""
    found: list[str] = frame[column].unique(maintain_order=True).to_list()
    return found


def header(
    channel: type[alt.Facet] | type[alt.Row] | type[alt.Column],
    field: str,
    order: Sequence[str],
    **more: Any,
) -> Any:
    """Make the headers of panels, in this order."""
    look: dict[str, Any] = {"labelPadding": 3, "labelLimit": 220} | more
    return channel(f"{field}:N", title=None, sort=list(order), header=alt.Header(**look))


def legend_below(title: str | None, **more: Any) -> alt.Legend:
    """Make a legend that lies below the panels, its title at its left."""
    look: dict[str, Any] = {
        "orient": "bottom",
        "direction": "horizontal",
        "titleOrient": "left",
        "offset": 6,
    }
    return alt.Legend(title=title, **(look | more))


def rounded(*fields: str) -> list[Any]:
    """Make tooltips of figures with three decimals."""
    return [alt.Tooltip(f"{field}:Q", format=".3f") for field in fields]


def slug(*names: str) -> str:
    """Make a file's stem of names.

    Examples
    --------
    >>> slug("SmolLM2 (Q4_1)", "MIN")
    'smollm2-q4-1-min'
    """
    return re.sub(r"[^a-z0-9]+", "-", " ".join(names).lower()).strip("-") or "participant"
