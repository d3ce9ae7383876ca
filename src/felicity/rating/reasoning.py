"""Set reasoning aside: what a model writes for itself before it answers is no answer."""

from __future__ import annotations

import re

from felicity.rating.plain import blank

_NAMES = (
    r"(?:seed:)?(?:think|thinking|thought|thoughts|reasoning|reason|rationale|analysis|reflection|"
    r"scratch_?pad|cot|chain[_-]of[_-]thought|inner_monologue|inner_thoughts|deliberation)"
)
# <think>, [THINK], ◁think▷, <|begin_of_thought|>, and the channels of the harmony format.
_OPEN = re.compile(
    rf"<\s*{_NAMES}\b[^<>\n]{{0,60}}>|\[{_NAMES}\]|◁{_NAMES}▷|<\|begin_of_(?:thought|reasoning)\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b[^<\n]*(?:<\|message\|>)?|<unused94>",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"<\s*/\s*{_NAMES}\s*>|\[/{_NAMES}\]|◁/{_NAMES}▷|<\|end_of_(?:thought|reasoning)\|>"
    r"|<\|channel\|>\s*final\b[^<\n]*(?:<\|message\|>)?|<unused95>",
    re.IGNORECASE,
)


def set_reasoning_aside(text: str) -> tuple[str, bool]:
    """Overwrite reasoning with spaces.

    A closing mark without an opening one ends reasoning that began with the reply (some chat
    templates write the opening mark into the prompt). An opening mark that is not closed leaves
    the rest of the reply inside the reasoning.

    Parameters
    ----------
    text
        The reply.

    Returns
    -------
    text, open_end
        The reply, as long as before, without its reasoning; and whether it ends inside it.

    Examples
    --------
    >>> set_reasoning_aside("maybe 3</think>6")
    ('               6', False)
    >>> set_reasoning_aside("<think>maybe 3")[1]
    True
    """
    closings = list(_CLOSE.finditer(text))
    if closings and not _OPEN.search(text, 0, closings[0].start()):
        text = blank(text, 0, closings[0].end())
    position = 0
    while opening := _OPEN.search(text, position):
        end, depth = opening.end(), 1
        while depth:
            closing = _CLOSE.search(text, end)
            if closing is None:
                return blank(text, opening.start(), len(text)), True
            depth += len(_OPEN.findall(text, end, closing.start())) - 1
            end = closing.end()
        text = blank(text, opening.start(), end)
        position = end
    # What is left of closings belongs to reasoning whose opening mark was lost as well.
    strays = list(_CLOSE.finditer(text))
    return (blank(text, 0, strays[-1].end()) if strays else text), False
