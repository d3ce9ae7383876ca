"""What a study is: items, design, formats, human reference. Reading one is in `study_reader`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.errors import FaultsError, FelicityError, OptionError, one_of
from felicity.selection import select_items
from felicity.types import Item, TextPair, Trial

if TYPE_CHECKING:
    from felicity.asked.task import AskedTask
    from felicity.rating.study import RatingStudy

PLACEHOLDER = re.compile(r"\{(\w+)\}")
BUILT_IN = Path(__file__).parent / "studies"


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template's ``{placeholders}``; any other brace stays as it is.

    Examples
    --------
    >>> fill("{who}: {what} {}", {"who": "Joan", "what": "Hi."})
    'Joan: Hi. {}'
    """
    return PLACEHOLDER.sub(lambda match: values[match.group(1)], template)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One level of the factor that a study compares: its key, its short title, what it says."""

    key: str
    short: str
    gloss: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How an item becomes the text that a model reads.

    The model reads ``context + answer``; the answer alone is scored. ``baseline`` is the context
    without the question, for pointwise mutual information.

    Examples
    --------
    >>> Format(name="plain", context="{question}", answer=" {answer}", baseline="").context
    '{question}'
    """

    name: str
    context: str
    answer: str
    baseline: str

    def render(self, item: Item, label: str) -> tuple[TextPair, TextPair]:
        """Return the answer in its dialogue and the answer without the question."""
        values = {**item.columns(), "answer": item.answers[label]}
        answer = fill(self.answer, values)
        return (
            TextPair(context=fill(self.context, values), answer=answer),
            TextPair(context=fill(self.baseline, values), answer=answer),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is compared and what merely varies.

    Attributes
    ----------
    factor, levels
        The factor of the main table (``maxim``) and its levels, in order.
    variants
        Groups of columns under which each unit repeats, e.g. ``(("wording",), ("questioner",
        "responder"))``.
    answers
        Labels of the answers; the first should win. Of more than two an item may lack some.
    """

    factor: str
    levels: tuple[Level, ...]
    variants: tuple[tuple[str, ...], ...]
    answers: tuple[str, ...]
    items_per_level: int | None = None
    same_answers_within_unit: bool = False

    @property
    def level_keys(self) -> tuple[str, ...]:
        """The keys of the levels, in order."""
        return tuple(level.key for level in self.levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceGroup:
    """One group of people: right answers and answers given, per level of the design's factor."""

    label: str
    correct: Mapping[str, int]
    asked: Mapping[str, int]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study folder, read and validated. ``asked`` is its task in words, where it has one."""

    name: str
    title: str
    version: str
    paradigm: str
    language: str
    licence: str
    folder: Path
    design: Design
    items: tuple[Item, ...]
    formats: Mapping[str, Format]
    default_format: str
    reference: tuple[ReferenceGroup, ...]
    asked: AskedTask | None = None

    @property
    def data_hash(self) -> str:
        """Blake2b hash of the derived items: changes with any text, id or factor of any item."""
        digest = hashlib.blake2b(digest_size=16)
        for item in self.items:
            row = {**item.columns(), "unit": item.unit}
            digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode())
        return digest.hexdigest()

    def format(self, name: str | None = None) -> Format:
        """Return a format by name; the study's default where none is given."""
        if name is None:
            return self.formats[self.default_format]
        if name not in self.formats:
            raise FelicityError(
                f'got "{name}"; expected {one_of(self.formats)}', where=f"format of {self.name}"
            )
        return self.formats[name]

    def trials(self, fmt: Format, items: tuple[Item, ...] | None = None) -> tuple[Trial, ...]:
        """Every answer of every item as text, in a stable order."""
        trials = []
        for item in self.items if items is None else items:
            for label in item.answers:
                pair, baseline = fmt.render(item, label)
                trials.append(
                    Trial(
                        trial_id=f"{item.item_id}|{label}",
                        item_id=item.item_id,
                        answer_label=label,
                        answer_text=item.answers[label],
                        pair=pair,
                        baseline=baseline,
                    )
                )
        return tuple(trials)

    def select(self, where: Mapping[str, str], limit: int | None = None) -> tuple[Item, ...]:
        """Return the items with the given factor levels, in order, at most ``limit``.

        Raises
        ------
        FelicityError
            For an unknown factor, an unknown level, or a selection that is empty.
        """
        return select_items(self.items, where, limit)


def list_studies() -> tuple[str, ...]:
    """Names of the studies that come with Felicity.

    Examples
    --------
    >>> list_studies()
    ('gricean-maxims', 'social-meaning')
    """
    return tuple(sorted(path.parent.name for path in BUILT_IN.glob("*/study.toml")))


def study_folder(name_or_path: str | Path) -> Path:
    """Find a study's folder by built-in name or by path.

    Raises
    ------
    FelicityError
        Where it is neither a built-in name nor a folder.
    """
    path = Path(name_or_path)
    if str(name_or_path) in list_studies():
        return BUILT_IN / str(name_or_path)
    if path.is_dir():
        return path
    raise FelicityError(
        f'got "{name_or_path}"; expected a folder with a study.toml, or {one_of(list_studies())}',
        where="study",
        hint="`felicity studies` lists what is built in",
    )


def load_study(name_or_path: str | Path) -> Study | RatingStudy:
    """Read a study of either paradigm and validate it whole.

    Parameters
    ----------
    name_or_path
        A built-in name, or a folder that holds a ``study.toml``.

    Raises
    ------
    FaultsError
        With every fault of every file, where there is any.

    Examples
    --------
    >>> [(name, load_study(name).paradigm) for name in list_studies()]
    [('gricean-maxims', 'choice'), ('social-meaning', 'rating')]
    """
    from felicity.study_reader import read_study

    folder = study_folder(name_or_path)
    study, faults = read_study(folder)
    if study is None or faults:
        raise FaultsError(
            faults, where=str(folder), hint=f"`felicity validate {folder}` lists them again"
        )
    return study


def load_choice_study(name_or_path: str | Path) -> Study:
    """Read a choice study.

    Raises
    ------
    OptionError
        For a study of another paradigm.

    Examples
    --------
    >>> load_choice_study("gricean-maxims").design.level_keys
    ('quantity_1', 'quantity_2', 'quality', 'relation', 'politeness')
    """
    study = load_study(name_or_path)
    if not isinstance(study, Study):
        raise _other_paradigm(study, "choice")
    return study


def load_rating_study(name_or_path: str | Path) -> RatingStudy:
    """Read a rating study.

    Raises
    ------
    OptionError
        For a study of another paradigm.

    Examples
    --------
    >>> load_rating_study("social-meaning").attributes
    ('competent', 'knowledgeable', 'well-prepared', 'helpful', 'likeable', 'pedantic')
    """
    study = load_study(name_or_path)
    if isinstance(study, Study):
        raise _other_paradigm(study, "rating")
    return study


def _other_paradigm(study: Study | RatingStudy, expected: str) -> OptionError:
    return OptionError(
        f"got a {study.paradigm} study; expected a {expected} study",
        where=study.name,
        hint="`felicity studies` shows each study's paradigm",
    )
