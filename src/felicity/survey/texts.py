"""What a survey says to people, by language: texts/LANGUAGE.toml, or a file of one's own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from felicity.errors import Fault, FaultsError, FelicityError, OptionError, one_of

FOLDER = Path(__file__).parent / "texts"
QUESTIONS = ("age", "gender", "languages")
Texts = Mapping[str, str]


def languages() -> tuple[str, ...]:
    """Languages that surveys can be made in without a file.

    Examples
    --------
    >>> languages()
    ('de', 'en')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def read_texts(language: str, path: Path | None = None) -> Texts:
    """Read the texts of a language, or of a file that has all of the same keys.

    Raises
    ------
    OptionError
        Where there are none for the language and no file was given.
    FaultsError
        With every key that the file lacks, or that means nothing.
    FelicityError
        Where the file cannot be read.
    """
    if path is None:
        if language not in languages():
            raise OptionError(
                f'got a study in "{language}"; there are texts in {", ".join(languages())}',
                where="--texts",
                hint=f"translate {FOLDER / 'en.toml'} and give it with --texts",
            )
        return _read(FOLDER / f"{language}.toml")
    texts = _read(path)
    known = _read(FOLDER / "en.toml")
    faults = [
        Fault(file=path.name, field=key, got="nothing", allowed="a text")
        for key in known
        if not isinstance(texts.get(key), str) or not texts[key].strip()
    ]
    faults += [
        Fault(file=path.name, field=key, got="a key", allowed=one_of(sorted(known)))
        for key in texts
        if key not in known
    ]
    if faults:
        raise FaultsError(faults, where=str(path))
    return texts


def _read(path: Path) -> dict[str, str]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FelicityError(f"{reason}; expected a TOML file in UTF-8", where=str(path)) from None
