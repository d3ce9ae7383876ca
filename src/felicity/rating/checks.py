"""What can be said of a rating study without any model: counts, and how alike its texts are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from felicity.rating.prompts import compose
from felicity.rating.study import RatingStudy, VariedText


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBalance:
    """One text of one scenario that varies with a factor: its words at each level."""

    scenario: str
    field: str
    factor: str
    words: Mapping[str, int]


def count_rating_items(study: RatingStudy) -> dict[str, Any]:
    """Count items, scenes, items per level, reference cells and ratings, words per prompting."""
    prompt_words = {}
    for name, blocks in study.promptings.items():
        texts = [study.blocks[block] for block in blocks]
        lengths = [len(compose(texts, item, study.scale).split()) for item in study.items]
        prompt_words[name] = sum(lengths) / len(lengths)
    return {
        "items": len(study.items),
        "scenes": len({item.scene_id for item in study.items}),
        "factors": {
            factor: dict(Counter(item.factors[factor] for item in study.items))
            for factor in study.factors
        },
        "reference_cells": len(study.reference),
        "reference_ratings": sum(cell.n for cell in study.reference),
        "effects": len(study.effects),
        "prompt_words": prompt_words,
    }


def text_balance(study: RatingStudy) -> tuple[TextBalance, ...]:
    """Count the words of every text that varies with a factor, field by field.

    Texts that differ much in length may be rated for their length.
    """
    rows = [
        TextBalance(
            scenario=scenario.key,
            field=name,
            factor=field.factor,
            words={level: len(field.by_level[level].split()) for level in levels},
        )
        for scenario in study.scenarios
        for name, field in scenario.fields.items()
        if isinstance(field, VariedText)
        for levels in [study.factors[field.factor]]
    ]
    return tuple(sorted(rows, key=lambda row: row.field))
