"""Lists of stimuli: which participants see what, so that nobody sees two versions of one thing."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

from felicity.errors import OptionError
from felicity.rating.study import RatingItem, RatingStudy
from felicity.study import Study
from felicity.survey.section import Layout
from felicity.types import Item

Scene = tuple[RatingItem, ...]


def choice_lists(study: Study, per_level: int | None = None) -> tuple[tuple[Item, ...], ...]:
    """Make the lists of a choice study: in each, every unit at most once, under one variant.

    Parameters
    ----------
    per_level
        At most so many units of each level in a list; all where not given. The units of a level
        are dealt out like cards, so that neighbours (of one template, say) come to different
        lists.

    Returns
    -------
    tuple of tuple of Item
        Over all lists every item occurs exactly once. Neighbouring lists have different units
        where `per_level` is given.

    Raises
    ------
    OptionError
        For a `per_level` below 1.

    Examples
    --------
    >>> from felicity.study import load_choice_study
    >>> study = load_choice_study("gricean-maxims")
    >>> lists = choice_lists(study, per_level=5)
    >>> len(lists), len(lists[0]), sorted({item.factors["wording"] for item in lists[0]})
    (90, 25, ['0', '1', '2'])
    """
    if per_level is not None and per_level < 1:
        raise OptionError(f"got {per_level}; expected a whole number from 1", where="--per-level")
    columns = [column for group in study.design.variants for column in group]
    copies: dict[str, list[Item]] = defaultdict(list)
    for item in study.items:
        copies[item.unit].append(item)
    levels: dict[str, list[str]] = defaultdict(list)
    for unit, items in copies.items():
        items.sort(key=lambda item: [*(item.factors.get(c, "") for c in columns), item.item_id])
        levels[items[0].factors[study.design.factor]].append(unit)
    most = max(map(len, levels.values()))
    n_parts = math.ceil(most / (per_level or most))
    n_variants = max(map(len, copies.values()))
    step = _step(n_variants)
    lists: list[list[Item]] = [[] for _ in range(n_parts * n_variants)]
    dealt = [0] * n_parts
    for units in levels.values():
        for place, unit in enumerate(units):
            part = place % n_parts
            for copy, item in enumerate(copies[unit]):
                variant = (copy - dealt[part] * step) % n_variants
                lists[variant * n_parts + part].append(item)
            dealt[part] += 1
    return tuple(tuple(each) for each in lists if each)


def _step(size: int) -> int:
    """Return a stride that visits all of ``size`` places and spreads the first few widely."""
    wanted = range(max(1, round(size * 0.618)), size + 1)
    return next((n for n in wanted if math.gcd(n, size) == 1), 1)


def rating_lists(study: RatingStudy, layout: Layout = "between") -> tuple[tuple[Scene, ...], ...]:
    """Make the lists of a rating study, a scene being the items for all attributes.

    Returns
    -------
    tuple of tuple of Scene
        ``between``: a list has each scenario once, in one cell; over all lists every scene occurs
        exactly once (a Latin square). ``within``: one list with every scene.

    Examples
    --------
    >>> from felicity.study import load_rating_study
    >>> lists = rating_lists(load_rating_study("social-meaning"))
    >>> len(lists), [scene[0].scene_id for scene in lists[0][:3]]
    (4, ['house-high-precise', 'cinema-high-approximate', 'conference-low-precise'])
    """
    scenes = [tuple(group) for _, group in itertools.groupby(study.items, lambda i: i.scene_id)]
    if layout == "within":
        return (tuple(scenes),)
    by_scenario: dict[str, list[Scene]] = defaultdict(list)
    for scene in scenes:
        by_scenario[scene[0].factors["scenario"]].append(scene)
    rows = list(by_scenario.values())
    n_cells = len(rows[0])
    return tuple(
        tuple(cells[(number + place) % n_cells] for place, cells in enumerate(rows))
        for number in range(n_cells)
    )
