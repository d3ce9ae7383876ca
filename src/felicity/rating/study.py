"""What a rating study is: scenarios, factors, scale, prompts, human reference, effects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from felicity.notebook import show_facts
from felicity.selection import select_items
from felicity.types import Scale

TOML = "study.toml"
ATTRIBUTE = "attribute"
Factors = dict[str, tuple[str, ...]]

Presentation = Literal["single", "block"]
PRESENTATIONS: tuple[Presentation, ...] = ("single", "block")

EffectKind = Literal["main", "interaction"]
# How many factors an effect of this kind crosses.
EFFECT_FACTORS: dict[EffectKind, int] = {"main": 1, "interaction": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariedText:
    """A text of a scenario that varies with one factor: a text for each of its levels."""

    factor: str
    by_level: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario: its key and its fields, each one text or a text for each level of a factor."""

    key: str
    fields: Mapping[str, str | VariedText]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingItem:
    """One question for one rating: a scenario under one level of every factor.

    Attributes
    ----------
    item_id
        Unique in the study and stable between versions of the data.
    scene_id
        What it shares with the items that ask for another attribute of the same scene.
    factors
        Scenario, the study's own factors and attribute, in that order.
    texts
        The scenario's fields at these levels, by name.
    """

    item_id: str
    scene_id: str
    factors: Mapping[str, str]
    texts: Mapping[str, str]

    def columns(self) -> dict[str, str]:
        """Return the item as one flat row."""
        return {"item_id": self.item_id, **self.factors, **self.texts}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCell:
    """What people rated in one cell: mean, standard deviation (n − 1) and number of ratings."""

    factors: Mapping[str, str]
    mean: float
    sd: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A contrast between cells of one attribute.

    A main effect is the mean at the factor's first level minus the mean at its second; an
    interaction is the first factor's main effect at the second factor's first level minus the
    same at its second level.

    Examples
    --------
    >>> Effect(kind="interaction", factors=("form", "context"), attribute="helpful").name
    'helpful: form × context'
    """

    kind: EffectKind
    factors: tuple[str, ...]
    attribute: str

    @property
    def name(self) -> str:
        """Attribute and factors in words."""
        return f"{self.attribute}: {' × '.join(self.factors)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingStudy:
    """A rating study's folder, read and validated.

    Attributes
    ----------
    factors
        ``scenario``, the study's own factors and ``attribute``, each with its levels in order.
    blocks
        Name to text of every prompt block, with its ``{placeholders}``.
    promptings
        Name to block names, in order.
    system
        The block that goes out as the system message, or None.
    presentation, repeats, temperature
        Defaults of a run.
    reference, reference_source
        People's cells, one for each item; empty where the study has none.
    units, default_unit
        Units of comparison: name to the factors that a cell keeps apart.
    """

    name: str
    title: str
    version: str
    paradigm: str
    language: str
    licence: str
    folder: Path
    factors: Mapping[str, tuple[str, ...]]
    scenarios: tuple[Scenario, ...]
    items: tuple[RatingItem, ...]
    scale: Scale
    blocks: Mapping[str, str]
    promptings: Mapping[str, tuple[str, ...]]
    system: str | None
    presentation: Presentation
    repeats: int
    temperature: float
    reference: tuple[ReferenceCell, ...]
    reference_source: str
    units: Mapping[str, tuple[str, ...]]
    default_unit: str
    effects: tuple[Effect, ...]

    def __repr__(self) -> str:
        # Thousands of items are no help in a console.
        return f"{type(self).__name__}({self.name!r}, {len(self.items):,} items)"

    def _repr_html_(self) -> str:
        low, high = self.scale.low, self.scale.high
        facts = {
            "study": f"{self.name} {self.version}, {self.paradigm}",
            "items": f"{len(self.items):,}, each rated from {low} to {high}",
            **{name: ", ".join(levels) for name, levels in self.factors.items()},
            "promptings": ", ".join(self.promptings),
            "people": f"{len(self.reference):,} cells" if self.reference else "none",
            "licence": self.licence,
        }
        return show_facts(self.title, facts)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are rated, in order."""
        return self.factors[ATTRIBUTE]

    @property
    def data_hash(self) -> str:
        """Blake2b hash of items and scale: changes with any text, id or factor of any item.

        Prompts are not in it: the exact messages are part of every response's key.
        """
        digest = hashlib.blake2b(digest_size=16)
        for row in (asdict(self.scale), *(item.columns() for item in self.items)):
            digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode())
        return digest.hexdigest()

    def select(self, where: Mapping[str, str], limit: int | None = None) -> tuple[RatingItem, ...]:
        """Return the items with the given factor levels, in order, at most ``limit``.

        Raises
        ------
        FelicityError
            For an unknown factor, an unknown level, or a selection that is empty.
        """
        return select_items(self.items, where, limit)


def scale_texts(scale: Scale) -> dict[str, str]:
    """Return what prompts can name of a scale.

    Examples
    --------
    >>> scale_texts(Scale(low=1, high=7, low_label="not at all", high_label="very"))
    {'low': '1', 'high': '7', 'low_label': 'not at all', 'high_label': 'very'}
    """
    return {
        "low": str(scale.low),
        "high": str(scale.high),
        "low_label": scale.low_label,
        "high_label": scale.high_label,
    }
