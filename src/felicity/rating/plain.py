r"""Bring a reply to plain text without moving a character, so that spans hold in the original.

Every function returns a text as long as its argument: marks are overwritten with spaces, digits
of any script with ASCII digits. A place found in the result is the same place in the reply.
"""

from __future__ import annotations

import re
import unicodedata

_SAME = {
    "−": "-", "﹣": "-", "－": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "＋": "+",
    "’": "'", "‘": "'", "＇": "'", "＂": '"', "＝": "=", "：": ":", "．": ".", "。": ".", "，": ",",
    "、": ",", "；": ";", "！": "!", "？": "?", "／": "/", "⁄": "/", "∕": "/", "％": "%", "٪": "%",
    "（": "(", "）": ")", "［": "[", "］": "]", "【": "[", "】": "]", "｛": "{", "｝": "}",
    "〜": "~", "～": "~", "∼": "~", "≈": "~", "٫": ".", "٬": ",", "،": ",", "؛": ";", "＊": "*",
    "｜": "|", "＄": "$", "⇒": "→",
    "\r": "\n", "\u2028": "\n", "\u2029": "\n", "\x0b": "\n", "\x0c": "\n",
}  # fmt: skip
# First of a row of nine digits, 1 to 9, that Unicode does not call decimal: ① ⑴ ⒈ ❶ ➀ ➊.
_CIRCLED = (0x2460, 0x2474, 0x2488, 0x2776, 0x2780, 0x278A)

_STRUCK = re.compile(r"~~(?=\S)[^~\n]+~~")
_FENCE = re.compile(r"```[A-Za-z]*")
_TAG = re.compile(r"</?[A-Za-z|/!][^<>\n]{0,60}>|\[/?INST\]")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}\n]{1,12})\}\{([^{}\n]{1,12})\}")
_COMMAND = re.compile(r"\\[A-Za-z]+\s*(?=\{)|\\[()\[\],;!$]|\\(?:quad|qquad)\b|\\n(?![a-z])")
# A price has one dollar sign, a formula two.
_FORMULA = re.compile(r"\$\$?(?=[^$\n]{1,60}\$)([^$A-Za-z\n]{1,60}?)\$\$?(?!\d)")
_MARKS = re.compile(r"[*`\\{}]|(?<!\w)_+|_+(?!\w)|(?m:^[ \t]*#+(?=[ #]))|(?m:^[ \t]*>+)")


def blank(text: str, start: int, end: int) -> str:
    r"""Overwrite a stretch with spaces; its line breaks stay.

    Examples
    --------
    >>> blank("ab\ncd", 1, 4)
    'a \n d'
    """
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def same_characters(text: str) -> str:
    """Write digits of any script as 0–9, and variants of marks and spaces as one of each.

    Examples
    --------
    >>> same_characters("５ ٥ ५ ⑤ −3：5️⃣")
    '5 5 5 5 -3:5  '
    """
    return "".join(map(_same_character, text))


def _same_character(character: str) -> str:
    if " " <= character <= "~" or character == "\n":
        return character
    if character in _SAME:
        return _SAME[character]
    decimal = unicodedata.decimal(character, None)
    if decimal is not None:
        return str(decimal)
    for first in _CIRCLED:
        if first <= ord(character) < first + 9:
            return str(ord(character) - first + 1)
    # Control, format, enclosing (a keycap emoji) and space characters carry no meaning here.
    if unicodedata.category(character) in {"Cc", "Cf", "Cn", "Cs", "Me", "Zs"}:
        return " "
    return " " if character == "\ufe0f" else character


def without_marks(text: str) -> str:
    r"""Overwrite struck-out words, tags, fences, Markdown and LaTeX with spaces.

    A table's bars become colons, so that ``| competent | 5 |`` reads as a label and its value.

    Examples
    --------
    >>> without_marks(r"~~4~~ **5** $\boxed{6}$").split()
    ['5', '6']
    >>> without_marks(r"\frac{6}{7}").split()
    ['6/', '7']
    >>> without_marks("$509.55")
    '$509.55'
    """
    for pattern in (_STRUCK, _FENCE, _TAG):
        text = pattern.sub(_spaces, text)
    text = _FRACTION.sub(_fraction, text)
    text = _COMMAND.sub(_spaces, text)
    text = _MARKS.sub(_spaces, text)
    text = _FORMULA.sub(lambda m: m.group().replace("$", " "), text)
    return text.replace("|", ":")


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _fraction(match: re.Match[str]) -> str:
    top, bottom = match.groups()
    head = match.start(1) - match.start()
    return " " * head + top + "/ " + bottom + " "
