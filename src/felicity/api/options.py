"""Options that mean nothing where they are given."""

from __future__ import annotations

from collections.abc import Mapping

from felicity.errors import OptionError


def refuse(place: str, given: Mapping[str, object]) -> None:
    """Refuse options (name to value) that mean nothing here rather than leave them unheeded.

    Raises
    ------
    OptionError
        Naming the first that was set.
    """
    for option, value in given.items():
        if value is not None:
            raise OptionError(f"got {value}; expected nothing, in {place}", where=option)
