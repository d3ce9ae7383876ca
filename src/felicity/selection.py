"""Choose items by their factor levels, in a study of either paradigm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from felicity.errors import FelicityError, one_of


class HasFactors(Protocol):
    """An item of either paradigm."""

    @property
    def factors(self) -> Mapping[str, str]:
        """Factor to level."""


AnyItem = TypeVar("AnyItem", bound=HasFactors)


def select_items(
    items: tuple[AnyItem, ...], where: Mapping[str, str], limit: int | None = None
) -> tuple[AnyItem, ...]:
    """Return the items with the given factor levels, in order, at most ``limit``.

    Raises
    ------
    FelicityError
        For an unknown factor, an unknown level, or a selection that is empty.

    Examples
    --------
    >>> from felicity.study import load_study
    >>> [item.item_id for item in select_items(load_study("social-meaning").items,
    ...                                        {"attribute": "pedantic", "form": "precise"}, 2)]
    ['house-high-precise-pedantic', 'house-low-precise-pedantic']
    """
    chosen = items
    for factor, level in where.items():
        levels = sorted({item.factors.get(factor, "") for item in items} - {""})
        if not levels:
            known = sorted(items[0].factors)
            raise FelicityError(f'got "{factor}"; expected {one_of(known)}', where="factor")
        if level not in levels:
            shown = one_of(levels[:12]) + (", …" if len(levels) > 12 else "")
            raise FelicityError(f'got "{level}"; expected {shown}', where=f"factor {factor}")
        chosen = tuple(item for item in chosen if item.factors[factor] == level)
    if not chosen:
        raise FelicityError("no item has all of these levels", where=str(dict(where)))
    return chosen[:limit]
