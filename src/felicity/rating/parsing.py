"""From the raw replies of a journal to values and statuses, without a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from felicity.participants.chat import is_same_model
from felicity.rating.journal import ReplyJournal
from felicity.rating.records import ParsedReply, Row


class Parsed(Protocol):
    """What a parser makes of a reply: a value of the scale or None, and a status."""

    @property
    def value(self) -> float | None:
        """The rating, or the place of the answer that is named; or None."""
        ...

    @property
    def status(self) -> str:
        """``ok``, or why there is no rating."""
        ...

    @property
    def span(self) -> tuple[int, int] | None:
        """Where in the text the rating stands."""
        ...


class Parse(Protocol):
    """A parser: `felicity.rating.parse.parse_reply`, or another with the same call.

    A parser of ratings takes a `Scale`, one of choices a `Choice`: the kind that the conversations
    of its study carry.
    """

    def __call__(
        self, text: str, finish: str, scale: Any, /, *, reasoning: str | None = None
    ) -> Parsed:
        """Parse one reply."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A parser with the version that is kept beside its values."""

    parse: Parse
    version: str


def parse_journal(journal: ReplyJournal, parser: Parser, asked: str | None) -> Counter[str]:
    """Parse all final replies that this version has not seen; return how many got which status.

    A reply of another model than ``asked`` is ``model_mismatch`` and has no value; a failed
    attempt is never parsed.
    """
    unseen = list(journal.rows(unparsed_by=parser.version))
    parsed = list(_parse_rows(unseen, parser, asked))
    journal.store_parsed(parsed)
    return Counter(p.status for p in parsed)


def _parse_rows(rows: list[Row], parser: Parser, asked: str | None) -> Iterator[ParsedReply]:
    for row in rows:
        reply = row.attempt.reply
        answered = reply.model_id
        if asked is not None and answered is not None and not is_same_model(asked, answered):
            value, status, span = None, "model_mismatch", None
        else:
            found = parser.parse(
                reply.text, reply.finish, row.attempt.scale, reasoning=reply.reasoning
            )
            value, status, span = found.value, found.status, found.span
        yield ParsedReply(
            number=row.number, value=value, status=status, span=span, version=parser.version
        )
