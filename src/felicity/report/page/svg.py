"""Figures as they stand in the page: drawn once, as SVG whose marks say what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from felicity.report.figures import Figure, spec_of


def draw(figure: Figure) -> str:
    """Draw a figure; each mark's ``aria-label`` holds its tooltip, which the page shows."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec_of(figure)))


def words_of(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return what the page must know of figures before it draws them."""
    return [{"name": f.name, "title": f.title, "caption": f.caption} for f in figures]
