"""The table in words: what it says, and what to be careful about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from felicity.precision import in_words as in_words_of_precision
from felicity.report.choice.analysis import OVERALL, Analysis, Cell, ParticipantResult, _counts
from felicity.report.choice.table import names_of, number
from felicity.stats.orders import OrderEffects

ALPHA = 0.05


def in_words(analysis: Analysis) -> list[str]:
    """Say what the table says: one paragraph per participant, then how far the format moves it."""
    paragraphs = [
        _about(name, result, analysis)
        for name, result in zip(names_of(analysis), analysis.participants, strict=True)
    ]
    return [*paragraphs, *_formats(analysis)]


def _about(name: str, result: ParticipantResult, analysis: Analysis) -> str:
    design = analysis.study.design
    told = result.run.manifest
    known = {k: c for k, c in result.cells.items() if k != OVERALL and c.accuracy is not None}
    text = f"{name} ({told['participant']['method']}, format {told['format']['name']})"
    if result.orders is not None:
        text = f"{name} (asked)"
    if told["participant"].get("instruct") and result.orders is None:
        text += " has a chat template and was read here as plain text, without it; it"
    if not known:
        return f"{text} has no usable item."
    overall = result.cells[OVERALL]
    if result.orders is not None and overall.accuracy is not None:
        pick = told["pick"]
        text += f" points out the {pick} in {_share(overall)} of its usable replies overall."
    elif overall.accuracy is not None and overall.interval is not None:
        text += f" prefers the {design.answers[0]} in {_share(overall)} of items overall."
    else:
        text += f" was asked {overall.asked} items; there is no overall score of a part."
    short = {level.key: level.short for level in design.levels}
    above = [short[k] for k, c in known.items() if _differs(c) and (c.accuracy or 0) > c.chance]
    below = [short[k] for k, c in known.items() if _differs(c) and (c.accuracy or 0) < c.chance]
    unclear = [short[k] for k, c in known.items() if not _differs(c)]
    said = [
        f"{word} chance on {join_names(names)}"
        for word, names in (
            ("above", above),
            ("below", below),
            ("not distinguishable from", unclear),
        )
        if names
    ]
    text += f" It is {'; '.join(said)} ({_test(known)}, Holm, α = {ALPHA})."
    for group in analysis.people:
        text += _beside(group, known, short)
    text += "".join(_moves(group, rows) for group, rows in result.variants.items())
    text += _precision_words(told)
    missing = overall.asked - overall.usable
    if result.orders is not None:
        text += f" {_order_words(result.orders)}"
    if missing and result.orders is not None:
        text += f" {missing} of {overall.asked} replies name no answer{_statuses(result)}."
    elif missing:
        text += f" {missing} of {overall.asked} items had no usable score."
    if overall.ties:
        text += f" {overall.ties} items are ties, counted as not won."
    if not result.run.complete:
        text += " The run is not complete."
    return text


def _test(known: Mapping[str, Cell]) -> str:
    """Name the test against chance."""
    if all(cell.chance == 0.5 for cell in known.values()):
        return "sign-flip test over dialogues"
    return "dialogues drawn as won or lost whole by chance"


def _moves(group: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    """Say how far a variant alone moves the overall score, where all levels are there."""
    levels = max(len(cells) for cells in rows.values())
    means = [sum(c.values()) / len(c) for c in rows.values() if len(c) == levels]
    if len(means) < 2:
        return ""
    return (
        f" Over variants of {group} it lies between {number(min(means))} and {number(max(means))}."
    )


def _precision_words(told: Mapping[str, Any]) -> str:
    """Say what a coarser dtype does to the choices, as far as it is known."""
    dtype = told["participant"].get("dtype", "float32")
    if dtype == "float32" or "given" in told:
        return ""
    if "precision" not in told:
        return f" It was computed in {dtype}, which was not compared with float32."
    return f" It was computed in {dtype}: {in_words_of_precision(told['precision'])}."


def _order_words(orders: OrderEffects) -> str:
    """Say how far the place of an answer decides, and how often both orders agree."""
    if orders.position_bias is None or orders.interval is None:
        return "No reply says anything of position bias."
    bounds = f"[{number(orders.interval.low)}, {number(orders.interval.high)}]"
    text = (
        f"Position bias: it picks the answer shown first in {number(orders.position_bias)} "
        f"{bounds} of {orders.picks} usable replies (.50 is none)"
    )
    if orders.consistency is None:
        return f"{text}; no item is usable in both orders."
    return (
        f"{text}; in {number(orders.consistency)} of the {orders.pairs} items usable in both "
        "orders it picks the same answer both times."
    )


def _statuses(result: ParticipantResult) -> str:
    counts = sorted((k, n) for k, n in result.statuses.items() if k != "ok")
    return f" ({', '.join(f'{status} {count}' for status, count in counts)})" if counts else ""


def _beside(group: str, known: dict[str, Cell], short: dict[str, str]) -> str:
    lower: list[str] = []
    higher: list[str] = []
    open_: list[str] = []
    for key, cell in known.items():
        difference = (cell.against or {}).get(group)
        if difference is None:
            continue
        if difference.p >= ALPHA:
            open_.append(short[key])
        else:
            (lower if difference.value < 0 else higher).append(short[key])
    said = [
        f"{word} on {join_names(names)}"
        for word, names in (("below", lower), ("above", higher), ("not distinguishable", open_))
        if names
    ]
    return f" Beside {group} it is {'; '.join(said)}." if said else ""


def _formats(analysis: Analysis) -> list[str]:
    """For runs that differ in format only: how far the format alone moves each level."""
    groups: dict[tuple[str, ...], list[ParticipantResult]] = {}
    for result in analysis.participants:
        if result.orders is not None:
            continue
        told = result.run.manifest["participant"]
        same = (told["weights_fingerprint"], told["method"], told["prefix"], told["dtype"])
        groups.setdefault(same, []).append(result)
    several = [
        group
        for group in groups.values()
        if len({str(result.run.manifest["format"]["name"]) for result in group}) == len(group) > 1
    ]
    return [_format_paragraph(group, analysis) for group in several]


def _format_paragraph(results: Sequence[ParticipantResult], analysis: Analysis) -> str:
    common = set(results[0].margins["item_id"])
    for result in results[1:]:
        common &= set(result.margins["item_id"])
    label = results[0].run.label
    names = [str(result.run.manifest["format"]["name"]) for result in results]
    if not common:
        return f"The runs of {label} under {join_names(names)} have no item in common."
    factor = analysis.study.design.factor
    parts, largest = [], 0.0
    for level in analysis.study.design.levels:
        shares = [
            _counts(
                result.margins.filter(
                    pl.col("item_id").is_in(sorted(common)) & (pl.col(factor) == level.key)
                )
            ).accuracy
            for result in results
        ]
        if any(map(math.isnan, shares)):
            continue
        largest = max(largest, max(shares) - min(shares))
        parts.append(f"{level.short} {' / '.join(number(share) for share in shares)}")
    return (
        f"How far the dialogue format alone moves {label}, on the {len(common)} items that all "
        f"these runs have (formats {' / '.join(names)}): {'; '.join(parts)}. "
        f"The largest move is {number(largest)}: quote a score with its format."
    )


def _differs(cell: Cell) -> bool:
    return cell.p_chance_holm is not None and cell.p_chance_holm < ALPHA


def _share(cell: Cell) -> str:
    interval = cell.interval
    bounds = f" [{number(interval.low)}, {number(interval.high)}]" if interval else ""
    return f"{number(cell.accuracy)}{bounds}"


def join_names(names: Sequence[str]) -> str:
    """Join names as a sentence does.

    Examples
    --------
    >>> join_names(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
