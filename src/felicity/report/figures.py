"""Figures: one look for all, made with Altair, written as SVG, PDF and PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from felicity.errors import RunError

# A column of 8 cm, in the pixels of a figure (72 to the inch, as in PDF points).
COLUMN = 227
PNG_SCALE = 300 / 72
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
# Okabe & Ito (2008), ordered so that neighbours differ in lightness too and are told apart in grey.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000", "#999999")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart with its words.

    Attributes
    ----------
    name
        Stem of its files.
    title, caption
        The caption says what is shown, over what, with which interval.
    chart
        An Altair top-level chart, without configuration: `spec_of` adds it. Marks have tooltips
        with n and interval.
    """

    name: str
    title: str
    caption: str
    chart: Any


def missing_packages() -> tuple[str, ...]:
    """Name the packages of felicity[report] that are not installed; figures and HTML need all."""
    needed = {"altair": "altair", "vl_convert": "vl-convert-python", "great_tables": "great-tables"}
    return tuple(name for module, name in needed.items() if find_spec(module) is None)


def spec_of(figure: Figure) -> dict[str, Any]:
    """Return the Vega-Lite specification, in the house's look, data inside."""
    import altair

    # A figure of many runs has more rows than Altair allows by itself.
    with altair.data_transformers.enable("default", max_rows=None):
        spec: dict[str, Any] = json.loads(figure.chart.to_json(validate=False))
    spec["config"] = _look()
    return spec


def _look() -> dict[str, Any]:
    text = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 7, "titleFontSize": 8}
    return {
        "background": "white",
        "font": FONT,
        "view": {"stroke": None},
        "axis": text
        | {
            "titleFontWeight": "normal",
            "grid": True,
            "gridColor": "#e5e5e5",
            "gridWidth": 0.5,
            "domainColor": "#666666",
            "tickColor": "#666666",
            "tickSize": 3,
            "tickRound": False,
        },
        "legend": text | {"titleFontWeight": "normal", "symbolSize": 40, "labelLimit": 220},
        "header": text | {"titleFontWeight": "normal", "labelFontSize": 8},
        "title": {"font": FONT, "fontSize": 9, "fontWeight": "normal", "anchor": "start"},
        "text": {"font": FONT, "fontSize": 7},
        "point": {"size": 30, "filled": True},
        "range": {"category": list(COLOURS), "symbol": list(SHAPES)},
    }


def svg_of(figure: Figure) -> str:
    """Lay a figure out as SVG; each mark's ``aria-label`` holds its tooltip."""
    return _lay_out(json.dumps(spec_of(figure)))


# Laying out is most of the time that a figure takes, and files and page need it.
@lru_cache(maxsize=128)
def _lay_out(spec: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def write_figures(figures: Sequence[Figure], folder: Path) -> Mapping[str, Path]:
    """Write each figure as NAME.svg, NAME.pdf and NAME.png (300 dots an inch).

    Returns
    -------
    mapping
        File name to path.

    Raises
    ------
    RunError
        Where the folder cannot be written.
    """
    import vl_convert

    paths = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for figure in figures:
            svg = svg_of(figure)
            made: dict[str, bytes] = {
                "svg": svg.encode(),
                "pdf": vl_convert.svg_to_pdf(svg),
                "png": vl_convert.svg_to_png(svg, scale=PNG_SCALE, ppi=72),
            }
            for ending in FORMATS:
                name = f"{figure.name}.{ending}"
                paths[name] = folder / name
                paths[name].write_bytes(made[ending])
    except OSError as error:
        raise RunError(
            f"the figures cannot be written: {error.strerror}",
            where=str(folder),
            hint="choose another folder with --out",
        ) from error
    return paths
