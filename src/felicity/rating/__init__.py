"""Rating studies: what participants are asked, and how their replies are read."""

from felicity.rating.parse import (
    PARSE_STATUSES,
    PARSER_VERSION,
    Parsed,
    ParseStatus,
    parse_as_published,
    parse_reply,
)

__all__ = [
    "PARSER_VERSION",
    "PARSE_STATUSES",
    "ParseStatus",
    "Parsed",
    "parse_as_published",
    "parse_reply",
]
