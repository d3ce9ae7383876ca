"""Which parser reads the responses of which method."""

from __future__ import annotations

from felicity.rating.parse import PARSER_VERSION, parse_reply
from felicity.rating.parsing import Parser


def parser_of(method: str) -> Parser:
    """Return the parser of a method: of replies in words, or of distributions (``expected``).

    Examples
    --------
    >>> parser_of("sampled").parse is parse_reply
    True
    """
    if method != "expected":
        return Parser(parse=parse_reply, version=PARSER_VERSION)
    from felicity.scoring.distribution import DISTRIBUTION_PARSER_VERSION, parse_distribution

    return Parser(parse=parse_distribution, version=DISTRIBUTION_PARSER_VERSION)
