"""Conversations of a choice study that is asked: each item twice, once in either order."""

from __future__ import annotations

from collections.abc import Mapping

from felicity.asked.task import AskedTask
from felicity.errors import OptionError
from felicity.study import Study, fill
from felicity.types import Choice, Conversation, Item, Turn

PROMPTING = "asked"
# In order 0 the study's first answer is shown first, in order 1 its second.
ORDERS = (0, 1)


def asked_conversations(
    study: Study, *, where: Mapping[str, str] | None = None, limit: int | None = None
) -> tuple[Conversation, ...]:
    """Return everything that is put to a participant, in the study's order of items.

    Parameters
    ----------
    study
        A choice study with a section ``[asked]``.
    where, limit
        Only items with these factor levels; only so many items, each in both orders.

    Returns
    -------
    tuple of Conversation
        Two for each item, of one question each; a trial's id is ``ITEM_ID|asked|ORDER``.

    Raises
    ------
    OptionError
        Where the study cannot be asked.

    Examples
    --------
    >>> from felicity.study import load_choice_study
    >>> one, two = asked_conversations(load_choice_study("gricean-maxims"), limit=1)
    >>> one.turns[0].trial_id, one.scale.answers == two.scale.answers[::-1]
    ('quantity_1-01-1-w0-Leslie-Joan|asked|0', True)
    """
    task = task_of(study)
    return tuple(
        _conversation(item, study.design.answers, task, order)
        for item in study.select(where or {}, limit)
        for order in ORDERS
    )


def task_of(study: Study) -> AskedTask:
    """Return the task of a study; say so where it has none."""
    if study.asked is None:
        raise OptionError(
            "this study has no question to ask; expected a section [asked] in its study.toml",
            where=study.name,
            hint="docs/asked.md says what to put there",
        )
    return study.asked


def shown_answers(answers: tuple[str, ...], order: int) -> tuple[str, str]:
    """Return the labels of a study's answers in the order shown.

    Examples
    --------
    >>> shown_answers(("follower", "violator"), 1)
    ('violator', 'follower')
    """
    first, second = answers
    return (second, first) if order else (first, second)


def _conversation(
    item: Item, answers: tuple[str, ...], task: AskedTask, order: int
) -> Conversation:
    first, second = (item.answers[label] for label in shown_answers(answers, order))
    values = {
        **item.factors,
        "question": item.question,
        "first": first,
        "second": second,
        "first_label": task.labels[0],
        "second_label": task.labels[1],
    }
    trial_id = f"{item.item_id}|{PROMPTING}|{order}"
    return Conversation(
        conversation_id=trial_id,
        prompting=PROMPTING,
        repeat=0,
        system=None,
        turns=(Turn(trial_id=trial_id, item_id=item.item_id, text=fill(task.prompt, values)),),
        scale=Choice(labels=task.labels, answers=(first, second), words=task.words),
    )
