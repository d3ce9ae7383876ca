"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence

from felicity.errors import OptionError


def parse_where(pairs: Sequence[str]) -> dict[str, str]:
    """Parse ``FACTOR=LEVEL`` options.

    Examples
    --------
    >>> parse_where(["maxim=relation", "wording=0"])
    {'maxim': 'relation', 'wording': '0'}
    """
    parsed = {}
    for pair in pairs:
        factor, equals, level = pair.partition("=")
        if not (factor and equals and level):
            raise OptionError(f'got "{pair}"; expected FACTOR=LEVEL', where="--where")
        parsed[factor] = level
    return parsed
