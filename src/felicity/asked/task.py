"""The task of a choice study that is asked in words. Reading one is in `reader`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTask:
    """What is put to a participant, and what is right.

    Attributes
    ----------
    prompt
        A template with ``{first}`` and ``{second}`` for the two answers in the order shown,
        ``{first_label}`` and ``{second_label}`` for what they are called, ``{question}``, and the
        item's factors.
    labels
        What the answer shown first and the one shown second are called.
    pick
        The label of the answer that the prompt asks for (the violator, where the odd one is asked
        for).
    words
        Words that name what is asked for, by which a sentence of a reply is understood.

    Examples
    --------
    >>> from felicity.study import load_choice_study
    >>> task = load_choice_study("gricean-maxims").asked
    >>> task.labels, task.pick
    (('A', 'B'), 'violator')
    """

    prompt: str
    labels: tuple[str, str]
    pick: str
    words: tuple[str, ...]
