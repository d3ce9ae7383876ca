"""What of a reply is no answer: reasoning, refusals."""

from __future__ import annotations

import re

_NAMES = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection|scratchpad)"
_OPEN = re.compile(rf"<\s*{_NAMES}\b[^<>\n]{{0,60}}>|\[{_NAMES}\]", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*{_NAMES}\s*>|\[/{_NAMES}\]", re.IGNORECASE)
# What chat templates end a turn with, where a server lets it through.
_SPECIAL = re.compile(r"<\|[^|<>\n]*\|>|</?s>")
_CANNOT = (
    r"(?:can(?:'t| ?not)|could(?:n't| not)|won't|will not|would rather not|(?:am|'m) (?:not able|"
    r"unable|not comfortable)|(?:am|'m) not going to|must decline|prefer not|refuse)"
)
_DO = (
    r"(?:answer|pick|choos|select|judg|say|tell|help|assist|compl(?:y|ete)|respond|decid|"
    r"determin|provid|do (?:this|that|so)|label|call|evaluat|assess|participat|continu)"
)
_REFUSAL = re.compile(
    rf"\b(?:I|I'm|we)\b[^.!?\n]{{0,40}}?{_CANNOT}\b[^.!?\n]{{0,40}}?\b{_DO}"
    r"|\bI (?:respectfully )?(?:decline|refuse)\b"
    r"|\bas an? (?:AI|language|large language|assistant)\b"
    r"|\b(?:not enough|insufficient|lack(?:s|ing)?) (?:information|context)\b"
    r"|^\W*(?:I'm |I am |so )?sorry\b|^\W*(?:my apologies|I apologi[sz]e)\b"
    r"|^\W*(?:n/?a|no (?:answer|comment)|not applicable|prefer not to say)\W*$",
    re.IGNORECASE,
)


def blank(text: str, start: int, end: int, mark: str = " ") -> str:
    """Overwrite a stretch of a text, so that places in it stay what they are."""
    return text[:start] + mark * (end - start) + text[end:]


def set_reasoning_aside(text: str) -> tuple[str, bool]:
    """Overwrite reasoning with spaces; say whether the reply ends inside it.

    A closing mark without an opening one ends reasoning that began with the reply.

    Examples
    --------
    >>> set_reasoning_aside("A?</think>B")
    ('          B', False)
    >>> set_reasoning_aside("<think>A")
    ('        ', True)
    """
    text = _SPECIAL.sub(lambda match: " " * len(match.group()), text)
    while closing := _CLOSE.search(text):
        openings = list(_OPEN.finditer(text, 0, closing.start()))
        text = blank(text, openings[-1].start() if openings else 0, closing.end())
    opening = _OPEN.search(text)
    if opening is None:
        return text, False
    return blank(text, opening.start(), len(text)), True


def is_refusal(text: str) -> bool:
    """Say whether a reply that names no answer declines to.

    Examples
    --------
    >>> is_refusal("I'm sorry, but I can't judge people."), is_refusal("Hard to say.")
    (True, False)
    """
    return bool(_REFUSAL.search(text))
