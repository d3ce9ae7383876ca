"""What can be said of a choice study without any model: counts, balance, shallow cues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from felicity.stats.cues import RULES, CueScore, Rule, cue_score
from felicity.study import Study
from felicity.wordfrequency import has_word_frequencies, mean_zipf


def count_items(study: Study) -> dict[str, Any]:
    """Count units and items per level, and items per variant."""
    factor = study.design.factor
    levels = {}
    for key in study.design.level_keys:
        items = [item for item in study.items if item.factors[factor] == key]
        levels[key] = {"units": len({item.unit for item in items}), "items": len(items)}
    variants = {}
    for group in study.design.variants:
        name = " × ".join(group)
        variants[name] = dict(
            sorted(
                Counter("/".join(item.factors[c] for c in group) for item in study.items).items()
            )
        )
    return {
        "items": len(study.items),
        "units": len({item.unit for item in study.items}),
        "levels": levels,
        "variants": variants,
    }


def cue_table(study: Study) -> dict[str, dict[str, CueScore]]:
    """Score each blind rule on each level.

    Returns
    -------
    dict
        Rule to level to score. "shorter" is 1 − "longer". The word-frequency rule is there only
        where ``wordfreq`` is installed.
    """
    texts = {
        key: [
            (item.question, *item.answers.values())
            for item in study.items
            if item.factors[study.design.factor] == key
        ]
        for key in study.design.level_keys
    }
    return score_cues(texts, study.language)


def score_cues(
    texts: Mapping[str, Sequence[tuple[str, ...]]], language: str
) -> dict[str, dict[str, CueScore]]:
    """Score each blind rule on the texts of each level; see `cue_table`.

    Parameters
    ----------
    texts
        Level to question, first answer and the others of each item; no level is empty.
    language
        ISO 639-1, for word frequencies.
    """
    rules: dict[str, Rule] = dict(RULES)
    if has_word_frequencies(language):
        rules["more frequent words"] = lambda _question, answer: mean_zipf(answer, language)
    return {
        name: {key: cue_score(items, rule) for key, items in texts.items()}
        for name, rule in rules.items()
    }
