"""Put a report, its items and every response into one page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from felicity.asked.prompts import task_of
from felicity.asked.run import AskedRun
from felicity.rating.run import RatingRun
from felicity.rating.study import RatingStudy
from felicity.report.content import ReportContent
from felicity.report.figures import Figure, svg_of
from felicity.report.page.choice import choice_items, describe_choice, score_rows
from felicity.report.page.pack import block, inline_json
from felicity.report.page.replies import describe_rating, rating_items, reply_rows, right_places
from felicity.report.page.stamp import page_stamp
from felicity.report.text_table import TextTable, as_latex
from felicity.runner import Run
from felicity.study import Study

AnyRun = Run | RatingRun
# In the order in which they are read; each builds on those before it.
SCRIPTS = (
    "blocks",
    "link",
    "words",
    "rows",
    "table",
    "report",
    "filters",
    "list",
    "scores",
    "replies",
    "items",
    "theme",
    "page",
)


def build_page(content: ReportContent, runs: Sequence[AnyRun], study: Study | RatingStudy) -> str:
    """Return report.html: one file that opens from disk and asks nothing of the network.

    Parameters
    ----------
    content
        The report.
    runs
        The runs that it is of; each can be looked at, item by item. With none (a report of
        published figures) the page has no items.
    study
        Their study.
    """
    blocks = {}
    if runs:
        items = _items_of(runs, study)
        places = {item_id: place for place, item_id in enumerate(items["id"])}
        blocks["items"] = block(items)
        for place, run in enumerate(runs):
            blocks[f"run-{place}"] = block(_rows(run, places, study))
    for figure in content.figures:
        blocks[f"figure-{figure.name}"] = block(svg_of(figure))
    described = _described(content, runs, study)
    return _assemble(content.title, page_stamp(runs), described, blocks)


def _described(
    content: ReportContent, runs: Sequence[AnyRun], study: Study | RatingStudy
) -> dict[str, Any]:
    design = describe_choice(study) if isinstance(study, Study) else describe_rating(study)
    return {
        "title": content.title,
        "version": study.version,
        "ran": _plain_table(content.ran),
        "headline": list(content.headline),
        "cautions": list(content.cautions),
        "tables": [_plain_table(table) for table in content.tables],
        "figures": _words_of(content.figures),
        "methods": content.methods,
        "citations": content.citations,
        "design": design,
        "score": content.values.get("score"),
        "participants": [
            {"name": name, "method": str(run.manifest["participant"]["method"])}
            for name, run in zip(page_names(runs), runs, strict=True)
        ],
    }


def page_names(runs: Sequence[AnyRun]) -> list[str]:
    """Name each run so that no two are the same: a link to an item names them.

    What tells them apart is added: the format, then method, prefix, dtype, then the folder's name,
    then a number.
    """
    names = [run.label for run in runs]
    told = [run.manifest for run in runs]
    extras: list[list[str]] = [[str(m.get("format", {}).get("name", "")) for m in told]]
    extras += [[str(m["participant"].get(k) or "") for m in told] for k in ("method", "prefix")]
    extras += [[str(m["participant"].get("dtype") or "") for m in told]]
    extras += [[run.folder.name for run in runs], [str(place + 1) for place in range(len(runs))]]
    for extra in extras:
        twice = {name for name in names if names.count(name) > 1}
        # Only where it does tell some of them apart.
        useful = {
            n for n in twice if len({e for m, e in zip(names, extra, strict=True) if m == n}) > 1
        }
        names = [
            f"{name}, {more}" if name in useful and more else name
            for name, more in zip(names, extra, strict=True)
        ]
    return names


def _plain_table(table: TextTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "header": list(table.header),
        "rows": [list(row) for row in table.rows],
        "people": table.people,
        "note": table.note,
        "left": table.left,
        "bold": sorted(table.bold),
        "latex": as_latex(table),
    }


def _items_of(runs: Sequence[AnyRun], study: Study | RatingStudy) -> dict[str, Any]:
    """Write the items that any run was asked, in the study's order."""
    asked = {item_id for run in runs for item_id in run.responses["item_id"].unique()}
    if isinstance(study, Study):
        kept = [item for item in study.items if item.item_id in asked]
        return choice_items(kept or study.items, study.design.answers)
    rated = [item for item in study.items if item.item_id in asked]
    return rating_items(rated or study.items, study)


def _rows(run: AnyRun, places: Mapping[str, int], study: Study | RatingStudy) -> dict[str, Any]:
    if isinstance(run, Run):
        return score_rows(run, places)
    promptings = () if isinstance(study, Study) else tuple(study.promptings)
    rows = reply_rows(run, places, promptings)
    if isinstance(run, AskedRun):
        rows["right"] = right_places(rows, run.study.design.answers, task_of(run.study).pick)
    return rows | {"asked": isinstance(run, AskedRun)}


def _assemble(
    title: str, stamp: str, described: Mapping[str, Any], blocks: Mapping[str, str]
) -> str:
    """Fill the page. Its policy lets one script run, this one, and lets nothing be fetched."""
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    packed = "\n".join(
        f'<script type="text/plain" id="block-{_escape(name)}">{data}</script>'
        for name, data in blocks.items()
    )
    parts = {
        "TITLE": _escape(title),
        "POLICY": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        "STAMP": stamp,
        "STYLE": _asset("style.css"),
        "REPORT": inline_json(described),
        "BLOCKS": packed,
        "SCRIPT": script,
    }
    pieces = _asset("page.html").split("@@")
    # Every second piece is a name; each is filled once, so that no text is read as a name.
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def _script() -> str:
    ours = "\n".join(_asset(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n{_asset("vendor/vendor.js")}\n{{\n{ours}}}\n'


def _asset(name: str) -> str:
    return files("felicity.report.page").joinpath(name).read_text(encoding="utf-8")


def _escape(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text


def _words_of(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return what the page must know of figures before it draws them."""
    return [{"name": f.name, "title": f.title, "caption": f.caption} for f in figures]
