"""Numbers in a plain text, in digits and in English words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_DIGIT_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen")
_SMALL = ("zero", *_DIGIT_WORDS, *_TEENS, "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {word: value for value, word in enumerate(_SMALL)}
_WORDS |= {word: 10 * value for value, word in enumerate(_TENS, start=2)}
_WORDS |= {"hundred": 100}

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*[½¼¾⅓⅔]?|[½¼¾⅓⅔]")
_IN_WORDS = re.compile(
    rf"\b(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_DIGIT_WORDS)}))?"
    rf"|(?:one |a )?hundred|{'|'.join(reversed(_SMALL))})\b",
    re.IGNORECASE,
)
_HALF = re.compile(r"[ -]and[ -]a[ -]half\b|[ ]1/2\b(?!/)", re.IGNORECASE)
_POINT = re.compile(rf"[ ]point[ ](?P<tenths>{'|'.join(_DIGIT_WORDS)})\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:choose|pick|select|name|give) (?:just |only )?$", re.IGNORECASE)
_SIGN_WORD = re.compile(r"\b(?:minus|(?P<plus>plus|positive)|negative)[ ]$", re.IGNORECASE)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number where it stands; ``in_words`` where it is written out.

    ``value`` is None for what looks like a number and is none: 1.2.3.
    ``glued`` is True where it hangs on a word, as in B5, GPT-4 or v2.
    """

    start: int
    end: int
    value: Fraction | None
    in_words: bool = False
    glued: bool = False


def find_numbers(text: str) -> list[Number]:
    """Find all numbers of a plain text, in order.

    A sign belongs to a number where it touches it and touches nothing else; a dash after another
    number is a range's, not a sign.

    Examples
    --------
    >>> [str(n.value) for n in find_numbers("5.0, -3, 4,5, 1,000, sixty-five and minus two")]
    ['5', '-3', '9/2', '1000', '65', '-2']
    """
    found = sorted([*_digits(text), *_words(text)], key=lambda number: number.start)
    return [_with_half(text, number) for number in found]


def _digits(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        start = match.start()
        value = _value(match.group())
        sign = text[start - 1] if start else ""
        sign_word = _SIGN_WORD.search(text, max(0, start - 9), start)
        if sign_word and value is not None:
            start, value = sign_word.start(), value if sign_word["plus"] else -value
        elif sign and sign in "+-" and _is_sign(text, start - 1):
            start -= 1
            value = -value if sign == "-" and value is not None else value
        yield Number(
            start=start, end=match.end(), value=value, glued=_is_glued(text, start, match.end())
        )


def _is_sign(text: str, at: int) -> bool:
    touched = text[at - 1] if at else " "
    before = text[max(0, at - 40) : at].rstrip(" \t+-")
    return not (touched.isalnum() or touched in ")]}%-+/" or before[-1:].isdigit())


def _is_glued(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    if before == "-" and start > 1:
        before = text[start - 2]
    after = text[end] if end < len(text) else " "
    if text.startswith("ish", end):
        after = " "
    # Only scripts that part words with spaces: 给5分 is a 5.
    return _cased(before) or before == "_" or (_cased(after) and not after.isupper())


def _cased(character: str) -> bool:
    return character.lower() != character.upper()


def _value(token: str) -> Fraction | None:
    part = Fraction(0)
    if token[-1] in "½¼¾⅓⅔":
        part = Fraction(unicodedata.numeric(token[-1])).limit_denominator(9)
        token = token[:-1]
    if not token:
        return part
    if _THOUSANDS.fullmatch(token):
        return Fraction(token.replace(",", "")) + part
    if token.count(".") + token.count(",") > 1:
        return None
    return Fraction(token.replace(",", ".")) + part


def _words(text: str) -> Iterator[Number]:
    for match in _IN_WORDS.finditer(text):
        start, word = match.start(), match.group().lower()
        # "If I have to choose one: 5"
        colon = text[match.end() : match.end() + 1] in {":", ","}
        if word == "one" and colon and _PRONOUN.search(text, max(0, start - 20), start):
            continue
        value = Fraction(sum(_WORDS[part] for part in re.split(r"[- ]", word) if part in _WORDS))
        if "hundred" in word:
            value = Fraction(100)
        sign = _SIGN_WORD.search(text, max(0, start - 9), start)
        if sign:
            start, value = sign.start(), value if sign["plus"] else -value
        hyphen_before = (
            start > 0 and text[start - 1] == "-" and start > 1 and text[start - 2] != " "
        )
        yield Number(start=start, end=match.end(), value=value, in_words=True, glued=hyphen_before)


def _with_half(text: str, number: Number) -> Number:
    half, tenths = _HALF.match(text, number.end), _POINT.match(text, number.end)
    part = half or (tenths if number.in_words else None)
    if part is None or number.value is None or number.value.denominator != 1:
        return number
    more = Fraction(1, 2) if half else Fraction(_WORDS[part["tenths"].lower()], 10)
    return Number(
        start=number.start,
        end=part.end(),
        value=number.value + (more if number.value >= 0 else -more),
        in_words=number.in_words,
        glued=number.glued,
    )
