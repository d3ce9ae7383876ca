"""What a build needs to know of a language: rules, prompts, names, limits. All of it is data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from felicity.errors import OptionError, one_of

LANGUAGES = Path(__file__).parent / "languages"
PROMPTS = ("template", "dialogues", "rewordings", "again", "asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Maxim:
    """A rule of talk, and what its follower and its violator are, as a writer is told."""

    key: str
    short: str
    gloss: str
    follower: str
    violator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language's data.

    Attributes
    ----------
    code, name
        ISO 639-1, and the language's own name.
    names
        Given names for speakers; a new set takes the first three.
    name_words
        Given names that are words too, in lower case: unfit for speakers.
    maxims
        In order.
    prompts
        What a writer is told at each step, and the question of the exported study's asked task.
    reasons
        Why a reply could not be used, by status, as a writer is told.
    asked_labels, asked_words
        What the answers are called when asked, and words for the one that is looked for.
    rarest_word
        Zipf frequency below which a word is not a child's.
    quote_marks
        Marks that may stand in a text.
    """

    code: str
    name: str
    names: tuple[str, ...]
    name_words: frozenset[str]
    maxims: tuple[Maxim, ...]
    prompts: Mapping[str, str]
    reasons: Mapping[str, str]
    asked_labels: tuple[str, ...]
    asked_words: tuple[str, ...]
    rarest_word: float
    quote_marks: str


def list_languages() -> tuple[str, ...]:
    """Return the languages that come with Felicity.

    Examples
    --------
    >>> list_languages()
    ('de', 'en')
    """
    return tuple(sorted(path.parent.name for path in LANGUAGES.glob("*/language.toml")))


def load_language(code: str) -> Language:
    """Read a language's data.

    Raises
    ------
    OptionError
        Where there is none of this language.

    Examples
    --------
    >>> load_language("de").names[:3]
    ('Anna', 'Lukas', 'Katrin')
    """
    if code not in list_languages():
        raise OptionError(
            f'got "{code}"; expected {one_of(list_languages())}',
            where="language",
            hint="a language is a folder of texts: docs/build.md",
        )
    folder = LANGUAGES / code
    table = tomllib.loads((folder / "language.toml").read_text(encoding="utf-8"))
    return Language(
        code=code,
        name=table["name"],
        names=tuple(table["names"]),
        name_words=frozenset(name.lower() for name in table["name_words"]),
        maxims=tuple(Maxim(**entry) for entry in table["maxim"]),
        prompts={
            name: (folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in PROMPTS
        },
        reasons=table["reasons"],
        asked_labels=tuple(table["asked"]["labels"]),
        asked_words=tuple(table["asked"]["words"]),
        rarest_word=float(table["limits"]["rarest_word"]),
        quote_marks=table["limits"]["quote_marks"],
    )
