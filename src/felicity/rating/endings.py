"""How a reply came to its end, and what of it is left to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from felicity.rating.reasoning import set_reasoning_aside
from felicity.rating.refusals import is_error_message

_CUT = {"length", "max_tokens", "model_length", "max_output_tokens", "token_limit"}
_FILTERED = {"content_filter", "content-filter", "safety", "refusal", "prohibited_content"}

# Of a reply that leaves nothing to read, or that broke off before its answer was sure.
Unread = Literal["error", "empty", "refused", "truncated", "truncated_in_reasoning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why the text of a reply ends where it does.

    Attributes
    ----------
    cut
        No more tokens were allowed.
    filtered
        The provider held the rest back.

    Examples
    --------
    >>> Ending.of("Safety").broken_off, Ending.of("length").broken_off, Ending.of("stop").broken_off
    ('refused', 'truncated', None)
    """

    cut: bool
    filtered: bool

    @classmethod
    def of(cls, finish: str) -> Ending:
        """Read a finish: ``stop``, ``length``, ``content_filter`` or a provider's own word."""
        word = finish.strip().lower()
        return cls(cut=word in _CUT, filtered=word in _FILTERED)

    @property
    def broken_off(self) -> Unread | None:
        """The status of a reply whose answer might have changed with its rest; None if whole."""
        return "truncated" if self.cut else "refused" if self.filtered else None


def set_aside(text: str, finish: str, reasoning: str | None) -> tuple[str, Unread | None]:
    """Take a reply's reasoning out of it.

    Parameters
    ----------
    text
        The reply.
    finish
        Why the model stopped. A reply of finish ``error`` is not read.
    reasoning
        Reasoning that came in a field of its own. It tells a reply cut off while reasoning from
        an empty one.

    Returns
    -------
    visible, status
        The reply, as long as before, with spaces for its reasoning; and a status where that
        leaves nothing to read.

    Examples
    --------
    >>> set_aside("<think>maybe 5", "length", None)[1]
    'truncated_in_reasoning'
    >>> set_aside(" ", "stop", None)[1], set_aside("5", "stop", None)
    ('empty', ('5', None))
    """
    if finish.strip().lower() == "error" or is_error_message(text):
        return text, "error"
    visible, open_end = set_reasoning_aside(text)
    if open_end:
        return visible, "truncated_in_reasoning"
    if visible.strip():
        return visible, None
    broken_off = Ending.of(finish).broken_off
    if broken_off == "truncated" and (reasoning or "").strip():
        return visible, "truncated_in_reasoning"
    return visible, broken_off or "empty"
