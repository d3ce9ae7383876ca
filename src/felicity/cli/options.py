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
    parsed: dict[str, str] = {}
    for pair in pairs:
        factor, equals, level = pair.partition("=")
        if not (factor and equals and level):
            raise OptionError(f'got "{pair}"; expected FACTOR=LEVEL', where="--where")
        if parsed.setdefault(factor, level) != level:
            raise OptionError(
                f'got "{parsed[factor]}" and "{level}" of {factor}; expected one level of a factor',
                where="--where",
                hint="run each; several runs go into one report",
            )
    return parsed
