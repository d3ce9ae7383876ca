"""The items of a rating study and the replies of a run in words, as the item browser reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from felicity.asked.prompts import shown_answers
from felicity.rating.journal import ReplyJournal
from felicity.rating.records import Attempt, Row, messages_json
from felicity.rating.run import JOURNAL, RatingRun
from felicity.rating.study import RatingItem, RatingStudy
from felicity.report.page.choice import filters_of
from felicity.report.page.pack import coded
from felicity.types import Choice


def describe_rating(study: RatingStudy) -> dict[str, Any]:
    """Return what the page must know of a rating study's design."""
    scale = study.scale
    return {
        "paradigm": "rating",
        "scale": {
            "low": scale.low,
            "high": scale.high,
            "low_label": scale.low_label,
            "high_label": scale.high_label,
        },
        "people_source": study.reference_source,
        "filters": filters_of([item.factors for item in study.items], first="scenario"),
    }


def rating_items(items: Sequence[RatingItem], study: RatingStudy) -> dict[str, Any]:
    """Write items as columns: id, scene, factors, texts, and what people rated there."""
    cells = {tuple(sorted(cell.factors.items())): cell for cell in study.reference}
    people = [cells.get(tuple(sorted(item.factors.items()))) for item in items]
    return {
        "id": [item.item_id for item in items],
        "unit": coded(item.scene_id for item in items),
        "factors": {name: coded(item.factors[name] for item in items) for name in study.factors},
        "texts": {
            name: coded(item.texts.get(name, "") for item in items) for name in _texts(items)
        },
        "people": [cell and [round(cell.mean, 4), round(cell.sd, 4), cell.n] for cell in people],
    }


def _texts(items: Sequence[RatingItem]) -> list[str]:
    return list(dict.fromkeys(name for item in items for name in item.texts))


def reply_rows(
    run: RatingRun, places: Mapping[str, int], promptings: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a run of replies as columns: a row for each trial, by item, prompting and repeat.

    A trial's row is its final reply, or its last failed attempt with status ``error``. Where a
    choice was asked, ``shown`` has the answers in the order shown, and the value is a place in it.
    """
    with ReplyJournal(run.folder / JOURNAL, read_only=True) as journal:
        tries = [list(group) for _, group in groupby(journal.rows(), lambda r: r.attempt.trial_id)]
    last = [next((row for row in each if row.attempt.final), each[-1]) for each in tries]
    order = {name: place for place, name in enumerate(promptings)}
    last.sort(
        key=lambda row: (
            places[row.attempt.item_id],
            order.get(row.attempt.prompting, len(order)),
            row.attempt.prompting,
            row.attempt.repeat,
        )
    )
    attempts = [row.attempt for row in last]
    return {
        "kind": "replies",
        "item": [places[attempt.item_id] for attempt in attempts],
        "prompting": coded(attempt.prompting for attempt in attempts),
        "repeat": [_repeat(attempt) for attempt in attempts],
        "status": coded(_status(row) for row in last),
        "value": [row.value for row in last],
        "span": [row.span for row in last],
        "text": coded(attempt.reply.text for attempt in attempts),
        "reasoning": coded(attempt.reply.reasoning for attempt in attempts),
        "finish": coded(attempt.reply.finish for attempt in attempts),
        "error": coded(attempt.reply.error for attempt in attempts),
        "model": coded(attempt.reply.model_id for attempt in attempts),
        "temperature": coded(attempt.reply.effective.temperature for attempt in attempts),
        "messages": coded(messages_json(attempt.messages) for attempt in attempts),
        "shown": coded(_shown(row) for row in last),
    }


def right_places(rows: Mapping[str, Any], answers: tuple[str, ...], pick: str) -> list[int]:
    """Return, for each trial of an asked run, the place at which the right answer was shown."""
    return [shown_answers(answers, order).index(pick) for order in rows["repeat"]]


def _repeat(attempt: Attempt) -> int:
    """Return the number at the end of a trial's id: its repeat, or its order where it was asked."""
    end = attempt.trial_id.rpartition("|")[2]
    return int(end) if end.isdecimal() else attempt.repeat


def _status(row: Row) -> str:
    return (row.status or "unparsed") if row.attempt.final else "error"


def _shown(row: Row) -> tuple[tuple[str, str], ...] | None:
    scale = row.attempt.scale
    if not isinstance(scale, Choice):
        return None
    return tuple(zip(scale.labels, scale.answers, strict=True))
